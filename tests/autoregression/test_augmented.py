"""Diagonal layers: closed forms against the exact engine and against every sequence there is."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from icgd.autoregression import augmented, data, theory
from icgd.autoregression.blocks import place_blocks
from icgd.autoregression.direct import direct_loss
from icgd.autoregression.normalisation import constant, context_pairs
from icgd.autoregression.population import PopulationLoss


def placed(a, b):
    return place_blocks(*(torch.diag(torch.tensor(v, dtype=torch.float64)) for v in (a, b)))


@pytest.mark.parametrize("rho", [context_pairs, constant])
def test_loss_agrees_with_the_engine(law, rho):
    a, b = np.random.default_rng(0).standard_normal((2, 3))
    expected = PopulationLoss(law, d=3, T=7, rho=rho)(*placed(a, b)).item()
    assert augmented.unitary_loss(a, b, law, T=7, rho=rho) == pytest.approx(expected, rel=1e-12)


def test_multiples_of_the_identity_are_mos_case(law):
    p, q = 0.3, 0.8
    both = np.array([[p] * 5, [q] * 5])
    expected = theory.diagonal_loss(p, q, law, d=5, T=11)
    assert augmented.unitary_loss(*both, law, T=11) == pytest.approx(expected, rel=1e-12)


def test_other_blocks_only_add():
    """Any other diagonal block raises the exact loss, as the proof says."""
    loss = PopulationLoss(data.Rademacher(1.0), d=2, T=5)
    A, B = placed([0.4, -0.3], [0.8, 0.5])
    base = loss(A, B).item()
    for k, (rows, columns) in enumerate([((0, 2), (0, 2)), ((0, 2), (2, 4)), ((2, 4), (2, 4))]):
        more = A.clone()
        more[slice(*rows), slice(*columns)] += 0.2 * torch.eye(2, dtype=torch.float64)
        assert loss(more, B).item() > base + 1e-4, k
    wider = B.clone()
    wider[:, 2:] += 0.2 * torch.eye(2)
    assert loss(A, wider).item() > base + 1e-4


def test_no_point_is_below_the_minimum_of_the_theorem():
    """A search over all diagonals, which knows nothing of concavity."""
    law, d, T = data.Gaussian(1.0), 3, 7
    p = theory.limit_product(law, d=d, T=T)
    C = augmented.step_sums(T)[0]
    lowest = d * ((T - 2) - C * 3.0 * p) / 2
    rng = np.random.default_rng(1)
    found = [
        minimize(lambda z: augmented.unitary_loss(*z.reshape(2, d), law, T=T), start).fun
        for start in rng.standard_normal((6, 2 * d))
    ]
    assert min(found) == pytest.approx(lowest, rel=1e-7)
    assert min(found) > lowest - 1e-9


def test_each_sign_class_is_a_minimum_and_there_are_enough():
    signs = augmented.sign_classes(4)
    assert len({tuple(row) for row in signs}) == 8
    assert (signs[:, 0] == 1).all()
    law, T = data.Rademacher(1.0), 7
    p = theory.limit_product(law, d=4, T=T)
    values = augmented.unitary_loss(0.7 * signs, p / 0.7 * signs, law, T=T)
    np.testing.assert_allclose(values, values[0], rtol=1e-13)


def test_a_quarter_is_approached_at_rate_one_over_T():
    def gap(T):
        C = augmented.step_sums(T, constant)[0]
        return 1 - C * theory.limit_product(data.Ones(), d=3, T=T, rho=constant) / (T - 2) - 0.25

    assert gap(2000) / gap(4000) == pytest.approx(2.0, rel=0.01)


def every_pair_sequence(d, T):
    N = 3 * T + 1
    half = 2 * np.pi * np.indices((N,) * (d // 2)).reshape(d // 2, -1).T / N
    angles = np.stack([half, -half], axis=2).reshape(len(half), d)
    x = np.exp(1j * angles[:, None, :] * np.arange(T)[None, :, None])
    return torch.as_tensor(x)


@pytest.mark.parametrize("rho", [context_pairs, constant])
@pytest.mark.parametrize(("d", "T"), [(2, 3), (2, 7), (4, 5)])
def test_orthogonal_loss_agrees_with_every_sequence(d, T, rho):
    p, q = 0.37, -0.11
    A, B = placed([p] * d, [1.0] * d)
    A[:d, d:] = q * torch.eye(d, dtype=torch.float64)
    expected = direct_loss(A, B, every_pair_sequence(d, T), rho=rho).item()
    assert augmented.orthogonal_loss(p, q, d=d, T=T, rho=rho) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("T", "rho", "best", "step"),
    [
        (12, context_pairs, 0.1129, 0.2265),
        (24, context_pairs, 0.0862, 0.1437),
        (40, context_pairs, 0.0678, 0.1001),
        (6, constant, 0.2996, 0.375),
    ],
)
def test_second_query_reaches_the_stated_losses(T, rho, best, step):
    p, q, lowest, plain = augmented.orthogonal_minimum(d=2, T=T, rho=rho)
    assert q < 0 < p
    assert lowest / (T - 2) == pytest.approx(best, abs=5e-5)
    assert plain / (T - 2) == pytest.approx(step, abs=5e-5)
    searched = minimize(lambda z: augmented.orthogonal_loss(*z, d=2, T=T, rho=rho), [0.3, 0.0])
    assert searched.fun == pytest.approx(lowest, rel=1e-9)


@pytest.mark.parametrize("d", [2, 4, 8, 20])
def test_second_query_is_negative_at_every_length(d):
    assert all(augmented.orthogonal_minimum(d=d, T=T)[1] < 0 for T in (3, 4, 5, 11, 101, 2003))


@pytest.mark.bad_input
def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="conjugate pairs"):
        augmented.orthogonal_loss(0.1, 0.1, d=3, T=5)
    with pytest.raises(ValueError, match="one shape"):
        augmented.unitary_loss(np.ones(3), np.ones(2), data.Ones(), T=5)
    with pytest.raises(ValueError, match="at least 3"):
        augmented.step_sums(2)
