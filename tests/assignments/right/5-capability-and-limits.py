"""Right answers to problem set 5 that look different from the solution."""

RIGHT = {
    "q1": {
        "fitted": """
def error_left(values, chances, m):
    p = np.average(values ** (m + 1), weights=chances) / np.average(values ** (2 * m), weights=chances)
    return np.average((values - p * values**m) ** 2, weights=chances) / np.average(values**2, weights=chances)
""",
    },
    "q2": {
        "harmonic mean": """
def mean_ratio(m2, m4, m6, d, T):
    best = [m4 / (m6 + (d - 1) * m2 * m4 / (t - 1)) for t in range(2, min(T, 3000))]
    if T > 3000:
        return m2 / (m6 / m4 + (d - 1) * m2 * theory.harmonic_sum(T) / (T - 2))
    return m2 * len(best) / sum(1 / p for p in best)
""",
    },
    "q3": {
        "from the kappas": """
def busy_error(k, d, c, T, t):
    m2, k1, k2, k3 = c**2 * k / d, c**4 * k / d, c**6 * k / d, c**6 * k * (k - 1) / d
    p = k1 / (k2 + k3 * theory.harmonic_sum(T) / (T - 2))
    return 1 - 2 * p * k1 / m2 + p**2 * (k2 + k3 / (t - 1)) / m2
""",
    },
    "q4": {
        "weighted harmonic mean": """
def weighted_product(weights, k1, k2, k3):
    best = k1 / (k2 + k3 / np.arange(1.0, len(weights) + 1))
    return weights.sum() / (weights / best).sum()
""",
    },
    "q5": {
        "coordinate by coordinate": """
def long_context_error(W1, W2, u):
    error = 0
    for k in range(len(u)):
        row = u[k] ** 2 * W1[k] * u
        error += (W2[:, k] @ W2[:, k]) * (row @ row) - 2 * W2[k, k] * row[k] * u[k] + u[k] ** 2
    return error
""",
    },
}
