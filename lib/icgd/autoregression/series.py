"""A real periodic series as sequences for the layer: complex numbers that turn.

A sinusoid and its copy a quarter of a period earlier are the two coordinates of a point on a
circle: z_t = s_t + i s_{t - period / 4} turns by 2 pi / period a step. Read with stride k it turns
k times as fast, so strides 1, ..., period give angles spread evenly over the circle, as MO's
process has them.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Complex, Float
from torch import Tensor

from icgd import validation

_FILE = Path(__file__).resolve().parents[3] / "data" / "elnino.csv"


def el_nino() -> Float[np.ndarray, " months"]:
    """Sea surface temperature off Peru (Nino 1+2), degrees Celsius, January 1950 to December 2010.

    Source: NOAA, ERSST.V3B, in the public domain; `data/README.md` says where the file comes from.
    """
    return np.loadtxt(_FILE, delimiter=",", skiprows=1, usecols=range(1, 13)).ravel()


def turning(series: Float[np.ndarray, " times"], period: int) -> Complex[np.ndarray, " later"]:
    """z_t = s_t + i s_{t - period / 4}; the first quarter of a period is used up."""
    period = validation.positive_int("period", period)
    if period % 4:
        raise ValueError(
            f"period must be a multiple of 4, got {period}; a quarter of it must be whole steps."
        )
    quarter = period // 4
    return series[quarter:] + 1j * series[:-quarter]


@dataclass(frozen=True)
class Windows:
    """All windows of T readings: x (windows, T, 1), weights that give each stride the same say.

    stride, start: (windows,) how far apart the readings are, and where the first one is.
    """

    x: Complex[Tensor, "windows T 1"]
    weights: Float[Tensor, " windows"]
    stride: np.ndarray
    start: np.ndarray


def windows(z: Complex[np.ndarray, " times"], T: int, strides) -> Windows:
    """Every window z_s, z_{s+k}, ..., z_{s+(T-1)k} of every stride k."""
    T = validation.int_at_least("the sequence length T", T, 3)
    x, stride, start = [], [], []
    for k in strides:
        k = validation.positive_int("a stride", k)
        last = len(z) - k * (T - 1)
        if last < 1:
            raise ValueError(
                f"a window must fit in the series, got {k * (T - 1) + 1} readings of stride {k} in "
                f"{len(z)}; take a smaller T or stride."
            )
        x += [z[s : s + k * (T - 1) + 1 : k] for s in range(last)]
        stride += [k] * last
        start += range(last)
    counts = np.bincount(stride)
    weights = 1 / (counts[stride] * np.count_nonzero(counts))
    return Windows(
        torch.as_tensor(np.array(x, dtype=complex))[..., None],
        torch.as_tensor(weights),
        np.array(stride),
        np.array(start),
    )


def block_means(
    values: Float[Tensor, "windows times"], seen: Windows, *, months: int
) -> tuple[Float[np.ndarray, " times"], Float[np.ndarray, " times"]]:
    """(mean, standard error) of values under the windows' weights, as windows overlap in time.

    The error comes from the means over blocks of `months` starting points, as if blocks were
    independent. Windows that reach into the next block make it too small rather than too large.
    """
    block = torch.as_tensor(seen.start // validation.positive_int("months", months))
    if len(block.unique()) < 2:
        raise ValueError(
            f"an error needs at least two blocks, got one of {months} months; take shorter blocks."
        )
    weighted = seen.weights[:, None] * values
    share = torch.stack([seen.weights[block == b].sum() for b in block.unique()])
    means = torch.stack([weighted[block == b].sum(0) for b in block.unique()]) / share[:, None]
    mean = weighted.sum(0)
    few = len(share) / (len(share) - 1)  # the mean was taken from the same blocks
    error = (few * (share[:, None] * (means - mean)).square().sum(0)).sqrt()
    return mean.numpy(), error.numpy()
