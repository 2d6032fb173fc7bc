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
    """(E Re conj(x_T) y, E|y|^2) of y = y_{T-1} at product 1, for a rotation by 0.7 radians."""
    tokens = T if independent else 1
    rule = gauss_hermite(2 * tokens)
    parts = rule.points.view(-1, tokens, 2) * (noise_var / 2) ** 0.5
    noise = torch.complex(parts[..., 0], parts[..., 1]).expand(-1, T)
    x = torch.polar(torch.ones(T).double(), 0.7 * torch.arange(T).double()) + noise
    y = learners.gradient_step(1.0)(x[..., None])[:, -2, 0]
    cross = (rule.weights * (x[:, -1].conj() * y).real).sum()
    return cross.numpy(), (rule.weights * y.abs().square()).sum().numpy()


def _moments(independent: bool) -> Evidence:
    predicted, measured = [], []
    for T, noise_var in ((3, 0.3), (4, 0.0), (4, 0.3), (4, 0.8)):
        predicted += [1.0, observed.second_moment(T - 2, noise_var)]
        measured += _enumerated(noise_var, T, independent)
    return Evidence(predicted, measured, tolerance=1e-10, relative=True)


@claim(
    "RS.noisy-rotation",
    kind="exact",
    anchor=f"{CHAPTER}#rs-noisy-rotation",
    statement="On x_t = lambda^t + e_t with independent circular noise the best product is "
    "(T - 2) / sum_N D_N, which grows with T to 1 / (1 + s2).",
)
def noisy_rotation():
    return _moments(independent=True)


@noisy_rotation.fails_without("noise that is independent from token to token")
def _common_noise():
    return _moments(independent=False)
