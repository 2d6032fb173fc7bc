"""Filters: what an iterative learner leaves of the hidden weights, and its exact risk. numpy only.

x ~ N(0, I), w ~ N(0, I), labels with noise of variance s2. After k steps the learner's weights are
p(H) X^T y / n for a polynomial p. Its *filter* F(h) = 1 - h p(h) is what is left of w along an
eigenvector of H with eigenvalue h, and F(0) = 1. The risk is (chapter 8)

    s2 + E tr F(H)^2 + (s2 / n) E tr H p(H)^2.

A filter is given by its values on an array of eigenvalues.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Float

from icgd import validation
from icgd.regression.wishart import spectral_rule
from icgd.regression.wishart_moments import mean_moments

Filter = Callable[..., np.ndarray]
Numbers = Sequence[float] | Float[np.ndarray, " layers"]


# --- Filters -------------------------------------------------------------------------------------


def gradient_filter(steps: Numbers, h: np.ndarray) -> np.ndarray:
    """F(h) = prod_k (1 - a_k h): gradient descent with step sizes a_k."""
    return np.prod(1 - np.multiply.outer(np.asarray(steps), np.asarray(h)), axis=0)


def gdpp_filter(steps: Numbers, curvatures: Numbers, h: np.ndarray) -> np.ndarray:
    """F(h) = prod_k (1 - a_k h_k), h_0 = h, h_{k+1} = h_k (1 - c_k h_k)^2: GD++."""
    F, h = np.ones_like(np.asarray(h, dtype=float)), np.asarray(h, dtype=float)
    for a, c in zip(steps, curvatures, strict=True):
        F, h = F * (1 - a * h), h * (1 - c * h) ** 2
    return F


def newton_filter(start: float, iterations: int, h: np.ndarray) -> np.ndarray:
    """F(h) = (1 - start h)^(2^iterations): M <- M (2 I - H M) from start I, weights M X^T y / n."""
    return (1 - start * np.asarray(h)) ** (2**iterations)


def ridge_filter(n: int, noise_var: float, h: np.ndarray) -> np.ndarray:
    """F(h) = v / (h + v), v = noise_var / n: ridge regression of strength noise_var."""
    return noise_var / (n * np.asarray(h) + noise_var)


def chebyshev_steps(steps: int, low: float, high: float) -> np.ndarray:
    """The step sizes with the least max |F| over low <= h <= high: 1 / a_k are Chebyshev's nodes.

    >>> chebyshev_steps(1, 0.5, 1.5).round(12).tolist()  # one step: 2 / (low + high)
    [1.0]
    """
    k = validation.positive_int("steps", steps)
    low, high = validation.positive("low", low), validation.positive("high", high)
    nodes = np.cos(np.pi * (np.arange(k) + 0.5) / k)
    return 1 / ((high + low) / 2 + (high - low) / 2 * nodes)


# --- Losses --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spectrum:
    """The eigenvalues of H at given sizes, as a quadrature rule: E tr g(H) = sum weights g(h).

    n: examples.   d: dimension.   noise_var: variance of the label noise.
    reach: see `wishart.spectral_rule`; 16 where filters have a degree above 20.
    """

    n: int
    d: int
    noise_var: float = 0.0
    reach: float = 10.0

    def __post_init__(self):
        validation.non_negative("noise_var", self.noise_var)
        x, weights = spectral_rule(self.n, self.d, reach=self.reach)
        object.__setattr__(self, "h", x / self.n)
        object.__setattr__(self, "weights", weights)

    def residuals(self, F: Float[np.ndarray, " nodes"]) -> Float[np.ndarray, " two_nodes"]:
        """A vector whose squared length is the risk above the noise: what remains, noise taken in.

        F: a filter's values at `h`.
        """
        with np.errstate(invalid="ignore", divide="ignore"):
            taken = np.where(self.h > 0, (1 - F) / np.sqrt(self.n * self.h), 0.0)  # sqrt(h / n) p
        root = np.sqrt(self.weights)
        return np.concatenate([root * F, root * np.sqrt(self.noise_var) * taken])

    def risk(self, filter: Filter, *parameters) -> float:
        """The exact risk of the learner with F(h) = filter(*parameters, h), at least `noise_var`.

        >>> round(Spectrum(20, 5).risk(gradient_filter, [10 / 13]), 12)  # 15/13: one tuned step
        1.153846153846
        """
        F = filter(*parameters, self.h)
        return self.noise_var + float(np.sum(self.residuals(F) ** 2))


def best_polynomial(degree: int, spectrum: Spectrum) -> tuple[Fraction, np.ndarray]:
    """(risk, f) of the best filter F(h) = sum_i f_i h^i with F(0) = 1.

    The risk above the noise is f^T M f with M_ij = E tr H^(i+j) + (s2/n) E tr H^(i+j-1), the last
    term for i, j >= 1. Subject to f_0 = 1 its minimum is 1 / (M^-1)_00: in exact fractions here.

    >>> str(best_polynomial(2, Spectrum(20, 5))[0])
    '1795/4969'
    """
    degree = validation.positive_int("degree", degree)
    noise = Fraction(spectrum.noise_var)
    m = mean_moments(2 * degree, spectrum.n, spectrum.d)

    def entry(i: int, j: int) -> Fraction:
        return m[i + j] + (noise / spectrum.n * m[i + j - 1] if i and j else 0)

    M = np.array([[entry(i, j) for j in range(degree + 1)] for i in range(degree + 1)])
    rows = []
    for p in range(degree, 0, -1):  # the best f_p given f_0, ..., f_{p-1}; put it in
        row = M[p, :p] / M[p, p]
        M = M[:p, :p] - np.outer(M[:p, p], row)
        rows.append(row)
    f = np.array([Fraction(1)])
    for row in reversed(rows):
        f = np.append(f, -(row @ f))
    return noise + M[0, 0], f.astype(float)
