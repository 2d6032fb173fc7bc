"""Families of target functions, their moments, and what they refuse."""

import math

import pytest
import torch

from icgd.regression import counterexamples, families, learners, references, targets
from icgd.regression.data import normal, sample_prompts
from icgd.regression.enumeration import gauss_hermite
from icgd.regression.targets import CustomFamily, NonlinearTask


def g(seed=0):
    return torch.Generator().manual_seed(seed)


KNOWN = {
    "relu": families.TwoLayerNetwork(3),
    "tanh": families.TwoLayerNetwork(2, torch.tanh),
    "cubic": families.Polynomial((0.0, 1.0, 0.0, 0.05)),
    "lopsided": families.Polynomial((0.5, 1.0, 0.3)),
    "cosine": families.CosineRidge(0.7),
    "quadratic": families.RandomQuadratic(0.4),
    "absolute": counterexamples.Ridge(torch.abs),
    "first cube": counterexamples.CoordinateCubic(),
    "any cube": counterexamples.CoordinateCubic(any_coordinate=True),
    "mean": counterexamples.LinearWithMean(0.8),
}
ALL = {**KNOWN, "deep": families.DeepNetwork((5, 3, 2)), "one deep": families.DeepNetwork((7,))}


@pytest.mark.parametrize("family", ALL.values(), ids=ALL)
def test_prompts_have_the_right_shapes_and_come_from_the_generator(family):
    task = NonlinearTask(family, 3, 0.3)
    first, again = (sample_prompts(task, 11, 5, generator=g()) for _ in range(2))
    assert first.X.shape == (11, 5, 3)
    assert first.y.shape == (11, 5)
    assert torch.equal(first.y, again.y)
    assert first.w is None
    targets.check_sampler(family, 3)


@pytest.mark.parametrize("d", [2, 5])
@pytest.mark.parametrize("family", KNOWN.values(), ids=KNOWN)
def test_moments_agree_with_the_familys_own_sampler(family, d):
    known = family.moments(d)
    found = targets.estimate_moments(family, d, functions=40_000, points=7, generator=g(3))
    assert found.beta_sq == pytest.approx(known.beta_sq, abs=4.5 * found.standard_errors[0])
    assert found.f_sq_x_sq == pytest.approx(known.f_sq_x_sq, abs=4.5 * found.standard_errors[1])
    assert known.standard_errors == (0.0, 0.0)


def test_estimates_get_better_like_the_root_of_the_number_of_functions():
    family = families.CosineRidge(0.7)
    few, many = (
        targets.estimate_moments(family, 3, functions=k, points=5, generator=g())
        for k in (2000, 50_000)
    )
    ratio = few.standard_errors[0] / many.standard_errors[0]
    assert ratio == pytest.approx(5.0, rel=0.15)


def test_a_deep_relu_network_halves_the_size_with_every_layer():
    d, depth = 3, 3
    found = targets.estimate_moments(
        families.DeepNetwork((7, 6, 5)), d, functions=100_000, generator=g(1)
    )
    known = d * (d + 2) / 2**depth  # E f^2 = |x|^2 / 2^depth, and E|x|^4 = d (d + 2)
    assert found.f_sq_x_sq == pytest.approx(known, abs=4 * found.standard_errors[1])


def test_a_deep_network_with_one_hidden_layer_is_a_two_layer_network():
    deep = targets.estimate_moments(families.DeepNetwork((5,)), 3, functions=50_000, generator=g())
    known = families.TwoLayerNetwork(5).moments(3)
    assert deep.beta_sq == pytest.approx(known.beta_sq, abs=4 * deep.standard_errors[0])
    assert deep.f_sq_x_sq == pytest.approx(known.f_sq_x_sq, abs=4 * deep.standard_errors[1])


def test_rotating_the_first_layer_rotates_the_argument():
    """The law of a network is unchanged by rotations because this holds function by function."""
    family, angle = families.DeepNetwork((5, 3)), 0.6
    R = torch.tensor([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    x = normal(4, 7, 2, generator=g())
    W = normal(4, 2, 5, generator=g(1))
    rest = normal(4, 5, 1, generator=g(2))

    def network(first):
        return torch.relu(x @ first) @ rest

    rotated_input = torch.relu((x @ R.double().T) @ W) @ rest
    torch.testing.assert_close(network(R.double().T @ W), rotated_input)
    assert family.draw(4, 2, g())(x).shape == (4, 7)


@pytest.mark.parametrize("name", ["relu", "cubic", "cosine", "quadratic", "lopsided"])
def test_kernels_agree_with_the_sampler(name):
    family = KNOWN[name]
    x = normal(4, 3, generator=g(7))
    values = family.draw(100_000, 3, g(8))(x.expand(100_000, 4, 3))
    products = values[:, :, None] * values[:, None, :]
    error = products.std(0) / 100_000**0.5
    known = family.kernel(x[None], x[None])[0]
    assert ((products.mean(0) - known).abs() < 4.5 * error).all()


def test_the_relu_kernel_agrees_with_an_integral_over_directions():
    """In the plane, w = r (cos t, sin t) with E r^2 = 2 and t uniform."""
    x = torch.tensor([[1.0, 0.3], [-0.4, 0.9], [-2.0, -0.1]], dtype=torch.float64)
    t = torch.arange(200_000, dtype=torch.float64) * (2 * math.pi / 200_000)
    relu = torch.relu(torch.stack([t.cos(), t.sin()], 1) @ x.T)
    wanted = 2 * relu.T @ relu / len(t)
    torch.testing.assert_close(KNOWN["relu"].kernel(x, x), wanted, rtol=1e-7, atol=1e-7)


def test_stein_gives_beta_for_a_polynomial():
    """beta_f = E[x f(x)] = E[grad f(x)], at one w, by quadrature on both sides."""
    family = families.Polynomial((0.0, 1.0, 0.0, -0.3, 0.0, 0.07))
    rule, w = gauss_hermite(2, 8), torch.tensor([0.7, -1.1], dtype=torch.float64)
    x = rule.points.clone().requires_grad_(True)
    f = family(x @ w)
    gradient = torch.autograd.grad(f.sum(), x)[0]
    beta = (rule.weights * f.detach()) @ rule.points
    torch.testing.assert_close(beta, rule.weights @ gradient, rtol=1e-12, atol=1e-12)


def test_an_even_function_leaves_nothing_to_learn():
    assert counterexamples.Ridge(torch.abs).moments(5).step_size(7, 0.3) == pytest.approx(
        0, abs=1e-12
    )


def test_step_size_error_is_the_propagated_standard_error():
    found = targets.Moments(3, 1.7, 11.0, (0.01, 0.02))
    at = lambda b, c: targets.Moments(3, b, c).step_size(7, 0.3)  # noqa: E731
    by_beta = (at(1.701, 11.0) - at(1.699, 11.0)) / 0.002
    by_size = (at(1.7, 11.001) - at(1.7, 10.999)) / 0.002
    expected = abs(by_beta) * 0.01 + abs(by_size) * 0.02
    assert found.step_size_error(7, 0.3) == pytest.approx(expected, rel=1e-5)


# --- References ----------------------------------------------------------------------------------


def test_kernel_ridge_with_the_linear_kernel_is_ridge():
    prompts = sample_prompts(
        NonlinearTask(families.Polynomial((0.0, 1.0)), 3, 0.3), 11, 5, generator=g()
    )
    linear = references.kernel_ridge(families.Polynomial((0.0, 1.0)).kernel, 0.3)
    torch.testing.assert_close(linear(prompts), learners.ridge(0.3)(prompts))


def test_the_posterior_mean_is_kernel_ridge_for_a_gaussian_process():
    family = families.RandomQuadratic(0.4)
    prompts = sample_prompts(NonlinearTask(family, 2, 1.0), 7, 3, generator=g())
    exact = references.kernel_ridge(family.kernel, 1.0)(prompts)
    found = references.posterior_mean(family, 1.0, functions=200_000, generator=g(1))(prompts)
    torch.testing.assert_close(found, exact, rtol=0.05, atol=0.03)


def test_better_informed_predictors_lose_less():
    task = NonlinearTask(families.Polynomial((0.0, 1.0, 0.0, -0.1)), 2, 0.5)
    found = references.risks(task, 5, prompts=3000, functions=3000, generator=g(4))
    assert list(found) == ["no step", "one step", "kernel ridge", "best"]
    no_step, one_step, ridge, best = (risk for risk, _ in found.values())
    assert 0.5 < best < ridge < one_step < no_step
    # E[y^2] = E[f^2] + s2, E[f^2] = 2 - 0.2 * 3 * 8 + 0.01 * 15 * 48 = 4.4
    assert no_step == pytest.approx(4.9, abs=4 * found["no step"][1])


def test_families_without_a_kernel_are_compared_without_it():
    task = NonlinearTask(families.TwoLayerNetwork(2, torch.tanh), 2, 0.5)
    found = references.risks(task, 3, prompts=200, functions=500, generator=g(4))
    assert list(found) == ["no step", "one step", "best"]


# --- Bad input -----------------------------------------------------------------------------------


def sample(function):
    family = CustomFamily(lambda count, d, generator: function)
    return sample_prompts(NonlinearTask(family, 3, 0.3), 11, 5, generator=g())


@pytest.mark.bad_input
def test_values_of_the_wrong_shape_are_refused():
    with pytest.raises(
        ValueError, match=r"target functions must have shape \(11, 6\), got \(11, 6, 3\)"
    ):
        sample(lambda x: x)


@pytest.mark.bad_input
def test_values_in_single_precision_are_refused():
    with pytest.raises(TypeError, match=r"must have dtype torch.float64, got torch.float32"):
        sample(lambda x: x[..., 0].float())


@pytest.mark.bad_input
def test_nan_is_refused():
    with pytest.raises(
        ValueError, match=r"must be finite, got \d+ NaN or infinite values among 66"
    ):
        sample(lambda x: x[..., 0].sqrt())


@pytest.mark.bad_input
def test_an_infinite_second_moment_is_refused():
    family = CustomFamily(lambda count, d, generator: lambda x: 1 / x[..., 0])
    with pytest.raises(ValueError, match=r"finite second moment .* carries \d+% of it"):
        targets.estimate_moments(family, 3, functions=20_000, generator=g())


@pytest.mark.bad_input
def test_samplers_that_ignore_their_generator_are_caught():
    def uses_global_state(count, d, generator):
        w = torch.randn(count, d, dtype=torch.float64)
        return lambda x: torch.einsum("kpd,kd->kp", x, w)

    def sets_a_seed(count, d, generator):
        w = normal(count, d, generator=g(42))
        return lambda x: torch.einsum("kpd,kd->kp", x, w)

    def draws_at_every_call(count, d, generator):
        return lambda x: torch.einsum("kpd,kd->kp", x, normal(count, d, generator=generator))

    def moves_global_state(count, d, generator):
        torch.randn(1)
        return families.CosineRidge(1.0).draw(count, d, generator)

    def fine(count, d, generator):
        return families.CosineRidge(1.0).draw(count, d, generator)

    for sampler, match in (
        (uses_global_state, "different functions from two generators with one seed"),
        (sets_a_seed, "the same functions from two generators with different seeds"),
        (draws_at_every_call, "got different ones in two calls"),
        (moves_global_state, "leave torch's global generator alone"),
    ):
        with pytest.raises(ValueError, match=match):
            targets.check_sampler(CustomFamily(sampler), 3)
    targets.check_sampler(CustomFamily(fine), 3)


@pytest.mark.bad_input
def test_families_refuse_senseless_parameters():
    with pytest.raises(ValueError, match="width must be at least 1, got 0"):
        families.TwoLayerNetwork(0)
    with pytest.raises(ValueError, match="number of hidden layers must be at least 1"):
        families.DeepNetwork(())
    with pytest.raises(ValueError, match="must not all be zero"):
        families.Polynomial((0.0, 0.0))
    with pytest.raises(ValueError, match="scale must be positive"):
        families.CosineRidge(0.0)
    with pytest.raises(ValueError, match=r"mean must be in \(0, 1\], got 1.5"):
        counterexamples.LinearWithMean(1.5)
    with pytest.raises(ValueError, match="one by one"):
        families.ridge_moments(lambda s: s[0], 3)
    with pytest.raises(TypeError, match=r"generator must be a torch\.Generator, got None"):
        targets.estimate_moments(KNOWN["relu"], 3, generator=None)
    with pytest.raises(NotImplementedError, match="closed form for the ReLU only"):
        KNOWN["tanh"].kernel(torch.ones(1, 2, 3), torch.ones(1, 2, 3))


@pytest.mark.bad_input
def test_a_posterior_on_too_few_functions_is_refused():
    family = families.CosineRidge(1.0)
    prompts = sample_prompts(NonlinearTask(family, 3, 0.01), 11, 7, generator=g())
    predict = references.posterior_mean(family, 0.01, functions=50, generator=g(1))
    with pytest.raises(ValueError, match="at least 20 functions, got 1"):
        predict(prompts)
