"""Sampled prompts have the documented law, and nothing but the generator decides them."""

import numpy as np
import pytest
import torch

from icgd.regression.data import LinearTask, SkewedTask, label, normal, sample_prompts

BATCH, N, D, NOISE = 20_011, 5, 3, 0.7
SIGMA = np.array([[2.0, 0.6, 0.0], [0.6, 1.0, -0.3], [0.0, -0.3, 0.5]])
OMEGA = np.array([[1.0, 0.0, 0.2], [0.0, 3.0, 0.0], [0.2, 0.0, 0.4]])


def draw(task, seed=0, batch=BATCH, n=N):
    return sample_prompts(task, batch, n, generator=torch.Generator().manual_seed(seed))


def assert_mean(samples, expected, k=4.5):
    """The mean of independent samples (axis 0) is within k standard errors of `expected`."""
    samples = np.asarray(samples)
    error = samples.mean(0) - np.asarray(expected)
    assert (np.abs(error) <= k * samples.std(0) / len(samples) ** 0.5).all(), error


def outer(left, right):
    return torch.einsum("bi,bj->bij", left, right)


def test_shapes_are_named_in_the_right_order():
    prompts = draw(LinearTask(D, NOISE), batch=7)
    assert prompts.X.shape == (7, N, D)
    assert prompts.y.shape == (7, N)
    assert prompts.x_query.shape == prompts.w.shape == (7, D)
    assert prompts.y_query.shape == (7,)
    assert (prompts.n, prompts.d) == (N, D)
    assert prompts.tokens().shape == (7, N + 1, D + 1)


def test_linear_task_covariates_and_weights_are_standard_normal():
    prompts = draw(LinearTask(D, NOISE))
    for vectors in (prompts.X[:, 0], prompts.X[:, -1], prompts.x_query, prompts.w):
        assert_mean(vectors, np.zeros(D))
        assert_mean(outer(vectors, vectors), np.eye(D))
        assert_mean(vectors**4, np.full(D, 3.0))


def test_parts_of_a_prompt_are_independent():
    prompts = draw(LinearTask(D, NOISE))
    nothing = np.zeros((D, D))
    assert_mean(outer(prompts.X[:, 0], prompts.X[:, 1]), nothing)
    assert_mean(outer(prompts.X[:, 0], prompts.x_query), nothing)
    assert_mean(outer(prompts.X[:, 0], prompts.w), nothing)
    assert_mean(outer(prompts.w[1:], prompts.w[:-1]), nothing)


@pytest.mark.parametrize("skewed", [False, True])
def test_noise_var_is_a_variance_and_reaches_the_query(skewed):
    prompts = draw(SkewedTask(SIGMA, NOISE) if skewed else LinearTask(D, NOISE))
    on_examples = prompts.y - torch.einsum("bnd,bd->bn", prompts.X, prompts.w)
    on_query = prompts.y_query - (prompts.x_query * prompts.w).sum(1)
    for noise in (on_examples[:, 0], on_examples[:, -1], on_query):
        assert_mean(noise, 0.0)
        assert_mean(noise**2, NOISE)  # a standard deviation of 0.7 would give 0.49
    assert_mean(on_query * on_examples[:, 0], 0.0)


def test_without_noise_labels_are_the_linear_function():
    prompts = draw(LinearTask(D, 0.0), batch=11)
    for i in range(11):
        np.testing.assert_allclose(prompts.y[i], prompts.X[i] @ prompts.w[i], rtol=1e-12)
        np.testing.assert_allclose(prompts.y_query[i], prompts.x_query[i] @ prompts.w[i], 1e-12)


@pytest.mark.parametrize(("omega", "expected"), [(None, np.linalg.inv(SIGMA)), (OMEGA, OMEGA)])
def test_skewed_task_has_the_covariances_it_names(omega, expected):
    prompts = draw(SkewedTask(SIGMA, NOISE, omega))
    assert_mean(outer(prompts.X[:, 1], prompts.X[:, 1]), SIGMA)
    assert_mean(outer(prompts.x_query, prompts.x_query), SIGMA)
    assert_mean(outer(prompts.w, prompts.w), expected)
    assert_mean(outer(prompts.w, prompts.x_query), np.zeros((D, D)))


def test_skewed_task_takes_an_ill_conditioned_covariance():
    q = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 5)))[0]
    sigma = (q * np.geomspace(1, 1e9, 5)) @ q.T
    task = SkewedTask((sigma + sigma.T) / 2, NOISE)
    np.testing.assert_array_equal(task.task_covariance, task.task_covariance.T)


def test_same_generator_state_gives_the_same_prompts():
    one, other = draw(LinearTask(D, NOISE), 3, batch=7), draw(LinearTask(D, NOISE), 3, batch=7)
    for name in ("X", "y", "x_query", "y_query", "w"):
        assert torch.equal(getattr(one, name), getattr(other, name)), name


def test_generator_moves_on_and_the_global_stream_stays():
    g, before = torch.Generator().manual_seed(0), torch.get_rng_state()
    one = sample_prompts(LinearTask(D, NOISE), 7, N, generator=g)
    other = sample_prompts(LinearTask(D, NOISE), 7, N, generator=g)
    assert not torch.equal(one.X, other.X)
    assert not torch.equal(one.w, other.w)
    assert torch.equal(before, torch.get_rng_state())


def test_tokens_hide_the_answer():
    prompts = draw(LinearTask(2, NOISE), batch=3)
    tokens = prompts.tokens()
    for b in range(3):
        for i in range(N):
            assert tokens[b, i].tolist() == [*prompts.X[b, i].tolist(), prompts.y[b, i].item()]
        assert tokens[b, N].tolist() == [*prompts.x_query[b].tolist(), 0.0]


def test_label_takes_any_targets():
    g = torch.Generator().manual_seed(0)
    inputs = normal(7, N + 1, D, generator=g)
    prompts = label(inputs, inputs[..., 0] ** 2, 0.0, None, g)
    assert torch.equal(prompts.y, prompts.X[..., 0] ** 2)
    assert torch.equal(prompts.y_query, prompts.x_query[:, 0] ** 2)
    assert prompts.w is None
