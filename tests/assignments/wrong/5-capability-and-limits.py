"""Plausible wrong answers to problem set 5, each wrong in its own way."""

WRONG = {
    "q1": {
        "correlation not squared": """
def error_left(values, chances, m):
    r = chances @ values ** (m + 1) / np.sqrt(chances @ values ** (2 * m) * (chances @ values**2))
    return 1 - r
""",
        "chances ignored": """
right = error_left
def error_left(values, chances, m):
    return right(values, np.full(len(values), 1 / len(values)), m)
""",
        "share explained": """
right = error_left
def error_left(values, chances, m):
    return 1 - right(values, chances, m)
""",
        "not divided by the power": """
right = error_left
def error_left(values, chances, m):
    return right(values, chances, m) * (chances @ values**2)
""",
        "centred": """
def error_left(values, chances, m):
    mean, other = chances @ values, chances @ values**m
    covariance = chances @ ((values - mean) * (values**m - other))
    return 1 - covariance**2 / (chances @ (values - mean) ** 2 * (chances @ (values**m - other) ** 2))
""",
        "one fifth": """
def error_left(values, chances, m):
    return 1 - (chances @ values ** (m + 1)) / (chances @ values ** (2 * m)) * (chances @ values**2)
""",
    },
    "q2": {
        "unlimited training": """
def mean_ratio(m2, m4, m6, d, T):
    return m2 * m4 / m6
""",
        "d for d - 1": """
def mean_ratio(m2, m4, m6, d, T):
    return m2 * m4 / (m6 + d * m2 * m4 * theory.harmonic_sum(T) / (T - 2))
""",
        "T for T - 2": """
def mean_ratio(m2, m4, m6, d, T):
    return m2 * m4 / (m6 + (d - 1) * m2 * m4 * theory.harmonic_sum(T) / T)
""",
        "the product": """
def mean_ratio(m2, m4, m6, d, T):
    return m4 / (m6 + (d - 1) * m2 * m4 * theory.harmonic_sum(T) / (T - 2))
""",
        "cross-talk of squares": """
def mean_ratio(m2, m4, m6, d, T):
    return m2 * m4 / (m6 + (d - 1) * m2**3 * theory.harmonic_sum(T) / (T - 2))
""",
        "no normaliser in the sum": """
def mean_ratio(m2, m4, m6, d, T):
    return m2 * m4 / (m6 + (d - 1) * m2 * m4 * (1 + 1 / (T - 2)))
""",
    },
    "q3": {
        "d for k": """
right = busy_error
def busy_error(k, d, c, T, t):
    return right(k, d, c, T, t) if k in (1, d) else right(d, d, c, T, t)
""",
        "k for k - 1": """
def busy_error(k, d, c, T, t):
    share = 1 / (1 + k * theory.harmonic_sum(T) / (T - 2))
    return (1 - share) ** 2 + share**2 * k / (t - 1)
""",
        "t for t - 1": """
right = busy_error
def busy_error(k, d, c, T, t):
    return right(k, d, c, T, t + 1)
""",
        "unlimited training": """
def busy_error(k, d, c, T, t):
    return (k - 1) / (t - 1)
""",
        "one length for both": """
right = busy_error
def busy_error(k, d, c, T, t):
    return right(k, d, c, t + 1, t)
""",
        "share not squared": """
def busy_error(k, d, c, T, t):
    share = 1 / (1 + (k - 1) * theory.harmonic_sum(T) / (T - 2))
    return (1 - share) ** 2 + share * (k - 1) / (t - 1)
""",
        "diluted": """
def busy_error(k, d, c, T, t):
    more = (k - 1) * k / d
    share = 1 / (1 + more * theory.harmonic_sum(T) / (T - 2))
    return (1 - share) ** 2 + share**2 * more / (t - 1)
""",
    },
    "q4": {
        "mean of the best products": """
def weighted_product(weights, k1, k2, k3):
    n = np.arange(1, len(weights) + 1)
    return weights @ (k1 / (k2 + k3 / n)) / weights.sum()
""",
        "weights of the square": """
def weighted_product(weights, k1, k2, k3):
    n = np.arange(1, len(weights) + 1)
    return (weights**2).sum() * k1 / (weights @ (k2 + k3 / n))
""",
        "weights ignored": """
def weighted_product(weights, k1, k2, k3):
    n = np.arange(1, len(weights) + 1)
    return len(n) * k1 / (k2 + k3 / n).sum()
""",
        "t for t - 1": """
def weighted_product(weights, k1, k2, k3):
    n = np.arange(2, len(weights) + 2)
    return weights.sum() * k1 / (weights @ (k2 + k3 / n))
""",
        "no cross-talk": """
def weighted_product(weights, k1, k2, k3):
    return k1 / k2
""",
        "weights that should add up": """
def weighted_product(weights, k1, k2, k3):
    n = np.arange(1, len(weights) + 1)
    return k1 / (weights @ (k2 + k3 / n))
""",
    },
    "q5": {
        "rows and columns exchanged": """
def long_context_error(W1, W2, u):
    inner = (u**2)[:, None] * W1 * u
    return (W2**2).sum(1) @ (inner**2).sum(0) - 2 * (np.diag(W2) * np.diag(inner)) @ u + u @ u
""",
        "norm of the product": """
def long_context_error(W1, W2, u):
    inner = (u**2)[:, None] * W1 * u
    return ((W2 @ inner) ** 2).sum() - 2 * np.diag(W2 @ inner) @ u + u @ u
""",
        "trace of the product": """
def long_context_error(W1, W2, u):
    inner = (u**2)[:, None] * W1 * u
    return (W2**2).sum(0) @ (inner**2).sum(1) - 2 * np.diag(W2 @ inner) @ u + u @ u
""",
        "no factor two": """
def long_context_error(W1, W2, u):
    inner = (u**2)[:, None] * W1 * u
    return (W2**2).sum(0) @ (inner**2).sum(1) - (np.diag(W2) * np.diag(inner)) @ u + u @ u
""",
        "both norms": """
def long_context_error(W1, W2, u):
    inner = (u**2)[:, None] * W1 * u
    return (W2**2).sum() * (inner**2).sum() / len(u) - 2 * (np.diag(W2) * np.diag(inner)) @ u + u @ u
""",
        "diagonal only": """
def long_context_error(W1, W2, u):
    inner = (u**2)[:, None] * W1 * u
    return ((np.diag(W2) * np.diag(inner) - u) ** 2).sum()
""",
        "chapter 13 as it stands": """
def long_context_error(W1, W2, u):
    return (W2**2).sum(0) @ (W1**2).sum(1) - 2 * np.diag(W2) @ np.diag(W1) + len(W1)
""",
        "the context's squares forgotten": """
def long_context_error(W1, W2, u):
    inner = W1 * u
    return (W2**2).sum(0) @ (inner**2).sum(1) - 2 * (np.diag(W2) * np.diag(inner)) @ u + u @ u
""",
    },
}
