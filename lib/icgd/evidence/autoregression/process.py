"""Evidence for MO, Section 3: the process, the layer and Eq. (1) (chapter 9)."""

import numpy as np
import torch

from icgd.autoregression import data, enumeration, learners
from icgd.autoregression.blocks import diagonal_blocks
from icgd.autoregression.direct import direct_loss
from icgd.autoregression.models import CausalLinearAttention, predict
from icgd.autoregression.normalisation import constant, context_pairs
from icgd.claims import Evidence, claim
from icgd.evidence.autoregression.tools import (
    as_real,
    dense,
    flat,
    generator,
    population,
    sequences,
)

CHAPTER = "09-autoregressive-processes"
D, T = 3, 7


# --- Eq. (1): only A and B reach the prediction --------------------------------------------------


def _eq1(tokens) -> Evidence:
    x = sequences(data.Gaussian(1.0), D, T).x
    model = CausalLinearAttention(D)
    with torch.no_grad():
        for W in (model.W_KQ, model.W_PV):  # every block, also those that Eq. (1) leaves out
            W.copy_(torch.randn(3 * D, 3 * D, dtype=torch.float64, generator=generator(1)))
    E = tokens(x)[0]
    layer = torch.stack([model.output(E[:t].mT, t - 1.0)[:D] for t in range(2, T + 1)])
    short = predict(*model.blocks(), x[:1])[0]
    return Evidence(as_real(short), as_real(layer), tolerance=1e-12, relative=True)


@claim(
    "MO.Eq1",
    kind="algebra",
    anchor=f"{CHAPTER}#mo-eq-1",
    statement="The layer's prediction depends on two blocks of W_KQ and W_PV only.",
)
def eq1():
    return _eq1(data.embed)


@eq1.fails_without("tokens whose first d entries are zero")
def _filled_tokens():
    return _eq1(lambda x: torch.cat([x, data.embed(x)[..., D:]], dim=2))


# --- Lemma 5.1: the prediction is linear in B (x) A ----------------------------------------------


def _lemma51(vec) -> Evidence:
    x = sequences(data.Gaussian(1.0), D, T).x
    A, B = dense(D)
    t = 5
    E = data.embed(x)[0, :t, D:].numpy().T  # columns e_1, ..., e_t
    e_t, gram = E[:, -1], E @ E.conj().T / (t - 1)
    first = [B[j].numpy() @ np.kron(e_t[None, :], gram) @ vec(A.numpy()) for j in range(D)]
    second = [vec(A.numpy()) @ np.kron(e_t[:, None], gram.conj()) @ B[j].numpy() for j in range(D)]
    y = predict(A, B, x)[0, t - 2].numpy()
    both = np.array([first, second])
    expected = np.array([y, y])
    return Evidence(
        flat(expected.real, expected.imag),
        flat(both.real, both.imag),
        tolerance=1e-12,
        relative=True,
    )


@claim(
    "MO.Lemma5.1",
    kind="algebra",
    anchor=f"{CHAPTER}#mo-lemma-5-1",
    statement="Each coordinate of the prediction is linear in the products of entries of A and B.",
)
def lemma51():
    return _lemma51(lambda A: A.reshape(-1, order="F"))


@lemma51.fails_without("Vec that stacks columns")
def _rows():
    return _lemma51(lambda A: A.reshape(-1))


# --- Eq. (2): the population loss ----------------------------------------------------------------


def _eq2(lambdas) -> Evidence:
    """The counted loss beside the mean over every sequence of roots of unity."""
    law, d, T = data.Discrete((1.5, -0.5, 1.0), (0.3, 0.5, 0.2)), 2, 5
    A, B = dense(d)
    x, weights = enumeration.all_sequences(law, d, T)
    x = data.unroll(x[:, 0].real, lambdas(data.recover_eigenvalues(x)), T).x
    brute = direct_loss(A, B, x, weights=weights)
    return Evidence(population(law, d, T)(A, B), brute, tolerance=1e-10, relative=True)


@claim(
    "MO.Eq2",
    kind="exact",
    anchor=f"{CHAPTER}#mo-eq-2",
    statement=(
        "The population loss is a polynomial of the parameters whose coefficients are counted."
    ),
)
def eq2():
    return _eq2(lambda lambdas: lambdas)


@eq2.fails_without("independent phases (all equal instead)")
def _one_phase():
    return _eq2(lambda lambdas: lambdas[:, :1].expand_as(lambdas).contiguous())


# --- rho_t = t - 1 (Section 3.2) -----------------------------------------------------------------


def _normaliser(rho) -> Evidence:
    """E|y_t|^2 for the diagonal layer on x_1 = (1, ..., 1), from an early and a late context."""
    d, T = 2, 6
    x, weights = enumeration.all_sequences(data.Ones(), d, T)
    y = predict(*diagonal_blocks(d, 1.0, 1.0), x, rho=rho)
    power = torch.einsum("s,std->t", weights, y.abs() ** 2)
    sizes = np.arange(1, T)
    return Evidence(d * (1 + (d - 1) / sizes), power, tolerance=1e-10, relative=True)


@claim(
    "MO.normaliser",
    kind="exact",
    anchor=f"{CHAPTER}#mo-normaliser",
    statement="With rho_t = t - 1 the size of the prediction stays bounded as the context grows.",
)
def normaliser():
    return _normaliser(context_pairs)


@normaliser.fails_without("rho_t = t - 1 (1 instead)")
def _no_normaliser():
    return _normaliser(constant)


# --- Least squares on the same context -----------------------------------------------------------


def _least_squares(first: int) -> Evidence:
    x = sequences(data.Gaussian(1.0), D, T).x
    y = learners.least_squares()(x)[:, first - 2 : -1]
    return Evidence(as_real(x[:, first:]), as_real(y), tolerance=1e-8)


@claim(
    "MO.least-squares",
    kind="algebra",
    anchor="11-mesa-optimizer#mo-least-squares",
    statement="Least squares on the context is exact as soon as d tokens have been followed.",
)
def least_squares():
    return _least_squares(D + 1)


@least_squares.fails_without("d pairs in the context")
def _short_context():
    return _least_squares(2)
