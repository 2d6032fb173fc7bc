"""The exact pre-training loss of the reduced model as a function of (A, w): no sampling.

Derivation (chapter 3). With whitened covariates z and phi = Sigma^(1/2) w_task ~ N(0, B), the
tokens of a prompt are N(0, V) given phi, V = [[I, phi], [phi^T, |phi|^2 + s2]], and G is a Wishart
matrix: E[G] = n V and E[G Q G] = n (n + 1) V Q V + n tr(Q V) V for symmetric Q. Hence

    E[|A G w - phi|^2 | phi] = |phi|^2 - 2 n phi.(A V w) + n (n + 1) |A V w|^2
                               + n tr(A V A^T) w^T V w.

A V w, tr(A V A^T) and w^T V w are polynomials of degree 2 in phi. Averaging over phi needs
E[phi phi^T] = B and E|phi|^4 = (tr B)^2 + 2 tr B^2 only. The cost does not depend on n.
"""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from icgd import validation
from icgd.regression.models import check_reduced


def population_loss(
    A: Float[Tensor, "d d+1"],
    w: Float[Tensor, " d+1"],
    *,
    n: int,
    noise_var: float,
    covariance: np.ndarray | Tensor | None = None,
    task_covariance: np.ndarray | Tensor | None = None,
) -> Float[Tensor, ""]:
    """L(w, M) = E[((A G w)^T x_query - y_query)^2], exactly, for every A and w (OS, Eq. 22).

    The target y_query carries noise, so the loss is never below `noise_var`.

    Args:
        A, w: parameters, float64; the result can be differentiated with respect to both.
        n: examples in the prompt, at least 1.
        noise_var: variance of the label noise.
        covariance: Sigma of the covariates (d, d); the default is I (OS, Section 3).
        task_covariance: of the hidden weight vector; the default is Sigma^-1 (OS, Section 4).

    >>> A, w = torch.zeros(2, 3, dtype=torch.float64), torch.zeros(3, dtype=torch.float64)
    >>> population_loss(A, w, n=7, noise_var=0.5).item()  # predicting 0 costs d + noise_var
    2.5
    """
    d = check_reduced(A, w)
    n = validation.positive_int("n", n)
    noise_var = validation.non_negative("noise_var", noise_var)
    B, A, w = _whiten(A, w, d, covariance, task_covariance)
    trace_B = B.diagonal().sum()
    fourth = trace_B**2 + 2 * (B * B).sum()  # E|phi|^4

    A_x, a = A[:, :d], A[:, d]
    w_x, b = w[:d], w[d]

    # A V w = c0 + K phi + c2 |phi|^2
    c0 = A_x @ w_x + noise_var * b * a
    K = b * A_x + torch.outer(a, w_x)
    c2 = b * a
    # tr(A V A^T) = p0 + p1.phi + p2 |phi|^2   and   w^T V w = q0 + q1.phi + q2 |phi|^2
    p0, p1, p2 = (A_x * A_x).sum() + noise_var * a @ a, 2 * A_x.T @ a, a @ a
    q0, q1, q2 = w_x @ w_x + noise_var * b * b, 2 * b * w_x, b * b

    alignment = (K * B).sum()  # E[phi.(A V w)]
    mean_square = c0 @ c0 + ((K @ B) * K).sum() + c2 @ c2 * fourth + 2 * trace_B * (c0 @ c2)
    spread = p0 * q0 + trace_B * (p0 * q2 + p2 * q0) + p1 @ B @ q1 + p2 * q2 * fourth
    return noise_var + trace_B - 2 * n * alignment + n * (n + 1) * mean_square + n * spread


def _whiten(A, w, d, covariance, task_covariance) -> tuple[Tensor, Tensor, Tensor]:
    """(B, A', w'): the problem in covariates z = Sigma^(-1/2) x.

    With H = diag(Sigma^(1/2), 1) a token is H (z, y), so A' = Sigma^(1/2) A H, w' = H w and
    B = Sigma^(1/2) Omega Sigma^(1/2). With the default Omega = Sigma^-1, B = I.
    """
    eye = torch.eye(d, dtype=torch.float64)
    if covariance is None and task_covariance is None:
        return eye, A, w
    sigma = eye.numpy() if covariance is None else covariance
    sigma = validation.covariance_matrix("covariance", sigma, d)
    values, vectors = np.linalg.eigh(sigma)
    root = torch.as_tensor((vectors * np.sqrt(values)) @ vectors.T)
    B = eye
    if task_covariance is not None:
        omega = validation.covariance_matrix("task_covariance", task_covariance, d)
        B = root @ torch.as_tensor(omega) @ root
    H = torch.block_diag(root, torch.ones(1, 1, dtype=torch.float64))
    return B, root @ A @ H, H @ w
