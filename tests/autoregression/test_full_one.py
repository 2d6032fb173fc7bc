import itertools

import numpy as np
import pytest
import torch

from icgd.autoregression import blocks as blocks_of
from icgd.autoregression import data
from icgd.autoregression.full_one import full_one_flow, power_sum_mean
from icgd.autoregression.normalisation import constant, context_pairs
from icgd.autoregression.population import PopulationLoss


def test_power_sum_means_are_those_of_roots_of_unity():
    d, N = 3, 13
    angles = np.array(list(itertools.product(range(N), repeat=d))) * 2 * np.pi / N
    for exponents in [(2, -2), (1, 2, -3), (0, 1, -1), (2, -1, -1, 0), (1, 1, 2, -2, -1, -1)]:
        sums = [np.exp(1j * n * angles).sum(axis=1) for n in exponents]
        expected = np.prod(sums, axis=0).mean().real
        found = power_sum_mean([np.array([n]) for n in exponents], d)
        assert found[0] == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("rho", [context_pairs, constant])
@pytest.mark.parametrize(("d", "T"), [(2, 5), (3, 7), (5, 13)])
def test_four_variables_carry_the_whole_flow(d, T, rho):
    flow, loss = full_one_flow(d, T, rho), PopulationLoss(data.Ones(), d=d, T=T, rho=rho)
    point = np.array([0.3, -0.2, 0.7, 0.11])
    eye, ones = torch.eye(d, dtype=torch.float64), torch.ones(d, d, dtype=torch.float64)
    blocks = blocks_of.place_blocks(
        point[0] * eye + point[1] * ones, point[2] * eye + point[3] * ones
    )
    A, B = (block.requires_grad_() for block in blocks)
    value = loss(A, B)
    grad_A, grad_B = torch.autograd.grad(value, (A, B))
    assert flow.loss(point) == pytest.approx(value.item(), rel=1e-12)
    velocity = flow.velocity(point)
    scale = np.abs(velocity).max()
    # Every other block has no gradient at all, so the four variables never leave their space.
    expected = blocks_of.place_blocks(
        -(velocity[0] * eye + velocity[1] * ones), -(velocity[2] * eye + velocity[3] * ones)
    )
    assert (grad_A - expected[0]).abs().max() <= 1e-11 * scale
    assert (grad_B - expected[1]).abs().max() <= 1e-11 * scale


def test_partials_are_those_of_the_loss():
    flow, point, h = full_one_flow(3, 7), np.array([0.3, -0.2, 0.7, 0.11]), 1e-6
    numeric = [(flow.loss(point + h * e) - flow.loss(point - h * e)) / (2 * h) for e in np.eye(4)]
    np.testing.assert_allclose(flow.partials(point), numeric, rtol=1e-7, atol=1e-7)


def test_the_limit_is_stationary_and_not_diagonal():
    flow = full_one_flow(5, 20)
    limit = flow.limit(0.1, 0.1)
    assert np.abs(flow.partials(limit)).max() <= 1e-7
    assert abs(limit[1]) > 0.01
    assert abs(limit[3]) > 0.01


@pytest.mark.bad_input
def test_d_of_one_has_no_off_diagonal():
    with pytest.raises(ValueError, match="dimension d must be at least 2"):
        full_one_flow(1, 5)
