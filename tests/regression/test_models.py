"""The layer against a plain reading of Eq. (2), its reduced form, and Eq. (25)'s weights."""

import numpy as np
import pytest
import torch

from icgd.regression import models
from icgd.regression.data import LinearTask, Prompts, normal, sample_prompts

BATCH, N, D = 11, 7, 3


@pytest.fixture
def prompts():
    return sample_prompts(LinearTask(D, 0.4), BATCH, N, generator=torch.Generator().manual_seed(1))


@pytest.fixture
def layer():
    generator = torch.Generator().manual_seed(2)
    return models.LinearSelfAttention(D).initialise(0.7, generator=generator)


@pytest.fixture
def reduced(layer):
    return tuple(t.detach() for t in layer.reduced())


def weights(layer):
    return [p.detach().numpy() for p in (layer.W_K, layer.W_Q, layer.W_V, layer.h)]


def relabelled(prompts, y):
    return Prompts(prompts.X, y, prompts.x_query, prompts.y_query, prompts.w)


def test_attend_is_the_double_loop_of_equation_2(layer, prompts):
    tokens = prompts.tokens()
    W_K, W_Q, W_V, _ = weights(layer)
    outputs = layer.attend(tokens).detach().numpy()
    for b, v in enumerate(tokens.numpy()):
        for i in range(N + 1):
            v_hat = np.zeros(D + 1)
            for j in range(i):
                v_hat += (W_V @ v[j]) * (v[j] @ W_K.T @ W_Q @ v[i])
            np.testing.assert_allclose(outputs[b, i], v_hat, rtol=1e-11, atol=1e-12)


def test_forward_reads_the_last_position_with_h(layer, prompts):
    W_K, W_Q, W_V, h = weights(layer)
    for b, v in enumerate(prompts.tokens().numpy()):
        total = sum((h @ W_V @ v[j]) * ((W_K @ v[j]) @ (W_Q @ v[N])) for j in range(N))
        np.testing.assert_allclose(layer(prompts)[b].item(), total, rtol=1e-11)


def test_reduced_form_predicts_the_same(layer, reduced, prompts):
    prediction = models.reduced_prediction(*reduced, prompts)
    np.testing.assert_allclose(prediction, layer(prompts).detach(), rtol=1e-11)


def test_reduced_form_carries_gradients(layer):
    A, w = layer.reduced()
    (A.sum() * w.sum()).backward()
    assert all(p.grad.abs().max() > 0 for p in layer.parameters())


def test_a_later_token_does_not_change_an_earlier_output(layer, prompts):
    tokens = prompts.tokens()
    changed = tokens.clone()
    changed[:, 4] += 1.0
    before, after = layer.attend(tokens), layer.attend(changed)
    assert torch.equal(before[:, :4], after[:, :4])
    assert (before[:, 4:] - after[:, 4:]).abs().amin(dim=(0, 2)).min() > 0
    assert not before[:, 0].any()  # nothing precedes the first token


def test_prediction_does_not_see_the_answer_nor_the_order(layer, prompts):
    hidden = Prompts(prompts.X, prompts.y, prompts.x_query, prompts.y_query + 9.0, prompts.w)
    assert torch.equal(layer(hidden), layer(prompts))
    order = [3, 0, 6, 1, 5, 2, 4]
    mixed = Prompts(prompts.X[:, order], prompts.y[:, order], prompts.x_query, prompts.y_query)
    np.testing.assert_allclose(layer(mixed).detach(), layer(prompts).detach(), rtol=1e-11)


def test_construction_sums_labels_times_inner_products(prompts):
    model = models.one_step_construction(D, 0.13)
    for b in range(BATCH):
        by_hand = sum(
            0.13 * prompts.y[b, i].item() * (prompts.X[b, i] @ prompts.x_query[b]).item()
            for i in range(N)
        )
        np.testing.assert_allclose(model(prompts)[b].item(), by_hand, rtol=1e-12)


def test_construction_is_equivariant_under_rotation(prompts):
    R = torch.linalg.qr(normal(D, D, generator=torch.Generator().manual_seed(5)))[0]
    turned = Prompts(prompts.X @ R.T, prompts.y, prompts.x_query @ R.T, prompts.y_query)
    model = models.one_step_construction(D, 0.13)
    np.testing.assert_allclose(model(turned).detach(), model(prompts).detach(), rtol=1e-11)


def test_gram_adds_outer_products_of_examples_only(prompts):
    v = prompts.tokens().numpy()
    by_hand = [sum(np.outer(v[b, i], v[b, i]) for i in range(N)) for b in range(BATCH)]
    np.testing.assert_allclose(models.gram(prompts), by_hand, rtol=1e-12, atol=1e-13)


def test_odd_part_is_what_changes_sign_with_the_labels(reduced, prompts):
    plus = models.effective_predictor(*reduced, prompts)
    minus = models.effective_predictor(*reduced, relabelled(prompts, -prompts.y))
    C = models.odd_part(*reduced).numpy()
    for b in range(BATCH):
        xy = prompts.X[b].numpy().T @ prompts.y[b].numpy()
        np.testing.assert_allclose((plus[b] - minus[b]) / 2, C @ xy, rtol=1e-10, atol=1e-12)


def test_even_part_is_what_does_not(reduced, prompts):
    plus = models.effective_predictor(*reduced, prompts)
    minus = models.effective_predictor(*reduced, relabelled(prompts, -prompts.y))
    Q, q = (part.numpy() for part in models.even_part(*reduced))
    np.testing.assert_array_equal(Q, Q.transpose(0, 2, 1))
    for b in range(BATCH):
        X, y = prompts.X[b].numpy(), prompts.y[b].numpy()
        even = sum(Q @ X[i] @ X[i] + q * y[i] ** 2 for i in range(N))
        np.testing.assert_allclose((plus[b] + minus[b]) / 2, even, rtol=1e-10, atol=1e-12)


def test_construction_has_no_even_part():
    A, w = models.one_step_construction(D, 0.13).reduced()
    np.testing.assert_allclose(models.odd_part(A, w).detach(), 0.13 * np.eye(D), rtol=1e-12)
    assert not any(part.any() for part in models.even_part(A, w))


def test_initialise_draws_every_weight_at_the_scale_from_the_generator():
    g = torch.Generator().manual_seed(0)
    model = models.LinearSelfAttention(37)
    assert model.initialise(0.3, generator=g) is model
    for name, weight in model.named_parameters():
        standard_error = 0.3 / (2 * weight.numel()) ** 0.5
        assert abs(weight.std().item() - 0.3) < 4 * standard_error, name
    first = model.W_K.detach().clone()
    assert not torch.equal(first, model.initialise(0.3, generator=g).W_K)
