"""The global minimum of an exact loss over all (A, w), and what it predicts.

Newton's method in a trust region, from several random starts: the Hessian is exact, so it leaves
saddles behind and ends at a local minimum, its gradient zero to rounding. The lowest end is kept.

Several starts are needed: for d = 2 the exact loss of Theorem 1 already has local minima that are
not global (n = 7, noise_var = 0.3: higher by 0.5952, with a Hessian that is positive up to the two
symmetries). Small starts avoid them, for the descent from 0 is steepest towards full rank.
"""

from dataclasses import dataclass

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor
from torch.autograd.functional import hessian

from icgd.regression import models
from icgd.regression.data import normal
from icgd.training import Loss


@dataclass(frozen=True)
class Minimum:
    """The best end found.  ends: the losses of all starts, sorted."""

    A: Tensor
    w: Tensor
    loss: float
    ends: np.ndarray

    def parts(self) -> np.ndarray:
        """The predictor found: see `predictor_parts`."""
        return predictor_parts(self.A, self.w)


def predictor_parts(A: Tensor, w: Tensor) -> np.ndarray:
    """The odd part C (d * d numbers), then the even part: the predictor as a polynomial."""
    quadratic, constant = models.even_part(A, w)
    return torch.cat([models.odd_part(A, w).flatten(), quadratic.flatten(), constant]).numpy()


def global_minimum(loss: Loss, d: int, *, scales: tuple[float, ...] = (1e-3, 1e-2, 0.1)) -> Minimum:
    """The lowest of the ends of one descent from a random (A, w) of each standard size in `scales`.

    Stopping rule: |gradient| <= 1e-11, or rounding allows no further decrease.
    """
    generator = torch.Generator().manual_seed(0)
    starts = [scale * normal((d + 1) ** 2, generator=generator) for scale in scales]
    ends = sorted((_descend(loss, d, start) for start in starts), key=lambda end: end[0])
    value, flat = ends[0]
    A, w = _split(flat, d)
    return Minimum(A, w, value, np.array([end[0] for end in ends]))


def one_step_parts(C) -> np.ndarray:
    """`predictor_parts` of the predictor C X^T y: no even part."""
    C = np.asarray(C, dtype=float)
    return np.concatenate([C.ravel(), np.zeros(len(C) ** 3 + len(C))])


def _descend(loss: Loss, d: int, start: Tensor) -> tuple[float, Tensor]:
    def value(flat: np.ndarray) -> tuple[float, np.ndarray]:
        point = torch.tensor(flat, requires_grad=True)
        result = loss(*_split(point, d))
        return result.item(), torch.autograd.grad(result, point)[0].numpy()

    def curvature(flat: np.ndarray) -> np.ndarray:
        return hessian(lambda p: loss(*_split(p, d)), torch.tensor(flat), vectorize=True).numpy()

    options = {"gtol": 1e-11, "maxiter": 500}
    end = minimize(
        value, start.numpy(), jac=True, hess=curvature, method="trust-exact", options=options
    )
    return float(end.fun), torch.as_tensor(end.x)


def _split(flat: Tensor, d: int) -> tuple[Tensor, Tensor]:
    """(A, w) from their entries in one row."""
    return flat[: d * (d + 1)].view(d, d + 1), flat[d * (d + 1) :]
