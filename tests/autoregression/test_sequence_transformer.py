"""Layers that step: against the learner, causality, copying, and MO's own layer."""

import pytest
import torch

from icgd.autoregression import data
from icgd.autoregression.models import CausalLinearAttention
from icgd.autoregression.normalisation import constant, context_pairs
from icgd.autoregression.sequence_transformer import (
    SequenceTransformer,
    causal_mask,
    gradient_descent,
    on_raw_tokens,
    raw_tokens,
)
from icgd.autoregression.steps import gradient_steps


@pytest.fixture
def x(generator):
    return data.sample_sequences(data.Gaussian(1.0), 5, 3, 11, generator=generator).x


@pytest.mark.parametrize("products", [[0.3], [0.3, 0.1], [0.3, 0.1, 0.6]])
@pytest.mark.parametrize("rho", [context_pairs, constant])
def test_layers_run_steps(x, products, rho):
    model = gradient_descent(3, products, rho=rho)
    expected = gradient_steps(products, rho=rho)(x)
    torch.testing.assert_close(model(x).detach(), expected, rtol=1e-11, atol=1e-11)


def test_one_layer_is_mos_layer(x):
    torch.testing.assert_close(
        gradient_descent(3, [0.36])(x), CausalLinearAttention.diagonal(3, 0.4, 0.9)(x)
    )


def test_predictions_do_not_see_the_future(x, generator):
    model = SequenceTransformer(3, 3).initialise(0.1, generator=generator)
    later = x.clone()
    later[:, 7:] = 0
    with torch.no_grad():
        torch.testing.assert_close(model(x)[:, :6], model(later)[:, :6])
        assert (model(x)[:, 6:] - model(later)[:, 6:]).abs().max() > 1e-3


@pytest.mark.parametrize("rho", [context_pairs, constant])
def test_a_copying_layer_replaces_the_given_pairs(x, rho):
    model = gradient_descent(3, [0.3, 0.2], rho=rho)
    Z = raw_tokens(model, x)
    assert not Z[..., 6:9].any()  # no token is given its predecessor
    stack = on_raw_tokens(model, 11)
    states = stack.stream(Z, causal_mask(rho, 11))
    torch.testing.assert_close(states[1][..., :12], model.tokens(x))
    torch.testing.assert_close(states[-1][:, 1:, :3], model(x))


def test_mask_averages_over_the_past():
    mask = causal_mask(context_pairs, 5)
    assert mask[0].tolist() == [1, 0, 0, 0, 0]
    assert mask[3].tolist() == pytest.approx([1 / 3] * 4 + [0])


@pytest.mark.bad_input
def test_bad_input_is_refused(x):
    with pytest.raises(ValueError, match="d = 2, got 3"):
        gradient_descent(2, [0.1])(x)
    with pytest.raises(ValueError, match="layers"):
        gradient_descent(2, [])
    with pytest.raises(ValueError, match="sequence length T must be at least 2"):
        on_raw_tokens(gradient_descent(2, [0.1]), 1)
