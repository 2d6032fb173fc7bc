"""Finite laws: their moments, how far they are exact, and the loss they average to."""

import math
from itertools import product

import numpy as np
import pytest
import torch

from icgd.regression import enumeration, models
from icgd.regression.data import normal


def moment(rule, *powers):
    """E[prod_i x_i^powers_i]."""
    monomial = (rule.points ** torch.tensor(powers)).prod(1)
    return (rule.weights @ monomial).item()


def normal_moment(k):
    """E[z^k] for a standard normal: (k - 1)!! for even k."""
    return float(math.prod(range(k - 1, 0, -2))) if k % 2 == 0 else 0.0


@pytest.mark.parametrize("nodes", [1, 2, 3, 5])
def test_gauss_hermite_is_exact_to_degree_2k_minus_1_and_no_further(nodes):
    rule = enumeration.gauss_hermite(1, nodes)
    for k in range(2 * nodes):
        assert moment(rule, k) == pytest.approx(normal_moment(k), rel=1e-12, abs=1e-11)
    # One degree higher the rule misses exactly nodes!, the squared norm of He_nodes.
    missed = normal_moment(2 * nodes) - moment(rule, 2 * nodes)
    assert missed == pytest.approx(math.factorial(nodes), rel=1e-9)


def test_gauss_hermite_in_two_dimensions_factorises():
    rule = enumeration.gauss_hermite(2)
    for i, j in product(range(6), repeat=2):
        wanted = normal_moment(i) * normal_moment(j)
        assert moment(rule, i, j) == pytest.approx(wanted, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("rule", "fourth"),
    [
        (enumeration.rademacher(2), [2.0, 2.0]),
        (enumeration.unequal_fourth_moments(), [2.0, 4.0]),
        (enumeration.gauss_hermite(2), [4.0, 4.0]),
    ],
    ids=["rademacher", "unequal", "gauss"],
)
def test_second_moments_agree_and_fourth_moments_do_not(rule, fourth):
    x, p = rule.points.numpy(), rule.weights.numpy()
    np.testing.assert_allclose(p @ x, 0, atol=1e-14)
    np.testing.assert_allclose(np.einsum("k,ki,kj->ij", p, x, x), np.eye(2), atol=1e-14)
    found = np.einsum("k,k,ki,kj->ij", p, (x**2).sum(1), x, x)
    np.testing.assert_allclose(found, np.diag(fourth), atol=1e-13)


def test_products_and_powers_lay_independent_draws_side_by_side():
    line = enumeration.Rule(
        torch.tensor([[0.0], [1.0], [5.0]]).double(),
        torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64),
    )
    coin = enumeration.rademacher(1)
    both = line * coin
    assert both.points.shape == (6, 2)
    law = {tuple(x.tolist()): p.item() for x, p in zip(both.points, both.weights, strict=True)}
    assert law == pytest.approx(
        {(x, s): p / 2 for x, p in [(0, 0.5), (1, 0.3), (5, 0.2)] for s in (-1, 1)}
    )
    cube = line.power(3)
    assert cube.points.shape == (27, 3)
    assert moment(cube, 1, 2, 0) == pytest.approx(moment(line, 1) * moment(line, 2), rel=1e-12)
    assert torch.equal(line.power(1).points, line.points)


@pytest.mark.parametrize("noise_var", [0.0, 0.3])
def test_enumerated_prompts_have_the_law_of_the_task(noise_var):
    law = enumeration.enumerate_prompts(enumeration.gauss_hermite(2), 2, noise_var)
    prompts = law.prompts
    assert law.weights.sum().item() == pytest.approx(1, abs=1e-12)
    noise = prompts.y - torch.einsum("bnd,bd->bn", prompts.X, prompts.w)
    query_noise = prompts.y_query - (prompts.x_query * prompts.w).sum(1)
    everything = torch.cat([prompts.X.flatten(1), prompts.x_query, prompts.w], 1)
    second = law.mean(torch.einsum("bi,bj->bij", everything, everything))
    np.testing.assert_allclose(second, np.eye(8), atol=1e-12)
    both = torch.cat([noise, query_noise[:, None]], 1)
    second = law.mean(torch.einsum("bi,bj->bij", both, both))
    np.testing.assert_allclose(second, noise_var * np.eye(3), atol=1e-12)
    np.testing.assert_allclose(law.mean(noise**4), 3 * noise_var**2, atol=1e-12)
    np.testing.assert_allclose(law.mean(prompts.y**2), 2 + noise_var, rtol=1e-12)


def test_coefficients_can_have_any_law():
    law = enumeration.enumerate_prompts(
        enumeration.rademacher(3), 1, 0.1, coefficients=enumeration.gauss_hermite(3, nodes=1)
    )
    assert not law.prompts.w.any()  # one node sits at zero
    np.testing.assert_allclose(law.mean(law.prompts.y_query**2), 0.1, rtol=1e-12)


def test_loss_is_the_weighted_mean_square():
    law = enumeration.enumerate_prompts(enumeration.rademacher(2), 1, 0.3)
    predictions = law.prompts.x_query[:, 0]
    by_hand = sum(
        p * (a - b) ** 2
        for p, a, b in zip(law.weights, predictions, law.prompts.y_query, strict=True)
    )
    assert law.loss(predictions).item() == pytest.approx(by_hand.item(), rel=1e-12)


def test_reduced_loss_is_the_loss_of_the_reduced_model():
    law = enumeration.enumerate_prompts(enumeration.unequal_fourth_moments(), 2, 0.3)
    loss = law.reduced_loss()
    for seed in range(3):
        g = torch.Generator().manual_seed(seed)
        A, w = normal(2, 3, generator=g), normal(3, generator=g)
        direct = law.loss(models.reduced_prediction(A, w, law.prompts)).item()
        assert loss(A, w).item() == pytest.approx(direct, rel=1e-11)
