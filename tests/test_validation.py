"""Argument checks return what they accept, and name the rest."""

import numpy as np
import pytest
import torch

from icgd import validation


def test_accepted_numbers_come_back_as_plain_numbers():
    assert type(validation.positive_int("n", np.int32(7))) is int
    assert type(validation.positive("x", np.float32(0.5))) is float
    assert validation.int_at_least("t", 0, 0) == 0
    assert validation.non_negative("noise_var", 0) == 0.0
    assert validation.finite_float("x", -3) == -3.0


@pytest.mark.bad_input
def test_numbers_out_of_range():
    with pytest.raises(ValueError, match="t must be at least 2, got 1; pass a larger t"):
        validation.int_at_least("t", 1, 2)
    with pytest.raises(ValueError, match=r"x must be positive, got 0.0; pass a number above zero"):
        validation.positive("x", 0)
    with pytest.raises(TypeError, match=r"x must be a real number, got tensor.*pass a float"):
        validation.finite_float("x", torch.tensor(1.0))


def test_accepted_tensors_are_the_same_object():
    value = torch.zeros(2, 3, dtype=torch.float64)
    for shape in [(2, 3), (-1, 3), (-1, -1), None]:
        assert validation.float64_tensor("A", value, shape) is value
    assert validation.finite_tensor("A", value) is value


@pytest.mark.bad_input
def test_tensors_that_do_not_fit():
    value = torch.zeros(2, 3, dtype=torch.float64)
    for shape, wanted in [((3, 2), r"\(3, 2\)"), ((-1, 2), r"\(any, 2\)"), ((-1,), r"\(any,\)")]:
        with pytest.raises(ValueError, match=rf"A must have shape {wanted}, got \(2, 3\); check"):
            validation.float64_tensor("A", value, shape)
    with pytest.raises(ValueError, match="A must be finite, got NaN or infinity"):
        validation.finite_tensor("A", value / 0)
    with pytest.raises(TypeError, match=r"A must have dtype torch.float64, got torch.float32"):
        validation.finite_tensor("A", value.float())


def test_increasing_times():
    np.testing.assert_array_equal(validation.increasing("t", [0, 1, 5]), [0.0, 1.0, 5.0])


@pytest.mark.bad_input
@pytest.mark.parametrize(
    "times", [[0.0], [], 1.0, [0, 0], [1, 0], [0, np.nan], [0, np.inf], [[0, 1]]], ids=str
)
def test_times_that_do_not_increase(times):
    with pytest.raises(ValueError, match=r"t must be an increasing sequence.*use np.linspace"):
        validation.increasing("t", times)


def test_covariances_lose_their_rounding():
    S = np.array([[2.0, 0.3], [0.3 + 1e-14, 1.0]])
    found = validation.covariance_matrix("S", S, 2)
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_allclose(found, S, atol=1e-13)
    as_tensor = torch.as_tensor(S).requires_grad_()
    np.testing.assert_array_equal(validation.covariance_matrix("S", as_tensor, 2), found)


def test_second_covariance_is_the_inverse_unless_given():
    S = np.array([[2.0, 0.3], [0.3, 1.0]])
    sigma, omega = validation.covariance_pair(S)
    np.testing.assert_allclose(sigma @ omega, np.eye(2), atol=1e-14)
    np.testing.assert_array_equal(validation.covariance_pair(S, np.eye(2))[1], np.eye(2))


def test_condition_numbers_up_to_the_limit_are_accepted():
    limit = validation.MAX_CONDITION
    validation.covariance_matrix("S", np.diag([1.0, 1.01 / limit]), 2)
    validation.covariance_pair(np.diag([1.0, 1.01 / limit]))


@pytest.mark.bad_input
def test_condition_numbers_above_it_are_not():
    with pytest.raises(ValueError, match="S must have a condition number of at most 1e"):
        validation.covariance_matrix("S", np.diag([1.0, 0.99 / validation.MAX_CONDITION]), 2)


@pytest.mark.bad_input
def test_generators_of_another_library():
    g = torch.Generator()
    assert validation.generator(g) is g
    with pytest.raises(TypeError, match=r"generator must be a torch.Generator, got 0; pass gen"):
        validation.generator(0)
