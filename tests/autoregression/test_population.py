import math

import numpy as np
import pytest
import torch

from icgd.autoregression import data, laws
from icgd.autoregression.blocks import diagonal_blocks
from icgd.autoregression.direct import direct_loss
from icgd.autoregression.empirical import EmpiricalLoss
from icgd.autoregression.enumeration import all_sequences, enumerated_loss
from icgd.autoregression.normalisation import constant, context_pairs
from icgd.autoregression.population import PopulationLoss


def value_and_gradients(loss, A, B):
    value = loss(A, B)
    return [value.detach(), *torch.autograd.grad(value, (A, B))]


def assert_same(found, expected, tolerance=1e-10):
    for got, want in zip(found, expected, strict=True):
        assert (got - want).abs().max() <= tolerance * want.abs().max()


@pytest.mark.parametrize("method", ["stored", "contracted"])
@pytest.mark.parametrize("rho", [context_pairs, constant])
@pytest.mark.parametrize(("d", "T"), [(1, 5), (2, 3), (2, 5), (3, 4)])
def test_counting_agrees_with_brute_force(law, blocks, d, T, rho, method):
    A, B = blocks(d)
    expected = value_and_gradients(lambda A, B: enumerated_loss(law, A, B, T=T, rho=rho), A, B)
    found = value_and_gradients(PopulationLoss(law, d=d, T=T, rho=rho, method=method), A, B)
    assert_same(found, expected)


@pytest.mark.parametrize("method", ["stored", "contracted"])
def test_six_distinct_coordinates_need_d_of_six(blocks, method):
    """Only from d = 6 on can all six slots differ: every one of the 203 partitions is met."""
    law, d, T = data.Ones(), 6, 3
    A, B = blocks(d)
    expected = value_and_gradients(lambda A, B: enumerated_loss(law, A, B, T=T), A, B)
    assert_same(value_and_gradients(PopulationLoss(law, d=d, T=T, method=method), A, B), expected)


def test_three_back_ends_agree(law, blocks):
    """Fed every sequence there is, the direct and the empirical loss are the population loss."""
    d, T = 2, 5
    A, B = blocks(d, seed=2)
    x, weights = all_sequences(law, d, T)
    population = value_and_gradients(PopulationLoss(law, d=d, T=T), A, B)
    empirical = value_and_gradients(EmpiricalLoss(x, weights=weights), A, B)
    direct = value_and_gradients(lambda A, B: direct_loss(A, B, x, weights=weights), A, B)
    assert_same(empirical, population)
    assert_same(direct, population)


@pytest.mark.parametrize(("d", "T"), [(5, 100), (7, 13)])
def test_stored_and_contracted_agree_at_larger_sizes(law, blocks, d, T):
    A, B = blocks(d)
    found = value_and_gradients(PopulationLoss(law, d=d, T=T, method="contracted"), A, B)
    assert_same(found, value_and_gradients(PopulationLoss(law, d=d, T=T, method="stored"), A, B))


def test_monte_carlo_error_falls_with_slope_minus_one_half():
    """The direct loss on N sequences leaves the population loss by an error of size N^-1/2."""
    law, d, T = data.Rademacher(0.9), 2, 5
    generator = torch.Generator().manual_seed(5)
    A, B = diagonal_blocks(d, 0.4, 0.9)
    exact = PopulationLoss(law, d=d, T=T)(A, B).item()
    sizes, errors = np.array([20, 80, 320, 1280]), []
    for size in sizes:
        draws = [
            direct_loss(
                A, B, data.sample_sequences(law, int(size), d, T, generator=generator).x
            ).item()
            for _ in range(200)
        ]
        errors.append(math.sqrt(np.mean((np.array(draws) - exact) ** 2)))
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.1)


def test_a_second_derivative_is_available(blocks):
    loss = PopulationLoss(data.Ones(), d=2, T=5)
    A, B = blocks(2)
    assert torch.autograd.gradcheck(loss, (A, B))
    assert torch.autograd.gradgradcheck(loss, (A, B))


def test_a_law_is_whatever_has_moments(blocks):
    class Exchangeable:
        """A random scale times signs: E[x_1^2 x_2^2] is not E[x_1^2] E[x_2^2]."""

        def moment(self, exponents, d):
            if any(r % 2 for r in exponents):
                return 0.0
            return (1 + 2.0 ** sum(exponents)) / 2

    A, B = blocks(2)
    halves = [PopulationLoss(data.Rademacher(s), d=2, T=5)(A, B).item() for s in (1.0, 2.0)]
    found = PopulationLoss(Exchangeable(), d=2, T=5)(A, B).item()
    assert found == pytest.approx(sum(halves) / 2, rel=1e-12)


@pytest.mark.bad_input
def test_bad_sizes_are_refused(blocks):
    law = data.Gaussian(1.0)
    with pytest.raises(ValueError, match="length T must be at least 3, got 2"):
        PopulationLoss(law, d=2, T=2)
    with pytest.raises(ValueError, match="dimension d must be at least 1"):
        PopulationLoss(law, d=0, T=5)
    with pytest.raises(ValueError, match="'stored' or 'contracted'"):
        PopulationLoss(law, d=2, T=5, method="dense")
    for method in ("stored", "contracted"):
        loss = PopulationLoss(law, d=2, T=5, method=method)
        with pytest.raises(ValueError, match="dimension of this loss, d = 2, got 3"):
            loss(*blocks(3))
        A, B = blocks(2)
        with pytest.raises(ValueError, match="B must be finite"):
            loss(A, B * torch.nan)
    with pytest.raises(ValueError, match="stay below"):
        all_sequences(law, 5, 20)


@pytest.mark.bad_input
def test_impossible_moments_are_refused():
    class Heavy(laws.IndependentLaw):
        def raw(self, r):
            return math.inf if r > 4 else float(r % 2 == 0)

    class Wrong(laws.IndependentLaw):
        def raw(self, r):
            return 9.0 if r == 4 else float(r % 2 == 0)

    with pytest.raises(TypeError, match="method moment"):
        PopulationLoss("gaussian", d=2, T=5)
    with pytest.raises(ValueError, match="finite moments up to order 6"):
        PopulationLoss(Heavy(), d=2, T=5)
    with pytest.raises(ValueError, match="moments must be those of a law"):
        PopulationLoss(Wrong(), d=2, T=5)
