"""Slips in the text of OS, each as a check: the repaired line holds, the printed one fails.

None touches a result. `OS.erratum3` is the exception: the line that looks wrong is right.
"""

from functools import cache

import numpy as np
import torch
from torch import Tensor

from icgd.claims import Evidence, claim
from icgd.evidence.regression.preconditioning import SMALL, root
from icgd.regression import enumeration, learners, models, theory
from icgd.regression.data import LinearTask, SkewedTask, normal, sample_prompts

NOISE = 0.3
PAGE = "errata"


@cache
def _moments() -> tuple[Tensor, Tensor]:
    """(E[X^T y y^T X], E[X^T y w_hat^T]) of Theorem 1's law at n = d = 2."""
    listed = enumeration.enumerate_prompts(enumeration.gauss_hermite(2), 2, NOISE)
    xy = learners.label_sum(listed.prompts)
    w_hat = learners.ridge(NOISE).weights(listed.prompts)
    outer = [torch.einsum("bi,bj->bij", xy, other) for other in (xy, w_hat)]
    return listed.mean(outer[0]), listed.mean(outer[1])


# --- 1: the transpose in the proof of Lemma 3 ----------------------------------------------------


def _rotated(left: str) -> Evidence:
    """E[X^T M(X) X] against E[(left)^T M(X R^T) (X R^T)], M(X) = X X^T + s2 I, for a rotation R."""
    rule = enumeration.gauss_hermite(2).power(2)
    X = rule.points.view(-1, 2, 2)
    angle = torch.tensor(0.7, dtype=torch.float64)
    R = torch.stack([angle.cos(), -angle.sin(), angle.sin(), angle.cos()]).view(2, 2)
    M = X @ X.mT + NOISE * torch.eye(2, dtype=torch.float64)
    first = {"X R": X @ R, "X R^T": X @ R.T}[left]
    plain = torch.tensordot(rule.weights, X.mT @ M @ X, 1)
    return Evidence(
        plain, torch.tensordot(rule.weights, first.mT @ M @ (X @ R.T), 1), tolerance=1e-11
    )


@claim(
    "OS.erratum1",
    kind="exact",
    anchor=f"{PAGE}#os-erratum-1",
    statement="Appendix A, proof of Lemma 3: the first display needs (X R^T)^T where (XR)^T is "
    "printed, and Eqs. (85) and on read R ... R^T. The lemma stands.",
)
def erratum1():
    return _rotated("X R^T")


@erratum1.fails_without("the repair: (XR)^T as printed")
def _printed1():
    return _rotated("X R")


# --- 2: the index of the query token -------------------------------------------------------------


def _query(token: str) -> Evidence:
    """The layer's output when the last token is (x_{n+1}, 0), and when it is (x_i, 0), i = n."""
    prompts = sample_prompts(
        LinearTask(3, NOISE), 11, 5, generator=torch.Generator().manual_seed(0)
    )
    model = models.one_step_construction(3, 0.1)
    tokens = prompts.tokens()
    if token == "x_i":
        tokens[:, -1, :3] = prompts.X[:, -1]
    output = (model.attend(tokens)[:, -1] @ model.h).detach()
    return Evidence(learners.gradient_step(0.1)(prompts), output, tolerance=1e-12)


@claim(
    "OS.erratum2",
    kind="algebra",
    anchor=f"{PAGE}#os-erratum-2",
    statement="Section 2: the query token is v_{n+1} = (x_{n+1}, 0), where (x_i, 0) is printed; "
    "only then is the output a prediction at x_{n+1}.",
)
def erratum2():
    return _query("x_{n+1}")


@erratum2.fails_without("the repair: (x_i, 0) as printed, i = n")
def _printed2():
    return _query("x_i")


# --- 3: the exponents of Appendix B --------------------------------------------------------------


def _exponent(power: int) -> Evidence:
    """h^T W_V G W_K^T W_Q (x, 0) with W = W' H^power, against the primed layer on (u, y).

    H = diag(Sigma^(1/2), 1). Appendix B takes power = -1 for W_V, W_K and W_Q.
    """
    g = torch.Generator().manual_seed(1)
    task = SkewedTask(SMALL, NOISE)
    prompts = sample_prompts(task, 7, 5, generator=g)
    H = torch.block_diag(root(SMALL), torch.ones(1, 1, dtype=torch.float64))
    primed = [normal(3, 3, generator=g) for _ in range(3)]
    h = normal(3, generator=g)

    def output(weights, tokens: Tensor) -> Tensor:
        model = models.LinearSelfAttention(2)
        with torch.no_grad():
            for parameter, value in zip(model.parameters(), (*weights, h), strict=True):
                parameter.copy_(value)
            return model.attend(tokens)[:, -1] @ model.h

    whitened = prompts.tokens() @ torch.linalg.inv(H)
    changed = [W @ torch.linalg.matrix_power(H, power) for W in primed]
    wanted = output(primed, whitened)
    return Evidence(wanted, output(changed, prompts.tokens()), tolerance=1e-10, relative=True)


@claim(
    "OS.erratum3",
    kind="algebra",
    anchor=f"{PAGE}#os-erratum-3",
    statement="Appendix B, Eq. (160) looks wrong and is right: W = W' H^-1 turns the layer on "
    "(x, y) into the primed layer on (Sigma^-1/2 x, y).",
)
def erratum3():
    return _exponent(-1)


@erratum3.fails_without("the exponent -1 (W = W' H instead)")
def _other_sign():
    return _exponent(1)


# --- 4: a step size lost in Eq. (81) -------------------------------------------------------------


def _eq81(step_size: float) -> Evidence:
    """Both sides of Eq. (81) for a random A: the gradient's two blocks."""
    second, cross = _moments()
    A = normal(2, 3, generator=torch.Generator().manual_seed(2))

    def blocks(moment: Tensor) -> np.ndarray:
        return np.append((moment @ A[:, 2]).numpy(), (moment @ A[:, :2].T).trace().item())

    return Evidence(blocks(cross), step_size * blocks(second), tolerance=1e-11)


@claim(
    "OS.erratum4",
    kind="exact",
    anchor=f"{PAGE}#os-erratum-4",
    statement="Section 3, Eq. (81): eta is missing on the right, and w_hat needs a transpose in "
    "the first block. With both the two sides agree.",
)
def erratum4():
    return _eq81(theory.step_size(2, 2, NOISE))


@erratum4.fails_without("the repair: no eta on the right, as printed")
def _printed81():
    return _eq81(1.0)


# --- 5: the ridge objective in the proof of Lemma 3 ----------------------------------------------


def _objective(residual: str) -> Evidence:
    """The minimiser of |residual|^2 + s2 |w|^2, at n = d so that both readings have a meaning."""
    prompts = sample_prompts(LinearTask(3, NOISE), 7, 3, generator=torch.Generator().manual_seed(3))
    design = {"X w - y": prompts.X, "w^T X - y": prompts.X.mT}[residual]
    normal_matrix = design.mT @ design + NOISE * torch.eye(3, dtype=torch.float64)
    minimiser = torch.linalg.solve(normal_matrix, torch.einsum("bnd,bn->bd", design, prompts.y))
    wanted = learners.ridge(NOISE).weights(prompts)
    return Evidence(wanted, minimiser, tolerance=1e-10)


@claim(
    "OS.erratum5",
    kind="algebra",
    anchor=f"{PAGE}#os-erratum-5",
    statement="Appendix A, below Eq. (86): the ridge objective is |X w - y|^2 + s2 |w|^2, where "
    "|w^T X - y|^2 is printed.",
)
def erratum5():
    return _objective("X w - y")


@erratum5.fails_without("the repair: w^T X as printed, n = d")
def _printed86():
    return _objective("w^T X - y")
