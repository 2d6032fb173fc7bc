"""Right answers to the capstone's graded core that look different from the solution."""

RIGHT = {
    "q1": {
        "normal equations": """
def measure_C(X, y, x_query, predictions, negated):
    f = np.einsum("bi,bnj,bn->bij", x_query, X, y).reshape(len(y), -1)
    return np.linalg.solve(f.T @ f, f.T @ (predictions - negated) / 2).reshape(X.shape[2], -1)
""",
    },
    "q3": {
        "from the covariance matrix": """
def ratio_with_error(top, bottom):
    r, cov = top.mean() / bottom.mean(), np.cov(top, bottom)
    slope = np.array([1 / bottom.mean(), -r / bottom.mean()])
    return [r, np.sqrt(np.maximum(slope @ cov @ slope, 0) / len(top))]
""",
    },
}
