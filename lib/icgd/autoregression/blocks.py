"""The blocks of the weights that reach the prediction (MO, Eq. 1), and the starts of training.

A = [[W_KQ_22, W_KQ_23], [W_KQ_32, W_KQ_33]]  (2d, 2d),     B = [W_PV_12, W_PV_13]  (d, 2d).
"""

import torch
from jaxtyping import Float
from torch import Tensor

from icgd import validation


def diagonal_blocks(
    d: int, a: float, b: float, *, device: str | torch.device | None = None
) -> tuple[Tensor, Tensor]:
    """The blocks (A, B) of MO, Assumption 3.1: A = [[0, 0], [a I, 0]], B = [b I, 0]."""
    d = validation.positive_int("the dimension d", d)
    a, b = validation.finite_float("a", a), validation.finite_float("b", b)
    eye = torch.eye(d, dtype=torch.float64, device=device)
    return place_blocks(a * eye, b * eye)


def place_blocks(
    W_KQ_32: Float[Tensor, "d d"], W_PV_12: Float[Tensor, "d d"]
) -> tuple[Float[Tensor, "two_d two_d"], Float[Tensor, "d two_d"]]:
    """(A, B) with these two blocks and zeros elsewhere."""
    zero = torch.zeros_like(W_KQ_32)
    A = torch.cat([torch.cat([zero, zero], 1), torch.cat([W_KQ_32, zero], 1)])
    return A, torch.cat([W_PV_12, zero], 1)


def gaussian_blocks(
    d: int, scale: float, *, generator: torch.Generator
) -> tuple[Float[Tensor, "two_d two_d"], Float[Tensor, "d two_d"]]:
    """A and B with i.i.d. N(0, scale^2) entries, MO's standard initialisation (Section 6)."""
    d = validation.positive_int("the dimension d", d)
    scale = validation.positive("scale", scale)
    validation.generator(generator)
    A = scale * torch.randn(2 * d, 2 * d, dtype=torch.float64, generator=generator)
    return A, scale * torch.randn(d, 2 * d, dtype=torch.float64, generator=generator)


def check_blocks(A: Tensor, B: Tensor) -> int:
    """d, for float64 blocks A (2d, 2d) and B (d, 2d) without NaN; raise otherwise."""
    validation.float64_tensor("A", A, (-1, -1))
    d = validation.positive_int("half the size of A", A.shape[0] // 2)
    validation.float64_tensor("A", A, (2 * d, 2 * d))
    validation.float64_tensor("B", B, (d, 2 * d))
    for name, block in (("A", A), ("B", B)):
        # `isfinite` on the sum: one pass, and NaN or infinity anywhere reaches it.
        if not torch.isfinite(block.detach().sum()):
            raise ValueError(f"{name} must be finite, got NaN or infinity; check the step size.")
    return d
