"""Plausible wrong answers to the capstone's graded core, each wrong in its own way."""

WRONG = {
    "q1": {
        "transposed": """
right = measure_C
def measure_C(*given):
    return right(*given).T.copy()
""",
        "even part left in": """
right = measure_C
def measure_C(X, y, x_query, predictions, negated):
    return right(X, y, x_query, predictions, -predictions)
""",
        "not halved": """
right = measure_C
def measure_C(*given):
    return 2 * right(*given)
""",
        "even for odd": """
right = measure_C
def measure_C(X, y, x_query, predictions, negated):
    return right(X, y, x_query, predictions, -negated)
""",
        "multiples of I only": """
def measure_C(X, y, x_query, predictions, negated):
    one = np.einsum("bnd,bn,bd->b", X, y, x_query)
    return one @ (predictions - negated) / 2 / (one @ one) * np.eye(X.shape[2])
""",
        "mean for sum": """
right = measure_C
def measure_C(X, y, x_query, predictions, negated):
    return right(X / X.shape[1], y, x_query, predictions, negated)
""",
        "products not inverted": """
def measure_C(X, y, x_query, predictions, negated):
    sums = np.einsum("bnd,bn->bd", X, y)
    return np.einsum("b,bi,bj->ij", (predictions - negated) / 2, x_query, sums) / (sums**2).sum()
""",
    },
    "q2": {
        "mean of all entries": """
def distance_from_step(C):
    eta = C.mean()
    return eta, np.linalg.norm(C - eta * np.eye(len(C))) / np.linalg.norm(C)
""",
        "spectral norm": """
def distance_from_step(C):
    eta = np.trace(C) / len(C)
    return eta, np.linalg.norm(C - eta * np.eye(len(C)), 2) / np.linalg.norm(C, 2)
""",
        "relative to the step": """
def distance_from_step(C):
    eta = np.trace(C) / len(C)
    return eta, np.linalg.norm(C - eta * np.eye(len(C))) / np.linalg.norm(eta * np.eye(len(C)))
""",
        "trace": """
def distance_from_step(C):
    eta = np.trace(C)
    return eta, np.linalg.norm(C - eta * np.eye(len(C))) / np.linalg.norm(C)
""",
        "square": """
def distance_from_step(C):
    eta = np.trace(C) / len(C)
    return eta, ((C - eta * np.eye(len(C))) ** 2).sum() / (C**2).sum()
""",
    },
    "q3": {
        "mean of ratios": """
def ratio_with_error(top, bottom):
    ratios = top / bottom
    return ratios.mean(), ratios.std(ddof=1) / np.sqrt(len(top))
""",
        "no covariance": """
def ratio_with_error(top, bottom):
    r = top.mean() / bottom.mean()
    return r, np.sqrt((top.var(ddof=1) + r**2 * bottom.var(ddof=1)) / len(top)) / abs(bottom.mean())
""",
        "standard deviation": """
def ratio_with_error(top, bottom):
    r = top.mean() / bottom.mean()
    return r, np.std(top - r * bottom, ddof=1) / abs(bottom.mean())
""",
        "variance": """
def ratio_with_error(top, bottom):
    r = top.mean() / bottom.mean()
    return r, np.var(top - r * bottom, ddof=1) / bottom.mean() ** 2 / len(top)
""",
        "divisor N": """
def ratio_with_error(top, bottom):
    r = top.mean() / bottom.mean()
    return r, np.std(top - r * bottom) / abs(bottom.mean()) / np.sqrt(len(top))
""",
        "negative error": """
def ratio_with_error(top, bottom):
    r = top.mean() / bottom.mean()
    return r, np.std(top - r * bottom, ddof=1) / bottom.mean() / np.sqrt(len(top))
""",
    },
}
