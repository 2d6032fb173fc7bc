"""Prompts of another law than that of training: the documented law is the sampled one."""

import numpy as np
import pytest
import torch

from icgd.regression.data import Task, sample_prompts
from icgd.regression.shifted_tasks import OrthogonalQueryTask, RandomCovarianceTask, ShiftedTask

SIGMA = np.array([[1.5, 0.4], [0.4, 0.9]])
TASKS = [
    ShiftedTask(SIGMA, 0.3),
    RandomCovarianceTask(np.array([[1.0, 2.0], [0.5, 3.0]]), np.array([0.25, 0.75]), 0.3),
    OrthogonalQueryTask(5, 0.3),
]


def draw(task, batch, n, seed=0):
    return sample_prompts(task, batch, n, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("task", TASKS, ids=lambda task: type(task).__name__)
def test_a_task_like_any_other(task):
    assert isinstance(task, Task)
    one, again, other = draw(task, 7, 3), draw(task, 7, 3), draw(task, 7, 3, seed=1)
    assert one.X.shape == (7, 3, task.d)
    assert one.y.shape == (7, 3)
    assert torch.equal(one.X, again.X)
    assert not torch.equal(one.X, other.X)


def test_shifted_task_has_the_covariances_it_was_given():
    W, K = np.diag([0.0, 2.0]), np.array([[2.0, -1.0], [-1.0, 0.6]])
    prompts = draw(ShiftedTask(SIGMA, 0.7, W, K), 200_000, 1)
    for sample, wanted in ((prompts.X[:, 0], SIGMA), (prompts.w, W), (prompts.x_query, K)):
        np.testing.assert_allclose(sample.T @ sample / len(sample), wanted, atol=0.03)
    noise = prompts.y[:, 0] - (prompts.X[:, 0] * prompts.w).sum(1)
    assert noise.square().mean().item() == pytest.approx(0.7, rel=0.02)


def test_a_prompt_keeps_its_random_covariance():
    prompts = draw(TASKS[1], 30_000, 11)
    size = prompts.X.square().mean(1)
    # E[x_i^2 x_j'^2] of two tokens of one prompt is E[l_i l_j]: 0.25 * 2 + 0.75 * 1.5.
    moment = (size[:, 0] * prompts.x_query[:, 1] ** 2).mean().item()
    assert moment == pytest.approx(1.625, rel=0.03)


def test_orthogonal_query_avoids_the_context_and_keeps_its_moments():
    prompts = draw(OrthogonalQueryTask(5, 0.3), 100_000, 3)
    inner = torch.einsum("bnd,bd->bn", prompts.X, prompts.x_query)
    assert inner.abs().max().item() < 1e-11
    second = prompts.x_query.T @ prompts.x_query / 100_000
    np.testing.assert_allclose(second, np.eye(5), atol=0.03)


@pytest.mark.bad_input
def test_bad_input():
    with pytest.raises(ValueError, match="covariance must be positive definite"):
        ShiftedTask(np.diag([1.0, 0.0]), 0.3)
    with pytest.raises(ValueError, match="task_moment must be positive semi-definite"):
        ShiftedTask(SIGMA, 0.3, np.diag([1.0, -1.0]))
    with pytest.raises(ValueError, match="query_moment must have shape"):
        ShiftedTask(SIGMA, 0.3, None, np.eye(3))
    with pytest.raises(ValueError, match="noise_var must not be negative"):
        OrthogonalQueryTask(5, -0.1)
    with pytest.raises(ValueError, match="d must be at least 2"):
        OrthogonalQueryTask(1, 0.3)
    with pytest.raises(ValueError, match="needs n < d, got n = 5 and d = 5"):
        draw(OrthogonalQueryTask(5, 0.3), 7, 5)
