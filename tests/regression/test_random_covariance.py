"""One layer for prompts that each have a covariance of their own."""

from math import factorial

import numpy as np
import pytest
import torch

from icgd.evidence.regression import random_covariance as evidence
from icgd.regression import dynamics, learners, random_covariance
from icgd.regression.data import sample_prompts
from icgd.regression.shifted_tasks import RandomCovarianceTask

LAW = evidence.SPECTRA, evidence.WEIGHTS
KEYS = {"n": 7, "noise_var": 0.3}


def test_exponential_law_has_the_moments_of_the_exponential():
    spectra, weights = random_covariance.exponential(2)
    for i, j in ((1, 0), (2, 0), (3, 0), (5, 0), (1, 2), (3, 2)):
        moment = weights @ (spectra[:, 0] ** i * spectra[:, 1] ** j)
        assert moment == pytest.approx(factorial(i) * factorial(j), rel=1e-12)


@pytest.mark.parametrize("n", [1, 7, 1000])
def test_exponential_eigenvalues_by_hand(n):
    """c = n mu_2 / ((n + 2) mu_3 + ((d - 1) mu_1 + s2) mu_2), mu = 1, 2, 6."""
    d, s2 = 3, 0.3
    law = random_covariance.exponential(d)
    c = random_covariance.best_step(*law, n=n, noise_var=s2)
    np.testing.assert_allclose(c, 2 * n / (6 * (n + 2) + 2 * (d - 1 + s2)), rtol=1e-12)
    risk = random_covariance.risk(c, *law, n=n, noise_var=s2)
    assert risk == pytest.approx(d * (1 - 2 * c[0]), rel=1e-12)


def test_one_covariance_gives_the_layer_of_that_covariance():
    l = np.array([2.0, 0.7, 0.1])
    c = random_covariance.best_step(l[None], np.ones(1), **KEYS)
    np.testing.assert_allclose(c, 1 / np.diag(dynamics.gamma(np.diag(l), **KEYS)), rtol=1e-12)
    unconditional = random_covariance.unconditional_step(l[None], np.ones(1), **KEYS)
    np.testing.assert_allclose(unconditional, c, rtol=1e-12)
    risk = random_covariance.risk(c, l[None], np.ones(1), **KEYS)
    assert risk == pytest.approx(dynamics.minimum_loss(np.diag(l), **KEYS), rel=1e-12)


def test_no_matrix_does_better_and_the_unconditional_step_does_worse():
    c = random_covariance.best_step(*LAW, **KEYS)
    C = torch.tensor(np.diag(c) / KEYS["n"], requires_grad=True)
    zero, w = torch.zeros(2, 1).double(), torch.tensor([0.0, 0.0, 1.0]).double()

    def loss(C):
        A = torch.cat([C, zero], 1)
        return evidence.mixture_loss(A, w, spectra=LAW[0], weights=LAW[1], **KEYS)

    value = loss(C)
    assert torch.autograd.grad(value, C)[0].abs().max().item() < 1e-10
    assert value.item() - 0.3 == pytest.approx(random_covariance.risk(c, *LAW, **KEYS), rel=1e-12)
    curvature = torch.autograd.functional.hessian(loss, C.detach()).reshape(4, 4)
    assert torch.linalg.eigvalsh(curvature)[0] > 0
    bold = random_covariance.unconditional_step(*LAW, **KEYS)
    assert (bold > c).all()
    assert random_covariance.risk(bold, *LAW, **KEYS) > value.item() - 0.3


def test_risk_is_the_average_over_sampled_prompts():
    n, batch, c = 7, 60_000, np.array([0.5, 0.2])
    task = RandomCovarianceTask(*LAW, 0.3)
    prompts = sample_prompts(task, batch, n, generator=torch.Generator().manual_seed(0))
    prediction = learners.preconditioned_step(torch.as_tensor(np.diag(c) / n))(prompts)
    errors = (prediction - (prompts.w * prompts.x_query).sum(1)) ** 2
    exact = random_covariance.risk(c, *LAW, **KEYS)
    assert errors.mean().item() == pytest.approx(exact, abs=4 * errors.std().item() / batch**0.5)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("spectra", "weights", "match"),
    [
        (np.ones((2, 3)), np.ones(3) / 3, "one weight a row"),
        (np.zeros((2, 3)), np.ones(2) / 2, "spectra must be positive"),
        (np.ones((2, 3)), np.ones(2), "sum to 1, got a sum of 2"),
        (np.ones((2, 3)), np.array([1.5, -0.5]), "weights must be non-negative"),
    ],
)
def test_bad_input(spectra, weights, match):
    with pytest.raises(ValueError, match=match):
        random_covariance.best_step(spectra, weights, **KEYS)
    with pytest.raises(ValueError, match=match):
        RandomCovarianceTask(spectra, weights, 0.3)
