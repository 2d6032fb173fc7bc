"""Evidence for the risk of a trained step on prompts of another length (chapter 7)."""

import numpy as np

from icgd.claims import Evidence, claim
from icgd.evidence.regression.dynamics import CHAPTER, NOISE, SIGMA
from icgd.evidence.regression.shift import gaussian, measured_risk, trained
from icgd.regression import dynamics, shift


def _lengths(noise_var: float) -> Evidence:
    n, m = np.meshgrid([1, 2, 7, 100], [1, 3, 11, 1000], indexing="ij")
    predicted = shift.length_risk(n, m, np.linalg.eigvalsh(SIGMA), noise_var=NOISE)
    keys = {"covariates": gaussian(SIGMA), "noise_var": noise_var}
    pairs = zip(n.flat, m.flat, strict=True)
    measured = [measured_risk(trained(int(i)), m=int(j), **keys) for i, j in pairs]
    return Evidence(predicted.ravel(), measured, tolerance=1e-12, relative=True)


@claim(
    "ZFB.lengths",
    kind="exact",
    anchor=f"{CHAPTER}#zfb-lengths",
    statement="Trained at length n and tested at length m, the layer has the risk "
    "sum_i l_i ((1 - l_i/g_i)^2 + l_i (l_i + k) / (m g_i^2)).",
)
def lengths():
    return _lengths(NOISE)


@lengths.fails_without("the noise of training (0.7 at test)")
def _noisier():
    return _lengths(0.7)


def _limits(covariance) -> Evidence:
    l, many, n, m = np.linalg.eigvalsh(SIGMA), 10**9, 7, 3
    k = l.sum() + NOISE
    predicted = [
        dynamics.minimum_loss(SIGMA, n=n, noise_var=NOISE),
        (l * (l + k) ** 2 / ((n + 1) * l + k) ** 2).sum(),
        ((len(l) + 1) * l.sum() + len(l) * NOISE) / m,
    ]
    sizes = ((n, n), (n, many), (many, m))
    keys = {"covariates": gaussian(covariance)}
    measured = [measured_risk(trained(i), m=j, **keys) for i, j in sizes]
    return Evidence(predicted, measured, tolerance=1e-7, relative=True)


@claim(
    "ZFB.length-limits",
    kind="exact",
    anchor=f"{CHAPTER}#zfb-length-limits",
    statement="R(n, n) is the minimum of the loss; R(n, m) falls to sum_i l_i (l_i + k)^2 / "
    "((n + 1) l_i + k)^2 as m grows, and to ((d + 1) tr Sigma + d s2) / m as n grows.",
)
def length_limits():
    return _limits(SIGMA)


@length_limits.fails_without("the covariance of training (1.1 times it at test)")
def _louder():
    return _limits(1.1 * SIGMA)


def _best_length(noise_var: float) -> Evidence:
    """The last length tells a shift of one per cent: 4 of 401."""
    tests, best = (2, 5, 17, 401), []
    keys = {"covariates": gaussian(SIGMA), "noise_var": noise_var}
    for m in tests:
        sizes = np.arange(1, 2 * m)
        risks = measured_risk(np.stack([trained(int(n)) for n in sizes]), m=m, **keys)
        best.append(sizes[np.argmin(risks)])
    return Evidence(tests, best, tolerance=0.5)


@claim(
    "ZFB.best-length",
    kind="exact",
    anchor=f"{CHAPTER}#zfb-best-length",
    statement="Of all training lengths n, the best for prompts of m examples is n = m.",
)
def best_length():
    return _best_length(NOISE)


@best_length.fails_without("the noise of training (2 at test)")
def _other_noise():
    return _best_length(2.0)
