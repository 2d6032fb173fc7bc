"""The exact pre-training loss of the reduced model as a function of (A, w): no sampling.

Derivation (chapter 3). With whitened covariates z and phi = Sigma^(1/2) w_task ~ N(0, B), the
tokens of a prompt are N(0, V) given phi, V = [[I, phi], [phi^T, |phi|^2 + s2]], and G is a Wishart
matrix: E[G] = n V and E[G Q G] = n (n + 1) V Q V + n tr(Q V) V for symmetric Q. Hence

    E[|A G w - phi|^2 | phi] = |phi|^2 - 2 n phi.(A V w) + n (n + 1) |A V w|^2
                               + n tr(A V A^T) w^T V w.

A V w, tr(A V A^T) and w^T V w are polynomials of degree 2 in phi. Averaging over phi needs
E[phi phi^T] = B and E|phi|^4 = (tr B)^2 + 2 tr B^2 only. With A = [A_x a], w = (w_x, b) and
m = s2 + tr B the result is, for B = I,

    L = m - 2 n (b tr A_x + a.w_x) + n (n + 1) |A_x w_x|^2 + n |A_x|^2 |w_x|^2
        + n (n + m + 1) (b^2 |A_x|^2 + |a|^2 |w_x|^2) + n (n + 2) (m^2 + 2 d) b^2 |a|^2
        + 2 n ((n + 1) (m + 1) + 2) b a.A_x w_x,

a polynomial of degree four whose cost does not depend on n.
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
        A, w: parameters, float64, on any device; the result can be differentiated in both.
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
    m = noise_var + B.diagonal().sum()  # E y^2
    k = m**2 + 2 * (B * B).sum()  # E[(|phi|^2 + s2)^2]

    A_x, a = A[:, :d], A[:, d]
    w_x, b = w[:d], w[d]
    A_B, A_w, B_w = A_x @ B, A_x @ w_x, B @ w_x
    A_sq, a_sq, w_sq, b_sq = (A_x * A_x).sum(), a @ a, w_x @ w_x, b * b

    # Collected by what they are averages of, see the chapter's equation for B = I.
    alignment = b * A_B.diagonal().sum() + a @ B_w
    even = n * (n + 1) * (A_w @ A_w) + n * A_sq * w_sq + n * (n + 2) * k * b_sq * a_sq
    odd = n * (n + 1) * (b_sq * (A_B * A_x).sum() + a_sq * (w_x @ B_w))
    odd = odd + n * m * (b_sq * A_sq + a_sq * w_sq)
    mixed = b * (n * (n + 1) * m * (a @ A_w) + n * (n + 3) * (a @ (A_B @ w_x)))
    return m - 2 * n * alignment + even + odd + 2 * mixed


def _whiten(A, w, d, covariance, task_covariance) -> tuple[Tensor, Tensor, Tensor]:
    """(B, A', w'): the problem in covariates z = Sigma^(-1/2) x.

    With H = diag(Sigma^(1/2), 1) a token is H (z, y), so A' = Sigma^(1/2) A H, w' = H w and
    B = Sigma^(1/2) Omega Sigma^(1/2). With the default Omega = Sigma^-1, B = I.
    """
    eye = torch.eye(d, dtype=torch.float64, device=A.device)
    if covariance is None and task_covariance is None:
        return eye, A, w
    sigma = np.eye(d) if covariance is None else covariance
    sigma = validation.covariance_matrix("covariance", sigma, d)
    values, vectors = np.linalg.eigh(sigma)
    root = torch.as_tensor((vectors * np.sqrt(values)) @ vectors.T, device=A.device)
    B = eye
    if task_covariance is not None:
        omega = validation.covariance_matrix("task_covariance", task_covariance, d)
        B = root @ torch.as_tensor(omega, device=A.device) @ root
    H = torch.block_diag(root, torch.ones_like(root[:1, :1]))
    return B, root @ A @ H, H @ w
