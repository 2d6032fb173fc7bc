"""Several steps, ridge and the mesa layer, against autograd, batch solutions and limits."""

import pytest
import torch

from icgd.autoregression import data, learners
from icgd.autoregression.mesa_layer import mesa_attention, mesa_layer
from icgd.autoregression.normalisation import constant
from icgd.autoregression.steps import gradient_steps, ridge, ridge_steps


@pytest.fixture
def x(generator):
    return data.sample_sequences(data.Gaussian(1.0), 5, 3, 11, generator=generator).x


def descended(context, sizes, z=0.0):
    """W after gradient steps by autograd on the in-context problem."""
    d = context.shape[1]
    W = torch.zeros(d, d, dtype=torch.complex128)
    for size in sizes:
        W = W.clone().requires_grad_(True)
        objective = learners.ols_loss(W, context) + z * W.abs().square().sum() / 2
        (slope,) = torch.autograd.grad(objective, W)
        W = (W - size * slope).detach()
    return W


def test_steps_are_gradients(x):
    t, products = 7, [0.3, 0.1, 0.5]
    y = gradient_steps(products)(x)[:, t - 2]
    for context, prediction in zip(x[:, :t], y, strict=True):
        W = descended(context, [p / (t - 1) for p in products])
        torch.testing.assert_close(W @ context[-1], prediction, rtol=1e-11, atol=1e-12)


def test_one_step_and_the_order_of_steps(x):
    torch.testing.assert_close(gradient_steps([0.4])(x), learners.gradient_step(0.4)(x))
    torch.testing.assert_close(gradient_steps([0.4, 0.1])(x), gradient_steps([0.1, 0.4])(x))


def test_ridge_steps_are_gradients_on_the_regularised_problem(x):
    t, a, z = 6, 0.04, 0.7
    y = ridge_steps(a, z, 5)(x)[:, t - 2]
    for context, prediction in zip(x[:, :t], y, strict=True):
        torch.testing.assert_close(descended(context, [a] * 5, z) @ context[-1], prediction)


def test_ridge_steps_converge_geometrically(generator):
    """The error after 2 J steps is the square of that after J, relative to the start, for d = 1."""
    x = data.sample_sequences(data.Ones(), 2, 1, 4, generator=generator).x
    goal = ridge(0.5)(x)
    start, once, twice = (
        (ridge_steps(0.1, 0.5, J)(x) - goal)[0, -1].abs().item() for J in (1, 6, 11)
    )
    assert twice / once == pytest.approx(once / start, rel=1e-9)


@pytest.mark.parametrize("z", [0.1, 3.0])
def test_mesa_layer_is_ridge_at_every_time(x, z):
    torch.testing.assert_close(mesa_layer(z)(x), ridge(z)(x), rtol=1e-10, atol=1e-11)


def test_mesa_layer_minimises(x):
    """The gradient of the regularised problem vanishes: read Phi off by unit queries."""
    z, n = 0.3, 8
    keys, values = x[:, :n], x[:, 1 : n + 1]
    columns = []
    for unit in torch.eye(3, dtype=x.dtype):
        queries = torch.zeros_like(keys)
        queries[:, -1] = unit
        columns.append(mesa_attention(keys, values, queries, z)[:, -1])
    Phi = torch.stack(columns, dim=2)
    residual = values.mT - Phi @ keys.mT
    torch.testing.assert_close(residual @ keys.conj(), z * Phi, rtol=1e-9, atol=1e-10)


def test_mesa_layer_ends_in_linear_attention_at_rate_one_over_z(x):
    linear = gradient_steps([1.0], rho=constant)(x)
    gaps = [(z * mesa_layer(z)(x) - linear).abs().max().item() for z in (1e5, 1e6)]
    assert gaps[0] / gaps[1] == pytest.approx(10, rel=0.01)


def test_mesa_layer_ends_in_least_squares(x):
    y = mesa_layer(1e-9)(x)[:, 3:]
    torch.testing.assert_close(y, learners.least_squares()(x)[:, 3:], rtol=0, atol=1e-5)


def test_values_may_have_another_size(generator):
    keys = torch.randn(2, 7, 3, dtype=torch.complex128, generator=generator)
    values = torch.randn(2, 7, 5, dtype=torch.complex128, generator=generator)
    y = mesa_attention(keys, values, keys, 0.2)
    k, v = keys[1], values[1]  # rows
    gram = k.T @ k.conj() + 0.2 * torch.eye(3)
    torch.testing.assert_close(y[1, -1], v.T @ k.conj() @ torch.linalg.solve(gram, k[-1]))


@pytest.mark.bad_input
def test_bad_input_is_refused(x):
    with pytest.raises(ValueError, match="z must be positive"):
        mesa_layer(0.0)
    with pytest.raises(ValueError, match="z must not be negative"):
        ridge_steps(0.1, -1.0, 2)
    with pytest.raises(ValueError, match="steps must be at least 1"):
        ridge_steps(0.1, 1.0, 0)
    with pytest.raises(ValueError, match="one shape"):
        mesa_attention(x, x, x[:, 1:], 1.0)
    with pytest.raises(TypeError, match="each product must be a real number"):
        gradient_steps(["0.1"])
    with pytest.raises(TypeError, match="complex128"):
        gradient_steps([0.1])(x.real)
