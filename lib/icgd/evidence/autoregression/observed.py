"""Evidence for one step on a rotation seen through noise (chapter 16).

A complex Gaussian is replaced by a finite list of points that has its moments up to degree 5: two
independent real parts, three Gauss-Hermite points each. The average over all lists is then exact.
"""

import numpy as np
import torch

from icgd.autoregression import learners, observed
from icgd.claims import Evidence, claim
from icgd.regression.enumeration import gauss_hermite

CHAPTER = "16-real-rows-and-sweeps"


def _enumerated(noise_var: float, T: int, independent: bool) -> tuple[np.ndarray, np.ndarray]:
    """E Re conj(x_{t+1}) y_t and E|y_t|^2, t = 2, ..., T - 1, at product 1; angle 0.7 radians."""
    tokens = T if independent else 1
    rule = gauss_hermite(2 * tokens)
    parts = rule.points.view(-1, tokens, 2) * (noise_var / 2) ** 0.5
    noise = torch.complex(parts[..., 0], parts[..., 1]).expand(-1, T)
    x = torch.polar(torch.ones(T).double(), 0.7 * torch.arange(T).double()) + noise
    y = learners.gradient_step(1.0)(x[..., None])[:, :-1, 0]
    cross = rule.weights @ (x[:, 2:].conj() * y).real
    return cross.numpy(), (rule.weights @ y.abs().square()).numpy()


def _moments(independent: bool) -> Evidence:
    """Moments at each time, and the lowest point of the enumerated loss: sum cross / sum square."""
    predicted, measured = [], []
    for T, noise_var in ((3, 0.3), (4, 0.8), (5, 0.0), (5, 0.3)):
        cross, square = _enumerated(noise_var, T, independent)
        predicted += [*np.ones(T - 2), *observed.second_moment(np.arange(1, T - 1), noise_var)]
        measured += [*cross, *square]
        predicted.append(observed.best_product(noise_var, T))
        measured.append(cross.sum() / square.sum())
    return Evidence(predicted, measured, tolerance=1e-10, relative=True)


@claim(
    "RS.noisy-rotation",
    kind="exact",
    anchor=f"{CHAPTER}#rs-noisy-rotation",
    statement="On x_t = lambda^t + e_t with independent circular noise the best product is "
    "(T - 2) / sum_N D_N with the D_N = E|y_t|^2, N = t - 1, of the closed form.",
)
def noisy_rotation():
    return _moments(independent=True)


@noisy_rotation.fails_without("noise that is independent from token to token")
def _common_noise():
    return _moments(independent=False)
