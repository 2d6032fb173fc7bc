"""Evidence for the assumptions of MO, and for what the phases alone decide (chapter 10)."""

import numpy as np
import torch

from icgd.autoregression import data
from icgd.autoregression.blocks import diagonal_blocks, place_blocks
from icgd.autoregression.direct import direct_loss
from icgd.autoregression.enumeration import all_sequences
from icgd.autoregression.theory import harmonic_sum
from icgd.claims import Evidence, claim
from icgd.evidence.autoregression.tools import (
    SKEWED,
    UNCENTRED,
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


# --- Only two blocks move, for every law ---------------------------------------------------------


def _other_blocks(power: int) -> Evidence:
    """Gradients outside W_KQ_32 and W_PV_12, with each lambda replaced by a power of itself."""
    d, T = 2, 5
    A, B = dense(d)
    A, B = place_blocks(A[d:, :d], B[:, :d])
    x, weights = all_sequences(UNCENTRED, d, T)
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


# --- Erratum 7: kappa_3 has to be the same in both orders ----------------------------------------


class Lopsided:
    """Symmetric in every sign, equal kappas, yet E x_j^2 x_l^4 differs from E x_j^4 x_l^2."""

    def points(self, d: int) -> tuple[np.ndarray, np.ndarray]:
        """|x_1| = (0,2,0), (0,2,2), (2,2,0), (1,0,1), (2,1,2) with chances 27, 37, 37, 64, 64."""
        sizes = np.array([[0, 2, 0], [0, 2, 2], [2, 2, 0], [1, 0, 1], [2, 1, 2]])
        signs = np.stack(np.meshgrid(*[[-1, 1]] * 3), axis=-1).reshape(-1, 3)
        points = (sizes[:, None] * signs).reshape(-1, 3).astype(float)
        return points, np.repeat([27, 37, 37, 64, 64], 8) / (8 * 229)

    def fourth_by_second(self) -> np.ndarray:
        """The matrix of E x_j^4 x_l^2, zero on the diagonal: kappa_3 is the sum of a column."""
        points, chances = self.points(3)
        mixed = points.T**4 @ (chances[:, None] * points**2)
        return mixed - np.diag(np.diag(mixed))


def _lopsided(axis: int) -> Evidence:
    """Gradients on the diagonal of W_KQ_32, beside Lemma 5.2 with sums along `axis`."""
    law, T, (a, b) = Lopsided(), 5, START
    x, weights = all_sequences(law, D, T)
    grad_A, _ = gradients(
        lambda A, B: direct_loss(A, B, x, weights=weights), *diagonal_blocks(D, a, b)
    )
    points, chances = law.points(D)
    kappa_1, kappa_2 = chances @ points[:, 0] ** 4, chances @ points[:, 0] ** 6
    sums = law.fourth_by_second().sum(axis)
    c1 = (T - 2) * kappa_2 + harmonic_sum(T) * sums
    predicted = b * (c1 * a * b - (T - 2) * kappa_1)
    return Evidence(predicted, np.diag(grad_A[D:, :D]), tolerance=1e-12, relative=True)


@claim(
    "MO.erratum7",
    kind="exact",
    anchor=f"{CHAPTER}#mo-erratum-7",
    statement="The pull on entry r of W_KQ_32 holds the sum of E x_j^2 x_r^4 over j, not over r.",
)
def erratum7():
    return _lopsided(axis=1)


@erratum7.fails_without("the order of the factors (kappa_3 as Assumption 4.1 defines it)")
def _as_defined():
    return _lopsided(axis=0)
