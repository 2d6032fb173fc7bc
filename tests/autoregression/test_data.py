import pytest
import torch

from icgd.autoregression import data


def test_sequences_obey_the_recurrence(law, generator):
    sample = data.sample_sequences(law, 5, 3, 7, generator=generator)
    assert sample.x.shape == (5, 7, 3)
    assert sample.x.dtype == torch.complex128
    moved = torch.einsum("bjk,btk->btj", sample.W, sample.x[:, :-1])
    torch.testing.assert_close(moved, sample.x[:, 1:], rtol=0, atol=1e-13)
    torch.testing.assert_close(sample.eigenvalues.abs(), torch.ones(5, 3, dtype=torch.float64))
    assert (sample.x[:, 0].imag == 0).all()


def test_the_generator_is_the_only_source_of_randomness():
    draws = [
        data.sample_sequences(
            data.Gaussian(1.0), 3, 2, 5, generator=torch.Generator().manual_seed(seed)
        ).x
        for seed in (1, 1, 2)
    ]
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])


def test_tokens_are_zero_current_previous(generator):
    x = data.sample_sequences(data.Gaussian(1.0), 2, 3, 5, generator=generator).x
    tokens = data.embed(x)
    assert tokens.shape == (2, 5, 9)
    assert not tokens[..., :3].any()
    assert torch.equal(tokens[..., 3:6], x)
    assert torch.equal(tokens[:, 1:, 6:], x[:, :-1])
    assert not tokens[:, 0, 6:].any()


def test_eigenvalues_are_recovered(generator):
    sample = data.sample_sequences(data.Gaussian(1.0), 5, 3, 7, generator=generator)
    torch.testing.assert_close(data.recover_eigenvalues(sample.x), sample.eigenvalues)


@pytest.mark.bad_input
def test_other_sequences_are_refused(generator):
    x = data.sample_sequences(data.Gaussian(1.0), 5, 3, 7, generator=generator).x
    bent = x.clone()
    bent[2, 4, 1] += 0.01
    with pytest.raises(ValueError, match=r"must obey x_\{t\+1\} = W x_t"):
        data.recover_eigenvalues(bent)
    with pytest.raises(ValueError, match="unitary"):
        data.recover_eigenvalues(x * torch.linspace(1, 2, 7)[:, None])
    with pytest.raises(ValueError, match="finite, got NaN"):
        data.recover_eigenvalues(x * torch.nan)


@pytest.mark.bad_input
def test_bad_sizes_and_laws_are_refused(generator):
    with pytest.raises(ValueError, match="dimension d must be at least 1"):
        data.sample_sequences(data.Gaussian(1.0), 5, 0, 7, generator=generator)
    with pytest.raises(TypeError, match=r"generator must be a torch\.Generator"):
        data.sample_sequences(data.Gaussian(1.0), 5, 2, 7, generator=0)
    with pytest.raises(TypeError, match="method sample"):
        data.sample_sequences(object(), 5, 2, 7, generator=generator)
    law = data.Moments((0.0, 1.0, 0.0, 3.0, 0.0, 15.0))
    with pytest.raises(NotImplementedError, match="given by its moments"):
        data.sample_sequences(law, 5, 2, 7, generator=generator)
