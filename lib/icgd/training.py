"""Minimise any loss, by steps (`descend`) or by the ordinary differential equation (`flow`).

This module knows no paper. A loss is a callable of tensors; parameters are a dict or a tuple of
float64 tensors, handed to the loss as keywords or in order:

    descend(lambda A, w: ..., {"A": A0, "w": w0}, step_size=0.01, steps=1000)
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from scipy.integrate import solve_ivp
from torch import Tensor
from torch.autograd.functional import hessian
from tqdm.auto import tqdm

from icgd import validation

Params = dict[str, Tensor] | tuple[Tensor, ...]
Loss = Callable[..., Tensor]


#: With more parameters, implicit methods build their own Jacobian: the exact one is dense.
_MAX_HESSIAN = 1000


class DivergenceError(RuntimeError):
    """The loss stopped being finite, so there is no trajectory to return."""


@dataclass(frozen=True)
class Trajectory:
    """What an optimisation went through.

    times: (records,) steps taken (`descend`) or time of the flow.
    params: parameters at those times, in the structure they came in, each stacked along axis 0.
    losses: (records,) the loss there.
    gradient_norm: Euclidean norm of the whole gradient at the last record.
    converged: whether that norm is at most the gradient tolerance that was asked for.
    """

    times: np.ndarray
    params: dict[str, Tensor] | tuple[Tensor, ...]
    losses: np.ndarray
    gradient_norm: float
    converged: bool

    @property
    def final(self) -> Params:
        """The parameters at the last record."""
        if isinstance(self.params, dict):
            return {name: p[-1] for name, p in self.params.items()}
        return tuple(p[-1] for p in self.params)


def descend(
    loss: Loss,
    params: Params,
    *,
    step_size: float | Callable[[int], float],
    steps: int,
    optimizer: Callable = torch.optim.SGD,
    gradient_tolerance: float = 0.0,
    record_every: int | None = None,
) -> Trajectory:
    """Gradient descent, theta <- theta - step_size * grad loss(theta), for at most `steps` steps.

    Args:
        loss: returns a scalar; it may draw fresh data at every call.
        params: dict or tuple of float64 tensors; they are copied, never changed.
        step_size: a number, or a function of the step's index (from 0).
        optimizer: any class of `torch.optim`, for example `torch.optim.Adam`. The default is plain
            gradient descent.
        gradient_tolerance: stop once the norm of the gradient is at most this.
        record_every: keep every so many steps; the default keeps about 200 records. The first and
            the last point are always kept.
    Raises:
        DivergenceError: the loss or its gradient stopped being finite; the message names the step.
        ValueError: the gradient vanishes at the start, so no descent can leave it.
    """
    steps = validation.positive_int("steps", steps)
    gradient_tolerance = validation.non_negative("gradient_tolerance", gradient_tolerance)
    every = validation.positive_int("record_every", record_every or max(1, steps // 200))
    rate = step_size if callable(step_size) else lambda step: step_size
    validation.positive("step_size", rate(0))

    tensors = _copies(params)
    opt = optimizer(tensors, lr=rate(0))
    last = {}

    def closure() -> Tensor:
        opt.zero_grad()
        value = _call(loss, params, tensors)
        value.backward()
        # Line-search optimisers call this many times a step; the first call is at the iterate.
        last.setdefault("loss", value.item())
        last.setdefault("norm", _norm([t.grad for t in tensors]))
        return value

    records: list[tuple[int, float, list[Tensor]]] = []
    for step in tqdm(range(steps + 1), desc="descend", delay=2.0, leave=False):
        last.clear()
        before = [t.detach().clone() for t in tensors]
        if step < steps:
            opt.param_groups[0]["lr"] = validation.positive("step_size", rate(step))
            opt.step(closure)
        else:
            closure()
        if not np.isfinite(last["loss"]) or not np.isfinite(last["norm"]):
            raise DivergenceError(
                f"the loss must stay finite, got {last['loss']} with gradient norm {last['norm']} "
                f"at step {step}; use a smaller step_size (it was {rate(min(step, steps - 1)):g})."
            )
        if step == 0 and last["norm"] == 0.0:
            raise ValueError(
                "the starting point must not be stationary, got a gradient of exactly zero; "
                "all-zero weights are a saddle of these losses, so start from random weights."
            )
        done = last["norm"] <= gradient_tolerance
        if step % every == 0 or step == steps or done:
            records.append((step, last["loss"], before))
        if done:
            break
    times, losses, points = zip(*records, strict=True)
    return Trajectory(
        times=np.array(times),
        params=_stack(params, points),
        losses=np.array(losses),
        gradient_norm=last["norm"],
        converged=last["norm"] <= gradient_tolerance,
    )


def flow(
    loss: Loss,
    params: Params,
    times,
    *,
    gradient_tolerance: float = 0.0,
    method: str = "LSODA",
    rtol: float = 1e-10,
    atol: float = 1e-12,
) -> Trajectory:
    """Gradient flow, d theta / d time = -grad loss(theta), by scipy's `solve_ivp`.

    Args:
        loss: returns a scalar and must give the same value for the same parameters.
        params: dict or tuple of float64 tensors, the point at `times[0]`.
        times: increasing times at which the flow is wanted, in units of loss^-1 params^2.
        gradient_tolerance: what `converged` compares the final norm of the gradient with.
        method, rtol, atol: see `scipy.integrate.solve_ivp`. These flows are stiff, so the default
            may turn implicit; it is then given the Hessian.
    Raises:
        DivergenceError: the loss stopped being finite, or the integrator gave up.
    """
    times = np.asarray(times, dtype=float)
    if times.ndim != 1 or len(times) < 2 or not (np.diff(times) > 0).all():
        raise ValueError(
            f"times must be an increasing sequence of at least two numbers, got {times}; "
            "use np.linspace(0, end, count)."
        )
    start = _copies(params)
    shapes = [t.shape for t in start]
    sizes = [t.numel() for t in start]

    def unpack(flat: Tensor) -> list[Tensor]:
        return [p.view(s) for p, s in zip(torch.split(flat, sizes), shapes, strict=True)]

    def flat_loss(flat: Tensor) -> Tensor:
        return _call(loss, params, unpack(flat))

    def evaluate(time: float, flat: np.ndarray) -> tuple[float, np.ndarray]:
        point = torch.tensor(flat, requires_grad=True)
        value = flat_loss(point)
        gradient = torch.autograd.grad(value, point)[0].numpy()
        if not np.isfinite(value.item()) or not np.isfinite(gradient).all():
            raise DivergenceError(
                f"the loss must stay finite, got {value.item()} at time {time:.6g}; "
                "start nearer to a minimum or stop earlier."
            )
        return value.item(), gradient

    with tqdm(total=times[-1] - times[0], desc="flow", delay=2.0, leave=False) as bar:

        def velocity(time: float, flat: np.ndarray) -> np.ndarray:
            bar.update(max(0.0, time - times[0] - bar.n))
            return -evaluate(time, flat)[1]

        def jacobian(time: float, flat: np.ndarray) -> np.ndarray:
            return -hessian(flat_loss, torch.tensor(flat), vectorize=True).numpy()

        options = {"rtol": rtol, "atol": atol}
        if method in ("LSODA", "BDF", "Radau") and sum(sizes) <= _MAX_HESSIAN:
            options["jac"] = jacobian
        flat0 = torch.cat([t.detach().reshape(-1) for t in start]).numpy()
        solution = solve_ivp(velocity, (times[0], times[-1]), flat0, method, times, **options)
    if not solution.success:
        raise DivergenceError(
            f"the integrator must reach time {times[-1]:g}, got to {solution.t[-1]:g}: "
            f"{solution.message} Try another method or looser tolerances."
        )
    values = [evaluate(t, y) for t, y in zip(solution.t, solution.y.T, strict=True)]
    norm = float(np.linalg.norm(values[-1][1]))
    points = [unpack(torch.tensor(y)) for y in solution.y.T]
    return Trajectory(
        times=times,
        params=_stack(params, points),
        losses=np.array([value for value, _ in values]),
        gradient_norm=norm,
        converged=norm <= gradient_tolerance,
    )


def _copies(params: Params) -> list[Tensor]:
    """Fresh leaves that require gradients, checked to be float64 and finite."""
    if not isinstance(params, dict | tuple) or not params:
        raise TypeError(
            f"params must be a non-empty dict or tuple of tensors, got {type(params).__name__}; "
            "pass {'A': A, 'w': w} or (A, w)."
        )
    named = params.items() if isinstance(params, dict) else enumerate(params)
    tensors = []
    for name, value in named:
        shape = tuple(value.shape) if isinstance(value, Tensor) else ()
        validation.float64_tensor(f"params[{name!r}]", value, shape)
        if not torch.isfinite(value).all():
            raise ValueError(
                f"params[{name!r}] must be finite, got NaN or infinity; check how it was made."
            )
        tensors.append(value.detach().clone().requires_grad_(True))
    return tensors


def _call(loss: Loss, params: Params, tensors: list[Tensor]) -> Tensor:
    """The loss at `tensors`, handed over in the structure of `params`."""
    return loss(*tensors) if isinstance(params, tuple) else loss(**_named(params, tensors))


def _named(params: dict[str, Tensor], tensors: list[Tensor]) -> dict[str, Tensor]:
    return dict(zip(params, tensors, strict=True))


def _stack(params: Params, points) -> dict[str, Tensor] | tuple[Tensor, ...]:
    stacked = [torch.stack(column) for column in zip(*points, strict=True)]
    return _named(params, stacked) if isinstance(params, dict) else tuple(stacked)


def _norm(gradients: list[Tensor]) -> float:
    return float(sum((g * g).sum() for g in gradients if g is not None) ** 0.5)
