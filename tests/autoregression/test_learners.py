import pytest
import torch

from icgd.autoregression import blocks as blocks_of
from icgd.autoregression import data, learners, models


@pytest.fixture
def x(generator):
    return data.sample_sequences(data.Gaussian(1.0), 5, 3, 11, generator=generator).x


def test_one_step_is_minus_the_gradient_at_zero(x):
    """Autograd on the in-context problem, not the formula: W_hat = -(p / (t - 1)) grad L(0)."""
    product, t = 0.37, 7
    predictions = learners.gradient_step(product)(x)
    for context, y in zip(x[:, :t], predictions[:, t - 2], strict=True):
        W = torch.zeros(3, 3, dtype=torch.complex128, requires_grad=True)
        (gradient,) = torch.autograd.grad(learners.ols_loss(W, context), W)
        torch.testing.assert_close(-product / (t - 1) * gradient @ context[-1], y)


def test_diagonal_layer_takes_one_step(x):
    layer = models.CausalLinearAttention.diagonal(3, 0.4, 0.9)
    expected = learners.gradient_step(0.36)(x)
    torch.testing.assert_close(layer(x), expected, rtol=1e-12, atol=1e-13)


def test_dense_layer_takes_a_preconditioned_step(x, generator):
    W_1 = torch.randn(3, 3, dtype=torch.float64, generator=generator)
    W_2 = torch.randn(3, 3, dtype=torch.float64, generator=generator)
    layer = models.CausalLinearAttention.from_blocks(*blocks_of.place_blocks(W_1, W_2))
    expected = learners.preconditioned_step(W_2, W_1)(x)
    torch.testing.assert_close(layer(x), expected, rtol=1e-12, atol=1e-13)


def test_least_squares_is_exact_once_the_context_spans(x):
    y, truth = learners.least_squares()(x), torch.cat([x[:, 2:], x[:, -1:]], dim=1)
    error = (y[:, :-1] - truth[:, :-1]).abs().amax(dim=(0, 2))
    assert error[0] > 0.1  # t = 2: one pair in three dimensions
    assert error[2:].max() < 1e-7  # t = 4 on: three pairs


def test_least_squares_is_the_minimum(x):
    context = x[0, :4]
    W = learners.least_squares()(context[None])  # t = 2, 3, 4
    assert W.shape == (1, 3, 3)
    fitted = context[1:].mT @ torch.linalg.pinv(context[:-1].mT)
    assert learners.ols_loss(fitted, context) < 1e-18


@pytest.mark.bad_input
def test_bad_input_is_refused(x):
    with pytest.raises(ValueError, match="product must be finite"):
        learners.gradient_step(float("nan"))
    with pytest.raises(TypeError, match="complex128"):
        learners.least_squares()(x.real)
