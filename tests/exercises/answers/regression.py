"""Right answers and plausible wrong ones: chapters 1 to 7, and 16."""

import numpy as np

from icgd import exercises as ex


def ridge(X, y, noise_var):
    return np.linalg.solve(X.T @ X + noise_var * np.eye(X.shape[1]), X.T @ y)


def step(n, d, noise_var):
    return 1 / (n + d + 1 + noise_var)


def minimum(n, d, noise_var):
    return d + noise_var - n * d * step(n, d, noise_var)


def ratio(X, y, noise_var, *, of_means=True, power=1):
    pairs = [(ridge(x, t, noise_var**power), x.T @ t) for x, t in zip(X, y, strict=True)]
    tops, bottoms = [w @ s for w, s in pairs], [s @ s for _, s in pairs]
    return np.mean(tops) / np.mean(bottoms) if of_means else np.mean(np.divide(tops, bottoms))


def one_slot(d, *, b=0.0, a=1.0, w_x=1.0):
    s = d + 1
    W_K, W_Q, W_V, h = np.zeros((s, s)), np.zeros((s, s)), np.zeros((s, s)), np.zeros(s)
    W_K[0, d] = W_Q[0, 0] = a  # the key reads the label
    W_V[0, 0], W_V[0, d], h[0] = w_x, b, 1.0  # the value carries a covariate
    return W_K, W_Q, W_V, h


def heads(A, w, *, cross=True, turn=False):
    d = A.shape[1]
    C = np.einsum("h,hij->ij", w[:, d], A[:, :, :d])
    extra = np.einsum("hi,hj->ij", A[:, :, d], w[:, :d])
    return C + cross * (extra.T if turn else extra)


def louder(c, n, d, noise_var):
    return (
        d + noise_var - 2 * c * n * d * step(n, d, noise_var) + c**2 * n * d * step(n, d, noise_var)
    )


def random_scale(scales, chances, n, d, noise_var):
    return chances @ scales / (chances @ scales**2) * step(n, d, noise_var)


def split(points, weights, values):
    beta = points.T @ (weights * values)
    return beta, weights @ values**2 - beta @ beta


def half_time(s, d, n, noise_var, *, power=2):
    return np.log(d**0.5 / s**power * n / (n + d + 1 + noise_var) - 1) / (2 * d**0.5)


def silence(n, d, noise_var, *, twice=2):
    c = d + 1 + noise_var
    return n * c / (n + twice * c)


def repeated(n, d, noise_var, *, noise=1.0, spread=1):
    f, e1, e2, e3 = n * step(n, d, noise_var), d, d * (d + 2), d * (d + 2) * (d + 4)
    c = f * (n - 1) / n - 1
    first = f**2 / n**2 * e3 + 2 * f / n * c * e2 + c**2 * e1
    others = (n - 1) * (d + spread + noise_var) * e1
    return first + f**2 / n**2 * (noise * noise_var * e2 + others)


def hardest(variances, n, *, size=1.0):
    k = variances.sum()
    off = size * ((variances + k) / ((n + 1) * variances + k)) ** 2
    return off.min(), off.max()


def random_flow(l, p, n, noise_var, *, power=2, root=4):
    g = ((n + 1) * l + l.sum(1, keepdims=True) + noise_var) / n
    c = p @ l**power / (p @ (g * l**power))
    return c, (c @ c) ** (1 / root)


def offset(beta_sq, f_sq_x_sq, c, n, d, noise_var):
    return beta_sq / (f_sq_x_sq + d * (c**2 + noise_var) + (n - 1) * beta_sq)


def heavy(kurtosis, n, d, noise_var, shift=-2):
    eta = 1 / (n + d + shift + kurtosis + noise_var)
    return eta, d + noise_var - n * d * eta


THEOREM_1 = {
    "the query disappears": "query covariance I",
    "ridge is the conditional mean of w_star": "Gaussian weights and noise",
    "the even part drops out": "sign symmetry",
    "the second moments are multiples of I": "rotation symmetry",
}
THEOREM_3 = {
    "u_bar minimises the conditional loss": "query independent of the context",
    "u_bar is odd in y": "negation",
    "u_bar turns with X": "rotation",
    "the numerator is n E|beta_f|^2": "independent examples given f",
}
UNEQUAL = np.array([[x, y] for x in (-1, 1) for y in (-(3**0.5), 0, 3**0.5)])
CHANCES = np.array([1, 4, 1, 1, 4, 1]) / 12
TURN = np.array([[1, -1], [1, 1]]) / 2**0.5

CASES = {
    ex.check_break_even: (
        [(lambda n, d, s: 2 * step(n, d, s),)],
        {
            "the best step": ((step,), "guessing zero"),
            "no step": ((lambda n, d, s: 0.0,), "some positive step"),
            "n for n + 1": ((lambda n, d, s: 2 / (n + d + s),), "guessing zero"),
            "standard deviation": ((lambda n, d, s: 2 * step(n, d, s**0.5),), "guessing zero"),
        },
    ),
    ex.check_high_noise: (
        [(lambda X, y, s: X.T @ X @ ridge(X, y, s),)],
        {
            "subtraction": ((lambda X, y, s: X.T @ y - s * ridge(X, y, s),), "digit by digit"),
            "no S": ((lambda X, y, s: s * ridge(X, y, s),), "X.T y minus"),
            "standard deviation": (
                (lambda X, y, s: X.T @ X @ ridge(X, y, s**0.5),), "X.T y minus",
            ),
            "zero": ((lambda X, y, s: 0 * X[0],), "X.T y minus"),
        },
    ),
    ex.check_noiseless_risk: (
        [(lambda n, d: max(d - n, 0),)],
        {
            "negative": ((lambda n, d: d - n,), "no example shows"),
            "never zero": ((lambda n, d: d,), "no example shows"),
            "n + 1": ((lambda n, d: max(d - n + 1, 0),), "no example shows"),
            "infinite": ((lambda n, d: np.inf if n == d else max(d - n, 0),), "finite"),
        },
    ),
    ex.check_by_hand: (
        [(lambda x, y, q, eta: eta * (x @ y) * q,)],
        {
            "least squares": ((lambda x, y, q, eta: (x @ y) / (x @ x) * q,), "output of the layer"),
            "mean": ((lambda x, y, q, eta: eta * (x @ y) * q / len(x),), "output of the layer"),
            "no query": ((lambda x, y, q, eta: eta * (x @ y),), "output of the layer"),
        },
    ),
    ex.check_self_attention: (
        [(lambda K, Q, V, h, x: (h @ V[:, :-1] @ x) * ((K[:, :-1] @ x) @ (Q[:, :-1] @ x)),)],
        {
            "key and query twice": (
                (lambda K, Q, V, h, x: (h @ V[:, :-1] @ x) * ((K[:, :-1] @ x) @ (K[:, :-1] @ x)),),
                "j = i",
            ),
            "values transposed": (
                (lambda K, Q, V, h, x: (h @ V.T[:, :-1] @ x)
                 * ((K[:, :-1] @ x) @ (Q[:, :-1] @ x)),), "j = i",
            ),
            "nothing": ((lambda K, Q, V, h, x: 0.0,), "j = i"),
        },
    ),
    ex.check_swapped_slots: (
        [(one_slot,)],
        {
            "reads the label": ((lambda d: one_slot(d, b=0.3),), "b, the last entry"),
            "the construction": (
                (lambda d: (*[np.diag([1.0] * d + [0.0])] * 2, np.diag([0.0] * d + [1.0]),
                            np.eye(d + 1)[d]),), "b, the last entry",
            ),
            "no key": ((lambda d: one_slot(d, a=0.0),), "not zero"),
            "three arrays": ((lambda d: one_slot(d)[:3],), "tuple of 4"),
        },
    ),
    ex.check_step_ratio: (
        [(ratio,)],
        {
            "mean of ratios": ((lambda *a: ratio(*a, of_means=False),), "before they are divided"),
            "variance squared": ((lambda *a: ratio(*a, power=2),), "one example"),
            "closed form": ((lambda X, y, s: step(*X.shape[1:], s),), "one example"),
        },
    ),
    ex.check_clean_target: (
        [(lambda n, d, s: (step(n, d, s), minimum(n, d, s) - s),)],
        {
            "noise stays": ((lambda n, d, s: (step(n, d, s), minimum(n, d, s)),), "noiseless"),
            "no noise at all": (
                (lambda n, d, s: (step(n, d, 0.0), minimum(n, d, 0.0)),), "gradient of the loss",
            ),
            "n for n + 1": (
                (lambda n, d, s: (1 / (n + d + s), minimum(n, d, s) - s),), "gradient of the loss",
            ),
        },
    ),
    ex.check_heads: (
        [(heads,)],
        {
            "one branch": ((lambda A, w: heads(A, w, cross=False),), "half the change"),
            "transposed": ((lambda A, w: heads(A, w, turn=True),), "half the change"),
            "mean": ((lambda A, w: heads(A, w) / len(A) * (len(A) + 1) / 2,), "half the change"),
            "first head": ((lambda A, w: heads(A[:1], w[:1]),), "half the change"),
        },
    ),
    ex.check_theorem_1: (
        [(THEOREM_1,)],
        {
            "exchanged": (({**THEOREM_1, "the even part drops out": "rotation symmetry"},),
                          "turns y into -y"),
            "not a hypothesis": (({**THEOREM_1, "the query disappears": "luck"},), "not one of"),
            "missing": (({"the query disappears": "query covariance I"},), "say which"),
        },
    ),
    ex.check_change_of_coordinates: (
        [(lambda C, T: np.linalg.inv(T).T @ C @ np.linalg.inv(T),)],
        {
            "T for its inverse": ((lambda C, T: T.T @ C @ T,), "did before"),
            "transposed": ((lambda C, T: np.linalg.inv(T) @ C @ np.linalg.inv(T).T,), "did before"),
            "similar": ((lambda C, T: T @ C @ np.linalg.inv(T),), "did before"),
        },
    ),
    ex.check_kept_share: (
        [(lambda v: v.sum() ** 2 / (v @ v) / len(v),)],
        {
            "effective dimension": ((lambda v: v.sum() ** 2 / (v @ v),), "equal variances"),
            "deviations": ((lambda v: np.sqrt(v).sum() ** 2 / v.sum() / len(v),), "share"),
            "inverse": ((lambda v: (1 / v).sum() ** 2 / (v**-2.0).sum() / len(v),), "share"),
            "mean over largest": ((lambda v: v.mean() / v.max(),), "share"),
        },
    ),
    ex.check_louder_test: (
        [(louder,)],
        {
            "scaling x by c": ((lambda c, *a: louder(c**2, *a),), "old preconditioner"),
            "sqrt c": ((lambda c, *a: louder(c**0.5, *a),), "old preconditioner"),
            "trained again": ((lambda c, *a: louder(1.0, *a),), "old preconditioner"),
        },
    ),
    ex.check_random_scale: (
        [(random_scale,)],
        {
            "mean scale": ((lambda s, p, *a: step(*a) / (p @ s),), "no slope"),
            "mean inverse": ((lambda s, p, *a: step(*a) * (p @ (1 / s)),), "no slope"),
            "ignores chances": (
                (lambda s, p, *a: random_scale(s, 0 * p + 1 / len(p), *a),), "no slope",
            ),
        },
    ),
    ex.check_linear_share: (
        [(split,)],
        {
            "no weights": (
                (lambda p, w, f: (p.T @ f / len(f), w @ f**2 - sum((p.T @ f / len(f)) ** 2)),),
                "fits the linear",
            ),
            "power": ((lambda p, w, f: (p.T @ (w * f), w @ f**2),), "rest is"),
            "sum, not square": (
                (lambda p, w, f: (split(p, w, f)[0], w @ f**2 - np.abs(split(p, w, f)[0]).sum()),),
                "rest is",
            ),
        },
    ),
    ex.check_sign_labels: (
        [(lambda d: (2 / np.pi, d),)],
        {
            "length, not square": ((lambda d: ((2 / np.pi) ** 0.5, d),), "no dimension"),
            "d of them": ((lambda d: (2 * d / np.pi, d),), "no dimension"),
            "like a linear target": ((lambda d: (2 / np.pi, d * (d + 2)),), "size one"),
            "half line": ((lambda d: (1 / (2 * np.pi), d),), "no dimension"),
        },
    ),
    ex.check_offset: (
        [(offset,)],
        {
            "no d": ((lambda b, f, c, n, d, s: b / (f + d * s + c**2 + (n - 1) * b),), "constant"),
            "not squared": (
                (lambda b, f, c, n, d, s: b / (f + d * (s + abs(c)) + (n - 1) * b),), "constant",
            ),
            "ignored": ((lambda b, f, c, n, d, s: offset(b, f, 0.0, n, d, s),), "constant"),
            "n for n - 1": (
                (lambda b, f, c, n, d, s: b / (f + d * (s + c**2) + n * b),), "constant",
            ),
        },
    ),
    ex.check_blind: (
        [(lambda w, x: (x @ w) ** 2,), (lambda w, x: (x**2).sum(1) - 3.0,)],
        {
            "the example": ((lambda w, x: np.abs(x @ w),), "example of the text"),
            "odd": ((lambda w, x: (x @ w) ** 3,), "E.x f.x.. is zero"),
            "nothing": ((lambda w, x: 0 * x[:, 0],), "not zero"),
            "one axis": ((lambda w, x: x[:, 0] ** 2,), "turning"),
        },
    ),
    ex.check_theorem_3: (
        [(THEOREM_3,)],
        {
            "exchanged": (({**THEOREM_3, "u_bar turns with X": "negation"},), "undoes a change"),
            "unknown": (({**THEOREM_3, "u_bar is odd in y": "smoothness"},), "not one of"),
            "missing": (({},), "say which"),
        },
    ),
    ex.check_heavy_tails: (
        [(heavy,)],
        {
            "Gaussian only": ((lambda k, *a: heavy(3.0, *a),), "regression of u"),
            "d - 1": ((lambda *a: heavy(*a, shift=-1),), "regression of u"),
            "excess kurtosis": ((lambda k, *a: heavy(k - 3, *a),), "regression of u"),
            "without noise": (
                (lambda k, n, d, s: (heavy(k, n, d, s)[0], heavy(k, n, d, s)[1] - s),), "its loss",
            ),
        },
    ),
    ex.check_not_plain: (
        [(UNEQUAL @ TURN.T, CHANCES)],
        {
            "unequal": ((UNEQUAL, CHANCES), "one fourth moment"),
            "signs": ((np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]]), np.ones(4) / 4),
                      "decides is not"),
            "covariance": ((2 * UNEQUAL, CHANCES), "identity"),
            "not a law": ((UNEQUAL, 2 * CHANCES), "add up"),
        },
    ),
    ex.check_orthogonal_design: (
        [(lambda n, d, s: (1 / (n + s), d + s - n * d / (n + s)),)],
        {
            "random examples": ((lambda n, d, s: (step(n, d, s), minimum(n, d, s)),), "regression"),
            "without noise": ((lambda n, d, s: (1 / n, s),), "regression|unknown"),
            "floor forgotten": ((lambda n, d, s: (1 / (n + s), d - n * d / (n + s)),), "unknown"),
        },
    ),
    ex.check_same_step: (
        [(lambda d, s: (0.5, (d + 2) / 4 + s),), (lambda d, s: (1.0, d + 2 + 4 * s),)],
        {
            "deviation": ((lambda d, s: (0.5, ((d + 2) / 4 + s) ** 0.5),), "same step"),
            "noise not scaled": ((lambda d, s: (1.0, d + 2 + s),), "same step"),
            "width": ((lambda d, s: (0.25, (d + 2) / 4 + s),), "same step"),
            "d + 1": ((lambda d, s: (1.0, d + 1 + 4 * s),), "same step"),
        },
    ),
    ex.check_half_time: (
        [(half_time,)],
        {
            "scale not squared": ((lambda *a: half_time(*a, power=1),), "half of its limit"),
            "small start": (
                (lambda s, d, n, v: np.log(d**0.5 / s**2) / (2 * d**0.5),), "half of its limit",
            ),
            "half the rate": ((lambda *a: 2 * half_time(*a),), "half of its limit"),
            "no root": (
                (lambda s, d, n, v: half_time(s, d, n, v) / d**0.5,), "half of its limit",
            ),
        },
    ),
    ex.check_worse_than_zero: (
        [(silence,)],
        {
            "once": ((lambda *a: silence(*a, twice=1),), "predicting zero"),
            "long training": ((lambda n, d, s: d + 1 + s,), "predicting zero"),
            "half": ((lambda n, d, s: n / 2,), "predicting zero"),
            "none": ((lambda n, d, s: 0.0,), "above 1"),
        },
    ),
    ex.check_repeated_query: (
        [(repeated,)],
        {
            "new query": (
                (lambda n, d, s: d - n * d * step(n, d, s),), "complete list",
            ),
            "clean label": ((lambda *a: repeated(*a, noise=0.0),), "complete list"),
            "mean square, not variance": ((lambda *a: repeated(*a, spread=2),), "complete list"),
        },
    ),
    ex.check_hardest_task: (
        [(hardest,)],
        {
            "exchanged": ((lambda v, n: hardest(v, n)[::-1],), "lower bias"),
            "not squared": ((lambda v, n: tuple(np.sqrt(hardest(v, n))),), "lower bias"),
            "unit weights": (
                (lambda v, n: hardest(v, n, size=v),), "lower bias",
            ),
        },
    ),
    ex.check_random_flow: (
        [(random_flow,)],
        {
            "query taken out": ((lambda *a: random_flow(*a, power=1),), "ends there"),
            "square root": ((lambda *a: random_flow(*a, root=2),), "imbalance"),
            "per example": (
                (lambda l, p, n, s: (random_flow(l, p, n, s)[0] / n, 1.0),), "ends there",
            ),
        },
    ),
    ex.check_corner: (
        [(lambda g, t: (g / (1 + t) ** 2, 1 / g, g / t**2),)],
        {
            "all of it": ((lambda g, t: (g / (1 + t), 1 / g, g / t**2),), "short prompts"),
            "noise stays": ((lambda g, t: (g / (1 + t) ** 2, (1 + t) / g, g / t**2),), "long"),
            "too slow": ((lambda g, t: (g / (1 + t) ** 2, 1 / g, g / t),), "loud noise"),
        },
    ),
    ex.check_loud_direction: (
        [(lambda a, d: a * (1 - a) ** 2 / (a + d - 1),)],
        {
            "all alike": ((lambda a, d: (1 - a) ** 2 / d,), "exact error"),
            "not squared": ((lambda a, d: a * abs(1 - a) / (a + d - 1),), "exact error"),
            "not a share": ((lambda a, d: a * (1 - a) ** 2,), "exact error"),
            "only the loud one": ((lambda a, d: (1 - a) ** 2,), "exact error"),
        },
    ),
    ex.check_shortest: (
        [(lambda s2: 1 / ((1 + s2) * (1 + 4 * s2 + 2 * s2**2)),)],
        {
            "the limit": ((lambda s2: 1 / (1 + s2),), "no slope"),
            "independent": ((lambda s2: (1 + s2) ** -3,), "no slope"),
            "real noise": ((lambda s2: 1 / ((1 + s2) * (1 + 6 * s2 + 3 * s2**2)),), "no slope"),
            "zero": ((lambda s2: 0.0,), "exact"),
        },
    ),
}  # fmt: skip
