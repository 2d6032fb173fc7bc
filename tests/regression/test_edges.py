"""Where the unified theorem ends."""

import numpy as np
import pytest
import torch
from torch.autograd.functional import hessian

from icgd.evidence.regression import edges
from icgd.evidence.regression.minimum import global_minimum
from icgd.regression import theory


def test_the_general_equation_gives_the_ratio_of_moments_of_the_variance():
    """By hand: c = E v^2 / ((n + d + 1) E v^3 + s2 E v^2), v = 1/2 or 2, n = 1, d = 2."""
    C = edges.general_optimum(*edges.query_moments(edges.hidden_variance()))
    np.testing.assert_allclose(C, 2.125 / (4 * 4.0625 + 0.3 * 2.125) * np.eye(2), atol=1e-12)


def test_the_general_equation_is_the_theorem_when_the_query_is_independent():
    law = edges.enumerate_prompts(edges.gauss_hermite(2), 1, 0.3)
    C = edges.general_optimum(*edges.query_moments(law))
    np.testing.assert_allclose(C, theory.step_size(1, 2, 0.3) * np.eye(2), atol=1e-12)


@pytest.mark.parametrize("corners", [3, 4, 5])
@pytest.mark.parametrize("offset", [0.0, 3.0])
def test_polygons_share_their_moments(corners, offset):
    cross, second = edges.with_offset(edges.polygon(corners), offset).predictor_moments(7)
    np.testing.assert_allclose(cross, 7 * np.eye(2), atol=1e-13)
    wanted = 7 * (7 + 1 + 0.3 + offset**2)
    np.testing.assert_allclose(second, wanted * np.eye(2), atol=1e-11)


@pytest.mark.parametrize(("n", "offset"), [(1, 2.0), (3, 3.0), (7, 4.0)])
def test_giving_up_a_corner_beats_the_step_and_is_no_better_than_the_minimum(n, offset):
    law, floor = edges.with_offset(edges.polygon(3), offset), offset**2 + 2.3
    step = floor - 2 * n / (n + 1.3 + offset**2)
    corner = torch.tensor([2**0.5, 0.0], dtype=torch.float64)
    A = torch.zeros(2, 3, dtype=torch.float64)
    A[1, 1] = 1 / (n + 1.3)
    w = torch.cat([offset * corner, torch.ones(1, dtype=torch.float64)])
    given_up = law.loss(n)(A, w).item()
    assert given_up == pytest.approx(floor - n / (n + 1.3), abs=1e-12)
    assert given_up < step
    assert global_minimum(law.loss(n), 2).loss <= given_up + 1e-12


@pytest.mark.parametrize("n", [1, 3, 11])
def test_the_step_on_the_triangle_turns_into_a_saddle_where_predicted(n):
    def lowest(offset):
        loss = edges.with_offset(edges.polygon(3), offset).loss(n)
        point = torch.zeros(9, dtype=torch.float64)
        point[[0, 4, 8]] = (n + 1.3 + offset**2) ** -0.5
        values = torch.linalg.eigvalsh(hessian(lambda p: loss(p[:6].view(2, 3), p[6:]), point))
        return values[values.abs() > 1e-7][0].item()

    def excess(c):
        K, m, t = n + 1.3 + c**2, c**2 + 2.3, 2.3
        V = n * (c**4 + 6 * c**2 * t + 3 * t**2) + n * (n - 1) * (m**2 + 4)
        return K * (n + 1 - n**3 * m**2 / V) - 4 * c**2

    for offset in np.linspace(0.5, 4, 15):
        assert (lowest(offset) > 0) == (excess(offset) > 0)


@pytest.mark.bad_input
def test_a_polygon_needs_corners():
    with pytest.raises(ValueError, match="corners must be at least 3, got 2"):
        edges.polygon(2)
