"""Right answers to the capstone's graded core that look different from the solution."""

RIGHT = {
    "q1": {
        "normal equations": """
def measure_C(X, y, x_query, predictions, negated):
    f = np.einsum("bi,bnj,bn->bij", x_query, X, y).reshape(len(y), -1)
    return np.linalg.solve(f.T @ f, f.T @ (predictions - negated) / 2).reshape(X.shape[2], -1)
""",
    },
    "q2": {
        "Pythagoras": """
def distance_from_step(C):
    eta, size = C.trace() / len(C), (C**2).sum()
    return eta, max(1 - len(C) * eta**2 / size, 0) ** 0.5
""",
    },
    "q3": {
        "relative variances": """
def ratio_with_error(top, bottom):
    a, b = top.mean(), bottom.mean()
    cov = np.cov(top, bottom)
    relative = cov[0, 0] / a**2 + cov[1, 1] / b**2 - 2 * cov[0, 1] / (a * b)
    return a / b, abs(a / b) * np.sqrt(abs(relative) / len(top))
""",
        "from the covariance matrix": """
def ratio_with_error(top, bottom):
    r, cov = top.mean() / bottom.mean(), np.cov(top, bottom)
    slope = np.array([1 / bottom.mean(), -r / bottom.mean()])
    return [r, np.sqrt(np.maximum(slope @ cov @ slope, 0) / len(top))]
""",
    },
}
