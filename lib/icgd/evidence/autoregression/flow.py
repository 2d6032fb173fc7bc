"""Evidence for MO, Theorem 4.1 and the lemmas behind it (chapter 10): exact gradients."""

import numpy as np
import torch

from icgd.autoregression import data, theory
from icgd.autoregression.blocks import diagonal_blocks, place_blocks
from icgd.autoregression.direct import direct_loss
from icgd.autoregression.enumeration import all_sequences
from icgd.claims import Evidence, claim
from icgd.evidence.autoregression.tools import (
    SKEWED,
    at_diagonal,
    dense,
    flat,
    gradients,
    population,
    sequences,
)
from icgd.training import descend

CHAPTER = "10-gradient-flow"
D, T, START = 3, 7, (0.3, 0.7)
FAIR = data.Discrete((1.5, -1.5, 0.2, -0.2), (0.2, 0.2, 0.3, 0.3))


# --- Assumption 3.1: the diagonal start ----------------------------------------------------------


def _stays(start) -> Evidence:
    """Distance of a descent's last point from multiples of the identity in two blocks."""
    A, B = descend(population(FAIR, D, T), start, step_size=0.01, steps=50).final
    nearest = diagonal_blocks(D, A[D, 0].item(), B[0, 0].item())
    return Evidence(flat(*nearest), flat(A, B), tolerance=1e-12)


@claim(
    "MO.Assumption3.1",
    kind="trained",
    anchor=f"{CHAPTER}#mo-assumption-3-1",
    statement="From the diagonal start, training keeps W_KQ_32 and W_PV_12 multiples of I.",
)
def assumption31():
    return _stays(diagonal_blocks(D, *START))


@assumption31.fails_without("equal entries on the diagonal")
def _unequal_start():
    diagonal = torch.diag(torch.tensor([0.3, 0.5, -0.2], dtype=torch.float64))
    return _stays(place_blocks(diagonal, diagonal))


# --- Assumption 4.1: which moments vanish --------------------------------------------------------

#: Exponents (1, r_2, ..., r_n), n <= 4, of degree at most six.
VANISHING = [(1,), (1, 1), (1, 2), (1, 3), (1, 5), (1, 1, 2), (1, 1, 4), (1, 2, 3), (1, 1, 2, 2)]


def _moments(laws) -> Evidence:
    found = [law.moment(exponents, 5) for law in laws for exponents in VANISHING]
    return Evidence(np.zeros(len(found)), found, tolerance=1e-12)


@claim(
    "MO.Assumption4.1",
    kind="exact",
    anchor=f"{CHAPTER}#mo-assumption-4-1",
    statement="Centred i.i.d. coordinates and Example 4.1 have the vanishing moments asked for.",
)
def assumption41():
    return _moments([data.Gaussian(0.5), data.Sparse(2.0), data.Rademacher(1.0), SKEWED])


@assumption41.fails_without("mean zero")
def _mean():
    return _moments([data.Ones()])


# --- Eq. (4): the Gram matrix of the tokens ------------------------------------------------------


def _eq4(W) -> Evidence:
    sample = sequences(data.Gaussian(1.0), D, T, batch=1)
    lambdas, x_1 = sample.eigenvalues[0].numpy(), sample.x[0, 0].numpy()
    matrix, t = W(np.diag(lambdas)), 5
    x = np.stack([np.linalg.matrix_power(matrix, i) @ x_1 for i in range(t)])
    E = data.embed(torch.as_tensor(x)[None])[0, :, D:].numpy().T
    M = [np.outer(lambdas**i, lambdas.conj() ** i) * np.outer(x_1, x_1.conj()) for i in range(t)]
    full, short = sum(M), sum(M[:-1])
    blocks = [[full, matrix @ short], [short @ matrix.conj().T, short]]
    predicted, measured = np.block(blocks) / (t - 1), E @ E.conj().T / (t - 1)
    return Evidence(
        flat(predicted.real, predicted.imag), flat(measured.real, measured.imag), tolerance=1e-12
    )


@claim(
    "MO.Eq4",
    kind="algebra",
    anchor=f"{CHAPTER}#mo-eq-4",
    statement="The Gram matrix of the tokens is built from powers of lambda times x_1 x_1^*.",
)
def eq4():
    return _eq4(lambda W: W)


@eq4.fails_without("a diagonal W")
def _rotated():
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((D, D)))[0]
    return _eq4(lambda W: turn @ W @ turn.T)


# --- Lemma 5.2: the whole gradient is two numbers ------------------------------------------------


def _lemma52(law) -> Evidence:
    speed = theory.velocity(*START, *theory.rates(law, d=D, T=T))
    predicted = flat(*diagonal_blocks(D, *speed))
    return Evidence(
        predicted, -flat(*at_diagonal(law, D, T, *START)), tolerance=1e-12, relative=True
    )


@claim(
    "MO.Lemma5.2",
    kind="exact",
    anchor=f"{CHAPTER}#mo-lemma-5-2",
    statement="On the diagonal the 6 d^2 gradients are two: b (c2 - c1 a b) and a (c2 - c1 a b).",
)
def lemma52():
    return _lemma52(data.Gaussian(0.8))


@lemma52.fails_without("E[x_j^3 x_l^3] = 0 (skewed coordinates)")
def _skewed():
    return _lemma52(SKEWED)


@lemma52.fails_without("Assumption 4.1 (x_1 = ones)")
def _ones():
    return _lemma52(data.Ones())


# --- Only two blocks move, for every law ---------------------------------------------------------


def _other_blocks(power: int) -> Evidence:
    """Gradients outside W_KQ_32 and W_PV_12, with each lambda replaced by a power of itself."""
    law, d, T = data.Discrete((2.0, -0.5), (0.4, 0.6)), 2, 5
    A, B = dense(d)
    A, B = place_blocks(A[d:, :d], B[:, :d])
    x, weights = all_sequences(law, d, T)
    lambdas = data.recover_eigenvalues(x) ** power
    x = data.unroll(x[:, 0].real, lambdas, T).x
    grad_A, grad_B = gradients(lambda A, B: direct_loss(A, B, x, weights=weights), A, B)
    others = flat(grad_A[:d], grad_A[d:, d:], grad_B[:, d:])
    return Evidence(np.zeros_like(others), others, tolerance=1e-11)


@claim(
    "MO.global-phase",
    kind="exact",
    anchor=f"{CHAPTER}#mo-global-phase",
    statement="For every law of x_1, dense W_KQ_32 and W_PV_12 leave the other blocks at zero.",
)
def global_phase():
    return _other_blocks(1)


@global_phase.fails_without("phases free to turn together (W = I instead)")
def _no_phases():
    return _other_blocks(10)  # the enumeration for T = 5 uses tenth roots of unity


# --- Lemma 5.3: the surrogate --------------------------------------------------------------------


def _surrogate(law, spread: float) -> Evidence:
    """loss(point) - loss(other) beside d (surrogate(point) - surrogate(other))."""
    loss, rates = population(law, D, T), theory.rates(law, d=D, T=T)
    tilt = torch.diag(torch.tensor([1.0 + spread, 1.0 - spread, 1.0], dtype=torch.float64))
    points = [(0.3, 0.7), (-0.4, 0.2), (1.1, 0.5)]
    exact = [loss(*place_blocks(a * tilt, b * tilt)).item() for a, b in points]
    surrogate = [D * theory.surrogate(a, b, *rates) for a, b in points]
    return Evidence(np.diff(surrogate), np.diff(exact), tolerance=1e-12, relative=True)


@claim(
    "MO.Lemma5.3",
    kind="exact",
    anchor=f"{CHAPTER}#mo-lemma-5-3",
    statement=(
        "On the diagonal the loss is d times the surrogate (c2 - c1 a b)^2 / 2 c1, plus a constant."
    ),
)
def lemma53():
    return _surrogate(data.Gaussian(0.8), 0.0)


@lemma53.fails_without("multiples of the identity")
def _tilted():
    return _surrogate(data.Gaussian(0.8), 0.3)


# --- Lemma 5.4: the PL inequality, an equality ---------------------------------------------------


def _pl(loss) -> Evidence:
    c1, c2 = theory.rates(data.Gaussian(0.8), d=D, T=T)
    points = torch.randn(7, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    points.requires_grad_(True)
    values = loss(points[:, 0], points[:, 1], c1, c2)
    (gradient,) = torch.autograd.grad(values.sum(), points)
    right = 2 * c1 * points.square().sum(1) * values
    return Evidence(right.detach(), gradient.square().sum(1), tolerance=1e-12, relative=True)


@claim(
    "MO.Lemma5.4",
    kind="algebra",
    anchor=f"{CHAPTER}#mo-lemma-5-4",
    statement="The surrogate obeys the PL inequality with equality: |grad|^2 = 2 c1 (a^2 + b^2) l.",
)
def lemma54():
    return _pl(lambda a, b, c1, c2: (c2 - c1 * a * b) ** 2 / (2 * c1))


@lemma54.fails_without("a square of c2 - c1 a b (a fourth power instead)")
def _fourth_power():
    return _pl(lambda a, b, c1, c2: (c2 - c1 * a * b) ** 4 / (2 * c1))


# --- Erratum 3: the determinant ------------------------------------------------------------------


def _determinant(power: int) -> Evidence:
    c1, c2 = theory.rates(data.Gaussian(0.8), d=D, T=T)
    point = torch.tensor(START, dtype=torch.float64)
    hessian = torch.autograd.functional.hessian(
        lambda p: (c2 - c1 * p[0] * p[1]) ** 2 / (2 * c1), point
    )
    p = START[0] * START[1]
    predicted = c1**power * p**2 - (2 * c1 * p - c2) ** 2
    return Evidence(predicted, torch.linalg.det(hessian), tolerance=1e-12, relative=True)


@claim(
    "MO.erratum3",
    kind="algebra",
    anchor=f"{CHAPTER}#mo-erratum-3",
    statement=(
        "The Hessian's determinant is c1^2 a^2 b^2 - (2 c1 a b - c2)^2, negative outside a band."
    ),
)
def erratum3():
    return _determinant(2)


@erratum3.fails_without("the square of c1 (as printed)")
def _printed():
    return _determinant(1)


# --- Erratum 1: skewed tokens --------------------------------------------------------------------


def _off_diagonal(law, m3: float) -> Evidence:
    grad_A, grad_B = at_diagonal(law, D, T, *START)
    off = ~np.eye(D, dtype=bool)
    found = flat(grad_A[D:, :D][off], grad_B[:, :D][off])
    predicted = np.repeat(theory.skewed_gradient(m3, *START, T), D * (D - 1))
    return Evidence(predicted, found, tolerance=1e-12, relative=True)


@claim(
    "MO.erratum1",
    kind="exact",
    anchor=f"{CHAPTER}#mo-erratum-1",
    statement="For skewed coordinates the gradient off the diagonal is a^2 b (E x^3)^2 S_T, not 0.",
)
def erratum1():
    return _off_diagonal(SKEWED, SKEWED.raw(3))


@erratum1.fails_without("skewness (the same values with both signs)")
def _symmetrised():
    both = data.Discrete((2.0, -2.0, 1.0, -1.0), (1 / 6, 1 / 6, 1 / 3, 1 / 3))
    return _off_diagonal(both, SKEWED.raw(3))


def _decay(law) -> Evidence:
    """Off-diagonal over diagonal gradient, times T / log T: it settles, so the ratio vanishes."""
    lengths = [1000, 3000]
    scaled = []
    for T in lengths:
        _, grad_B = at_diagonal(law, 2, T, *START)
        scaled.append(grad_B[0, 1] / grad_B[0, 0] * (T - 2) / theory.harmonic_sum(T))
    k = theory.kappas(law, 2)
    a, b = START
    limit = a * b * SKEWED.raw(3) ** 2 / (k.k2 * a * b - k.k1)
    return Evidence(np.full(2, limit), scaled, tolerance=2e-2, relative=True)


@claim(
    "MO.erratum1-decay",
    kind="exact",
    anchor=f"{CHAPTER}#mo-erratum-1-decay",
    statement="The violation by skewed coordinates is of relative size log T / T.",
)
def erratum1_decay():
    return _decay(SKEWED)


@erratum1_decay.fails_without("the third moment of the law")
def _no_skewness():
    return _decay(data.Rademacher(1.0))
