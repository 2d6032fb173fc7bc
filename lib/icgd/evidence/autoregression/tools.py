"""What the evidence on sequences shares: samples, blocks, exact gradients at small prime sizes."""

from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from icgd.autoregression import data
from icgd.autoregression.blocks import diagonal_blocks, gaussian_blocks
from icgd.autoregression.population import PopulationLoss

#: i.i.d. coordinates with mean 0 and E x^3 = 2: covered by the paper's words, not by its theorem.
SKEWED = data.Discrete((2.0, -1.0), (1 / 3, 2 / 3))
#: i.i.d. coordinates of mean 1/2: outside what the paper assumes.
UNCENTRED = data.Discrete((2.0, -0.5), (0.4, 0.6))


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def sequences(law, d: int, T: int, *, batch: int = 11, seed: int = 0) -> data.Sequences:
    return data.sample_sequences(law, batch, d, T, generator=generator(seed))


def dense(d: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Blocks (A, B) with every entry random: no structure to hide behind."""
    return gaussian_blocks(d, 1.0, generator=generator(seed))


def shape(alpha: float, beta: float, d: int) -> Tensor:
    """alpha I + beta J, J the matrix of ones."""
    eye = torch.eye(d, dtype=torch.float64)
    return alpha * eye + beta * torch.ones_like(eye)


@lru_cache(maxsize=64)
def population(law, d: int, T: int) -> PopulationLoss:
    return PopulationLoss(law, d=d, T=T)


def gradients(loss, A: Tensor, B: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """(dloss/dA, dloss/dB) as arrays."""
    A, B = (block.detach().clone().requires_grad_(True) for block in (A, B))
    return tuple(g.numpy() for g in torch.autograd.grad(loss(A, B), (A, B)))


def at_diagonal(law, d: int, T: int, a: float, b: float) -> tuple[np.ndarray, np.ndarray]:
    """Exact gradients at the start of Assumption 3.1, W_KQ_32 = a I and W_PV_12 = b I."""
    return gradients(population(law, d, T), *diagonal_blocks(d, a, b))


def as_real(values: Tensor) -> np.ndarray:
    """Real and imaginary parts of complex numbers, in one row."""
    return flat(torch.view_as_real(values.detach()))


def flat(*arrays) -> np.ndarray:
    """Arrays or tensors of any shapes, one after the other."""
    return np.concatenate([np.ravel(np.asarray(a)) for a in arrays])
