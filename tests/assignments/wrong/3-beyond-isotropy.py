"""Plausible wrong answers to problem set 3, each wrong in its own way."""

WRONG = {
    "q1": {
        "trace only": """
def noisy_directions(H, n):
    d = len(H)
    return np.eye(d) / (n + d + 1 + np.trace(H))
""",
        "H for 2 H": """
def noisy_directions(H, n):
    d = len(H)
    return np.linalg.inv((n + d + 1 + np.trace(H)) * np.eye(d) + H)
""",
        "no trace": """
def noisy_directions(H, n):
    d = len(H)
    return np.linalg.inv((n + d + 1) * np.eye(d) + 2 * H)
""",
        "n for n - 1": """
def noisy_directions(H, n):
    d = len(H)
    return np.linalg.inv((n + d + 2 + np.trace(H)) * np.eye(d) + 2 * H)
""",
        "mean noise per dimension": """
def noisy_directions(H, n):
    d = len(H)
    return np.linalg.inv((n + d + 1 + np.trace(H) / d) * np.eye(d) + 2 * H)
""",
        "not inverted": """
def noisy_directions(H, n):
    d = len(H)
    return ((n + d + 1 + np.trace(H)) * np.eye(d) + 2 * H) / (n + d + 1) ** 2
""",
    },
    "q2": {
        "transposed": """
right = learned_matrix
def learned_matrix(points, chances, n, noise_var):
    return right(points, chances, n, noise_var).T.copy()
""",
        "as if white": """
def learned_matrix(points, chances, n, noise_var):
    F = points.T * (chances * (points**2).sum(1)) @ points
    return np.linalg.inv(F + (n - 1 + noise_var) * np.eye(points.shape[1]))
""",
        "Gaussian fourth moments": """
def learned_matrix(points, chances, n, noise_var):
    S = points.T * chances @ points
    return np.linalg.inv((n + 1) * S + (np.trace(S) + noise_var) * np.eye(len(S)))
""",
        "Sigma for its inverse": """
def learned_matrix(points, chances, n, noise_var):
    S = points.T * chances @ points
    Q = points.T * (chances * ((points**2).sum(1) + noise_var)) @ points
    return S @ S @ S @ np.linalg.inv(Q + (n - 1) * S @ S)
""",
        "n for n - 1": """
def learned_matrix(points, chances, n, noise_var):
    S = points.T * chances @ points
    Q = points.T * (chances * ((points**2).sum(1) + noise_var)) @ points
    return S @ np.linalg.inv(Q + n * S @ S)
""",
        "noise times I": """
def learned_matrix(points, chances, n, noise_var):
    S = points.T * chances @ points
    Q = points.T * (chances * (points**2).sum(1)) @ points + (noise_var + (noise_var == 0)) * np.eye(len(S))
    return S @ np.linalg.inv(Q + (n - 1) * S @ S)
""",
        "centred": """
right = learned_matrix
def learned_matrix(points, chances, n, noise_var):
    return right(points - chances @ points, chances, n, noise_var)
""",
    },
    "q3": {
        "c not squared": """
def bowl_step(c, n, d, noise_var):
    t = noise_var + 2 * abs(c) * (d + 4)
    return 1 / (n + d + 1 + t), t
""",
        "variance of the bowl": """
def bowl_step(c, n, d, noise_var):
    t = noise_var + 2 * c**2 * d
    return 1 / (n + d + 1 + t), t
""",
        "not divided by d": """
def bowl_step(c, n, d, noise_var):
    t = noise_var + 2 * c**2 * d * (d + 4)
    return 1 / (n + d + 1 + t), t
""",
        "d + 2 for d + 4": """
def bowl_step(c, n, d, noise_var):
    t = noise_var + 2 * c**2 * (d + 2)
    return 1 / (n + d + 1 + t), t
""",
        "bowl not centred": """
def bowl_step(c, n, d, noise_var):
    t = noise_var + c**2 * (d + 2) * (d + 4)
    return 1 / (n + d + 1 + t), t
""",
        "factor two": """
def bowl_step(c, n, d, noise_var):
    t = noise_var + c**2 * (d + 4)
    return 1 / (n + d + 1 + t), t
""",
    },
    "q4": {
        "inverse of the mean": """
def common_preconditioner(Sigmas, chances, n, noise_var):
    d = Sigmas.shape[1]
    return np.linalg.inv(np.einsum("k,kij->ij", chances, Sigmas)) / (n + d + 1 + noise_var)
""",
        "mean of the inverses": """
def common_preconditioner(Sigmas, chances, n, noise_var):
    d = Sigmas.shape[1]
    return np.einsum("k,kij->ij", chances, np.linalg.inv(Sigmas)) / (n + d + 1 + noise_var)
""",
        "chances ignored": """
right = common_preconditioner
def common_preconditioner(Sigmas, chances, n, noise_var):
    return right(Sigmas, np.full(len(chances), 1 / len(chances)), n, noise_var)
""",
        "mean times inverse of the mean square": """
def common_preconditioner(Sigmas, chances, n, noise_var):
    d = Sigmas.shape[1]
    mean, square = np.einsum("k,kij->ij", chances, Sigmas), np.einsum("k,kij,kjl->il", chances, Sigmas, Sigmas)
    return mean @ np.linalg.inv(square) / (n + d + noise_var)
""",
        "the most likely one": """
def common_preconditioner(Sigmas, chances, n, noise_var):
    d = Sigmas.shape[1]
    return np.linalg.inv(Sigmas[np.argmax(chances)]) / (n + d + 1 + noise_var)
""",
        "n + d for n + d + 1": """
right = common_preconditioner
def common_preconditioner(Sigmas, chances, n, noise_var):
    return right(Sigmas, chances, n - 1, noise_var)
""",
    },
    "q5": {
        "all needed but one": 'def needed():\n    return "nnnnfn"',
        "1 and 2 exchanged": 'def needed():\n    return "nfnffn"',
        "negation always free": 'def needed():\n    return "fnnfff"',
        "negation always needed": 'def needed():\n    return "fnnfnn"',
        "sign of the weights free": 'def needed():\n    return "fnfffn"',
        "noise must be Gaussian": 'def needed():\n    return "fffnfn"',
    },
}
