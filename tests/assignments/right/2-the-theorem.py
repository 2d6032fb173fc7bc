"""Right answers to problem set 2 that look different from the solution."""

RIGHT = {
    "q1": {
        "from the parabolas": """
def random_length_step(lengths, chances, d, noise_var):
    def risk(eta):
        risks = [theory.one_step_risk(eta, n=int(n), d=d, noise_var=noise_var) for n in lengths]
        return float(np.dot(chances, risks))
    middle = risk(0.0)
    slope, bend = (risk(1.0) - risk(-1.0)) / 2, (risk(1.0) + risk(-1.0)) / 2 - middle
    return -slope / (2 * bend), middle - slope**2 / (4 * bend)
""",
    },
    "q2": {
        "as a list": """
def escape_rates(n, d):
    return [np.sqrt(4 * n**2 * d), 2 * n]
""",
    },
    "q3": {
        "with the library's parts": """
import torch

def is_minimiser(A, w, n, noise_var):
    A, w, d = torch.tensor(A), torch.tensor(w), len(A)
    eta = theory.step_size(n, d, noise_var)
    Q, q = models.even_part(A, w)
    far = [(models.odd_part(A, w) - eta * torch.eye(d, dtype=A.dtype)).abs().max(), 2 * Q.abs().max(), q.abs().max()]
    return max(far).item() <= 1e-9 * eta

from icgd.regression import models
""",
    },
    "q4": {
        "by search": """
def worse_than_nothing(n_train, d, noise_var):
    n = n_train
    while n + d + 1 + noise_var <= 2 * (n_train + d + 1 + noise_var):
        n += 1
    return np.int64(n)
""",
    },
}
