"""Minimise any loss, by steps (`descend`) or by the ordinary differential equation (`flow`).

A loss is a callable of tensors; parameters are a dict or a tuple of float64 tensors, handed to the
loss as keywords or in order:

    descend(lambda A, w: ..., {"A": A0, "w": w0}, step_size=0.01, steps=1000)
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from scipy.integrate import solve_ivp
from torch import Tensor
from torch.autograd.functional import hessian
from tqdm import tqdm

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
    params: Params
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
    every = max(1, steps // 200) if record_every is None else record_every
    every = validation.positive_int("record_every", every)
    rate = step_size if callable(step_size) else lambda step: step_size
    tensors, call, pack = _open(loss, params)
    opt = optimizer(tensors, lr=validation.positive("step_size", rate(0)))
    last = {}

    def closure() -> Tensor:
        opt.zero_grad()
        value = call(tensors)
        value.backward()
        # Line-search optimisers call this many times a step; the first call is at the iterate.
        last.setdefault("loss", value.item())
        gradients = [t.grad for t in tensors if t.grad is not None]
        last.setdefault("norm", torch.nn.utils.get_total_norm(gradients).item())
        return value

    records = []
    for step in tqdm(range(steps + 1), desc="descend", delay=2.0, leave=False):
        last.clear()
        before = [t.detach().clone() for t in tensors]
        if step < steps:
            opt.param_groups[0]["lr"] = validation.positive("step_size", rate(step))
            opt.step(closure)
        else:
            closure()
        if not np.isfinite([last["loss"], last["norm"]]).all():
            raise DivergenceError(
                f"the loss must stay finite, got {last['loss']} with gradient norm {last['norm']} "
                f"at step {step}; use a smaller step_size (it was {rate(min(step, steps - 1)):g})."
            )
        if step == 0 and last["norm"] == 0.0:
            raise ValueError(
                "the starting point must not be stationary, got a gradient of exactly zero; it is "
                "a saddle (as all-zero weights are here) or optimal: start from random weights."
            )
        done = last["norm"] <= gradient_tolerance
        if step % every == 0 or step == steps or done:
            records.append((step, last["loss"], before))
        if done:
            break
    times, losses, points = zip(*records, strict=True)
    return Trajectory(
        times=np.array(times),
        params=pack(points),
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
        params: dict or tuple of float64 tensors, on any device, the point at `times[0]`.
        times: increasing times at which the flow is wanted, in units of loss^-1 params^2.
        gradient_tolerance: what `converged` compares the final norm of the gradient with.
        method, rtol, atol: see `scipy.integrate.solve_ivp`. These flows are stiff, so the default
            may turn implicit; it is then given the Hessian.
    Raises:
        DivergenceError: the loss stopped being finite, or the integrator gave up.
    """
    times = validation.increasing("times", times)
    gradient_tolerance = validation.non_negative("gradient_tolerance", gradient_tolerance)
    start, call, pack = _open(loss, params)
    sizes, device = [t.numel() for t in start], start[0].device

    def unpack(flat: Tensor) -> list[Tensor]:
        return [p.view_as(t) for p, t in zip(torch.split(flat, sizes), start, strict=True)]

    def flat_loss(flat: Tensor) -> Tensor:
        return call(unpack(flat))

    def evaluate(time: float, flat: np.ndarray) -> tuple[float, np.ndarray]:
        point = torch.tensor(flat, requires_grad=True, device=device)
        value = flat_loss(point)
        gradient = torch.autograd.grad(value, point)[0].cpu().numpy()
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
            point = torch.tensor(flat, device=device)
            return -hessian(flat_loss, point, vectorize=True).cpu().numpy()

        options = {"rtol": rtol, "atol": atol}
        if method in ("LSODA", "BDF", "Radau") and sum(sizes) <= _MAX_HESSIAN:
            options["jac"] = jacobian
        flat0 = torch.cat([t.detach().reshape(-1) for t in start]).cpu().numpy()
        solution = solve_ivp(velocity, (times[0], times[-1]), flat0, method, times, **options)
    if not solution.success:
        raise DivergenceError(
            f"the integrator must reach time {times[-1]:g}, got to {solution.t[-1]:g}: "
            f"{solution.message} Try another method or looser tolerances."
        )
    values = [evaluate(t, y) for t, y in zip(solution.t, solution.y.T, strict=True)]
    norm = float(np.linalg.norm(values[-1][1]))
    return Trajectory(
        times=times,
        params=pack([unpack(torch.tensor(y, device=device)) for y in solution.y.T]),
        losses=np.array([value for value, _ in values]),
        gradient_norm=norm,
        converged=norm <= gradient_tolerance,
    )


def _open(loss: Loss, params: Params):
    """(leaves, call, pack): the numbers in `params` as a plain list, and back again.

    leaves: checked copies that require gradients. call(leaves): the loss. pack: stacks a list of
    such lists in the structure of `params`.
    """
    if not isinstance(params, dict | tuple) or not params:
        raise TypeError(
            f"params must be a non-empty dict or tuple of tensors, got {type(params).__name__}; "
            "pass {'A': A, 'w': w} or (A, w)."
        )
    named = params if isinstance(params, dict) else dict(enumerate(params))
    for name, value in named.items():
        validation.finite_tensor(f"params[{name!r}]", value)

    def restore(tensors: list[Tensor]) -> Params:
        if isinstance(params, tuple):
            return tuple(tensors)
        return dict(zip(params, tensors, strict=True))

    def call(tensors: list[Tensor]) -> Tensor:
        value = loss(*tensors) if isinstance(params, tuple) else loss(**restore(tensors))
        return validation.float64_tensor("the loss", value, ())

    def pack(points) -> Params:
        return restore([torch.stack(column) for column in zip(*points, strict=True)])

    return [value.detach().clone().requires_grad_(True) for value in named.values()], call, pack
