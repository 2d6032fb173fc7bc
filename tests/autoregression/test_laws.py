import math

import numpy as np
import pytest
import torch

from icgd.autoregression import laws


def test_moments_are_those_of_the_points(law):
    d = 3
    points, weights = law.points(d)
    assert weights.sum() == pytest.approx(1, abs=1e-14)
    for exponents in [
        (1,),
        (2,),
        (3,),
        (4,),
        (6,),
        (2, 2),
        (3, 3),
        (4, 2),
        (2, 2, 2),
        (1, 1),
        (3, 1),
    ]:
        powers = np.prod([points[:, i] ** r for i, r in enumerate(exponents)], axis=0)
        # The first coordinates stand for any others: the laws are exchangeable.
        mirrored = np.prod([points[:, d - 1 - i] ** r for i, r in enumerate(exponents)], axis=0)
        expected = law.moment(exponents, d)
        assert weights @ powers == pytest.approx(expected, abs=1e-12)
        assert weights @ mirrored == pytest.approx(expected, abs=1e-12)


def test_samples_follow_the_moments(law, generator):
    d, batch = 3, 20_000
    x = law.sample(batch, d, generator=generator)
    assert x.shape == (batch, d)
    assert x.dtype == torch.float64
    for exponents in [(1,), (2,), (4,), (2, 2), (3, 3)]:
        powers = math.prod(x[:, i] ** r for i, r in enumerate(exponents))
        error = powers.mean().item() - law.moment(exponents, d)
        assert abs(error) <= 5 * powers.std().item() / math.sqrt(batch) + 1e-12


def test_nonzero_is_the_mass_off_zero():
    law = laws.Discrete((0.0, 1.0, -2.0), (0.5, 0.2, 0.3))
    assert law.nonzero(4) == pytest.approx(0.5)
    assert laws.Sparse(2.0).nonzero(7) == pytest.approx(1 / 7)
    assert laws.Gaussian(2.0).nonzero(7) == 1.0


def test_moments_alone_define_a_law():
    gaussian = laws.Gaussian(0.7)
    same = laws.Moments(tuple(gaussian.raw(r) for r in range(1, 7)))
    for exponents in [(2,), (4, 2), (2, 2, 2)]:
        assert same.moment(exponents, 3) == pytest.approx(gaussian.moment(exponents, 3))


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("build", "match"),
    [
        (lambda: laws.Gaussian(0.0), "scale must be positive"),
        (lambda: laws.Gaussian(math.inf), "scale must be finite"),
        (lambda: laws.Sparse(-1.0), "scale must be positive"),
        (lambda: laws.Rademacher(math.nan), "scale must be finite"),
        (lambda: laws.Discrete((1.0, 2.0), (0.5, 0.4)), "sum to one"),
        (lambda: laws.Discrete((1.0, 2.0), (1.5, -0.5)), "non-negative"),
        (lambda: laws.Discrete((1.0,), (0.5, 0.5)), "equally many"),
        (lambda: laws.Discrete((1.0, math.inf), (0.5, 0.5)), "finite"),
        (lambda: laws.Moments((0.0, 1.0, 0.0, 3.0, 0.0)), "six moments"),
        (lambda: laws.Moments((0.0, 1.0, 0.0, 0.5, 0.0, 15.0)), "those of a law"),
        (lambda: laws.Moments((0.0, 1.0, 0.0, 3.0, 0.0, math.inf)), "finite"),
    ],
)
def test_impossible_laws_are_refused(build, match):
    with pytest.raises(ValueError, match=match):
        build()
