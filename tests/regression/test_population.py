"""The exact loss against enumeration, sampling, finite differences, and its symmetries."""

import numpy as np
import pytest
import torch

from icgd.regression.data import LinearTask, SkewedTask, normal, sample_prompts
from icgd.regression.enumeration import Rule, enumerate_prompts, gauss_hermite
from icgd.regression.population import population_loss

SIGMA = np.array([[1.7, 0.4], [0.4, 0.6]])
OMEGA = np.array([[0.5, -0.3], [-0.3, 2.0]])


def parameters(d, seed=0, scale=1.0):
    g = torch.Generator().manual_seed(seed)
    return scale * normal(d, d + 1, generator=g), scale * normal(d + 1, generator=g)


def predictions(A, w, prompts):
    """x_query^T A G w, written out from the definition of G."""
    v = np.concatenate([prompts.X.numpy(), prompts.y.numpy()[..., None]], axis=2)
    G = np.einsum("bis,bit->bst", v, v)
    return np.einsum("bi,is,bst,t->b", prompts.x_query.numpy(), A.numpy(), G, w.numpy())


def with_covariance(rule, covariance):
    root = np.linalg.cholesky(covariance)
    return Rule(rule.points @ torch.as_tensor(root).T, rule.weights)


def enumerated(noise_var, sigma=None, omega=None):
    """All of the law at n = d = 2: the loss has degree 4 in each variable, so 3 nodes are exact."""
    x = gauss_hermite(2) if sigma is None else with_covariance(gauss_hermite(2), sigma)
    w = gauss_hermite(2) if omega is None else with_covariance(gauss_hermite(2), omega)
    return enumerate_prompts(x, 2, noise_var, coefficients=w)


LAWS = {
    "isotropic": ({}, None, None),
    "default task covariance": ({"covariance": SIGMA}, SIGMA, np.linalg.inv(SIGMA)),
    "task covariance alone": ({"task_covariance": OMEGA}, None, OMEGA),
    "both": ({"covariance": SIGMA, "task_covariance": OMEGA}, SIGMA, OMEGA),
}


@pytest.mark.parametrize("noise_var", [0.0, 0.3])
@pytest.mark.parametrize("law", LAWS)
def test_equals_the_enumerated_loss(law, noise_var):
    options, sigma, omega = LAWS[law]
    weighted = enumerated(noise_var, sigma, omega)
    weights, target = weighted.weights.numpy(), weighted.prompts.y_query.numpy()
    for seed in range(4):
        A, w = parameters(2, seed)
        brute = weights @ (predictions(A, w, weighted.prompts) - target) ** 2
        exact = population_loss(A, w, n=2, noise_var=noise_var, **options).item()
        assert exact == pytest.approx(brute, rel=1e-11)


TASKS = [
    (LinearTask(3, 0.4), {}),
    (SkewedTask(np.diag([0.5, 1.0, 2.0]), 0.4), {"covariance": np.diag([0.5, 1.0, 2.0])}),
    (
        SkewedTask(np.diag([0.5, 1.0, 2.0]), 0.4, np.eye(3)),
        {"covariance": np.diag([0.5, 1.0, 2.0]), "task_covariance": np.eye(3)},
    ),
]


@pytest.mark.parametrize(("task", "options"), TASKS, ids=["linear", "inverse", "identity"])
def test_equals_the_sampled_loss_at_larger_sizes(task, options):
    n, A, w = 7, *parameters(3, scale=0.3)
    prompts = sample_prompts(task, 200_003, n, generator=torch.Generator().manual_seed(1))
    squares = (predictions(A, w, prompts) - prompts.y_query.numpy()) ** 2
    exact = population_loss(A, w, n=n, noise_var=0.4, **options).item()
    standard_error = squares.std() / len(squares) ** 0.5
    assert standard_error < 0.02 * exact  # or the comparison would say little
    assert abs(squares.mean() - exact) < 4 * standard_error


def test_monte_carlo_error_falls_with_slope_minus_one_half():
    A, w = parameters(3, scale=0.15)
    exact = population_loss(A, w, n=5, noise_var=0.4).item()
    prompts = sample_prompts(
        LinearTask(3, 0.4), 2**18, 5, generator=torch.Generator().manual_seed(2)
    )
    squares = (predictions(A, w, prompts) - prompts.y_query.numpy()) ** 2
    sizes = 2 ** np.arange(4, 12)
    errors = [np.sqrt(np.mean((squares.reshape(-1, size).mean(1) - exact) ** 2)) for size in sizes]
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.05)


@pytest.mark.parametrize("options", [{}, {"covariance": SIGMA, "task_covariance": OMEGA}])
def test_gradients_are_those_of_finite_differences(options):
    A, w = (p.requires_grad_() for p in parameters(2))

    def loss(A, w):
        return population_loss(A, w, n=5, noise_var=0.3, **options)

    assert torch.autograd.gradcheck(loss, (A, w))
    assert torch.autograd.gradgradcheck(loss, (A, w))
    # Central differences written out: their error falls with slope 2 in the step.
    direction = parameters(2, seed=9)
    in_A, in_w = torch.autograd.grad(loss(A, w), (A, w))
    slope = (in_A * direction[0]).sum() + (in_w * direction[1]).sum()
    errors = []
    for h in (0.1, 0.05, 0.025):
        ends = [loss(A + s * h * direction[0], w + s * h * direction[1]) for s in (1, -1)]
        errors.append(abs(((ends[0] - ends[1]) / (2 * h) - slope).item()))
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    np.testing.assert_allclose(orders, 2, atol=0.05)


def test_is_a_parabola_in_each_parameter_and_an_even_quartic_in_both():
    A, w = parameters(3)
    t = np.linspace(-2, 2, 9)

    def fit(f, degree):
        values = np.array([f(s).item() for s in t])
        coefficients = np.polynomial.polynomial.polyfit(t, values, degree)
        residual = np.polynomial.polynomial.polyval(t, coefficients) - values
        assert np.abs(residual).max() < 1e-10 * values.max()
        return coefficients

    options = {"n": 5, "noise_var": 0.3}
    in_A = fit(lambda s: population_loss(s * A, w, **options), 2)
    in_w = fit(lambda s: population_loss(A, s * w, **options), 2)
    np.testing.assert_allclose(in_A, in_w, rtol=1e-9)  # only the product counts
    assert in_A[0] == pytest.approx(3.3)  # predicting zero costs d + noise_var
    both = fit(lambda s: population_loss(s * A, s * w, **options), 4)
    np.testing.assert_allclose(both[1::2], 0, atol=1e-8 * both[4])
    np.testing.assert_allclose(both[::2], in_A, rtol=1e-9)


def test_scaling_between_the_parameters_changes_nothing():
    A, w = parameters(3)
    before = population_loss(A, w, n=5, noise_var=0.3).item()
    for t in (-1.0, 0.1, 7.0):
        after = population_loss(t * A, w / t, n=5, noise_var=0.3).item()
        assert after == pytest.approx(before, rel=1e-12)


def test_rotating_the_parameters_changes_nothing():
    A, w = parameters(5)
    R = torch.linalg.qr(normal(5, 5, generator=torch.Generator().manual_seed(3)))[0]
    H = torch.block_diag(R, torch.ones(1, 1, dtype=torch.float64))
    before = population_loss(A, w, n=7, noise_var=0.3).item()
    after = population_loss(R @ A @ H.T, H @ w, n=7, noise_var=0.3).item()
    assert after == pytest.approx(before, rel=1e-12)


def test_changing_the_units_of_the_covariates_changes_nothing():
    # x -> M x, w_task -> M^-T w_task leaves the labels alone; A and w follow by duality.
    A, w = parameters(2)
    M = torch.tensor([[2.0, 0.3], [0.0, 0.5]], dtype=torch.float64)
    H_inv = torch.block_diag(torch.linalg.inv(M), torch.ones(1, 1, dtype=torch.float64))
    before = population_loss(A, w, n=3, noise_var=0.3).item()
    after = population_loss(
        torch.linalg.inv(M).T @ A @ H_inv, H_inv.T @ w, n=3, noise_var=0.3, covariance=M @ M.T
    ).item()
    assert after == pytest.approx(before, rel=1e-12)


@pytest.mark.parametrize("n", [10**3, 10**9])
def test_a_billion_examples_cost_nothing_and_approach_the_limit(n):
    # With step size 1 / n the loss is noise_var + d (d + 1 + noise_var) / n.
    A = torch.cat([torch.eye(3), torch.zeros(3, 1)], 1).double() / n
    w = torch.tensor([0.0, 0.0, 0.0, 1.0], dtype=torch.float64)
    excess = population_loss(A, w, n=n, noise_var=0.5).item() - 0.5
    assert n * excess == pytest.approx(3 * 4.5, rel=1e-5)


def test_identity_covariances_and_tensors_are_accepted():
    A, w = parameters(2)
    plain = population_loss(A, w, n=3, noise_var=0.3).item()
    eye = torch.eye(2, dtype=torch.float64)
    explicit = population_loss(A, w, n=3, noise_var=0.3, covariance=eye, task_covariance=eye)
    assert explicit.item() == pytest.approx(plain, rel=1e-13)
