import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp

from icgd.autoregression import blocks as blocks_of
from icgd.autoregression import data, models, theory
from icgd.autoregression.enumeration import all_sequences
from icgd.autoregression.normalisation import constant, context_pairs
from icgd.autoregression.population import PopulationLoss
from icgd.training import descend


def gradients(law, d, T, a, b, rho=context_pairs):
    A, B = (block.requires_grad_() for block in blocks_of.diagonal_blocks(d, a, b))
    loss = PopulationLoss(law, d=d, T=T, rho=rho)(A, B)
    return loss.item(), *torch.autograd.grad(loss, (A, B))


@pytest.mark.parametrize("rho", [context_pairs, constant])
def test_diagonal_loss_and_velocity_are_exact_for_every_law(law, rho):
    d, T, a, b = 3, 7, 0.3, 0.7
    value, grad_A, grad_B = gradients(law, d, T, a, b, rho)
    assert theory.diagonal_loss(a, b, law, d=d, T=T, rho=rho) == pytest.approx(value, rel=1e-12)
    rates = theory.rates(law, d=d, T=T, rho=rho)
    expected = theory.velocity(a, b, *rates)
    np.testing.assert_allclose(-grad_A[d:, :d].diagonal(), np.full(d, expected[0]), rtol=1e-11)
    np.testing.assert_allclose(-grad_B[:, :d].diagonal(), np.full(d, expected[1]), rtol=1e-11)


@pytest.mark.parametrize(
    ("law", "T", "expected"),
    [
        (data.Gaussian(1.0), 100, 0.19190),
        (data.Gaussian(0.5), 100, 0.76762),
        (data.Gaussian(1.0), 5, 0.13433),
        (data.Ones(), 100, 0.8258),
        (data.Sparse(0.5), 100, 4.0),
        (data.Sparse(0.5), 5, 4.0),
    ],
)
def test_limits_at_the_papers_settings(law, T, expected):
    assert theory.limit_product(law, d=5, T=T) == pytest.approx(expected, abs=6e-5)
    assert theory.limit_product(law, d=5, T=10**6) == pytest.approx(
        theory.long_limit_product(law, d=5), rel=1e-4
    )


STARTS = [(0.1, 0.1), (0.5, 1.5), (2.0, 2.0), (-1.0, 0.3), (0.2, -0.5), (0.0, 1.0), (1.0, -1.0)]


@pytest.mark.parametrize("start", STARTS)
def test_trajectory_solves_the_flow(start):
    c1, c2 = 3.0, 1.1
    times = np.linspace(0, 3, 11)
    numeric = solve_ivp(
        lambda _, y: theory.velocity(*y, c1, c2), (0, 3), start, "DOP853", times,
        rtol=1e-12, atol=1e-14,
    )  # fmt: skip
    a, b = theory.trajectory(*start, c1, c2, times)
    np.testing.assert_allclose([a, b], numeric.y, atol=1e-10)
    np.testing.assert_allclose(a**2 - b**2, start[0] ** 2 - start[1] ** 2, atol=1e-12)
    end = theory.trajectory(*start, c1, c2, [40.0])
    np.testing.assert_allclose(np.ravel(end), theory.limit_point(*start, c1, c2), atol=1e-10)


def test_the_saddle_keeps_its_stable_manifold():
    assert theory.limit_point(0.0, 0.0, 3.0, 1.1) == (0.0, 0.0)
    assert theory.limit_point(1.0, -1.0, 3.0, 1.1) == (0.0, 0.0)
    a, b = theory.limit_point(1.0, -1.0 + 1e-9, 3.0, 1.1)
    assert a * b == pytest.approx(1.1 / 3.0)


def test_descent_tends_to_the_flow_with_slope_one():
    law, d, T, time = data.Gaussian(0.5), 2, 5, 0.4
    loss = PopulationLoss(law, d=d, T=T)
    exact = theory.trajectory(0.3, 0.8, *theory.rates(law, d=d, T=T), [time])[0][0]
    steps, errors = np.array([25, 50, 100, 200]), []
    for count in steps:
        start = blocks_of.diagonal_blocks(d, 0.3, 0.8)
        A, _ = descend(loss, start, step_size=time / count, steps=int(count)).final
        errors.append(abs(A[d, 0].item() - exact))
    assert np.polyfit(np.log(time / steps), np.log(errors), 1)[0] == pytest.approx(1, abs=0.05)


def test_hessian_is_that_of_the_surrogate():
    c1, c2, a, b = 3.0, 1.1, 0.4, 0.7
    point = torch.tensor([a, b], dtype=torch.float64)
    hessian = torch.autograd.functional.hessian(
        lambda p: (c2 - c1 * p[0] * p[1]) ** 2 / (2 * c1), point
    )
    np.testing.assert_allclose(theory.surrogate_hessian(a, b, c1, c2), hessian, rtol=1e-12)
    determinant = np.linalg.det(theory.surrogate_hessian(a, b, c1, c2))
    assert determinant == pytest.approx((c2 - c1 * a * b) * (3 * c1 * a * b - c2))


def test_relative_error_is_the_enumerated_one(law):
    d, T, product = 2, 5, 0.37
    x, weights = all_sequences(law, d, T)
    y = models.predict(*blocks_of.diagonal_blocks(d, product, 1.0), x)
    for t in (2, 3, 4):
        error = weights @ (y[:, t - 2] - x[:, t]).abs().square().sum(dim=1)
        scale = weights @ x[:, t].abs().square().sum(dim=1)
        found = theory.relative_error(law, d=d, t=t, product=product)
        assert found == pytest.approx((error / scale).item(), rel=1e-10)


def test_mean_ratio_is_the_enumerated_one(law, blocks):
    d, T = 2, 5
    if isinstance(law, data.Gaussian):
        law = data.Discrete((-1.0, 0.4, 0.7), (0.3, 0.3, 0.4))  # 1 / x needs the true values
    x, weights = all_sequences(law, d, T)
    A, B = (block.detach() for block in blocks(d))
    y = models.predict(A, B, x)
    for t in (2, 4):
        found = theory.mean_ratio(law, A.numpy(), B.numpy(), t=t)
        for j in range(d):
            there = x[:, t, j] != 0
            quotient = (y[there, t - 2, j] / x[there, t, j]).real
            expected = (weights[there] @ quotient) / weights[there].sum()
            assert found[j] == pytest.approx(expected.item(), rel=1e-10)


def test_erratum_1_values():
    law = data.Discrete((2.0, -1.0), (1 / 3, 2 / 3))
    _, grad_A, grad_B = gradients(law, 2, 5, 0.3, 0.7)
    np.testing.assert_allclose(grad_B[:, :2], [[0.1440, 0.4620], [0.4620, 0.1440]], atol=1e-12)
    np.testing.assert_allclose(grad_A[2:, :2], [[0.3360, 1.0780], [1.0780, 0.3360]], atol=1e-12)
    assert theory.skewed_gradient(2.0, 0.3, 0.7, 5) == pytest.approx((1.0780, 0.4620))


@pytest.mark.parametrize(("d", "T"), [(3, 5), (5, 11)])
def test_skewed_gradient_at_any_size(d, T):
    law = data.Discrete((2.0, -1.0), (1 / 3, 2 / 3))
    _, grad_A, grad_B = gradients(law, d, T, 0.3, 0.7)
    off = ~np.eye(d, dtype=bool)
    expected = theory.skewed_gradient(law.raw(3), 0.3, 0.7, T)
    np.testing.assert_allclose(grad_A[d:, :d].numpy()[off], expected[0], rtol=1e-11)
    np.testing.assert_allclose(grad_B[:, :d].numpy()[off], expected[1], rtol=1e-11)


@pytest.mark.parametrize(("d", "T"), [(2, 5), (3, 7), (5, 11)])
def test_full_one_gradient_at_any_size(d, T):
    _, grad_A, grad_B = gradients(data.Ones(), d, T, 0.3, 0.7)
    off = ~np.eye(d, dtype=bool)
    expected = theory.full_one_gradient(d, T, 0.3, 0.7)
    np.testing.assert_allclose(grad_A[d:, :d].numpy()[off], expected[0], rtol=1e-11)
    np.testing.assert_allclose(grad_B[:, :d].numpy()[off], expected[1], rtol=1e-11)


def test_erratum_6_values():
    _, grad_A, grad_B = gradients(data.Ones(), 2, 5, 0.3, 0.7)
    np.testing.assert_allclose(grad_A[2, :2], [-1.3895, -0.7443], atol=5e-5)
    np.testing.assert_allclose(grad_B[0, :2], [-0.5955, 0.1155], atol=5e-5)


@pytest.mark.bad_input
def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="length T must be at least 3"):
        theory.limit_product(data.Gaussian(1.0), d=5, T=2)
    with pytest.raises(ValueError, match="dimension d must be at least 1"):
        theory.kappas(data.Gaussian(1.0), 0)
    with pytest.raises(ValueError, match="E x\\^6 positive"):
        theory.kappas(data.Discrete((0.0,), (1.0,)), 2)
    with pytest.raises(ValueError, match="context length t must be at least 2"):
        theory.relative_error(data.Gaussian(1.0), d=2, t=1, product=0.2)
