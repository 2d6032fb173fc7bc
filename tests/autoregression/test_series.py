"""A real series as sequences, and one step on a rotation seen through noise."""

import hashlib

import numpy as np
import pytest
import torch

from icgd.autoregression import learners, observed, series
from icgd.autoregression.direct import direct_loss
from icgd.autoregression.models import CausalLinearAttention


def test_the_file_is_the_one_described(root):
    digest = hashlib.sha256((root / "data" / "elnino.csv").read_bytes()).hexdigest()
    assert digest in (root / "data" / "README.md").read_text("utf-8")
    months = series.el_nino()
    assert months.shape == (61 * 12,)
    assert (months[0], months[12], months[-1]) == (23.11, 24.19, pytest.approx(22.07))


# --- From a series to sequences ------------------------------------------------------------------


@pytest.mark.parametrize("period", [4, 12, 20])
def test_a_sinusoid_turns_on_a_circle(period):
    t = np.arange(50)
    z = series.turning(3 * np.cos(2 * np.pi * t / period + 0.4), period)
    assert len(z) == 50 - period // 4
    np.testing.assert_allclose(np.abs(z), 3)
    np.testing.assert_allclose(z[1:] / z[:-1], np.exp(2j * np.pi / period))


def test_windows_are_all_windows_and_strides_count_alike():
    z = np.arange(11) + 0.5j
    seen = series.windows(z, 3, (1, 2, 5))
    assert seen.x.shape == (9 + 7 + 1, 3, 1)
    for x, stride, start in zip(seen.x[..., 0], seen.stride, seen.start, strict=True):
        np.testing.assert_array_equal(x, z[start + stride * np.arange(3)])
    for stride in (1, 2, 5):
        assert seen.weights[seen.stride == stride].sum() == pytest.approx(1 / 3)


def test_block_means_are_the_weighted_mean_and_its_error():
    seen = series.windows(np.random.default_rng(0).normal(size=60) + 0j, 3, (1,))
    values = torch.as_tensor(np.random.default_rng(1).normal(size=(len(seen.x), 2)))
    mean, error = series.block_means(values, seen, months=29)
    assert len(values) == 58  # two blocks of 29
    blocks = values.view(2, 29, 2).mean(1)
    np.testing.assert_allclose(mean, values.mean(0))
    np.testing.assert_allclose(error, blocks.std(0) / 2**0.5)


# --- The step on a noisy rotation ----------------------------------------------------------------


def noisy(batch, T, noise_var, seed=0):
    rng = np.random.default_rng(seed)
    parts = rng.normal(size=(2, batch, T)) * (noise_var / 2) ** 0.5
    angles = rng.uniform(0, 2 * np.pi, (batch, 1)) * np.arange(1, T + 1)
    return torch.as_tensor(np.exp(1j * angles) + parts[0] + 1j * parts[1])[..., None]


def test_risk_is_the_mean_over_sampled_rotations():
    x = noisy(60_013, 6, 0.3)
    for product in (0.4, 1.0):
        y = learners.gradient_step(product)(x)[:, :-1]
        errors = (y - x[:, 2:]).abs().square()[..., 0]
        for t in range(2, 6):
            mean, deviation = errors[:, t - 2].mean(), errors[:, t - 2].std()
            exact = observed.risk(product, t, 0.3)
            assert abs(mean - exact) < 4 * deviation / len(x) ** 0.5


def test_best_product_is_the_lowest_point_of_the_layers_loss():
    x, T, noise_var = noisy(40_009, 7, 0.5, seed=3), 7, 0.5
    best = observed.best_product(noise_var, T)
    losses = []
    for product in (best - 0.1, best, best + 0.1):
        model = CausalLinearAttention.diagonal(1, 1.0, product)
        losses.append(direct_loss(*model.blocks(), x).item())
    curvature = (losses[0] - 2 * losses[1] + losses[2]) / 0.01
    lowest = best - (losses[2] - losses[0]) / 0.2 / curvature
    assert lowest == pytest.approx(best, abs=0.01)


def test_long_contexts_shrink_by_signal_over_signal_plus_noise():
    sizes = 10 ** np.arange(2, 6)
    errors = np.array([observed.second_moment(N, 0.4) - 1.4 for N in sizes])
    slope = np.polyfit(np.log(sizes), np.log(np.abs(errors)), 1)[0]
    assert slope == pytest.approx(-1, abs=0.01)
    products = [observed.best_product(0.4, T) for T in range(3, 60)]
    assert (np.diff(products) > 0).all()
    assert products[-1] < 1 / 1.4


def test_without_noise_the_step_is_exact():
    assert observed.best_product(0.0, 5) == 1
    assert observed.risk(1.0, 4, 0.0) == 0


@pytest.mark.bad_input
def test_series_and_windows_that_do_not_fit():
    with pytest.raises(ValueError, match="period must be a multiple of 4, got 10"):
        series.turning(np.ones(30), 10)
    with pytest.raises(ValueError, match="window must fit in the series, got 21 readings"):
        series.windows(np.ones(20) + 0j, 5, (1, 5))
    with pytest.raises(ValueError, match="the sequence length T must be at least 3, got 2"):
        series.windows(np.ones(20) + 0j, 2, (1,))
    with pytest.raises(ValueError, match="a stride must be at least 1, got 0"):
        series.windows(np.ones(20) + 0j, 3, (1, 0))
    seen = series.windows(np.ones(20) + 0j, 3, (1, 2))
    with pytest.raises(ValueError, match="at least two blocks, got one of 30 months"):
        series.block_means(torch.ones(len(seen.x), 1), seen, months=30)
    with pytest.raises(ValueError, match="noise_var must not be negative"):
        observed.best_product(-0.1, 5)
    with pytest.raises(ValueError, match="the time t must be at least 2, got 1"):
        observed.risk(1.0, 1, 0.1)
