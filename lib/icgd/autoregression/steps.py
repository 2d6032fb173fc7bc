"""Several gradient steps on the context, as learners: sequences in, predictions out.

With K_t = sum_{i<t} x_i x_i^* and the in-context problem L_OLS,t of `learners.ols_loss`, called
like `learners.gradient_step` and with the same shapes.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Complex
from torch import Tensor

from icgd import validation
from icgd.autoregression.data import check_sequences
from icgd.autoregression.learners import Learner
from icgd.autoregression.normalisation import Rho, context_pairs, rho_values


def gradient_steps(products: Sequence[float], *, rho: Rho = context_pairs) -> Learner:
    """y_t = W_k x_t, W_l = W_{l-1} + (p_l / rho_t) sum_{i<t} (x_{i+1} - W_{l-1} x_i) x_i^*.

    W_0 = 0: gradient descent on L_OLS,t with steps p_l / rho_t.

    Args:
        products: p_1, ..., p_k; the order does not change W_k.
    """
    products = [validation.finite_float("each product", p) for p in products]

    def learner(x: Complex[Tensor, "batch T d"]) -> Complex[Tensor, "batch T-1 d"]:
        cross, gram = _sums(x)
        scale = torch.as_tensor(rho_values(rho, x.shape[1]), device=x.device)[:, None, None]
        W = torch.zeros_like(cross)
        for p in products:
            W = W + p / scale * (cross - W @ gram)
        return _apply(W, x[:, 1:])

    return learner


def ridge_steps(step_size: float, z: float, steps: int) -> Learner:
    """J steps towards ridge regression: q <- q + a (x_t - (K_t + z I) q), then sum x_{i+1} x_i^* q.

    From q = 0. The same prediction as J gradient steps of size a on L_OLS,t(W) + z |W|^2 / 2.

    Args:
        step_size: a, the same at every t.   z: strength of the ridge.   steps: J.
    """
    step_size = validation.finite_float("step_size", step_size)
    z = validation.non_negative("z", z)
    steps = validation.positive_int("steps", steps)

    def learner(x: Complex[Tensor, "batch T d"]) -> Complex[Tensor, "batch T-1 d"]:
        cross, gram = _sums(x)
        asked, q = x[:, 1:], torch.zeros_like(x[:, 1:])
        for _ in range(steps):
            q = q + step_size * (asked - _apply(gram, q) - z * q)
        return _apply(cross, q)

    return learner


def ridge(z: float) -> Learner:
    """y_t = W x_t for the W with least L_OLS,t(W) + z |W|^2 / 2, solved afresh at every t.

    W = sum_{i<t} x_{i+1} x_i^* (K_t + z I)^-1. See `mesa_layer` for the same in one sweep.
    """
    z = validation.positive("z", z)

    def learner(x: Complex[Tensor, "batch T d"]) -> Complex[Tensor, "batch T-1 d"]:
        cross, gram = _sums(x)
        eye = torch.eye(x.shape[2], dtype=x.dtype, device=x.device)
        return _apply(cross, torch.linalg.solve(gram + z * eye, x[:, 1:]))

    return learner


def _sums(x: Tensor) -> tuple[Tensor, Tensor]:
    """sum_{i<t} x_{i+1} x_i^* and sum_{i<t} x_i x_i^* for t = 2, ..., T: (batch, T - 1, d, d)."""
    check_sequences(x, 2)
    keys = x[:, :-1, None, :].conj()
    return (x[:, 1:, :, None] * keys).cumsum(1), (x[:, :-1, :, None] * keys).cumsum(1)


def _apply(matrices: Tensor, vectors: Tensor) -> Tensor:
    return (matrices @ vectors[..., None])[..., 0]
