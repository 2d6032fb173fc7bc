"""The mesa layer: regularised least squares on everything seen so far, one update a token.

After keys k_1, ..., k_t and values v_1, ..., v_t it holds the minimiser Phi_t of

    sum_{i<=t} |v_i - Phi k_i|^2 / 2 + z |Phi|_F^2 / 2,

and R_t = (sum_{i<=t} k_i k_i^* + z I)^-1, by rank-one updates (Sherman-Morrison):

    g_t = R_{t-1} k_t / (1 + k_t^* R_{t-1} k_t),
    Phi_t = Phi_{t-1} + (v_t - Phi_{t-1} k_t) g_t^*,    R_t = R_{t-1} - g_t k_t^* R_{t-1}.

Source: von Oswald et al. (2023), *Uncovering mesa-optimization algorithms in transformers*.
"""

import torch
from jaxtyping import Complex
from torch import Tensor

from icgd import validation
from icgd.autoregression.data import check_sequences
from icgd.autoregression.learners import Learner


def mesa_attention(
    keys: Complex[Tensor, "batch n d"],
    values: Complex[Tensor, "batch n e"],
    queries: Complex[Tensor, "batch n d"],
    z: float,
) -> Complex[Tensor, "batch n e"]:
    """Phi_t q_t for t = 1, ..., n in one sweep: O(n d (d + e)) in time, the state does not grow.

    Args:
        z: strength of the regulariser, positive. As z grows, z Phi_t q_t tends to linear attention,
            sum_{i<=t} v_i k_i^* q_t; as z falls, Phi_t tends to least squares.
    """
    z = validation.positive("z", z)
    if keys.shape != queries.shape or keys.shape[:2] != values.shape[:2]:
        raise ValueError(
            "keys and queries must have one shape (batch, n, d) and values (batch, n, e), got "
            f"{tuple(keys.shape)}, {tuple(queries.shape)} and {tuple(values.shape)}."
        )
    batch, _, d = keys.shape
    R = torch.eye(d, dtype=keys.dtype, device=keys.device).expand(batch, d, d) / z
    Phi = values.new_zeros(batch, values.shape[2], d)
    outputs = []
    for k, v, q in zip(keys.unbind(1), values.unbind(1), queries.unbind(1), strict=True):
        k, v, q = k[..., None], v[..., None], q[..., None]  # columns
        gain = R @ k / (1 + k.mH @ R @ k)
        Phi = Phi + (v - Phi @ k) @ gain.mH
        R = R - gain @ (k.mH @ R)
        outputs.append((Phi @ q)[..., 0])
    return torch.stack(outputs, dim=1)


def mesa_layer(z: float) -> Learner:
    """The learner with keys x_{t-1}, values x_t and queries x_t: y_t = Phi_t x_t, t = 2, ..., T."""
    z = validation.positive("z", z)

    def learner(x: Complex[Tensor, "batch T d"]) -> Complex[Tensor, "batch T-1 d"]:
        check_sequences(x, 2)
        return mesa_attention(x[:, :-1], x[:, 1:], x[:, 1:], z)

    return learner
