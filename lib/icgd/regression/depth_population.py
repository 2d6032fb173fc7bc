"""The exact loss of k layers with matrix-valued weights, differentiable and without sampling.

Layers P_k = diag(B_k, 1), Q_k = -diag(A_k, 0) (`transformer.from_blocks`). With H = X^T X / n,
covariates at layer k are T_k x, and (chapter 8)

    T_{k+1} = (I - B_k T_k H T_k^T A_k) T_k,      T_0 = I,
    G_k = T_k^T A_k^T T_k,      F_{k+1} = (I - G_k H) F_k,      K_{k+1} = (I - G_k H) K_k + G_k,

F_0 = I, K_0 = 0: the learner's weights are w - F w + K X^T eps / n, so its risk is

    s2 + E tr(Sigma F Omega F^T) + (s2 / n) E tr(Sigma K H K^T).

H is averaged exactly: W = L L^T, L lower triangular, L_ii^2 ~ chi^2(n - i), i from 0, and normal
entries below (Bartlett 1933), and a polynomial in W is one in the L_ii^2 and the other entries.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from scipy.special import roots_genlaguerre
from torch import Tensor

from icgd import validation
from icgd.regression.enumeration import Rule, gauss_hermite


def wishart_rule(n: int, d: int, degree: int) -> tuple[Float[Tensor, "k d d"], Float[Tensor, " k"]]:
    """(W, weights): E g(X^T X) = sum weights g(W) for polynomials g of at most this degree.

    X is (n, d), standard normal, n >= d. (degree/2 + 1)^d (degree + 1)^(d (d - 1) / 2) points.
    """
    n, d = validation.positive_int("n", n), validation.positive_int("d", d)
    degree = validation.positive_int("degree", degree)
    validation.int_at_least("n", n, d)
    law = None
    for i in range(d):
        x, weights = roots_genlaguerre(degree // 2 + 1, (n - i) / 2 - 1)
        line = Rule(
            torch.as_tensor(2 * x)[:, None] ** 0.5, torch.as_tensor(weights / weights.sum())
        )
        law = line if law is None else law * line
    if d > 1:
        law = law * gauss_hermite(1, degree + 1).power(d * (d - 1) // 2)
    L = torch.diag_embed(law.points[:, :d])
    below = torch.tril_indices(d, d, -1)
    L[:, below[0], below[1]] = law.points[:, d:]
    return L @ L.mT, law.weights


@dataclass(frozen=True)
class DepthLoss:
    """E (prediction - y_query)^2 of given layers, for x ~ N(0, Sigma), w ~ N(0, Omega).

    Called with A (layers, d, d) and, if covariates change, B of the same shape.

    Args:
        n, noise_var: examples and variance of the noise.
        layers: how many; the rule is exact for that many.
        covariance: Sigma, (d, d).   task_covariance: Omega; the default is Sigma^-1.
        dense: whether B will be passed, which takes a finer rule.
    """

    n: int
    noise_var: float
    layers: int
    covariance: np.ndarray
    task_covariance: np.ndarray | None = None
    dense: bool = False

    def __post_init__(self):
        sigma, omega = validation.covariance_pair(self.covariance, self.task_covariance)
        validation.non_negative("noise_var", self.noise_var)
        # F has degree (3^layers - 1) / 2 in H where covariates change, degree layers where not.
        degree = 3 ** validation.positive_int("layers", self.layers) - 1
        degree = degree if self.dense else 2 * self.layers
        W, weights = wishart_rule(self.n, len(sigma), degree)
        values, vectors = np.linalg.eigh(sigma)
        root = torch.as_tensor((vectors * np.sqrt(values)) @ vectors.T)
        object.__setattr__(self, "sigma", torch.as_tensor(sigma))
        object.__setattr__(self, "omega", torch.as_tensor(omega))
        object.__setattr__(self, "H", root @ W @ root / self.n)
        object.__setattr__(self, "weights", weights)

    def __call__(
        self, A: Float[Tensor, "layers d d"], B: Float[Tensor, "layers d d"] | None = None
    ) -> Float[Tensor, ""]:
        shape = (self.layers, *self.sigma.shape)
        validation.float64_tensor("A", A, shape)
        if B is not None:
            validation.float64_tensor("B", B, shape)
            if not self.dense:
                raise ValueError(
                    "B changes covariates, so the rule must be finer; pass dense=True."
                )
        H, eye = self.H, torch.eye(len(self.sigma), dtype=torch.float64)
        T, F, K = eye, eye, torch.zeros_like(eye)
        for k in range(self.layers):
            G = T.mT @ A[k].mT @ T
            F, K = F - G @ H @ F, K - G @ H @ K + G
            if B is not None:
                T = T - B[k] @ T @ H @ T.mT @ A[k] @ T
        signal = torch.einsum("ab,kbc,cd,kad->k", self.sigma, F, self.omega, F)
        noise = torch.einsum("ab,kbc,kcd,kad->k", self.sigma, K, H, K)
        return self.noise_var + self.weights @ (signal + self.noise_var / self.n * noise)
