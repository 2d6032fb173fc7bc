"""Right answers to problem set 4 that look different from the solution."""

RIGHT = {
    "q1": {
        "token by token": """
def predict_next(U, V, x):
    y = 0
    for now, after in zip(x[:-1], x[1:]):
        y = y + V @ after * np.vdot(now, U @ x[-1])
    return y / (len(x) - 1)
""",
    },
    "q2": {
        "loops": """
def flow_rates(rho, k1, k2, k3):
    c1 = sum(((t - 1) ** 2 * k2 + (t - 1) * k3) / r**2 for t, r in enumerate(rho, start=2))
    return [c1, sum((t - 1) * k1 / r for t, r in enumerate(rho, start=2))]
""",
    },
    "q3": {
        "automatic differentiation": """
import torch
from icgd.autoregression.blocks import diagonal_blocks
from icgd.autoregression.population import PopulationLoss

class Law:
    def __init__(self, moments):
        self.raw = [1.0, *moments, 1e3]
    def moment(self, exponents, d):
        return float(np.prod([self.raw[r] for r in exponents]))

def off_diagonal_gradient(moments, a, b, d, T):
    A, B = (block.requires_grad_() for block in diagonal_blocks(d, a, b))
    on_A, on_B = torch.autograd.grad(PopulationLoss(Law(moments), d=d, T=T)(A, B), (A, B))
    return on_A[d, 1].item(), on_B[0, 1].item()
""",
    },
    "q4": {
        "through the trajectory": """
from scipy.optimize import brentq

def time_to_reach(fraction, a0, c1, c2):
    def miss(tau):
        a, b = theory.trajectory(a0, a0, c1, c2, [tau])
        return (a * b)[0] * c1 / c2 - fraction
    return brentq(miss, 0.0, 100 / c2, xtol=1e-14, rtol=1e-14)
""",
    },
    "q5": {
        "at the point": """
def longest_step(q, c1, c2):
    p = c2 / c1
    a_squared = q / 2 + np.hypot(q / 2, p)
    return 2 / (c1 * (a_squared + p**2 / a_squared))
""",
    },
}
