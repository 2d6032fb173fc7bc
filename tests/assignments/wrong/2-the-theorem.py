"""Plausible wrong answers to problem set 2, each wrong in its own way."""

WRONG = {
    "q1": {
        "mean length": """
def random_length_step(lengths, chances, d, noise_var):
    n = chances @ lengths
    eta = 1 / (n + d + 1 + noise_var)
    return eta, d + noise_var - n * d * eta
""",
        "mean of the steps": """
def random_length_step(lengths, chances, d, noise_var):
    steps = 1 / (lengths + d + 1 + noise_var)
    return chances @ steps, chances @ (d + noise_var - lengths * d * steps)
""",
        "chances ignored": """
def random_length_step(lengths, chances, d, noise_var):
    n = lengths[chances > 0]
    first, second = n.mean() * d, (n * (n + d + 1 + noise_var)).mean() * d
    return first / second, d + noise_var - first**2 / second
""",
        "no noise": """
def random_length_step(lengths, chances, d, noise_var):
    first, second = chances @ lengths * d, chances @ (lengths * (lengths + d + 1)) * d
    return first / second, d + noise_var - first**2 / second
""",
        "n + d for n + d + 1, no floor": """
def random_length_step(lengths, chances, d, noise_var):
    first, second = chances @ lengths * d, chances @ (lengths * (lengths + d + noise_var)) * d
    return first / second, d - first**2 / second
""",
        "squared mean": """
def random_length_step(lengths, chances, d, noise_var):
    n = chances @ lengths
    first, second = n * d, (n**2 + n * (d + 1 + noise_var)) * d
    return first / second, d + noise_var - first**2 / second
""",
    },
    "q2": {
        "no factor two": """
def escape_rates(n, d):
    return n * d**0.5, float(n)
""",
        "d for its root, pairs exchanged": """
def escape_rates(n, d):
    return 2.0 * n * d, 2 * n * d**0.5
""",
        "both alike": """
def escape_rates(n, d):
    return 2.0 * n, 2.0 * n * d
""",
        "curvature for rate squared": """
def escape_rates(n, d):
    return 4.0 * n**2 * d, 4.0 * n**2
""",
        "n + 1": """
def escape_rates(n, d):
    return 2 * (n + 1) * d**0.5, 2.0 * (n + 1)
""",
    },
    "q3": {
        "only C": """
def is_minimiser(A, w, n, noise_var):
    d = len(A)
    C = w[d] * A[:, :d] + np.outer(A[:, d], w[:d])
    eta = 1 / (n + d + 1 + noise_var)
    return bool(np.abs(C - eta * np.eye(d)).max() <= 1e-9 * eta)
""",
        "first branch only": """
def is_minimiser(A, w, n, noise_var):
    d = len(A)
    eta = 1 / (n + d + 1 + noise_var)
    if np.abs(A[:, d]).max() > 1e-9 or np.abs(w[:d]).max() > 1e-9:
        return False
    return bool(np.abs(w[d] * A[:, :d] - eta * np.eye(d)).max() <= 1e-9 * eta)
""",
        "only A = [I 0]": """
def is_minimiser(A, w, n, noise_var):
    d = len(A)
    eta = 1 / (n + d + 1 + noise_var)
    return bool(np.abs(A - np.eye(d, d + 1)).max() < 1e-9 and abs(w[d] - eta) < 1e-9 and np.abs(w[:d]).max() < 1e-9)
""",
        "positive factors only": """
right = is_minimiser
def is_minimiser(A, w, n, noise_var):
    return right(A, w, n, noise_var) and bool(w[-1] > 1e-4)
""",
        "n + d for n + d + 1": """
def is_minimiser(A, w, n, noise_var):
    d = len(A)
    C = w[d] * A[:, :d] + np.outer(A[:, d], w[:d])
    eta = 1 / (n + d + noise_var)
    return bool(np.abs(C - eta * np.eye(d)).max() <= 1e-9 * eta and abs(w[d]) * np.abs(A[:, d]).max() < 1e-12)
""",
        "any multiple of I": """
def is_minimiser(A, w, n, noise_var):
    d = len(A)
    C = w[d] * A[:, :d] + np.outer(A[:, d], w[:d])
    return bool(np.abs(C - C[0, 0] * np.eye(d)).max() <= 1e-2 and C[0, 0] > 0)
""",
        "always": """
def is_minimiser(A, w, n, noise_var):
    return True
""",
        "never": """
def is_minimiser(A, w, n, noise_var):
    return False
""",
        "absolute tolerance": """
def is_minimiser(A, w, n, noise_var):
    d = len(A)
    eta = 1 / (n + d + 1 + noise_var)
    odd = np.abs(w[d] * A[:, :d] + np.outer(A[:, d], w[:d]) - eta * np.eye(d)).max()
    return bool(odd < 1e-4 and min(np.abs(A[:, d]).max(), abs(w[d])) < 1e-6)
""",
    },
    "q4": {
        "twice as many": """
def worse_than_nothing(n_train, d, noise_var):
    return 2 * n_train + 1
""",
        "no d": """
def worse_than_nothing(n_train, d, noise_var):
    return int(np.floor(2 * n_train + 1 + noise_var)) + 1
""",
        "not worse but equal": """
def worse_than_nothing(n_train, d, noise_var):
    return int(np.ceil(2 * n_train + d + 1 + noise_var))
""",
        "rounded down": """
def worse_than_nothing(n_train, d, noise_var):
    return int(np.floor(2 * n_train + d + 1 + noise_var))
""",
        "d for d + 1": """
def worse_than_nothing(n_train, d, noise_var):
    return int(np.floor(2 * n_train + d + noise_var)) + 1
""",
        "noise counted twice": """
def worse_than_nothing(n_train, d, noise_var):
    return int(np.floor(2 * (n_train + d + 1 + noise_var))) + 1
""",
    },
    "q5": {
        "1 and 5 exchanged": 'def proof_steps():\n    return "aebdc"',
        "2 and 3 exchanged": 'def proof_steps():\n    return "cbeda"',
        "3 and 4 exchanged": 'def proof_steps():\n    return "cedba"',
        "alphabetical": 'def proof_steps():\n    return "abcde"',
        "2 and 4 exchanged": 'def proof_steps():\n    return "cdbea"',
    },
}
