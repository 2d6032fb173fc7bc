"""What the layer is compared with: learners of x_{t+1} = W x_t that see the context only.

A learner is called like the model: it maps sequences (batch, T, d) to predictions of x_{t+1} for
t = 2, ..., T, shape (batch, T - 1, d), and the one for t uses x_1, ..., x_t. The
in-context problem at time t is L_OLS,t(W) = sum_{i<t} |x_{i+1} - W x_i|^2 / 2 (MO, Corollary 4.1).
"""

from collections.abc import Callable

import torch
from jaxtyping import Complex, Float
from torch import Tensor

from icgd import validation
from icgd.autoregression.data import check_sequences
from icgd.autoregression.normalisation import Rho, context_pairs, rho_values


def ols_loss(W: Complex[Tensor, "d d"], context: Complex[Tensor, "t d"]) -> Float[Tensor, ""]:
    """L_OLS,t(W) = sum_{i=1}^{t-1} |x_{i+1} - W x_i|^2 / 2 for one context, a row a token."""
    return (context[1:] - context[:-1] @ W.mT).abs().square().sum() / 2


Learner = Callable[[Tensor], Tensor]


def gradient_step(product: float, *, rho: Rho = context_pairs) -> Learner:
    """One gradient step on L_OLS,t from W = 0 with step product / rho_t: y_t = W_hat x_t.

    W_hat = (product / rho_t) sum_{i<t} x_{i+1} x_i^*. Source: MO, Corollary 4.1, product = a b.

    Returns:
        A map of sequences (batch, T, d) to predictions (batch, T - 1, d).
    """
    product = validation.finite_float("product", product)

    def learner(x: Complex[Tensor, "batch T d"]) -> Complex[Tensor, "batch T-1 d"]:
        eye = torch.eye(x.shape[-1], dtype=torch.float64, device=x.device)
        return preconditioned_step(product * eye, eye, rho=rho)(x)

    return learner


def preconditioned_step(
    left: Float[Tensor, "d d"], right: Float[Tensor, "d d"], *, rho: Rho = context_pairs
) -> Learner:
    """y_t = left (sum_{i<t} x_{i+1} x_i^*) right x_t / rho_t (MO, Appendix B.5: W_2 and W_1)."""
    d = len(left)
    validation.float64_tensor("left", left, (d, d))
    validation.float64_tensor("right", right, (d, d))

    def learner(x: Complex[Tensor, "batch T d"]) -> Complex[Tensor, "batch T-1 d"]:
        check_sequences(x, 2)
        outer = x[:, 1:, :, None] * x[:, :-1, None, :].conj()  # x_{i+1} x_i^*
        queries = x[:, 1:] @ right.mT.to(x.dtype)
        steps = torch.cumsum(outer, dim=1) @ queries[..., None]
        scale = torch.as_tensor(rho_values(rho, x.shape[1]), device=x.device)[:, None]
        return steps[..., 0] @ left.mT.to(x.dtype) / scale

    return learner


def least_squares() -> Learner:
    """y_t = W_hat x_t with W_hat the least-squares solution of smallest norm.

    Exact as soon as x_1, ..., x_{t-1} span x_t, for almost every sequence from t = d + 1 on.
    """

    def learner(x: Complex[Tensor, "batch T d"]) -> Complex[Tensor, "batch T-1 d"]:
        check_sequences(x, 2)
        predictions = []
        for t in range(2, x.shape[1] + 1):
            inputs, outputs = x[:, : t - 1].mT, x[:, 1:t].mT  # columns x_i and x_{i+1}
            W_hat = outputs @ torch.linalg.pinv(inputs, rtol=1e-10)
            predictions.append((W_hat @ x[:, t - 1, :, None])[..., 0])
        return torch.stack(predictions, dim=1)

    return learner
