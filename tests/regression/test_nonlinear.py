"""OS, Section 5: the loss of nonlinear targets and the step size they teach."""

import numpy as np
import pytest
import torch

from icgd.evidence.regression import minimum, nonlinear, nonlinear_optimum
from icgd.regression import counterexamples, enumeration, families, theory
from icgd.regression.data import normal, sample_prompts
from icgd.regression.families import Polynomial, RandomQuadratic
from icgd.regression.models import reduced_prediction
from icgd.regression.moments import TokenMoments
from icgd.regression.targets import NonlinearTask


@pytest.mark.parametrize(
    ("family", "tokens"),
    [
        (RandomQuadratic(nonlinear.SCALE), nonlinear.quadratic_moments()),
        (
            Polynomial((0.0, 1.0, 0.0, -0.2)),
            nonlinear_optimum.polynomial_moments(nonlinear_optimum.CUBIC),
        ),
        (counterexamples.CoordinateCubic(), nonlinear_optimum.one_axis_moments()),
    ],
    ids=["quadratic", "cubic", "one axis"],
)
def test_exact_loss_is_the_mean_over_sampled_prompts(family, tokens):
    g = torch.Generator().manual_seed(11)
    prompts = sample_prompts(NonlinearTask(family, 2, 0.3), 400_000, 3, generator=g)
    A, w = 0.05 * normal(2, 3, generator=g), normal(3, generator=g)
    losses = (reduced_prediction(A, w, prompts) - prompts.y_query).square()
    error = (losses.std() / len(losses) ** 0.5).item()
    assert tokens.loss(3)(A, w).item() == pytest.approx(losses.mean().item(), abs=5 * error)


def test_u_bar_is_the_best_linear_predictor_given_the_context():
    """Regressing y_query x_query on the context's own statistics cannot improve on u_bar."""
    law = nonlinear.contexts()
    cross = law.mean(torch.einsum("bi,bj->bij", law.u, law.xy))
    # Tower property: E[u_bar (X^T y)^T] = E[beta_f (X^T y)^T] = n E[beta_f beta_f^T] = n I.
    np.testing.assert_allclose(cross, 2 * np.eye(2), atol=1e-10)


@pytest.mark.parametrize("n", [1, 5, 23])
def test_minimum_is_attained_by_one_step_with_the_familys_step_size(n):
    family = RandomQuadratic(nonlinear.SCALE)
    eta = family.moments(2).step_size(n, nonlinear.NOISE)
    tokens = nonlinear.quadratic_moments()
    end = minimum.global_minimum(tokens.loss(n), 2)
    np.testing.assert_allclose(end.parts(), minimum.one_step_parts(eta * np.eye(2)), atol=1e-6)
    # L* = E[y^2] - eta n E|beta|^2, with E[f^2] = 2 + 0.16 * 8.
    assert end.loss == pytest.approx(2 + 0.16 * 8 + nonlinear.NOISE - eta * n * 2, abs=1e-11)


def test_without_rotations_the_step_is_taken_along_one_axis():
    end = minimum.global_minimum(nonlinear_optimum.one_axis_moments().loss(5), 2)
    C = end.parts()[:4].reshape(2, 2)
    # E[x_1^8] = 105 is E[f^2 x_1^2], and beta_f = +-3 e_1.
    wanted = 9 / (105 + nonlinear.NOISE + 4 * 9)
    np.testing.assert_allclose(C, np.diag([wanted, 0]), atol=1e-6)


def test_without_negation_the_optimum_uses_terms_even_in_the_labels():
    law = nonlinear_optimum.with_mean()
    end = law.minimise(5)
    assert np.abs(end.parts()[4:]).max() > 0.01
    step = theory.step_size(5, 2, nonlinear.NOISE)
    A = torch.tensor([[step, 0, 0], [0, step, 0]], dtype=torch.float64)
    w = torch.tensor([0.0, 0.0, 1.0], dtype=torch.float64)
    assert end.loss < law.moments().loss(5)(A, w).item() - 0.02


def test_the_relu_step_size_does_not_depend_on_the_width():
    d, n, s2 = 5, 11, 0.3
    wanted = 1 / (2 * (d + 2) + 4 * s2 + n - 1)
    for width in (1, 2, 17):
        found = families.TwoLayerNetwork(width).moments(d).step_size(n, s2)
        assert found == pytest.approx(wanted, rel=1e-14)


def test_the_learned_step_improves_with_the_number_of_prompts():
    family = families.CosineRidge(0.7)
    eta = family.moments(2).step_size(7, nonlinear.NOISE)

    def spread(prompts):
        errors = []
        for seed in range(30):
            g = torch.Generator().manual_seed(seed)
            task = NonlinearTask(family, 2, nonlinear.NOISE)
            tokens = TokenMoments.estimate(sample_prompts(task, prompts, 7, generator=g))
            cross, second = tokens.predictor_moments(7)
            errors.append(np.trace(cross) / np.trace(second) / eta - 1)
        return np.sqrt(np.mean(np.square(errors)))

    slope = np.log(spread(10_000) / spread(400)) / np.log(25)
    assert slope == pytest.approx(-0.5, abs=0.15)


def test_gaussian_quadrature_has_enough_nodes():
    """Twice the nodes change nothing: the averages are exact, not converging."""
    family = nonlinear_optimum.CUBIC
    few = nonlinear_optimum.polynomial_moments(family)
    rule = enumeration.gauss_hermite(2, 14)
    more = TokenMoments.enumerate(
        rule, family(rule.points @ rule.points.T), rule.weights, noise=nonlinear.NOISE
    )
    for name in ("second", "pairs", "fourth"):
        a, b = getattr(few, name), getattr(more, name)
        torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-10 * b.abs().max().item())
