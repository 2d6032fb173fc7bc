"""Right answers to problem set 1 that look different from the solution."""

RIGHT = {
    "q1": {
        "automatic differentiation": """
import torch

def two_step_weights(X, y, eta1, eta2):
    u, X, y = torch.zeros(X.shape[1], dtype=torch.float64), torch.tensor(X), torch.tensor(y)
    for eta in (eta1, eta2):
        u.requires_grad_()
        (slope,) = torch.autograd.grad((X @ u - y).square().sum() / 2, u)
        u = (u - eta * slope).detach()
    return u
""",
    },
    "q2": {
        "through the library": """
def one_step_risk(eta, n, d, noise_var, task_var):
    return task_var * theory.one_step_risk(eta, n=n, d=d, noise_var=noise_var / task_var)

def best_step(n, d, noise_var, task_var):
    return theory.step_size(n, d, noise_var / task_var)
""",
    },
    "q3": {
        "loops": """
def attend_all(tokens, W_K, W_Q, W_V, h):
    total = 0
    for v in tokens:
        total = total + (h @ (W_V @ v)) * ((W_K @ v) @ (W_Q @ tokens[-1]))
    return np.array(total)
""",
    },
    "q4": {
        "in the query, transposed": """
def layer_for(P):
    d = len(P)
    K, Q, V = np.zeros((3, d + 1, d + 1))
    K[:d, :d], Q[:d, :d], V[0, d] = 2 * np.eye(d), P.T / 2, 1
    return [K, Q, V, np.eye(d + 1)[0]]
""",
    },
}
