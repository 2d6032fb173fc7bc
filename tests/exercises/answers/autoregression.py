"""Right answers and plausible wrong ones: chapters 9 to 14."""

import numpy as np
from scipy.special import roots_genlaguerre

from icgd import exercises as ex


def power(values, chances, r):
    return chances @ values**r


def harmonic(T, r=1):
    return sum(1 / n**r for n in range(1, T - 1))


def unnormalised(d, T, start=1, more=-1):
    N = np.arange(start, T - 1.0)
    return 1 - N.sum() ** 2 / ((T - 2) * (N**2 + (d + more) * N).sum())


def copying(T, *, dimensions=None, forward=True):
    s = dimensions or T
    P = np.eye(s)[np.arange(T + 1) % T]
    return P, np.roll(np.eye(s), -1 if forward else 1, axis=0)


def survivors(t, *, even=True):
    n = range(1, t)
    return t - 1, 0, sum((m - t) % 2 == 0 for m in n), sum((m + t - even) % 2 == 0 for m in n)


def plateau(eps, c1, c2):
    p = c2 / c1
    return np.log(2 * p / (eps * np.sqrt(1 + p))) / c2


def coupled(a, b, alpha, beta, c2, half=0.5):
    others = (a**2).sum() - a**2
    return (-c2 * a * b + half * b**2 * (alpha * a**2 + beta * others)).sum()


def cross_talk(delta, N):
    return abs(np.sin(N * delta / 2) / np.sin(delta / 2)) / N


def short(d, T, t):
    p = 3 / (15 + 3 * (d - 1) * harmonic(T) / (T - 2))
    return 1 - 6 * p + p**2 * (15 + 3 * (d - 1) / (t - 1))


def two_sizes(gap, exponent=5):
    K = 4 / gap
    rare = K**-exponent / 2
    return np.array([-K, -1, 1, K]), np.array([rare, 0.5 - rare, 0.5 - rare, rare])


def best_sizes(k, a=1.5):
    return 1 / (2 * roots_genlaguerre(k, a)[0])


def gradient(d, T, a, b, rest=2):
    S, Q, t = harmonic(T), harmonic(T, 2), T - 2
    on = t + (d - 1) * S
    return (
        a * b**2 * on - b * t, a**2 * b * on - a * t,
        a * b**2 * (rest * S + (d - 2) * Q) - b * S, a**2 * b * S,
    )  # fmt: skip


def coefficients(d, T):
    on = d * (T - 2 + (d - 1) * harmonic(T))
    return on, d * (T - 2), on, d * (T - 2)


def noise(values, chances, mixed=2):
    k1, k2 = power(values, chances, 4), power(values, chances, 6)
    return (
        power(values, chances, 8) / k1**2
        - mixed * power(values, chances, 10) / (k1 * k2)
        + power(values, chances, 12) / k2**2
    )


def agreement(a, b, d, S, k, factor=4):
    return factor * d * S * k * (a * b) ** 2 / (a**2 + b**2)


THEOREM = {
    "four blocks sleep": "uniform phases",
    "rows (f), (j), (k) vanish": "Assumption 4.1",
    "rows (d), (i) vanish": "E[u_j^3 u_l^3] = 0",
    "all diagonal entries of U move alike": "the second sum is kappa_3 too",
    "the flow does not end at the saddle": "a_0 + b_0 != 0",
}
SILENT = (np.array([-2.0, 1.0, 3.0]), np.array([0.4, 0.5, 0.1]))

CASES = {
    ex.check_one_hand: (
        [(lambda v, p: power(v, p, 4) / power(v, p, 6),)],
        {
            "one over the square": ((lambda v, p: 1 / power(v, p, 2),), "no slope"),
            "upside down": ((lambda v, p: power(v, p, 6) / power(v, p, 4),), "no slope"),
            "ignores chances": ((lambda v, p: (v**4).sum() / (v**6).sum(),), "no slope"),
        },
    ),
    ex.check_no_normaliser: (
        [(unnormalised,)],
        {
            "from t = 3": ((lambda d, T: unnormalised(d, T + 1, start=2),), "lowest point|finite"),
            "d for d - 1": ((lambda d, T: unnormalised(d, T, more=0),), "lowest point"),
            "the limit": ((lambda d, T: 0.25,), "lowest point"),
            "normalised": (
                (lambda d, T: 1 - 1 / (1 + (d - 1) * harmonic(T) / (T - 2)),), "lowest point",
            ),
        },
    ),
    ex.check_copying_positions: (
        [(copying,)],
        {
            "next token": ((lambda T: copying(T, forward=False),), "the token before"),
            "too many": (
                (lambda T: (np.eye(T + 1), np.diag(np.ones(T), 1)),), "rank argument",
            ),
            "itself": ((lambda T: (np.eye(T + 1)[:, :T], np.eye(T)),), "the token before"),
        },
    ),
    ex.check_sign_survivors: (
        [(survivors,)],
        {
            "phases": ((lambda t: (t - 1, 0, 0, 0),), "mean phase of"),
            "n + t even": ((lambda t: survivors(t, even=False),), "mean phase of"),
            "half of them": ((lambda t: (t - 1, 0, (t - 1) / 2, (t - 1) / 2),), "mean phase of"),
        },
    ),
    ex.check_drift: (
        [(lambda a, b, eta, c1, c2: 1 - eta**2 * (c2 - c1 * a * b) ** 2,)],
        {
            "conserved": ((lambda *a: 1.0,), "one explicit step"),
            "plus": ((lambda a, b, eta, c1, c2: 1 + eta**2 * (c2 - c1 * a * b) ** 2,), "explicit"),
            "first order": ((lambda a, b, eta, c1, c2: 1 - eta * (c2 - c1 * a * b),), "explicit"),
            "c1 and c2": ((lambda a, b, e, c1, c2: 1 - e**2 * (c1 - c2 * a * b) ** 2,), "explicit"),
        },
    ),
    ex.check_plateau: (
        [(plateau,), (lambda e, c1, c2: np.log(1 / e) / c2,)],
        {
            "twice the rate": ((lambda e, c1, c2: np.log(1 / e) / (2 * c2),), "takes longer"),
            "c1": ((lambda e, c1, c2: np.log(1 / e) / c1,), "takes longer"),
            "a power": ((lambda e, c1, c2: e**-0.5,), "takes longer"),
            "far off": ((lambda e, c1, c2: (9 + np.log(1 / e)) / c2,), "constant"),
        },
    ),
    ex.check_coupled_loss: (
        [(coupled,)],
        {
            "no half": ((lambda *a: coupled(*a, half=1.0),), "minus the exact loss"),
            "one matrix": ((lambda a, b, *r: coupled(a, a, *r),), "minus the exact loss"),
            "no cross-talk": (
                (lambda a, b, al, be, c2: coupled(a, b, al, 0.0, c2),), "minus the exact loss",
            ),
            "with itself": (
                (lambda a, b, al, be, c2: coupled(a, b, al + be, be, c2),), "minus the exact loss",
            ),
        },
    ),
    ex.check_without_skew: (
        [SILENT],
        {
            "symmetric": ((np.array([-1.0, 0.0, 1.0]), np.array([0.3, 0.4, 0.3])), "not symmetric"),
            "skewed": ((np.array([2.0, -1.0, 0.0]), np.array([0.2, 0.4, 0.4])), "off the diagonal"),
            "a mean": ((np.array([-2.0, 1.0, 3.0]), np.array([0.3, 0.6, 0.1])), "mean is zero"),
            "two values": ((np.array([2.0, -1.0]), np.array([1, 2]) / 3), "three values"),
        },
    ),
    ex.check_theorem_4_1: (
        [(THEOREM,)],
        {
            "exchanged": (
                ({**THEOREM, "rows (d), (i) vanish": "Assumption 4.1"},), "Which odd moment",
            ),
            "unknown": (({**THEOREM, "four blocks sleep": "luck"},), "not one of"),
            "missing": (({},), "say which"),
        },
    ),
    ex.check_cubes: (
        [(lambda V, U, j, k, t: (t - 1) * V[j, k] * U[k, k],)],
        {
            "one pair": ((lambda V, U, j, k, t: V[j, k] * U[k, k],), "this coefficient alone"),
            "transposed": ((lambda V, U, j, k, t: (t - 1) * V[k, j] * U[k, k],), "alone"),
            "diagonal of V": ((lambda V, U, j, k, t: (t - 1) * V[j, j] * U[j, j],), "alone"),
            "U off the diagonal": ((lambda V, U, j, k, t: (t - 1) * V[j, k] * U[j, k],), "alone"),
        },
    ),
    ex.check_wirtinger: (
        [(lambda p, t: 2 * p / (t - 1),)],
        {
            "the other gradient": ((lambda p, t: p / (t - 1),), "against that derivative"),
            "half": ((lambda p, t: p / (t - 1) / 2,), "against that derivative"),
            "t": ((lambda p, t: 2 * p / t,), "against that derivative"),
        },
    ),
    ex.check_repeated_steps: (
        [(lambda u, eta, K: 1 - (1 - eta * u**2) ** K,)],
        {
            "what is left": ((lambda u, eta, K: (1 - eta * u**2) ** K,), "explicit steps"),
            "not squared": ((lambda u, eta, K: 1 - (1 - eta * abs(u)) ** K,), "explicit steps"),
            "K times": ((lambda u, eta, K: K * eta * u**2,), "explicit steps"),
        },
    ),
    ex.check_trained_short: (
        [(short,)],
        {
            "always long": ((lambda d, T, t: short(d, 10**6, t),), "mean squared miss"),
            "t for t - 1": ((lambda d, T, t: short(d, T, t + 1),), "mean squared miss"),
            "trained at t": ((lambda d, T, t: short(d, t + 1, t),), "mean squared miss"),
            "trained at T - 1": ((lambda d, T, t: short(d, T + 1, t),), "mean squared miss"),
        },
    ),
    ex.check_cross_talk: (
        [(cross_talk,)],
        {
            "the bound": ((lambda x, N: 1 / (N * abs(np.sin(x / 2))),), "geometric sum"),
            "not divided": ((lambda x, N: N * cross_talk(x, N),), "geometric sum"),
            "angle, not half": ((lambda x, N: abs(np.sin(N * x) / np.sin(x)) / N,), "geometric"),
        },
    ),
    ex.check_silence: (
        [(lambda d: max(d + 1, 2),)],
        {
            "d": ((lambda d: max(d, 2),), "before it"),
            "d + 2": ((lambda d: d + 2,), "before it"),
            "Gaussian": ((lambda d: int((d - 1) / 5) + 2,), "before it"),
        },
    ),
    ex.check_hard_law: (
        [(two_sizes,)],
        {
            "too rare to matter": ((lambda g: two_sizes(g, 8),), "leaves more"),
            "too common": ((lambda g: two_sizes(g, 2),), "leaves more"),
            "signs": ((lambda g: (np.array([-1.0, 1.0]), np.array([0.5, 0.5])),), "leaves more"),
            "one-sided": (
                (lambda g: (np.array([1.0, 100.0]), np.array([1 - 1e-10, 1e-10])),), "symmetric",
            ),
        },
    ),
    ex.check_normalised: (
        [(lambda d: 1 - 0.6 * (d + 4) / (d + 2),)],
        {
            "Gaussian": ((lambda d: 0.4,), "multiple of the cube"),
            "upside down": ((lambda d: 1 - 0.6 * (d + 2) / (d + 4),), "multiple of the cube"),
            "share explained": ((lambda d: 0.6 * (d + 4) / (d + 2),), "multiple of the cube"),
            "d - 1": ((lambda d: 1 - 0.6 * (d + 3) / (d + 1),), "multiple of the cube"),
        },
    ),
    ex.check_step_sizes: (
        [(best_sizes,)],
        {
            "one size": ((lambda k: np.full(k, 0.2),), "no slope"),
            "other polynomials": ((lambda k: best_sizes(k, 0.5),), "no slope"),
            "no two": ((lambda k: 2 * best_sizes(k),), "no slope"),
            "a scalar": ((lambda k: 0.2,), "shape"),
        },
    ),
    ex.check_gradient: (
        [(gradient,)],
        {
            "S for 2 S": ((lambda *a: gradient(*a, rest=1),), "rest of W_1"),
            "a and b": ((lambda d, T, a, b: gradient(d, T, b, a),), "diagonal of W_1"),
            "T for T - 2": ((lambda d, T, a, b: gradient(d, T + 2, a, b),), "diagonal of W_1"),
            "no target": (
                (lambda *p: (*gradient(*p)[:2], p[2] * p[3] ** 2, p[2] ** 2 * p[3]),),
                "rest of W_1",
            ),
        },
    ),
    ex.check_positive_exponents: (
        [(lambda k, r: {k, r},)],
        {
            "the last": ((lambda k, r: {r},), "positive powers"),
            "the first": ((lambda k, r: {k},), "positive powers"),
            "a list": ((lambda k, r: [k, r],), "a set"),
        },
    ),
    ex.check_coefficients: (
        [(coefficients,)],
        {
            "per coordinate": ((lambda d, T: np.divide(coefficients(d, T), d).tolist(),), "D_11"),
            "no cross-talk": ((lambda d, T: (d * (T - 2),) * 4,), "D_11"),
            "transposed": ((lambda d, T: (*np.array(coefficients(d, T))[[0, 1, 3, 2]],),), "C_12"),
        },
    ),
    ex.check_slope_noise: (
        [(noise,)],
        {
            "no covariance": ((lambda v, p: noise(v, p, mixed=0),), "one more draw"),
            "one covariance": ((lambda v, p: noise(v, p, mixed=1),), "one more draw"),
            "deviation": ((lambda v, p: max(noise(v, p), 0) ** 0.5,), "one more draw"),
        },
    ),
    ex.check_agreement_rate: (
        [(agreement,)],
        {
            "factor 2": ((lambda *a: agreement(*a, factor=2),), "exact gradient along"),
            "a b": ((lambda a, b, d, S, k: 4 * d * S * k * a * b / (a**2 + b**2),), "exact"),
            "d - 1": ((lambda a, b, d, S, k: agreement(a, b, d - 1, S, k),), "exact gradient"),
            "balanced only": ((lambda a, b, d, S, k: 2 * d * S * k * a * b,), "exact gradient"),
        },
    ),
}  # fmt: skip
