"""T1 and T2 against the formula written out, against quadrature and against sampling."""

import numpy as np
import pytest
import torch

from icgd.autoregression import noisy
from icgd.autoregression.learners import gradient_step
from icgd.autoregression.normalisation import constant
from icgd.autoregression.processes import CircularGaussian, Phases, sample_process

ANGLES = {2: [0.9, -0.9], 3: [0.9, -0.9, np.pi], 5: [0.3, -0.3, 1.1, -1.1, 0.0]}


def written_out(eigenvalues, t, v, s2):
    """T1 and T2 for a real process, term by term, with loops over i and j."""
    d = len(eigenvalues)

    def tau(q):
        return (eigenvalues**q).sum().real

    def c(i):
        return v + (i - 1) * s2

    T1 = T2 = 0.0
    for i in range(1, t):
        k = t - i
        T1 += c(i) * c(i + 1) * (tau(k) ** 2 + tau(2 * k)) + d * c(t) * c(i)
        for j in range(1, t):
            m, n = t - j, min(i, j)
            a, b = c(min(i + 1, j)), c(min(i, j + 1))
            T2 += c(i) * c(j) * c(n + 1) * tau(k - m) * (tau(k) * tau(m) + tau(k + m))
            T2 += c(i) * c(j + 1) * c(j) * (tau(m) ** 2 + tau(2 * m))
            T2 += c(i) * c(j + 1) * a * (tau(k) * tau(2 * m - k) + tau(2 * m))
            T2 += c(i + 1) * c(j) * c(i) * (tau(k) ** 2 + tau(2 * k))
            T2 += c(i + 1) * c(j) * b * (tau(m) * tau(2 * k - m) + tau(2 * k))
            T2 += c(i + 1) * c(j + 1) * c(n) * (d + tau(2 * (k - m)))
            T2 += c(t) * (d * c(i) * c(j) + a * b * tau(2 * (k - m)))
            T2 += c(t) * c(n + 1) * c(n) * tau(k - m) ** 2
    return T1, T2


@pytest.mark.parametrize("d", ANGLES)
@pytest.mark.parametrize("t", [2, 3, 6])
def test_loops_give_the_written_out_sums(d, t):
    values = np.exp(1j * np.array(ANGLES[d]))
    found = noisy.step_sums(noisy.traces(values), t=t, start_var=1.3, noise_var=0.4, circular=False)
    np.testing.assert_allclose(found, written_out(values, t, 1.3, 0.4), rtol=1e-12)


def test_reference_values():
    """A rotation by 0.9, t = 3: digits from an independent Gauss quadrature."""
    values = np.exp(1j * np.array([0.9, -0.9]))
    found = noisy.step_sums(noisy.traces(values), t=3, start_var=1.3, noise_var=0.4, circular=False)
    np.testing.assert_allclose(found, [12.9882096874, 120.4706426850], rtol=0, atol=1e-9)


@pytest.mark.parametrize("noise_var", [0.0, 0.4])
def test_average_over_phases(noise_var):
    d, t = 2, 5
    N = 6 * t
    angles = 2 * np.pi * np.indices((N,) * d).reshape(d, -1).T / N
    law = {"t": t, "start_var": 1.3, "noise_var": noise_var}
    found = noisy.step_sums(noisy.traces(np.exp(1j * angles)), circular=True, **law)
    expected = [part.mean() for part in found]
    np.testing.assert_allclose(noisy.phase_sums(d, **law), expected, rtol=1e-12)


def test_sampled_loss_is_the_parabola(generator):
    d, t, eta = 3, 6, 0.02
    x = sample_process(
        CircularGaussian(), Phases(), 40_000, d, t + 1, noise_std=0.5**0.5, generator=generator
    ).x
    y = gradient_step(eta, rho=constant)(x[:, :-1])[:, -1]
    errors = (y - x[:, -1]).abs().square().sum(1)
    T1, T2 = noisy.phase_sums(d, t=t, start_var=1.0, noise_var=0.5)
    expected = d * (1 + t * 0.5) - 2 * eta * T1 + eta**2 * T2
    assert abs(errors.mean() - expected) < 4 * errors.std() / len(x) ** 0.5


def test_no_noise_gives_mos_step():
    """Circular Gaussians: kappa_1 = 2, kappa_2 = 6, kappa_3 = 2 (d - 1) in MO's formula."""
    d, t = 5, 11
    T1, T2 = noisy.phase_sums(d, t=t, start_var=1.0, noise_var=0.0)
    assert noisy.best_step(T1, T2, float(d))[0] == pytest.approx(
        1 / (3 * (t - 1) + d - 1), rel=1e-13
    )


def test_limit_is_approached_at_rate_one_over_t():
    def gap(t):
        T1, T2 = noisy.phase_sums(2, t=t, start_var=1.0, noise_var=1.0)
        return noisy.best_step(T1, T2, 2 * (1.0 + t))[1] - 58 / 183

    assert gap(400) / gap(800) == pytest.approx(2.0, rel=0.05)


def test_pairings_are_double_factorials():
    assert [len(list(noisy.pairings(tuple(range(n))))) for n in (2, 4, 6)] == [1, 3, 15]
    assert len({frozenset(map(frozenset, p)) for p in noisy.pairings(tuple(range(6)))}) == 15


def test_traces_take_batches():
    values = torch.polar(torch.ones(7, 3), torch.rand(7, 3)).numpy().astype(complex)
    values /= np.abs(values)
    q = np.arange(6).reshape(2, 3)
    assert noisy.traces(values)(q).shape == (7, 2, 3)
    np.testing.assert_allclose(noisy.traces(values)(q)[3], noisy.traces(values[3])(q))


@pytest.mark.bad_input
def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="modulus 1"):
        noisy.traces(np.array([1.1, 1.0]))
    with pytest.raises(ValueError, match="noise_var must not be negative"):
        noisy.phase_sums(2, t=3, start_var=1.0, noise_var=-0.1)
    with pytest.raises(ValueError, match="at least 2"):
        noisy.phase_sums(2, t=1, start_var=1.0, noise_var=0.1)
    with pytest.raises(ValueError, match="T2 must be positive"):
        noisy.best_step(1.0, 0.0, 1.0)
