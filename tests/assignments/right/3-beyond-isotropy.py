"""Right answers to problem set 3 that look different from the solution."""

RIGHT = {
    "q1": {
        "axis by axis": """
def noisy_directions(H, n):
    mu, axes = np.linalg.eigh(H)
    return axes / (n + 1 + len(H) + mu.sum() + 2 * mu) @ axes.T
""",
    },
    "q2": {
        "pair by pair": """
def learned_matrix(points, chances, n, noise_var):
    S = sum(p * np.outer(x, x) for p, x in zip(chances, points))
    Q = sum(p * (x @ x + noise_var) * np.outer(x, x) for p, x in zip(chances, points))
    return np.linalg.solve((Q + (n - 1) * S @ S).T, S).T
""",
    },
    "q3": {
        "from chi-squared moments": """
def bowl_step(c, n, d, noise_var):
    r1, r2, r3 = d, d * (d + 2), d * (d + 2) * (d + 4)
    power = r2 + c**2 * (r3 - 2 * d * r2 + d**2 * r1)
    eta = theory.nonlinear_step_size(d, power, n=n, d=d, noise_var=noise_var)
    return np.array([eta, 1 / eta - n - d - 1])
""",
    },
    "q4": {
        "transposed equations": """
def common_preconditioner(Sigmas, chances, n, noise_var):
    d = Sigmas.shape[1]
    left = np.einsum("k,kab,kcd->acbd", chances, Sigmas, Sigmas).reshape(d * d, d * d)
    right = np.einsum("k,kab->ab", chances, Sigmas).reshape(-1)
    return np.linalg.lstsq(left, right, rcond=None)[0].reshape(d, d).T / (n + d + 1 + noise_var)
""",
    },
}
