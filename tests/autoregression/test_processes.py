"""Laws of W and of x_1: unitary, invariant, with the moments they claim."""

import math

import numpy as np
import pytest
import torch

from icgd.autoregression import data, learners, theory
from icgd.autoregression.processes import (
    CircularGaussian,
    ConjugatePairs,
    Haar,
    Phases,
    Rotated,
    Sphere,
    relative_errors,
    sample_process,
)

ROTATIONS = {
    "phases": Phases(),
    "pairs": ConjugatePairs(),
    "unitary": Haar(),
    "orthogonal": Haar("real"),
    "rotated": Rotated(Phases(), Haar("real")),
}


@pytest.mark.parametrize("rotation", ROTATIONS.values(), ids=ROTATIONS.keys())
def test_every_W_is_unitary_and_moves_x(rotation, generator):
    process = sample_process(data.Gaussian(1.0), rotation, 5, 4, 7, generator=generator)
    eye = torch.eye(4, dtype=process.W.dtype).expand(5, 4, 4)
    torch.testing.assert_close(process.W @ process.W.mH, eye, rtol=0, atol=1e-12)
    moved = (process.W[:, None] @ process.x[:, :-1, :, None])[..., 0]
    torch.testing.assert_close(moved, process.x[:, 1:], rtol=0, atol=1e-12)
    assert process.x.shape == (5, 7, 4)


def test_conjugate_pairs_have_real_traces(generator):
    W = ConjugatePairs().sample(3, 6, generator=generator)
    trace = W.diagonal(dim1=1, dim2=2).sum(1)
    torch.testing.assert_close(trace.imag, torch.zeros(3, dtype=torch.float64), rtol=0, atol=1e-12)


def test_fixed_basis_keeps_its_eigenvectors(generator):
    Q = torch.linalg.qr(torch.randn(3, 3, dtype=torch.complex128, generator=generator))[0]
    W = Rotated(Phases(), Q).sample(5, 3, generator=generator)
    D = Q.mH @ W @ Q
    off = D - torch.diag_embed(D.diagonal(dim1=1, dim2=2))
    assert off.abs().max() < 1e-12


@pytest.mark.parametrize(("field", "d"), [("complex", 3), ("real", 3)])
def test_haar_traces(field, d, generator):
    """E|tr W^k|^2 = min(k, d) for unitary matrices; E (tr W)^2 = 1 for orthogonal ones."""
    W = Haar(field).sample(20_000, d, generator=generator)
    traces = W.diagonal(dim1=1, dim2=2).sum(1).abs() ** 2
    assert abs(traces.mean() - 1) < 4 * traces.std() / len(W) ** 0.5


@pytest.mark.parametrize("law", [CircularGaussian(0.7), Sphere(1.3), Sphere(1.3, "complex")])
@pytest.mark.parametrize("exponents", [(2,), (4,), (2, 4), (2, 2, 2)])
def test_moments_are_those_of_the_samples(law, exponents, generator):
    z = law.sample(200_000, 3, generator=generator).abs()
    values = math.prod(z[:, j] ** r for j, r in enumerate(exponents))
    expected = law.moment(exponents, 3)
    assert abs(values.mean() - expected) < 4 * values.std() / len(z) ** 0.5


def test_sphere_moments_by_symmetry():
    """sum_j |x_j|^2 = r^2, squared and cubed, in two fields and any dimension."""
    for field in ("real", "complex"):
        for d in (2, 3, 7):
            law = Sphere(1.0, field)
            pairs = d * law.moment((4,), d) + d * (d - 1) * law.moment((2, 2), d)
            triples = d * law.moment((6,), d) + 3 * d * (d - 1) * law.moment((4, 2), d)
            triples += d * (d - 1) * (d - 2) * law.moment((2, 2, 2), d)
            assert [d * law.moment((2,), d), pairs, triples] == pytest.approx([1, 1, 1])
    assert Sphere(1.0).moment((1, 3), 3) == 0


@pytest.mark.parametrize("field", ["real", "complex"])
def test_random_eigenvectors_make_a_sphere_of_signs(field, generator):
    """Sampled: the relative error of one step from random signs, at an early and a late time."""
    d, T = 3, 30
    rotation = Rotated(Phases(), Haar(field))
    x = sample_process(data.Rademacher(1.0), rotation, 5000, d, T, generator=generator).x
    y = learners.gradient_step(0.5)(x[:, :-1])
    law = Sphere(d**0.5, field)
    found = relative_errors(y, x).numpy()[[0, -1]]
    expected = [theory.relative_error(law, d=d, t=t, product=0.5) for t in (2, T - 1)]
    np.testing.assert_allclose(found, expected, rtol=0.05)


def test_noise_piles_up(generator):
    x = sample_process(
        CircularGaussian(), Haar(), 20_000, 2, 11, noise_std=0.6, generator=generator
    ).x
    size = x[:, -1].abs().square().sum(1)
    assert abs(size.mean() - 2 * (1 + 10 * 0.36)) < 4 * size.std() / len(x) ** 0.5


@pytest.mark.bad_input
def test_bad_input_is_refused(generator):
    with pytest.raises(ValueError, match="conjugate pairs"):
        ConjugatePairs().sample(2, 3, generator=generator)
    with pytest.raises(ValueError, match="'real' or 'complex'"):
        Haar("quaternion")
    with pytest.raises(ValueError, match="unitary matrix"):
        Rotated(Phases(), 2 * torch.eye(3)).sample(2, 3, generator=generator)
    with pytest.raises(ValueError, match="radius must be positive"):
        Sphere(0.0)
    with pytest.raises(ValueError, match="scale must be positive"):
        CircularGaussian(-1.0)
    x = sample_process(data.Ones(), Phases(), 2, 3, 5, generator=generator).x
    with pytest.raises(ValueError, match=r"t = 2, \.\.\., T"):
        relative_errors(x, x)
