"""Plausible wrong answers to problem set 4, each wrong in its own way."""

WRONG = {
    "q1": {
        "not conjugated": """
def predict_next(U, V, x):
    return V @ (x[1:].T @ (x[:-1] @ U @ x[-1])) / (len(x) - 1)
""",
        "U transposed, t for t - 1": """
def predict_next(U, V, x):
    return V @ (x[1:].T @ (x[:-1].conj() @ U.T @ x[-1])) / len(x)
""",
        "t for t - 1": """
def predict_next(U, V, x):
    return V @ (x[1:].T @ (x[:-1].conj() @ U @ x[-1])) / len(x)
""",
        "no normaliser": """
def predict_next(U, V, x):
    return V @ (x[1:].T @ (x[:-1].conj() @ U @ x[-1]))
""",
        "current for next": """
def predict_next(U, V, x):
    return V @ (x[:-1].T @ (x[:-1].conj() @ U @ x[-1])) / (len(x) - 1)
""",
        "keys and queries exchanged": """
def predict_next(U, V, x):
    return V @ (x[1:].T @ (x[:-1] @ U.T @ x[-1].conj())) / (len(x) - 1)
""",
        "real part": """
def predict_next(U, V, x):
    return (V @ (x[1:].T @ (x[:-1].conj() @ U @ x[-1])) / (len(x) - 1)).real
""",
        "V transposed": """
def predict_next(U, V, x):
    return V.T @ (x[1:].T @ (x[:-1].conj() @ U @ x[-1])) / (len(x) - 1)
""",
    },
    "q2": {
        "always the paper's": """
def flow_rates(rho, k1, k2, k3):
    T = len(rho) + 2
    return (T - 2) * k2 + theory.harmonic_sum(T) * k3, (T - 2) * k1
""",
        "pairs not squared": """
def flow_rates(rho, k1, k2, k3):
    n = np.arange(1, len(rho) + 1)
    return (n * (k2 + k3) / rho**2).sum(), (n * k1 / rho**2).sum()
""",
        "t for t - 1": """
def flow_rates(rho, k1, k2, k3):
    n = np.arange(2, len(rho) + 2)
    return ((n**2 * k2 + n * k3) / rho**2).sum(), (n * k1 / rho).sum()
""",
        "rho not squared, pairs forgotten": """
def flow_rates(rho, k1, k2, k3):
    n = np.arange(1, len(rho) + 1)
    return ((n**2 * k2 + n * k3) / rho).sum(), (k1 / rho).sum()
""",
        "no cross-talk": """
def flow_rates(rho, k1, k2, k3):
    n = np.arange(1, len(rho) + 1)
    return (n**2 * k2 / rho**2).sum(), (n * k1 / rho).sum()
""",
        "kappas exchanged": """
def flow_rates(rho, k1, k2, k3):
    n = np.arange(1, len(rho) + 1)
    return ((n**2 * k1 + n * k3) / rho**2).sum(), (n * k2 / rho).sum()
""",
        "means for sums": """
def flow_rates(rho, k1, k2, k3):
    n = np.arange(1, len(rho) + 1)
    return ((n**2 * k2 + n * k3) / rho**2).mean(), (n * k1 / rho).mean()
""",
    },
    "q3": {
        "centred moments only": """
def off_diagonal_gradient(m, a, b, d, T):
    S = theory.harmonic_sum(T)
    return a * b**2 * S * m[2] ** 2, a**2 * b * S * m[2] ** 2
""",
        "d - 1 for d - 2, third moment not squared": """
def off_diagonal_gradient(m, a, b, d, T):
    m1, m2, m3, _, m5 = m
    N = np.arange(1.0, T - 1)
    S, Q = (1 / N).sum(), (1 / N**2).sum()
    return a * b**2 * (S * (m3**2 + m1 * m5) + Q * (d - 1) * m1 * m2 * m3) - b * S * m1 * m3, a**2 * b * S * m3
""",
        "a and b exchanged": """
right = off_diagonal_gradient
def off_diagonal_gradient(m, a, b, d, T):
    return right(m, b, a, d, T)
""",
        "no target": """
right = off_diagonal_gradient
def off_diagonal_gradient(m, a, b, d, T):
    m1, _, m3, _, _ = m
    return right(m, a, b, d, T)[0] + b * theory.harmonic_sum(T) * m1 * m3, a**2 * b * (T - 2) * m3**2
""",
        "T - 2 for S": """
def off_diagonal_gradient(m, a, b, d, T):
    m1, m2, m3, _, m5 = m
    S, Q = T - 2, theory.harmonic_sum(T)
    return a * b**2 * (S * (m3**2 + m1 * m5) + Q * (d - 2) * m1 * m2 * m3) - b * S * m1 * m3, a**2 * b * S * m3**2
""",
        "sign of the target": """
def off_diagonal_gradient(m, a, b, d, T):
    m1, m2, m3, _, m5 = m
    N = np.arange(1.0, T - 1)
    S, Q = (1 / N).sum(), (1 / N**2).sum()
    return a * b**2 * (S * (m3**2 + m1 * m5) + Q * (d - 2) * m1 * m2 * m3) + b * S * m1 * m3, -(a**2) * b * S * m3**2
""",
    },
    "q4": {
        "factor two": """
def time_to_reach(fraction, a0, c1, c2):
    start = a0**2 * c1 / c2
    return np.log(fraction * (1 - start) / (start * (1 - fraction))) / c2
""",
        "exponential growth": """
def time_to_reach(fraction, a0, c1, c2):
    return np.abs(np.log(fraction * c2 / (a0**2 * c1))) / (2 * c2)
""",
        "c1 for c2": """
def time_to_reach(fraction, a0, c1, c2):
    start = a0**2 * c1 / c2
    return np.log(fraction * (1 - start) / (start * (1 - fraction))) / (2 * c1)
""",
        "exponential approach": """
def time_to_reach(fraction, a0, c1, c2):
    start = a0**2 * c1 / c2
    return np.log((1 - start) / (1 - fraction)) / (2 * c2)
""",
        "start not squared": """
def time_to_reach(fraction, a0, c1, c2):
    start = a0 * c1 / c2
    return np.log(np.abs(fraction * (1 - start) / (start * (1 - fraction)))) / (2 * c2)
""",
        "limit upside down": """
def time_to_reach(fraction, a0, c1, c2):
    start = a0**2 * c2 / c1
    return np.log(np.abs(fraction * (1 - start) / (start * (1 - fraction)))) / (2 * c2)
""",
    },
    "q5": {
        "one over the curvature": """
def longest_step(q, c1, c2):
    return 1 / np.sqrt(c1**2 * q**2 + 4 * c2**2)
""",
        "q not squared": """
def longest_step(q, c1, c2):
    return 2 / np.sqrt(c1**2 * abs(q) + 4 * c2**2)
""",
        "no four": """
def longest_step(q, c1, c2):
    return 2 / np.sqrt(c1**2 * q**2 + c2**2)
""",
        "balanced only": """
def longest_step(q, c1, c2):
    return 1 / c2
""",
        "sum of the parts": """
def longest_step(q, c1, c2):
    return 2 / (c1 * abs(q) + 2 * c2)
""",
        "c1 forgotten": """
def longest_step(q, c1, c2):
    return 2 / np.sqrt(q**2 + 4 * c2**2)
""",
    },
}
