import pytest
import torch

from icgd.autoregression import data, models
from icgd.autoregression.direct import direct_loss
from icgd.autoregression.normalisation import constant, context_pairs, rho_values


@pytest.fixture
def x(generator):
    return data.sample_sequences(data.Gaussian(1.0), 5, 3, 7, generator=generator).x


@pytest.mark.parametrize("rho", [context_pairs, constant])
def test_loop_and_cumulative_form_agree(x, blocks, rho):
    model = models.CausalLinearAttention.from_blocks(*blocks(3), rho=rho)
    torch.testing.assert_close(model(x), model.predict_by_loop(x), rtol=1e-12, atol=1e-12)


def test_weights_outside_the_blocks_do_not_reach_the_prediction(x, blocks, generator):
    model = models.CausalLinearAttention.from_blocks(*blocks(3))
    before = model.predict_by_loop(x)
    with torch.no_grad():
        for W in (model.W_KQ, model.W_PV):
            W[:, :3] = torch.randn(9, 3, dtype=torch.float64, generator=generator)
        model.W_KQ[:3] = torch.randn(3, 9, dtype=torch.float64, generator=generator)
        model.W_PV[3:] = torch.randn(6, 9, dtype=torch.float64, generator=generator)
    torch.testing.assert_close(model.predict_by_loop(x), before, rtol=1e-12, atol=1e-12)


def test_direct_loss_is_the_sum_of_squared_errors(x, blocks):
    A, B = blocks(3)
    weights = torch.tensor([0.1, 0.3, 0.2, 0.15, 0.25], dtype=torch.float64)
    errors = models.predict(A, B, x)[:, :-1] - x[:, 2:]
    expected = (errors.abs().square().sum(dim=(1, 2)) * weights).sum() / 2
    found = direct_loss(A, B, x, weights=weights)
    torch.testing.assert_close(found, expected, rtol=1e-13, atol=0)
    for got, want in zip(
        torch.autograd.grad(3 * found, (A, B)),
        torch.autograd.grad(3 * expected, (A, B)),
        strict=True,
    ):
        torch.testing.assert_close(got, want, rtol=1e-11, atol=1e-12)


def test_direct_loss_works_in_chunks(x, blocks, monkeypatch):
    A, B = blocks(3)
    whole = direct_loss(A, B, x)
    monkeypatch.setattr("icgd.autoregression.direct.CHUNK", 2)
    torch.testing.assert_close(direct_loss(A, B, x), whole, rtol=1e-13, atol=0)


def test_gradients_reach_the_full_weights(x):
    model = models.CausalLinearAttention.diagonal(3, 0.4, 0.9)
    model.loss(x).backward()
    assert model.W_KQ.grad[:3].abs().max() == 0
    assert model.W_KQ.grad[6:, 3:6].abs().max() > 0
    assert model.W_PV.grad[3:].abs().max() == 0


def test_start_of_assumption_3_1():
    A, B = models.CausalLinearAttention.diagonal(2, 0.3, 0.7).blocks()
    torch.testing.assert_close(A[2:, :2], 0.3 * torch.eye(2, dtype=torch.float64))
    torch.testing.assert_close(B[:, :2], 0.7 * torch.eye(2, dtype=torch.float64))
    assert A.abs().sum().item() == pytest.approx(0.6)
    assert B.abs().sum().item() == pytest.approx(1.4)


@pytest.mark.bad_input
def test_bad_parameters_are_refused(x, blocks):
    A, B = (block.detach() for block in blocks(3))
    with pytest.raises(ValueError, match=r"B must have shape \(3, 6\)"):
        direct_loss(A, B.mT, x)
    with pytest.raises(ValueError, match="A must be finite"):
        direct_loss(A * torch.nan, B, x)
    with pytest.raises(TypeError, match=r"B must have dtype torch\.float64"):
        direct_loss(A, B.float(), x)
    with pytest.raises(ValueError, match="dimension of the weights, d = 2"):
        direct_loss(*(block.detach() for block in blocks(2)), x)
    with pytest.raises(ValueError, match="dimension of the weights, d = 2"):
        models.predict(*(block.detach() for block in blocks(2)), x)
    with pytest.raises(ValueError, match="length T must be at least 3"):
        direct_loss(A, B, x[:, :2])
    with pytest.raises(TypeError, match="complex128 tensor"):
        direct_loss(A, B, x.real)


@pytest.mark.bad_input
def test_a_normaliser_must_be_positive():
    with pytest.raises(ValueError, match="rho must be positive and finite"):
        rho_values(lambda t: t - 2, 5)
