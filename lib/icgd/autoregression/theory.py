"""Closed forms for the autoregressive setting. numpy only: nothing here knows a model or a loss.

d: dimension.  T: training length.  a, b: the diagonal entries of W_KQ_32 = a I and W_PV_12 = b I.
Time of the flow is in units of loss^-1 (parameter)^2, d theta / d tau = -grad L with L from Eq.
(2). A law is any object with `moment(exponents, d)`.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from icgd import validation
from icgd.autoregression.normalisation import Rho, context_pairs, context_sizes, rho_values


@dataclass(frozen=True)
class Kappas:
    """m2 = E x_j^2 and the paper's k1 = E x_j^4, k2 = E x_j^6, k3 = sum_{r != j} E x_j^2 x_r^4."""

    m2: float
    k1: float
    k2: float
    k3: float


def kappas(law, d: int) -> Kappas:
    """The moments that Theorem 4.1 needs (MO, Assumption 4.1).

    >>> from icgd.autoregression.laws import Gaussian
    >>> kappas(Gaussian(1.0), d=5)
    Kappas(m2=1.0, k1=3.0, k2=15.0, k3=12.0)
    """
    d = validation.positive_int("the dimension d", d)
    k3 = (d - 1) * law.moment((4, 2), d) if d > 1 else 0.0
    found = Kappas(law.moment((2,), d), law.moment((4,), d), law.moment((6,), d), k3)
    if not (np.isfinite([found.m2, found.k1, found.k2, found.k3]).all() and found.k2 > 0):
        raise ValueError(
            f"the moments must be finite and E x^6 positive, got {found} for {law!r}; "
            "a law with heavy tails, or x_1 = 0, has no limit."
        )
    return found


def harmonic_sum(T: int) -> float:
    """S_T = sum_{t=2}^{T-1} 1 / (t - 1), about log T.

    >>> round(harmonic_sum(5), 6)
    1.833333
    """
    return float((1 / context_sizes(T)).sum())


def rates(law, *, d: int, T: int, rho: Rho = context_pairs) -> tuple[float, float]:
    """(c1, c2) of a' = b (c2 - c1 a b), b' = a (c2 - c1 a b) (MO, Lemmas 5.2 and 5.3).

    c1 = sum_t ((t-1)^2 k2 + (t-1) k3) / rho_t^2 and c2 = sum_t (t-1) k1 / rho_t; with the paper's
    rho_t = t - 1 that is (T-2) k2 + S_T k3 and (T-2) k1.
    """
    k = kappas(law, d)
    n, r = context_sizes(T), rho_values(rho, T - 1)
    return float(((n**2 * k.k2 + n * k.k3) / r**2).sum()), float((n * k.k1 / r).sum())


def limit_product(law, *, d: int, T: int, rho: Rho = context_pairs) -> float:
    """a b at the end of training, c2 / c1 = k1 / (k2 + k3 S_T / (T - 2)) (MO, Theorem 4.1).

    >>> from icgd.autoregression.laws import Gaussian
    >>> [round(limit_product(Gaussian(1.0), d=5, T=T), 4) for T in (5, 100)]
    [0.1343, 0.1919]
    """
    c1, c2 = rates(law, d=d, T=T, rho=rho)
    return c2 / c1


def long_limit_product(law, *, d: int) -> float:
    """k1 / k2: the limit of `limit_product` as T grows, a regression of x on x^3."""
    k = kappas(law, d)
    return k.k1 / k.k2


def diagonal_loss(a, b, law, *, d: int, T: int, rho: Rho = context_pairs):
    """Eq. (2) at W_KQ_32 = a I, W_PV_12 = b I, zeros elsewhere, for every exchangeable law.

    d ((T - 2) m2 / 2 - c2 a b + c1 (a b)^2 / 2). a, b: numbers or arrays.
    """
    c1, c2 = rates(law, d=d, T=T, rho=rho)
    return d * ((T - 2) * kappas(law, d).m2 / 2 - c2 * a * b + c1 * (a * b) ** 2 / 2)


def velocity(a, b, c1: float, c2: float) -> Float[np.ndarray, "2 ..."]:
    """(a', b') of the flow of one pair of diagonal entries (MO, Lemma 5.2)."""
    pull = c2 - c1 * np.multiply(a, b)
    return np.stack([b * pull, a * pull])


def surrogate(a, b, c1: float, c2: float):
    """l(a, b) = (c2 - c1 a b)^2 / (2 c1); the flow is -grad l (MO, Lemma 5.3)."""
    return (c2 - c1 * np.multiply(a, b)) ** 2 / (2 * c1)


def surrogate_hessian(a: float, b: float, c1: float, c2: float) -> Float[np.ndarray, "2 2"]:
    """The second derivatives of `surrogate`; indefinite for a b outside [c2 / 3 c1, c2 / c1].

    Its determinant is (c2 - c1 a b) (3 c1 a b - c2). The proof of Lemma 5.4 prints its first term
    as c1 a^2 b^2; c1^2 a^2 b^2 is meant.
    """
    mixed = 2 * c1 * a * b - c2
    return np.array([[c1 * b**2, mixed], [mixed, c1 * a**2]])


def trajectory(
    a0: float, b0: float, c1: float, c2: float, times
) -> tuple[Float[np.ndarray, " times"], Float[np.ndarray, " times"]]:
    """(a, b) at `times` in closed form, from any start (beyond MO).

    With s = a + b and m = a - b the flow reads s' = (c2 - c1 p) s and m' = -(c2 - c1 p) m, where
    p = a b = (s^2 - m^2) / 4. So q = s m = a^2 - b^2 is conserved and S = s^2 obeys the Riccati
    equation

        S' = -(c1 / 2) (S - S+) (S - S-),  S+- = 2 (c2 +- R) / c1,  R = sqrt(c2^2 + c1^2 q^2 / 4).

    From s = 0 the flow stays on s = 0 and M = m^2 obeys M' = -2 c2 M - (c1 / 2) M^2.
    """
    tau = np.asarray(times, dtype=float)
    s0, m0 = a0 + b0, a0 - b0
    if s0 == 0.0:
        grown = np.exp(-2 * c2 * tau)
        m = m0 * np.sqrt(grown / (1 + c1 * m0**2 / (4 * c2) * (1 - grown)))
        return m / 2, -m / 2
    q = s0 * m0
    R = np.hypot(c2, c1 * q / 2)
    upper = 2 * (c2 + R) / c1
    lower = -(q**2) / upper  # S+ S- = -q^2, without the cancellation in c2 - R
    w = (s0**2 - upper) / (s0**2 - lower) * np.exp(-2 * R * tau)
    s = np.sign(s0) * np.sqrt((upper - lower * w) / (1 - w))
    m = q / s
    return (s + m) / 2, (s - m) / 2


def limit_point(a0: float, b0: float, c1: float, c2: float) -> tuple[float, float]:
    """Where the flow from (a0, b0) ends: on a b = c2 / c1, unless a0 + b0 = 0: then at (0, 0)."""
    if a0 + b0 == 0.0:
        return 0.0, 0.0
    q = a0**2 - b0**2
    s = np.sign(a0 + b0) * np.sqrt(2 * (c2 + np.hypot(c2, c1 * q / 2)) / c1)
    return float((s + q / s) / 2), float((s - q / s) / 2)


def relative_error(law, *, d: int, t: int, product: float) -> float:
    """E|y_t - x_{t+1}|^2 / E|x_{t+1}|^2 for one gradient step with a b = product.

    1 - 2 product k1 / m2 + product^2 (k2 + k3 / (t - 1)) / m2, for every exchangeable law.
    """
    k, t = kappas(law, d), validation.int_at_least("the context length t", t, 2)
    return 1 - 2 * product * k.k1 / k.m2 + product**2 * (k.k2 + k.k3 / (t - 1)) / k.m2


def relative_error_limit(law, *, d: int) -> float:
    """1 - k1^2 / (m2 k2): what is left as T and then t grow (beyond MO).

    Zero exactly when |x_j| takes one value besides 0 (Cauchy-Schwarz for x and x^3).

    >>> from icgd.autoregression.laws import Gaussian, Rademacher
    >>> [round(relative_error_limit(law, d=5), 12) for law in (Gaussian(0.3), Rademacher(2.0))]
    [0.4, 0.0]
    """
    k = kappas(law, d)
    return 1 - k.k1**2 / (k.m2 * k.k2)


def skewed_gradient(m3: float, a: float, b: float, T: int) -> tuple[float, float]:
    """(d/dW_KQ_32, d/dW_PV_12) off the diagonal at (a I, b I) for i.i.d. zero-mean coordinates.

    (a b^2 m3^2 S_T, a^2 b m3^2 S_T), m3 = E x^3. Theorem 4.1's proof takes them to be zero: it
    drops the terms r1 = l, r2 = j, i1 + i2 = t, whose mean is E[x_j^3] E[x_l^3] (erratum 1).
    """
    S = harmonic_sum(T)
    return a * b**2 * m3**2 * S, a**2 * b * m3**2 * S


def full_one_gradient(d: int, T: int, a: float, b: float) -> tuple[float, float]:
    """(d/dW_KQ_32, d/dW_PV_12) off the diagonal at (a I, b I) for x_1 = (1, ..., 1) (erratum 6).

    (a b^2 (2 S_T + (d - 2) Q_T) - b S_T, a^2 b S_T), Q_T = sum_t 1 / (t-1)^2. They grow like log T,
    the diagonal ones like T. MO, Proposition 4.2, says only that they do not vanish.
    """
    S, Q = harmonic_sum(T), float((1 / context_sizes(T) ** 2).sum())
    return a * b**2 * (2 * S + (d - 2) * Q) - b * S, a**2 * b * S


def mean_ratio(
    law, A: Float[np.ndarray, "two_d two_d"], B: Float[np.ndarray, "d two_d"], *, t: int,
    rho: Rho = context_pairs,
) -> Float[np.ndarray, " d"]:  # fmt: skip
    """E[y_t,j / x_{t+1},j], given x_1j != 0, for any blocks A and B (MO, Proposition 4.1).

    Dividing by x_{t+1},j leaves lambda_j^-t to be compensated: the factors k and m must both be j,
    and l too, or else l is any other coordinate of x_1 (i = 2). Hence

        W_PV_12,jj (W_KQ_32,jj (t - 1) E x_j^2 + sum_{l != j} W_KQ_32,lj E[x_j x_l])
            / (rho_t P(x_j != 0)).
    """
    d, t = len(B), validation.int_at_least("the context length t", t, 2)
    W_KQ_32, W_PV_12 = np.asarray(A)[d:, :d], np.asarray(B)[:, :d]
    mixed = law.moment((1, 1), d) if d > 1 else 0.0
    own, others = np.diag(W_KQ_32), W_KQ_32.sum(axis=0) - np.diag(W_KQ_32)
    numerator = own * (t - 1) * law.moment((2,), d) + others * mixed
    return np.diag(W_PV_12) * numerator / (rho_values(rho, t)[-1] * law.nonzero(d))
