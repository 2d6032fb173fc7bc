"""The stack of layers against a plain reading of its formula and against explicit algorithms."""

import numpy as np
import pytest
import torch

from icgd.attention import LinearAttentionStack
from icgd.regression import learners, models, transformer
from icgd.regression.data import LinearTask, Prompts, normal, sample_prompts

BATCH, N, D, LAYERS = 5, 7, 3, 4


def generator(seed):
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def prompts():
    return sample_prompts(LinearTask(D, 0.4), BATCH, N, generator=generator(1))


def run_gradient_descent(X, y, matrices, w):
    """w <- w - A^T (1/n) sum_i (w.x_i - y_i) x_i, an example at a time."""
    for A in matrices:
        gradient = sum((w @ x - label) * x for x, label in zip(X, y, strict=True)) / N
        w = w - A.T @ gradient
    return w


def run_gd_plus_plus(X, y, query, steps, curvatures):
    """Steps on the layer's own data, then new data; the prediction is collected step by step."""
    total = 0.0
    for a, c in zip(steps, curvatures, strict=True):
        H, step = X.T @ X / N, a * X.T @ y / N
        total += step @ query
        y = y - X @ step
        X, query = X - c * X @ H, query - c * H @ query
    return total


def test_a_layer_is_its_formula_with_tokens_as_columns(prompts):
    model = transformer.LinearTransformer(D, LAYERS).initialise(0.3, generator=generator(2))
    M = np.diag([1.0] * N + [0.0])
    for b, Z in enumerate(prompts.tokens().numpy()):
        Z = Z.T
        for P, Q in zip(model.P.detach().numpy(), model.Q.detach().numpy(), strict=True):
            Z = Z + P @ Z @ M @ Z.T @ Q @ Z / N
        np.testing.assert_allclose(model(prompts)[b].item(), -Z[-1, -1], rtol=1e-11)


def test_a_sequence_goes_through_the_same_layers():
    """Complex tokens, a causal mask with normaliser: the double loop."""
    T, width = 5, 2
    model = LinearAttentionStack(width, 2).initialise(0.5, generator=generator(3))
    parts = normal(2, BATCH, T, width, generator=generator(4))
    z = torch.complex(parts[0], parts[1])
    rho = torch.arange(1, T + 1, dtype=torch.float64)
    out = model.forward_tokens(z, torch.tril(torch.ones(T, T).double()) / rho[:, None])
    for b, tokens in enumerate(z.numpy()):
        for P, Q in zip(model.P.detach().numpy(), model.Q.detach().numpy(), strict=True):
            tokens = np.stack(
                [
                    z_i + sum(P @ z_j * (z_j.conj() @ Q @ z_i) for z_j in tokens[: i + 1]) / (i + 1)
                    for i, z_i in enumerate(tokens)
                ]
            )
        np.testing.assert_allclose(out[b].detach(), tokens, rtol=1e-11)


def test_matrices_run_gradient_descent_with_their_transposes(prompts):
    A = 0.3 * normal(LAYERS, D, D, generator=generator(5))
    model = transformer.gradient_descent(D, A)
    for b in range(BATCH):
        w = run_gradient_descent(prompts.X[b].numpy(), prompts.y[b].numpy(), A.numpy(), np.zeros(D))
        np.testing.assert_allclose(model(prompts)[b].item(), w @ prompts.x_query[b].numpy(), 1e-11)


def test_labels_become_residuals(prompts):
    steps = [0.5, 0.2]
    for k, Z in enumerate(transformer.gradient_descent(D, steps).states(prompts)):
        for b in range(BATCH):
            X, y = prompts.X[b].numpy(), prompts.y[b].numpy()
            w = run_gradient_descent(X, y, [a * np.eye(D) for a in steps[:k]], np.zeros(D))
            np.testing.assert_allclose(Z[b, :N, D].detach(), y - X @ w, atol=1e-12)


def test_gd_plus_plus_steps_and_changes_the_data(prompts):
    steps, curvatures = [0.5, 0.9, 1.3], [0.3, -0.2, 0.7]
    model = transformer.gd_plus_plus(D, steps, curvatures)
    for b in range(BATCH):
        parts = (t[b].numpy() for t in (prompts.X, prompts.y, prompts.x_query))
        wanted = run_gd_plus_plus(*parts, steps, curvatures)
        np.testing.assert_allclose(model(prompts)[b].item(), wanted, rtol=1e-11)


def test_one_set_of_weights_descends_from_w0(prompts):
    w0 = normal(D, generator=generator(6))
    model = transformer.von_oswald(D, 0.3, LAYERS, w0=w0)
    for b in range(BATCH):
        w = run_gradient_descent(
            prompts.X[b].numpy(), prompts.y[b].numpy(), [0.3 * np.eye(D)] * LAYERS, w0.numpy()
        )
        np.testing.assert_allclose(model(prompts)[b].item(), w @ prompts.x_query[b].numpy(), 1e-11)


def test_without_the_mask_the_query_is_an_example_with_label_zero(prompts):
    steps = [0.5, 0.4, 0.3]
    model = transformer.gradient_descent(D, steps, masked=False)
    for b in range(BATCH):
        X = np.vstack([prompts.X[b], prompts.x_query[b]])
        y = np.append(prompts.y[b], 0.0)
        w = run_gradient_descent(X, y, [a * np.eye(D) for a in steps], np.zeros(D))
        np.testing.assert_allclose(model(prompts)[b].item(), w @ X[-1], rtol=1e-11)


def test_one_layer_is_the_construction_of_the_single_layer(prompts):
    deep = transformer.gradient_descent(D, [0.13 * N])
    flat = models.one_step_construction(D, 0.13)
    np.testing.assert_allclose(deep(prompts).detach(), flat(prompts).detach(), rtol=1e-11)


def test_prediction_does_not_see_the_answer(prompts):
    model = transformer.LinearTransformer(D, 2).initialise(0.3, generator=generator(2))
    hidden = Prompts(prompts.X, prompts.y, prompts.x_query, prompts.y_query + 9.0)
    assert torch.equal(model(hidden), model(prompts))


def test_initialise_draws_at_the_scale():
    model = transformer.LinearTransformer(37, 2).initialise(0.3, generator=generator(0))
    for weight in model.parameters():
        assert abs(weight.std().item() - 0.3) < 4 * 0.3 / (2 * weight.numel()) ** 0.5


def test_weights_live_where_they_are_put():
    model = transformer.LinearTransformer(D, 2, device="meta")
    assert {t.device.type for t in (*model.parameters(), *model.buffers())} == {"meta"}


@pytest.mark.bad_input
def test_what_does_not_fit_is_refused(prompts):
    model = transformer.LinearTransformer(D, 2)
    Z = prompts.tokens()
    with pytest.raises(ValueError, match=r"tokens must have shape \(any, any, 4\), got"):
        model.forward_tokens(Z[..., :3], model.mask(N))
    with pytest.raises(TypeError, match=r"tokens must have dtype torch.float64"):
        model.forward_tokens(Z.float(), model.mask(N))
    for wrong in (torch.ones(N).double(), torch.ones(1, 2, N + 1).double()):
        with pytest.raises(ValueError, match=r"mask must broadcast to \(8, 8\).*pass a row"):
            model.forward_tokens(Z, wrong)
    for sizes, name in (((0, 2), "d"), ((3, 0), "layers")):
        with pytest.raises(ValueError, match=f"{name} must be at least 1, got 0"):
            transformer.LinearTransformer(*sizes)
    with pytest.raises(ValueError, match=r"w0 must have shape \(3,\), got \(2,\)"):
        transformer.LinearTransformer(D, w0=torch.zeros(2).double())
    with pytest.raises(ValueError, match="steps and curvatures must have one length, got 2 and 1"):
        transformer.gd_plus_plus(D, [0.1, 0.2], [0.1])
    with pytest.raises(ValueError, match="steps must not be 0"):
        transformer.gd_plus_plus(D, [0.1, 0.0], [0.1, 0.1])
    with pytest.raises(ValueError, match=r"steps must have shape \(any, 3, 3\), got \(2, 2, 2\)"):
        transformer.gradient_descent(D, torch.zeros(2, 2, 2).double())
    with pytest.raises(ValueError, match=r"B must have shape \(2, 3, 3\), got"):
        transformer.from_blocks(torch.zeros(2, 3, 3).double(), torch.zeros(1, 3, 3).double())
    with pytest.raises(ValueError, match="step_size must be finite"):
        transformer.von_oswald(D, float("inf"), 2)


def test_sensitivities_of_a_masked_stack_are_its_effective_predictor(prompts):
    """The gradient in x_query gives back the prediction; without the mask it does not."""
    for masked, linear in ((True, True), (False, False)):
        model = transformer.LinearTransformer(D, 3, masked=masked)
        model.initialise(0.4, generator=generator(7))
        u = transformer.sensitivity(model, prompts)
        product = (u * prompts.x_query).sum(1)
        assert np.allclose(product, model(prompts).detach(), rtol=1e-10) == linear


def test_sensitivities_of_a_learner_are_its_weights(prompts):
    learner = learners.ridge(0.4)
    u = transformer.sensitivity(learner, prompts)
    np.testing.assert_allclose(u, learner.weights(prompts), rtol=1e-12)
