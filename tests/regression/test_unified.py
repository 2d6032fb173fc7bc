"""The exact loss for any law, and the unified theorem."""

import itertools
from functools import partial

import numpy as np
import pytest
import torch
from torch.autograd.functional import hessian

from icgd.claims import registry
from icgd.evidence.regression import hypotheses, hypotheses_linear, minimum, unified
from icgd.evidence.regression.unified import LinearLaw
from icgd.regression import enumeration, models, theory
from icgd.regression.data import LinearTask, normal, sample_prompts
from icgd.regression.enumeration import enumerate_prompts, gauss_hermite
from icgd.regression.families import Polynomial
from icgd.regression.moments import TokenMoments, gaussian_noise
from icgd.regression.population import population_loss


def random_parameters(d, seed):
    g = torch.Generator().manual_seed(seed)
    return normal(d, d + 1, generator=g), normal(d + 1, generator=g)


# --- TokenMoments --------------------------------------------------------------------------------


@pytest.mark.parametrize("law", unified.laws(), ids=lambda law: law.name)
@pytest.mark.parametrize("n", [1, 2])
def test_loss_is_the_average_over_every_prompt(law, n):
    listed = enumerate_prompts(law.covariates, n, 0.3, coefficients=law.weights)
    loss = law.moments().loss(n)
    for seed in range(3):
        A, w = random_parameters(2, seed)
        brute = listed.loss(models.reduced_prediction(A, w, listed.prompts)).item()
        assert loss(A, w).item() == pytest.approx(brute, rel=1e-12)


@pytest.mark.parametrize("n", [1, 7, 101])
def test_loss_is_the_population_loss_for_the_papers_law(n):
    rule = gauss_hermite(3)
    tokens = LinearLaw("", rule, rule).moments()
    for seed in range(3):
        A, w = random_parameters(3, seed)
        wanted = population_loss(A, w, n=n, noise_var=0.3).item()
        assert tokens.loss(n)(A, w).item() == pytest.approx(wanted, rel=1e-12)


def test_loss_of_a_nonlinear_law_is_the_average_over_every_prompt():
    """n = 2 examples of f(x) = w x + (w x)^2 / 2 in one dimension, by a product rule."""
    family, x, w, noise = Polynomial((0.0, 1.0, 0.5)), gauss_hermite(1, 7), gauss_hermite(1, 7), 0.3
    tokens = TokenMoments.enumerate(x, family(w.points @ x.points.T), w.weights, noise=noise)
    law = x.power(3) * w * gaussian_noise(noise).power(3)
    inputs, weight, eps = law.points.split([3, 1, 3], 1)
    y = family(weight * inputs) + eps
    A, parameters = random_parameters(1, 0)
    prompts = enumeration.Prompts(inputs[:, :2, None], y[:, :2], inputs[:, 2:], y[:, 2])
    predicted = models.reduced_prediction(A, parameters, prompts)
    brute = (law.weights @ (predicted - y[:, 2]).square()).item()
    assert tokens.loss(2)(A, parameters).item() == pytest.approx(brute, rel=1e-12)


def test_estimates_are_unbiased_and_improve_like_one_over_root():
    exact = LinearLaw("", gauss_hermite(3), gauss_hermite(3)).moments()
    A, w = random_parameters(3, 1)
    wanted = exact.loss(5)(A, w).item()

    def errors(prompts):
        found = []
        for seed in range(40):
            g = torch.Generator().manual_seed(seed)
            drawn = sample_prompts(LinearTask(3, 0.3), prompts, 2, generator=g)
            found.append(TokenMoments.estimate(drawn).loss(5)(A, w).item() - wanted)
        return np.array(found)

    few, many = errors(100), errors(2500)
    assert abs(many.mean()) < 4 * many.std() / 40**0.5
    assert few.std() / many.std() == pytest.approx(5, rel=0.5)


@pytest.mark.parametrize("d", [2, 3, 5])
def test_the_sphere_rule_has_the_moments_of_the_sphere(d):
    rule = enumeration.sphere(d)
    x = rule.points
    np.testing.assert_allclose(x.square().sum(1), d, rtol=1e-14)
    second = torch.einsum("p,pi,pj->ij", rule.weights, x, x)
    np.testing.assert_allclose(second, np.eye(d), atol=1e-13)
    fourth = torch.einsum("p,pi,pj,pk,pl->ijkl", rule.weights, x, x, x, x)
    delta = np.eye(d)
    pairs = sum(
        np.einsum(f"{a},{b}->ijkl", delta, delta)
        for a, b in (("ij", "kl"), ("ik", "jl"), ("il", "jk"))
    )
    np.testing.assert_allclose(fourth, pairs * d / (d + 2), atol=1e-13)
    odd = torch.einsum("p,pi,pj,pk->ijk", rule.weights, x, x, x)
    np.testing.assert_allclose(odd, 0, atol=1e-13)


# --- The theorem ---------------------------------------------------------------------------------


@pytest.mark.parametrize("law", unified.laws(), ids=lambda law: law.name)
def test_no_parameters_go_below_the_predicted_minimum(law):
    loss, least = law.moments().loss(3), law.least_loss(3)
    for seed, scale in itertools.product(range(20), (0.05, 0.3)):
        A, w = random_parameters(2, seed)
        assert loss(scale * A, scale * w).item() > least
    assert law.minimise(3).loss == pytest.approx(least, abs=1e-12)


def test_every_matrix_is_reached_by_some_parameters():
    C = torch.tensor([[0.3, -1.2], [0.7, 0.4]], dtype=torch.float64)
    A = torch.cat([C, torch.zeros(2, 1, dtype=torch.float64)], 1)
    w = torch.tensor([0.0, 0.0, 1.0], dtype=torch.float64)
    assert torch.equal(models.odd_part(A, w), C)
    assert all(not part.any() for part in models.even_part(A, w))


def test_corollaries_agree_with_their_closed_forms():
    gaussian, signs, circle, *_ = unified.laws()
    n, s2 = 7, 0.3
    np.testing.assert_allclose(
        gaussian.optimum(n), theory.step_size(n, 2, s2) * np.eye(2), atol=1e-14
    )
    for law in (signs, circle):  # E[|x|^2 x x^T] = d I, where a Gaussian has (d + 2) I
        np.testing.assert_allclose(law.optimum(n), np.eye(2) / (n + 2 - 1 + s2), atol=1e-14)


def test_negation_is_not_needed_in_three_dimensions_either():
    """-I is not a rotation of R^3, yet no symmetric 3-tensor is left alone by all rotations."""
    family, x, w = Polynomial((0.0, 1.0, 0.5)), gauss_hermite(3, 6), gauss_hermite(3, 6)
    tokens = TokenMoments.enumerate(x, family(w.points @ x.points.T), w.weights, noise=0.3)
    end = minimum.global_minimum(tokens.loss(5), 3)
    eta = family.moments(3).step_size(5, 0.3)
    np.testing.assert_allclose(end.parts(), minimum.one_step_parts(eta * np.eye(3)), atol=1e-6)


def test_the_loss_has_local_minima_that_are_not_global():
    loss = partial(population_loss, n=7, noise_var=0.3)
    ends = minimum.global_minimum(loss, 2, scales=(0.01, 1.0, 1.0, 1.0))
    excess = ends.ends - theory.minimum_loss(7, 2, 0.3)
    assert excess[0] == pytest.approx(0, abs=1e-12)
    assert excess[-1] == pytest.approx(0.595153, abs=1e-6)
    worst = minimum.global_minimum(loss, 2, scales=(1.0,))
    point = torch.cat([worst.A.flatten(), worst.w])
    curvature = hessian(lambda p: loss(p[:6].view(2, 3), p[6:]), point)
    values = torch.linalg.eigvalsh(curvature)
    assert worst.loss - theory.minimum_loss(7, 2, 0.3) > 0.5
    assert values[0] > -1e-6 * values[-1]  # two zeros: scaling (A, 1/w), and rotations
    assert values[2] > 1e-3


def test_the_table_names_claims_that_exist_and_fails_where_it_says():
    table = hypotheses.hypothesis_table()
    assert [row.theorem for row in table] == sorted(row.theorem for row in table)
    assert {row.theorem for row in table} == {1, 2, 3}
    for row in table:
        assert registry()[row.claim].counterparts
    assert len({(row.theorem, row.hypothesis) for row in table}) == len(table)


def test_half_a_circle_has_the_even_moments_of_the_circle_only():
    half = hypotheses_linear.half_circle()
    second = torch.einsum("p,pi,pj->ij", half.weights, half.points, half.points)
    np.testing.assert_allclose(second, np.eye(2), atol=1e-14)
    assert (half.weights @ half.points)[1] > 0.5


# --- Bad input -----------------------------------------------------------------------------------


@pytest.mark.bad_input
def test_wrong_sizes_are_refused():
    rule, tokens = gauss_hermite(2), unified.laws()[0].moments()
    with pytest.raises(ValueError, match=r"values must have shape \(any, 9\), got \(9, 8\)"):
        TokenMoments.enumerate(rule, torch.ones(9, 8).double(), rule.weights, noise=0.3)
    with pytest.raises(ValueError, match="sum to 1"):
        TokenMoments.enumerate(rule, torch.ones(9, 9).double(), 2 * rule.weights, noise=0.3)
    with pytest.raises(ValueError, match="noise_var must not be negative"):
        TokenMoments.enumerate(rule, torch.ones(9, 9).double(), rule.weights, noise=-0.3)
    with pytest.raises(ValueError, match="n must be at least 1, got 0"):
        tokens.loss(0)
    with pytest.raises(
        ValueError, match=r"A must have shape \(2, 3\)|A must have shape \(2, any\)"
    ):
        tokens.loss(5)(*random_parameters(3, 0))
    with pytest.raises(ValueError, match=r"matrix must have shape \(any, 2\)"):
        rule.image(torch.eye(3).double())
    with pytest.raises(ValueError, match=r"x_second must have shape \(2, 2\), got \(3, 3\)"):
        theory.optimal_loss(np.eye(2), np.eye(2), x_second=np.eye(3), y_sq=1.0)
