"""The exact loss of the layer of Zhang, Frei and Bartlett: divided by n, and without a mask.

The query's token v_q = (x_q, 0) stands among the tokens that are attended to, so the prediction is

    (1/n) (A (G + v_q v_q^T) w)^T x_q = (1/n) (A G w)^T x_q + (1/n) (x_q^T A_x x_q) (w_x.x_q).

The second term, q, is even in the labels and so meets only the even part e = A_x S w_x + y^T y b a
of A G w. For x_q ~ N(0, Sigma), with M = Sigma^(1/2) (A_x + A_x^T) Sigma^(1/2) / 2, v =
Sigma^(1/2) w_x and t = tr M, Wick's rule gives (chapter 7)

    n E[q x_q] = Sigma^(1/2) (t v + 2 M v),
    n^2 E[q^2] = (t^2 + 2 tr M^2) |v|^2 + 4 t v.M v + 8 |M v|^2.
"""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from icgd import validation
from icgd.regression.models import check_reduced
from icgd.regression.population import population_loss


def normalised_loss(
    A: Float[Tensor, "d d+1"],
    w: Float[Tensor, " d+1"],
    *,
    n: int,
    noise_var: float,
    covariance: np.ndarray,
    self_term: bool = True,
) -> Float[Tensor, ""]:
    """(1/2) E[(prediction - w_task.x_q)^2], exactly, for x ~ N(0, Sigma) and w_task ~ N(0, I).

    The loss of the paper; its labels are clean, noise_var = 0. The target never carries noise.

    Args:
        A, w: float64 parameters; the result can be differentiated. In the paper's names
            A = [U^T r] and w = (p, u).
        self_term: whether the query attends to itself, as in the paper.

    >>> A, w = torch.zeros(2, 3).double(), torch.zeros(3).double()
    >>> loss = normalised_loss(A, w, n=5, noise_var=0.0, covariance=np.diag([1.0, 3.0]))
    >>> round(loss.item(), 12)  # predicting 0 costs half of tr Sigma
    2.0
    """
    d = check_reduced(A, w)
    sigma = validation.covariance_matrix("covariance", covariance, d)
    masked = population_loss(
        A / n, w, n=n, noise_var=noise_var, covariance=sigma, task_covariance=np.eye(d)
    )
    loss = (masked - noise_var) / 2
    if not self_term:
        return loss
    values, vectors = np.linalg.eigh(sigma)
    root = torch.as_tensor((vectors * np.sqrt(values)) @ vectors.T, device=A.device)
    A_x, a, w_x, b = A[:, :d], A[:, d], w[:d], w[d]
    M, v = root @ (A_x + A_x.T) @ root / 2, root @ w_x
    t, Mv = M.trace(), M @ v
    label_var = float(np.trace(sigma)) + noise_var
    even = A_x @ root @ root @ w_x + label_var * b * a  # E[e] / n
    cross = even @ root @ (t * v + 2 * Mv) / n
    square = ((t**2 + 2 * (M * M).sum()) * (v @ v) + 4 * t * (v @ Mv) + 8 * (Mv @ Mv)) / n**2
    return loss + cross + square / 2
