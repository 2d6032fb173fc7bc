"""Softmax heads: invariances, special cases, and the exact loss against sampling."""

import pytest
import torch

from icgd.regression import theory
from icgd.regression.data import LinearTask, Prompts, normal, sample_prompts
from icgd.regression.softmax import SoftmaxAttention, label_weights, scalar_loss


@pytest.fixture
def prompts():
    return sample_prompts(LinearTask(3, 0.5), 11, 5, generator=torch.Generator().manual_seed(0))


def test_equal_scores_average_the_labels(prompts):
    model = SoftmaxAttention(3, heads=2)
    with torch.no_grad():
        model.c.copy_(torch.tensor([0.75, -0.5]))
    torch.testing.assert_close(model(prompts), 0.25 * prompts.y.mean(1))


def test_a_very_sharp_head_reads_one_label(prompts):
    nearest = (prompts.X @ prompts.x_query[..., None])[..., 0].argmax(1)
    c, B = torch.ones(1).double(), 1e4 * torch.eye(3).double()[None]
    weights = label_weights(c, B, prompts.X, prompts.x_query)
    torch.testing.assert_close(weights.argmax(1), nearest)
    torch.testing.assert_close(weights.max(1).values, torch.ones(11).double())


def test_softmax_does_not_notice_the_mean_of_the_covariates(prompts):
    model = SoftmaxAttention(3).initialise(1.0, generator=torch.Generator().manual_seed(1))
    moved = Prompts(prompts.X + 7, prompts.y, prompts.x_query, prompts.y_query)
    torch.testing.assert_close(model(moved), model(prompts))


def test_opposite_heads_approach_their_limit_at_second_order(prompts):
    M = normal(3, 3, generator=torch.Generator().manual_seed(2))

    def prediction(small):
        c = torch.tensor([1.0, -1.0]).double() / small
        weights = label_weights(c, small * torch.stack([M, -M]), prompts.X, prompts.x_query)
        return (weights * prompts.y).sum(1)

    one, two, four = (prediction(s) for s in (0.01, 0.02, 0.04))
    ratio = (four - two).abs().max() / (two - one).abs().max()
    assert ratio.item() == pytest.approx(4, rel=0.01)


@pytest.mark.parametrize(("n", "noise_var"), [(2, 0.0), (3, 0.7)])
def test_exact_loss_against_sampled_prompts(n, noise_var):
    c, b = torch.tensor([0.7, -0.3]).double(), torch.tensor([0.8, -0.5]).double()
    task, g = LinearTask(1, noise_var), torch.Generator().manual_seed(0)
    prompts = sample_prompts(task, 100_000, n, generator=g)
    weights = label_weights(c, b[:, None, None], prompts.X, prompts.x_query)
    squares = ((weights * prompts.y).sum(1) - prompts.y_query).square()
    exact = scalar_loss(c, b, n, noise_var).item()
    assert abs(squares.mean().item() - exact) < 4 * squares.std().item() / 100_000**0.5


def test_small_opposite_heads_lose_as_much_as_one_example_less():
    n, noise_var, small = 3, 0.4, 1e-3
    step = theory.step_size(n - 1, 1, noise_var)
    c = torch.tensor([1.0, -1.0]).double() * step * n / (2 * small)
    b = torch.tensor([small, -small]).double()
    exact = scalar_loss(c, b, n, noise_var).item()
    assert exact == pytest.approx(theory.minimum_loss(n - 1, 1, noise_var), abs=1e-5)


def test_no_heads_predict_zero():
    zero = torch.zeros(1).double()
    assert scalar_loss(zero, zero, 3, 0.25).item() == pytest.approx(1.25, abs=1e-7)


def test_quadrature_converges_for_sharp_heads():
    """One head, n = 3: with b = 5.7 a rule with 41 nodes is off in the third digit."""
    c, b = torch.tensor([0.5854]).double(), torch.tensor([5.7]).double()
    coarse, fine, finer = (scalar_loss(c, b, 3, 0.0, nodes=k).item() for k in (41, 101, 111))
    assert finer == pytest.approx(0.62299, abs=5e-5)
    assert abs(fine - finer) < 5e-5 < 1e-3 < abs(coarse - finer)


def test_an_endlessly_sharp_head_reads_the_largest_of_two():
    """E max = 1 / sqrt pi and E max^2 = 1 give 1 + c^2 - 2 c sqrt(2) / pi."""
    c = 2**0.5 / torch.pi
    exact = scalar_loss(
        torch.tensor([c]).double(), torch.tensor([60.0]).double(), 2, 0.0, nodes=1500
    )
    assert exact.item() == pytest.approx(1 - 2 / torch.pi**2, abs=2e-3)


@pytest.mark.bad_input
def test_sizes_must_be_positive():
    with pytest.raises(ValueError, match="heads"):
        SoftmaxAttention(3, heads=0)
    with pytest.raises(ValueError, match="n must"):
        scalar_loss(torch.zeros(1).double(), torch.zeros(1).double(), 0, 0.0)
