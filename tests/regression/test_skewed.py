"""OS, Section 4: any covariance, learned preconditioners, and what plain descent loses."""

from functools import partial

import numpy as np
import pytest
import torch

from icgd.evidence.regression import minimum, preconditioning
from icgd.evidence.regression.preconditioning import law, root
from icgd.regression import enumeration, learners, models, theory
from icgd.regression.data import SkewedTask, normal, sample_prompts
from icgd.regression.moments import TokenMoments
from icgd.regression.population import population_loss


def ill_conditioned(d, condition, seed=0):
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((d, d)))[0]
    S = (Q * np.geomspace(condition**-0.5, condition**0.5, d)) @ Q.T
    return (S + S.T) / 2


@pytest.mark.parametrize("task_covariance", [None, np.diag([0.7, 1.9])], ids=["inverse", "other"])
def test_population_loss_is_the_average_over_every_prompt(task_covariance):
    sigma = preconditioning.SMALL
    omega = np.linalg.inv(sigma) if task_covariance is None else task_covariance
    rule = enumeration.gauss_hermite(2)
    listed = enumeration.enumerate_prompts(
        rule.image(root(sigma)), 2, 0.3, coefficients=rule.image(root(omega))
    )
    tokens = law(sigma, omega).moments()
    for seed in range(3):
        g = torch.Generator().manual_seed(seed)
        A, w = normal(2, 3, generator=g), normal(3, generator=g)
        brute = listed.loss(models.reduced_prediction(A, w, listed.prompts)).item()
        keys = {"covariance": sigma, "task_covariance": task_covariance}
        assert population_loss(A, w, n=2, noise_var=0.3, **keys).item() == pytest.approx(
            brute, rel=1e-12
        )
        assert tokens.loss(2)(A, w).item() == pytest.approx(brute, rel=1e-12)


@pytest.mark.parametrize("task_covariance", [None, np.eye(8)], ids=["inverse", "identity"])
def test_learned_preconditioner_at_condition_number_100(task_covariance):
    """From the exact loss in eight dimensions: the theory to 1e-6 of its largest entry."""
    sigma = ill_conditioned(8, 100.0)
    keys = {"n": 20, "noise_var": 0.3, "task_covariance": task_covariance}
    loss = partial(population_loss, covariance=sigma, **keys)
    end = minimum.global_minimum(loss, 8, scales=(1e-2, 1e-2))
    wanted = theory.preconditioner(sigma, **keys)
    learned = end.parts()[:64].reshape(8, 8)
    assert np.abs(learned - wanted).max() < 1e-6 * np.abs(wanted).max()
    assert np.abs(end.parts()[64:]).max() < 1e-6
    assert end.loss == pytest.approx(theory.skewed_minimum_loss(sigma, **keys), rel=1e-12)


def test_preconditioner_learned_from_sampled_prompts():
    sigma = ill_conditioned(3, 10.0)
    g = torch.Generator().manual_seed(0)
    prompts = sample_prompts(SkewedTask(sigma, 0.3), 60_000, 11, generator=g)
    end = minimum.global_minimum(TokenMoments.estimate(prompts).loss(11), 3, scales=(1e-2,))
    wanted = theory.preconditioner(sigma, n=11, noise_var=0.3)
    assert np.abs(end.parts()[:9].reshape(3, 3) - wanted).max() < 0.02 * np.abs(wanted).max()


def test_preconditioned_step_beats_the_best_plain_step_on_prompts():
    sigma = np.diag([0.1, 1.0, 10.0])
    keys = {"n": 11, "noise_var": 0.3}
    prompts = sample_prompts(
        SkewedTask(sigma, 0.3), 40_000, 11, generator=torch.Generator().manual_seed(2)
    )
    plain = theory.best_scalar_step(sigma, **keys)
    P = torch.as_tensor(theory.preconditioner(sigma, **keys))
    for learner, wanted in (
        (learners.gradient_step(plain), theory.skewed_risk(plain * np.eye(3), sigma, **keys)),
        (learners.preconditioned_step(P), theory.minimum_loss(11, 3, 0.3)),
    ):
        errors = (learner(prompts) - prompts.y_query).square()
        assert errors.mean().item() == pytest.approx(wanted, abs=4 * (errors.std() / 200).item())


@pytest.mark.parametrize("task_covariance", [None, np.diag([2.0, 1.0, 0.3])])
def test_best_scalar_step_is_the_bottom_of_the_parabola(task_covariance):
    sigma = ill_conditioned(3, 50.0, seed=1)
    keys = {"n": 7, "noise_var": 0.4, "task_covariance": task_covariance}
    best = theory.best_scalar_step(sigma, **keys)
    risk = [
        theory.skewed_risk(s * np.eye(3), sigma, **keys) for s in (0.99 * best, best, 1.01 * best)
    ]
    assert risk[0] > risk[1] < risk[2]
    assert risk[0] == pytest.approx(risk[2], rel=1e-12)


def test_plain_descent_loses_more_the_worse_the_condition():
    conditions = np.geomspace(1, 1000, 7)
    plain, preconditioned = preconditioning.plain_descent_excess(
        conditions, d=5, n=20, noise_var=0.3
    )
    assert plain[0] == pytest.approx(preconditioned[0], rel=1e-12)
    assert (np.diff(plain) > 0).all()
    np.testing.assert_allclose(preconditioned, preconditioned[0], rtol=1e-12)
    # With one eigenvalue towering over the rest a scalar step learns one direction of five.
    limit = preconditioning.plain_descent_excess([1e9], d=5, n=20, noise_var=0.3)[0, 0]
    assert limit == pytest.approx(1 - 20 / (20 + 5 + 1 + 0.3) / 5, rel=0.01)


def test_off_the_range_of_a_singular_covariance_parameters_are_free():
    B = torch.tensor([[1.0, 0.2], [0.5, -1.0], [0.0, 0.7]], dtype=torch.float64)
    rule = enumeration.gauss_hermite(2)
    plane = preconditioning.LinearLaw("", rule.image(B), rule.image(torch.linalg.pinv(B).T))
    normal_vector = torch.linalg.svd(B).U[:, 2]
    loss = plane.moments().loss(5)
    g = torch.Generator().manual_seed(0)
    A, w = normal(3, 4, generator=g), normal(4, generator=g)
    changed = A.clone()
    changed[:, :3] += torch.outer(normal(3, generator=g), normal_vector)  # acts on no covariate
    changed += torch.outer(normal_vector, normal(4, generator=g))  # no query can see it
    assert loss(changed, w).item() == pytest.approx(loss(A, w).item(), rel=1e-11)
    changed[:, 0] += 0.1
    assert abs(loss(changed, w).item() - loss(A, w).item()) > 1e-3


def test_the_papers_two_forms_of_the_data_agree():
    """With u = Sigma^(-1/2) x and w' = Sigma^(1/2) w, both are N(0, I)."""
    sigma = preconditioning.SMALL
    prompts = sample_prompts(
        SkewedTask(sigma, 0.3), 100_000, 1, generator=torch.Generator().manual_seed(1)
    )
    inverse = torch.linalg.inv(root(sigma))
    for whitened in (prompts.X[:, 0] @ inverse, prompts.w @ root(sigma)):
        np.testing.assert_allclose(torch.cov(whitened.T), np.eye(2), atol=0.02)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("covariance", "match"),
    [
        (np.array([[1.0, 0.2], [0.0, 1.0]]), "must be symmetric"),
        (np.diag([1.0, 0.0]), "must be positive definite"),
        (np.diag([1.0, -0.5]), "must be positive definite"),
        (np.diag([1.0, 1e-11]), "condition number of at most 1e\\+10"),
        (np.ones((2, 3)), "must have shape"),
        (np.diag([1.0, np.nan]), "must be finite"),
    ],
)
def test_senseless_covariances_are_refused(covariance, match):
    with pytest.raises(ValueError, match=match):
        theory.best_scalar_step(covariance, n=5, noise_var=0.3)
    with pytest.raises(ValueError, match=match):
        SkewedTask(covariance, 0.3)
