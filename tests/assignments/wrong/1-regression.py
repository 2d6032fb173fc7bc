"""Plausible wrong answers to problem set 1, each wrong in its own way."""

WRONG = {
    "q1": {
        "no residual": """
def two_step_weights(X, y, eta1, eta2):
    return (eta1 + eta2) * X.T @ y
""",
        "sign of the correction": """
def two_step_weights(X, y, eta1, eta2):
    return eta1 * X.T @ y + eta2 * X.T @ (X @ (eta1 * X.T @ y) + y)
""",
        "mean for sum": """
def two_step_weights(X, y, eta1, eta2):
    first = eta1 * X.T @ y / len(y)
    return first - eta2 * X.T @ (X @ first - y) / len(y)
""",
        "loss without its half": """
def two_step_weights(X, y, eta1, eta2):
    first = 2 * eta1 * X.T @ y
    return first - 2 * eta2 * X.T @ (X @ first - y)
""",
        "one size twice": """
def two_step_weights(X, y, eta1, eta2):
    first = eta1 * X.T @ y
    return first - eta1 * X.T @ (X @ first - y)
""",
        "Gram matrix of the rows": """
def two_step_weights(X, y, eta1, eta2):
    S = X @ X.T
    return eta1 * X.T @ y + eta2 * (X.T @ y - eta1 * (S @ S @ y)[: X.shape[1]])
""",
    },
    "q2": {
        "standard deviation of the task": """
def one_step_risk(eta, n, d, noise_var, task_var):
    t = task_var**0.5
    return t * d + noise_var - 2 * eta * n * d * t + eta**2 * n * d * (t * (n + d + 1) + noise_var)

def best_step(n, d, noise_var, task_var):
    t = task_var**0.5
    return t / (t * (n + d + 1) + noise_var)
""",
        "noise as a deviation": """
def one_step_risk(eta, n, d, noise_var, task_var):
    s = noise_var**2
    return task_var * d + s - 2 * eta * n * d * task_var + eta**2 * n * d * (task_var * (n + d + 1) + s)

def best_step(n, d, noise_var, task_var):
    return task_var / (task_var * (n + d + 1) + noise_var**2)
""",
        "n + d for n + d + 1": """
def one_step_risk(eta, n, d, noise_var, task_var):
    square = n * d * (task_var * (n + d) + noise_var)
    return task_var * d + noise_var - 2 * eta * n * d * task_var + eta**2 * square

def best_step(n, d, noise_var, task_var):
    return task_var / (task_var * (n + d) + noise_var)
""",
        "quadratic term without the task": """
def one_step_risk(eta, n, d, noise_var, task_var):
    square = n * d * (n + d + 1 + noise_var)
    return task_var * d + noise_var - 2 * eta * n * d * task_var + eta**2 * square

def best_step(n, d, noise_var, task_var):
    return task_var / (n + d + 1 + noise_var)
""",
        "linear term without its factor two": """
def one_step_risk(eta, n, d, noise_var, task_var):
    square = n * d * (task_var * (n + d + 1) + noise_var)
    return task_var * d + noise_var - eta * n * d * task_var + eta**2 * square

def best_step(n, d, noise_var, task_var):
    return task_var / (task_var * (n + d + 1) + noise_var) / 2
""",
        "no floor, chapter 1's step": """
def one_step_risk(eta, n, d, noise_var, task_var):
    square = n * d * (task_var * (n + d + 1) + noise_var)
    return task_var * d - 2 * eta * n * d * task_var + eta**2 * square

def best_step(n, d, noise_var, task_var):
    return 1 / (n + d + 1 + noise_var)
""",
        "noise scaled with the task": """
def one_step_risk(eta, n, d, noise_var, task_var):
    return task_var * (d + noise_var - 2 * eta * n * d + eta**2 * n * d * (n + d + 1 + noise_var))

def best_step(n, d, noise_var, task_var):
    return 1 / (n + d + 1 + noise_var * task_var)
""",
    },
    "q3": {
        "without itself": """
def attend_all(tokens, W_K, W_Q, W_V, h):
    return h @ W_V @ tokens[:-1].T @ (tokens[:-1] @ W_K.T @ W_Q @ tokens[-1])
""",
        "keys and queries exchanged": """
def attend_all(tokens, W_K, W_Q, W_V, h):
    return h @ W_V @ tokens.T @ (tokens @ W_Q.T @ W_K @ tokens[-1])
""",
        "values transposed": """
def attend_all(tokens, W_K, W_Q, W_V, h):
    return h @ W_V.T @ tokens.T @ (tokens @ W_K.T @ W_Q @ tokens[-1])
""",
        "scores without transposing": """
def attend_all(tokens, W_K, W_Q, W_V, h):
    return h @ W_V @ tokens.T @ (tokens @ W_K @ W_Q @ tokens[-1])
""",
        "mean for sum": """
def attend_all(tokens, W_K, W_Q, W_V, h):
    return h @ W_V @ tokens.T @ (tokens @ W_K.T @ W_Q @ tokens[-1]) / len(tokens)
""",
        "softmax": """
def attend_all(tokens, W_K, W_Q, W_V, h):
    scores = np.exp(tokens @ W_K.T @ W_Q @ tokens[-1])
    return h @ W_V @ tokens.T @ (scores / scores.sum())
""",
        "the label of the query dropped": """
def attend_all(tokens, W_K, W_Q, W_V, h):
    last = np.append(tokens[-1, :-1], 0.0)
    tokens = np.vstack([tokens[:-1], last])
    return h @ W_V @ tokens.T @ (tokens @ W_K.T @ W_Q @ last)
""",
    },
    "q4": {
        "transposed": """
def layer_for(P):
    d = len(P)
    K, Q, V, h = np.zeros((d + 1, d + 1)), np.zeros((d + 1, d + 1)), np.zeros((d + 1, d + 1)), np.zeros(d + 1)
    K[:d, :d], Q[:d, :d], V[d, d], h[d] = P.T, np.eye(d), 1.0, 1.0
    return K, Q, V, h
""",
        "in the query": """
def layer_for(P):
    d = len(P)
    K, Q, V, h = np.zeros((d + 1, d + 1)), np.zeros((d + 1, d + 1)), np.zeros((d + 1, d + 1)), np.zeros(d + 1)
    K[:d, :d], Q[:d, :d], V[d, d], h[d] = np.eye(d), P, 1.0, 1.0
    return K, Q, V, h
""",
        "symmetric part": """
def layer_for(P):
    d = len(P)
    K, Q, V, h = np.zeros((d + 1, d + 1)), np.zeros((d + 1, d + 1)), np.zeros((d + 1, d + 1)), np.zeros(d + 1)
    K[:d, :d], Q[:d, :d], V[d, d], h[d] = (P + P.T) / 2, np.eye(d), 1.0, 1.0
    return K, Q, V, h
""",
        "diagonal only": """
def layer_for(P):
    d = len(P)
    K, Q, V, h = np.zeros((d + 1, d + 1)), np.zeros((d + 1, d + 1)), np.zeros((d + 1, d + 1)), np.zeros(d + 1)
    K[:d, :d], Q[:d, :d], V[d, d], h[d] = np.diag(np.diag(P)), np.eye(d), 1.0, 1.0
    return K, Q, V, h
""",
        "inverse": """
def layer_for(P):
    d = len(P)
    K, Q, V, h = np.zeros((d + 1, d + 1)), np.zeros((d + 1, d + 1)), np.zeros((d + 1, d + 1)), np.zeros(d + 1)
    K[:d, :d], Q[:d, :d], V[d, d], h[d] = np.linalg.pinv(P), np.eye(d), 1.0, 1.0
    return K, Q, V, h
""",
    },
}
