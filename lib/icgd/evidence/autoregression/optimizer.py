"""Evidence for MO, Corollary 4.1: the trained layer runs one gradient step (chapter 11)."""

import numpy as np
import torch

from icgd.autoregression import data, learners, theory
from icgd.autoregression.blocks import diagonal_blocks, place_blocks
from icgd.autoregression.models import predict
from icgd.claims import Evidence, claim
from icgd.evidence.autoregression.tools import as_real, dense, sequences

CHAPTER = "11-mesa-optimizer"
D, T = 3, 7
PAIR = (0.4, 0.9)


def _stepped(x, problem, product: float) -> torch.Tensor:
    """W_hat x_t after one step on `problem(W, context, next)`, by autograd, for each context."""
    predictions = []
    for sequence in x:
        for t in range(2, T):
            W = torch.zeros(D, D, dtype=torch.complex128, requires_grad=True)
            (slope,) = torch.autograd.grad(problem(W, sequence[:t], sequence[t]), W)
            predictions.append(-product / (t - 1) * slope @ sequence[t - 1])
    return torch.stack(predictions)


def _layer(A, B, x) -> torch.Tensor:
    return predict(A, B, x)[:, :-1].reshape(-1, D)


# --- Corollary 4.1 -------------------------------------------------------------------------------


def _corollary41(A, B) -> Evidence:
    x = sequences(data.Gaussian(1.0), D, T, batch=5).x
    product = (A[D:, :D].diagonal() * B[:, :D].diagonal()).mean().item()
    steps = _stepped(x, lambda W, context, _: learners.ols_loss(W, context), product)
    return Evidence(as_real(steps), as_real(_layer(A, B, x)), tolerance=1e-12, relative=True)


@claim(
    "MO.Corollary4.1",
    kind="algebra",
    anchor=f"{CHAPTER}#mo-corollary-4-1",
    statement="The layer of Theorem 4.1 outputs W_hat x_t, W_hat one gradient step on the context.",
)
def corollary41():
    return _corollary41(*diagonal_blocks(D, *PAIR))


@corollary41.fails_without("the structure of Theorem 4.1 (W_KQ_32 dense)")
def _dense():
    A, _ = dense(D)
    eye = torch.eye(D, dtype=torch.float64)
    return _corollary41(*place_blocks(A[D:, :D], eye))


@corollary41.fails_without("a zero block W_PV_13")
def _extra_block():
    A, B = diagonal_blocks(D, *PAIR)
    return _corollary41(A, B + torch.cat([torch.zeros_like(B[:, :D]), B[:, :D] / 2], dim=1))


# --- Erratum 4: the restatement's index ----------------------------------------------------------


def _index(printed: bool) -> Evidence:
    def problem(W, context, following):
        if not printed:
            return learners.ols_loss(W, context)
        # sum_{i<t} |x_{t+1} - W x_t|^2 / 2: t - 1 equal terms that need the answer x_{t+1}.
        return (len(context) - 1) * (following - W @ context[-1]).abs().square().sum() / 2

    x = sequences(data.Gaussian(1.0), D, T, batch=5).x
    layer = _layer(*diagonal_blocks(D, *PAIR), x)
    steps = _stepped(x, problem, PAIR[0] * PAIR[1])
    return Evidence(as_real(layer), as_real(steps), tolerance=1e-12, relative=True)


@claim(
    "MO.erratum4",
    kind="algebra",
    anchor=f"{CHAPTER}#mo-erratum-4",
    statement="The problem of Corollary 4.1 sums |x_{i+1} - W x_i|^2 over i, not the printed t.",
)
def erratum4():
    return _index(printed=False)


@erratum4.fails_without("i as the index of the sum (t, as printed in the appendix)")
def _printed():
    return _index(printed=True)


# --- The product for all lengths is a harmonic mean ----------------------------------------------


def _harmonic_mean(mean) -> Evidence:
    """The product Theorem 4.1 ends at beside the best products for t = 2, ..., T - 1 alone."""
    law, d, T = data.Gaussian(0.8), 5, 11
    # A loss of one term has the slope and curvature of the difference of two of Eq. (2)'s losses.
    slopes = np.array([theory.rates(law, d=d, T=t + 1) for t in range(2, T)])
    c1, c2 = np.diff(slopes, axis=0, prepend=0.0).T
    return Evidence(
        mean(c2 / c1), theory.limit_product(law, d=d, T=T), tolerance=1e-12, relative=True
    )


@claim(
    "MO.harmonic-mean",
    kind="algebra",
    anchor=f"{CHAPTER}#mo-harmonic-mean",
    statement="The learned a b is the harmonic mean of the best products for each context length.",
)
def harmonic_mean():
    return _harmonic_mean(lambda products: 1 / np.mean(1 / products))


@harmonic_mean.fails_without("harmonic (an arithmetic mean instead)")
def _arithmetic():
    return _harmonic_mean(np.mean)


# --- Appendix B.5: dense blocks give a preconditioned step ---------------------------------------


def _preconditioned(swap: bool) -> Evidence:
    x = sequences(data.Ones(), D, T).x
    A, B = dense(D)
    W_1, W_2 = A[D:, :D], B[:, :D]
    left, right = (W_1, W_2) if swap else (W_2, W_1)
    predicted = learners.preconditioned_step(left, right)(x)
    measured = predict(*place_blocks(W_1, W_2), x)
    return Evidence(as_real(predicted), as_real(measured), tolerance=1e-12, relative=True)


@claim(
    "MO.preconditioned",
    kind="algebra",
    anchor="13-beyond-the-diagonal#mo-preconditioned",
    statement="Dense W_KQ_32 = W_1 and W_PV_12 = W_2 run the step W_2 (sum x_{i+1} x_i^*) W_1 x_t.",
)
def preconditioned():
    return _preconditioned(swap=False)


@preconditioned.fails_without("W_2 on the left and W_1 on the right")
def _swapped():
    return _preconditioned(swap=True)
