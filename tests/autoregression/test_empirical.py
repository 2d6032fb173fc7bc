import pytest
import torch

from icgd.autoregression import data
from icgd.autoregression.direct import direct_loss
from icgd.autoregression.empirical import EmpiricalLoss, bytes_needed
from icgd.autoregression.models import predict
from icgd.autoregression.normalisation import constant, context_pairs


@pytest.mark.parametrize("rho", [context_pairs, constant])
def test_one_pass_gives_the_direct_loss(law, blocks, generator, rho):
    x = data.sample_sequences(law, 13, 3, 7, generator=generator).x
    A, B = blocks(3)
    loss, expected = EmpiricalLoss(x, rho=rho)(A, B), direct_loss(A, B, x, rho=rho)
    assert loss.item() == pytest.approx(expected.item(), rel=1e-10)
    for got, want in zip(
        torch.autograd.grad(loss, (A, B)), torch.autograd.grad(expected, (A, B)), strict=True
    ):
        assert (got - want).abs().max() <= 1e-10 * want.abs().max()


def test_test_loss_and_ratio_come_with_the_pass(blocks, generator):
    x = data.sample_sequences(data.Gaussian(1.0), 13, 3, 7, generator=generator).x
    A, B = blocks(3)
    loss = EmpiricalLoss(x)
    y = predict(A, B, x)[:, -2]  # the prediction of x_T
    expected = (y - x[:, -1]).abs().square().sum(dim=1).mean() / 2
    assert loss.last(A, B).item() == pytest.approx(expected.item(), rel=1e-10)
    torch.testing.assert_close(loss.ratio(A, B), (y / x[:, -1]).real.mean(dim=0))


def test_ratio_skips_coordinates_that_are_zero(blocks, generator):
    x = data.sample_sequences(data.Sparse(2.0), 29, 3, 5, generator=generator).x
    A, B = blocks(3)
    quotient = (predict(A, B, x)[:, -2] / x[:, -1]).real
    expected = [quotient[x[:, -1, j] != 0, j].mean().item() for j in range(3)]
    assert EmpiricalLoss(x).ratio(A, B).tolist() == pytest.approx(expected, rel=1e-10)


@pytest.mark.bad_input
def test_sequences_must_obey_the_recurrence(generator):
    x = data.sample_sequences(data.Gaussian(1.0), 7, 3, 5, generator=generator).x
    x[3, 2, 1] += 1e-4
    with pytest.raises(ValueError, match="must obey"):
        EmpiricalLoss(x)
    EmpiricalLoss(x, tolerance=1e-2)


@pytest.mark.bad_input
def test_memory_is_refused_before_it_is_taken(generator):
    x = data.sample_sequences(data.Sparse(1.0), 2, 40, 5, generator=generator).x
    assert bytes_needed(40) > 1e12  # it would not fit on any laptop
    with pytest.raises(MemoryError, match=r"need .* bytes; use direct\.direct_loss"):
        EmpiricalLoss(x)
    with pytest.raises(ValueError, match="length T must be at least 3"):
        EmpiricalLoss(x[:, :2])
