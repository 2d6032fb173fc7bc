"""Descent and flow on losses whose trajectories are known in closed form."""

from functools import partial

import numpy as np
import pytest
import torch
from scipy.linalg import expm

from icgd.training import DivergenceError, descend, flow

H = torch.tensor([[2.0, 0.5, 0.0], [0.5, 1.0, -0.2], [0.0, -0.2, 0.3]], dtype=torch.float64)
CENTRE = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
START = torch.tensor([3.0, 1.0, -1.0], dtype=torch.float64)


def quadratic(x):
    return (x - CENTRE) @ H @ (x - CENTRE) / 2


def product_loss(a, b):
    """A scalar linear network: every a b = 1 is a minimum."""
    return (a * b - 1) ** 2 / 2


def scalar(value):
    return torch.tensor(value, dtype=torch.float64)


AB = {"a": scalar(2.0), "b": scalar(0.3)}


# --- Descent -------------------------------------------------------------------------------------


def test_descent_follows_the_powers_of_its_matrix():
    run = descend(quadratic, (START,), step_size=0.3, steps=37, record_every=1)
    matrix = np.eye(3) - 0.3 * H.numpy()
    for k in range(38):
        wanted = CENTRE.numpy() + np.linalg.matrix_power(matrix, k) @ (START - CENTRE).numpy()
        np.testing.assert_allclose(run.params[0][k], wanted, rtol=1e-12)
        assert run.losses[k] == pytest.approx(quadratic(run.params[0][k]).item(), rel=1e-12)
    np.testing.assert_array_equal(run.times, np.arange(38))
    gradient = H @ (run.final[0] - CENTRE)
    assert run.gradient_norm == pytest.approx(gradient.norm().item(), rel=1e-12)


def test_parameters_come_back_in_the_structure_they_came_in():
    named = descend(product_loss, AB, step_size=0.1, steps=3)
    assert list(named.params) == list(named.final) == ["a", "b"]
    assert named.params["a"].shape == (4,)
    ordered = descend(product_loss, tuple(AB.values()), step_size=0.1, steps=3)
    assert isinstance(ordered.params, tuple)
    assert isinstance(ordered.final, tuple)
    assert torch.equal(ordered.final[1], named.final["b"])
    swapped = descend(product_loss, {"b": AB["b"], "a": AB["a"]}, step_size=0.1, steps=3)
    assert torch.equal(swapped.final["a"], named.final["a"])  # handed over by name, not by order


def test_starting_parameters_are_not_touched():
    before = AB["a"].clone()
    descend(product_loss, AB, step_size=0.1, steps=3)
    flow(product_loss, AB, [0.0, 1.0])
    assert torch.equal(AB["a"], before)
    assert AB["a"].grad is None
    assert not AB["a"].requires_grad


def test_matrices_keep_their_shape():
    A = torch.arange(6.0, dtype=torch.float64).view(2, 3)
    loss = lambda A, w: ((A @ w) ** 2).sum() + (w**2).sum()  # noqa: E731
    run = flow(loss, (A, START), [0.0, 0.01, 0.02])
    assert run.params[0].shape == (3, 2, 3)
    assert run.params[1].shape == (3, 3)
    np.testing.assert_allclose(run.params[0][0], A, rtol=1e-12)


EXACT_LBFGS = partial(torch.optim.LBFGS, tolerance_change=0.0, tolerance_grad=0.0)


@pytest.mark.parametrize(
    ("optimizer", "step_size", "steps"),
    [
        (torch.optim.Adam, 0.1, 2000),
        (EXACT_LBFGS, 1.0, 20),
        (partial(EXACT_LBFGS, line_search_fn="strong_wolfe"), 1.0, 20),
        (partial(torch.optim.SGD, momentum=0.9), 0.1, 500),
    ],
    ids=["Adam", "LBFGS", "LBFGS-wolfe", "momentum"],
)
def test_any_optimizer_reaches_the_minimum(optimizer, step_size, steps):
    run = descend(
        quadratic, (START,), step_size=step_size, steps=steps, optimizer=optimizer,
        gradient_tolerance=1e-9,
    )  # fmt: skip
    assert run.converged
    assert run.times[-1] < steps
    np.testing.assert_allclose(run.final[0], CENTRE, atol=1e-8)
    # The last record is one point: its loss and its gradient are those of its parameters.
    assert run.losses[-1] == pytest.approx(quadratic(run.final[0]).item(), abs=1e-25)
    assert run.gradient_norm == pytest.approx((H @ (run.final[0] - CENTRE)).norm().item(), rel=1e-9)


def test_first_steps_of_adam_are_torchs():
    x = START.clone().requires_grad_()
    opt = torch.optim.Adam([x], lr=0.1)
    for _ in range(5):
        opt.zero_grad()
        quadratic(x).backward()
        opt.step()
    run = descend(quadratic, (START,), step_size=0.1, steps=5, optimizer=torch.optim.Adam)
    assert torch.equal(run.final[0], x)


def test_records_are_every_so_many_steps_and_the_ends():
    run = descend(quadratic, (START,), step_size=0.1, steps=17, record_every=5)
    assert run.times.tolist() == [0, 5, 10, 15, 17]
    assert run.params[0].shape == (5, 3)
    assert torch.equal(run.params[0][0], START)
    long = descend(quadratic, (START,), step_size=0.1, steps=1009)
    assert 190 <= len(long.times) <= 220
    assert long.times[-1] == 1009


def test_step_size_can_depend_on_the_step():
    rates = [0.4, 0.2, 0.1]
    run = descend(quadratic, (START,), step_size=lambda k: rates[k], steps=3)
    x = START.clone()
    for rate in rates:
        x = x - rate * H @ (x - CENTRE)
    np.testing.assert_allclose(run.final[0], x, rtol=1e-13)


def test_converged_says_what_the_gradient_says():
    short = descend(quadratic, (START,), step_size=0.3, steps=5, gradient_tolerance=1e-6)
    assert not short.converged
    assert short.gradient_norm > 1e-6
    enough = descend(quadratic, (START,), step_size=0.3, steps=5000, gradient_tolerance=1e-6)
    assert enough.converged
    assert enough.gradient_norm <= 1e-6
    assert enough.times[-1] < 5000


def test_fresh_data_at_every_call():
    # Stochastic descent with steps 1 / (k + 1) on |x - z|^2 / 2 is the running mean of the z.
    g, drawn = torch.Generator().manual_seed(0), []

    def loss(x):
        drawn.append(torch.randn(3, generator=g, dtype=torch.float64))
        return ((x - drawn[-1]) ** 2).sum() / 2

    run = descend(loss, (START,), step_size=lambda k: 1 / (k + 1), steps=400)
    np.testing.assert_allclose(run.final[0], torch.stack(drawn[:400]).mean(0), atol=1e-12)


def test_parameters_without_influence_stay():
    run = descend(lambda x, idle: quadratic(x), (START, scalar(7.0)), step_size=0.1, steps=3)
    assert run.final[1].item() == 7.0


# --- Flow ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["LSODA", "DOP853", "Radau"])
def test_flow_is_the_matrix_exponential(method):
    times = [0.0, 0.3, 1.0, 7.0]
    run = flow(quadratic, {"x": START}, times, method=method)
    for time, x, loss in zip(times, run.params["x"], run.losses, strict=True):
        wanted = CENTRE.numpy() + expm(-H.numpy() * time) @ (START - CENTRE).numpy()
        np.testing.assert_allclose(x, wanted, atol=1e-7)
        assert loss == pytest.approx(quadratic(x).item(), rel=1e-12)


def test_flow_may_start_at_any_time():
    early = flow(quadratic, (START,), [0.0, 1.0])
    late = flow(quadratic, (START,), [5.0, 6.0])
    np.testing.assert_allclose(early.final[0], late.final[0], atol=1e-9)


def test_flow_conserves_the_difference_of_squares():
    run = flow(product_loss, AB, np.linspace(0, 20, 11), gradient_tolerance=1e-6)
    a, b = run.params["a"], run.params["b"]
    np.testing.assert_allclose(a**2 - b**2, 2.0**2 - 0.3**2, atol=1e-7)
    assert (a * b)[-1].item() == pytest.approx(1, abs=1e-7)
    assert run.converged


def test_flow_tightens_with_its_tolerance():
    wanted = CENTRE.numpy() + expm(-H.numpy()) @ (START - CENTRE).numpy()
    errors = []
    for rtol in (1e-4, 1e-7, 1e-10):
        run = flow(quadratic, (START,), [0.0, 1.0], method="RK45", rtol=rtol, atol=rtol)
        errors.append(np.abs(run.final[0].numpy() - wanted).max())
    assert errors[0] > 30 * errors[1] > 900 * errors[2]


def test_flow_that_has_not_arrived_is_not_converged():
    run = flow(quadratic, (START,), [0.0, 1.0], gradient_tolerance=1e-6)
    assert not run.converged
    assert run.gradient_norm > 0.1


def test_descent_tends_to_the_flow_with_slope_one():
    flowed = flow(product_loss, AB, [0.0, 1.0]).final
    steps = np.array([50, 100, 200, 400])
    errors = []
    for count in steps:
        run = descend(product_loss, AB, step_size=1 / count, steps=int(count))
        errors.append(max(abs((run.final[name] - flowed[name]).item()) for name in AB))
    slope = np.polyfit(np.log(1 / steps), np.log(errors), 1)[0]
    assert slope == pytest.approx(1, abs=0.05)


# --- What is refused -----------------------------------------------------------------------------


def test_diverging_descent_returns_nothing_and_names_the_step():
    with pytest.raises(DivergenceError, match=r"loss must stay finite, got .* at step \d+"):
        descend(quadratic, (START,), step_size=5.0, steps=5000)
    blows_up = lambda x: (x**4).sum()  # noqa: E731
    with pytest.raises(DivergenceError, match=r"use a smaller step_size \(it was 1\)"):
        descend(blows_up, (START,), step_size=1.0, steps=50)


def test_loss_that_turns_nan_is_divergence_too():
    calls = []

    def loss(x):
        calls.append(1)
        return quadratic(x) * (float("nan") if len(calls) == 4 else 1.0)

    with pytest.raises(DivergenceError, match=r"got nan .* at step 3;"):
        descend(loss, (START,), step_size=0.1, steps=50)


@pytest.mark.filterwarnings("ignore")  # the integrator complains as well
def test_diverging_flow_returns_nothing():
    runaway = lambda x: -(x**4)  # noqa: E731  reaches infinity at time 1 / 8
    with pytest.raises(DivergenceError):
        flow(runaway, (scalar(1.0),), [0.0, 10.0], method="RK45")
    nowhere = lambda x: torch.log(x).sum()  # noqa: E731  leaves its domain
    with pytest.raises(DivergenceError, match=r"must stay finite, got .* at time|must reach time"):
        flow(nowhere, (scalar(0.5),), [0.0, 10.0])


def test_stationary_start_is_refused():
    with pytest.raises(ValueError, match=r"start.* must not be stationary.*random weights"):
        descend(product_loss, {"a": scalar(0.0), "b": scalar(0.0)}, step_size=0.1, steps=5)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"steps": 0}, ValueError, r"steps must be at least 1, got 0"),
        ({"steps": 2.0}, TypeError, r"steps must be a whole number"),
        ({"step_size": 0.0}, ValueError, r"step_size must be positive"),
        ({"step_size": -0.1}, ValueError, r"step_size must be positive"),
        ({"step_size": float("nan")}, ValueError, r"step_size must be finite"),
        ({"step_size": lambda k: 0.1 - 0.1 * k}, ValueError, r"step_size must be positive"),
        ({"record_every": 0}, ValueError, r"record_every must be at least 1"),
        ({"record_every": 1.5}, TypeError, r"record_every must be a whole number"),
        ({"gradient_tolerance": -1.0}, ValueError, r"gradient_tolerance must not be negative"),
    ],
)
def test_options_of_descent(options, error, message):
    with pytest.raises(error, match=message):
        descend(quadratic, (START,), **{"step_size": 0.1, "steps": 5, **options})


@pytest.mark.bad_input
def test_times_and_tolerance_of_the_flow():
    for times in ([0.0], [1.0, 0.0], [0.0, 0.0, 1.0], [0.0, float("inf")], 3.0):
        with pytest.raises(ValueError, match=r"times must be an increasing sequence.*linspace"):
            flow(quadratic, (START,), times)
    with pytest.raises(ValueError, match=r"gradient_tolerance must not be negative"):
        flow(quadratic, (START,), [0.0, 1.0], gradient_tolerance=-1.0)


RUNS = {
    "descend": partial(descend, step_size=0.1, steps=3),
    "flow": lambda loss, params: flow(loss, params, [0.0, 1.0]),
}


@pytest.mark.bad_input
@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_parameters_that_are_not_float64_tensors(run):
    for params in ([START], START, {}, (), None):
        with pytest.raises(TypeError, match=r"params must be a non-empty dict or tuple.*pass"):
            run(quadratic, params)
    for wrong in (START.float(), START.half(), START.long()):
        with pytest.raises(TypeError, match=r"params\[0\] must have dtype torch.float64"):
            run(quadratic, (wrong,))
    with pytest.raises(TypeError, match=r"params\['x'\] must be a torch tensor, got ndarray"):
        run(quadratic, {"x": START.numpy()})
    with pytest.raises(ValueError, match=r"params\[0\] must be finite, got NaN"):
        run(quadratic, (START * float("nan"),))


@pytest.mark.bad_input
@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_losses_that_are_not_one_float64_number(run):
    with pytest.raises(ValueError, match=r"the loss must have shape \(\), got \(3,\)"):
        run(lambda x: x**2, (START,))
    with pytest.raises(TypeError, match=r"the loss must have dtype torch.float64"):
        run(lambda x: quadratic(x).float(), (START,))
    with pytest.raises(TypeError, match=r"the loss must be a torch tensor, got float"):
        run(lambda x: 1.0, (START,))
