"""Argument checks shared by the whole library.

Each function returns its argument, or raises an error that states the invariant, what came instead,
and the repair.
"""

import math
import numbers

import numpy as np
import torch
from torch import Tensor

#: A covariance with a larger condition number is refused: inverting it in float64 loses more than
#: ten of its sixteen digits, so the inverse would carry fewer than six.
MAX_CONDITION = 1e10


def positive_int(name: str, value: int) -> int:
    """`value` as an int if it is a whole number of at least 1."""
    return int_at_least(name, value, 1)


def int_at_least(name: str, value: int, least: int) -> int:
    """`value` as an int if it is a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(
            f"{name} must be a whole number, got {value!r} of type {type(value).__name__}; "
            "pass an int."
        )
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}; pass a larger {name}.")
    return int(value)


def finite_float(name: str, value: float) -> float:
    """`value` as a float if it is one finite real number."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(
            f"{name} must be a real number, got {value!r} of type {type(value).__name__}; "
            "pass a float."
        )
    if not math.isfinite(value):
        raise ValueError(f"{name} must be finite, got {value}; check the computation it came from.")
    return float(value)


def non_negative(name: str, value: float) -> float:
    """`value` as a float if it is finite and not below zero."""
    value = finite_float(name, value)
    if value < 0:
        raise ValueError(f"{name} must not be negative, got {value}; pass zero or more.")
    return value


def positive(name: str, value: float) -> float:
    """`value` as a float if it is finite and above zero."""
    value = finite_float(name, value)
    if value <= 0:
        raise ValueError(f"{name} must be positive, got {value}; pass a number above zero.")
    return value


def increasing(name: str, values) -> np.ndarray:
    """`values` as a float64 array if they are two or more finite numbers in increasing order."""
    array = np.asarray(values, dtype=float)
    if (
        array.ndim != 1
        or len(array) < 2
        or not np.isfinite(array).all()
        or np.diff(array).min() <= 0
    ):
        raise ValueError(
            f"{name} must be an increasing sequence of at least two finite numbers, got {values}; "
            "use np.linspace(0, end, count)."
        )
    return array


def float64_tensor(name: str, value: Tensor, shape: tuple[int, ...] | None = None) -> Tensor:
    """`value` if it is a float64 tensor of this shape (a size of -1 allows any; so does no shape).

    Single precision is refused: the identities in this library are checked to about 1e-12.
    """
    if not isinstance(value, Tensor):
        raise TypeError(
            f"{name} must be a torch tensor, got {type(value).__name__}; "
            "use torch.as_tensor(..., dtype=torch.float64)."
        )
    if value.dtype != torch.float64:
        raise TypeError(
            f"{name} must have dtype torch.float64, got {value.dtype}; call {name}.double() first."
        )
    if shape is not None and not (
        len(shape) == value.ndim
        and all(want in (-1, got) for want, got in zip(shape, value.shape, strict=True))
    ):
        sizes = ["any" if size == -1 else str(size) for size in shape]
        wanted = f"({', '.join(sizes)}{',' * (len(sizes) == 1)})"
        raise ValueError(
            f"{name} must have shape {wanted}, got {tuple(value.shape)}; "
            "check the order of its axes and the sizes it was built with."
        )
    return value


def finite_tensor(name: str, value: Tensor) -> Tensor:
    """`value` if it is a float64 tensor without NaN or infinity."""
    if not torch.isfinite(float64_tensor(name, value)).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity; check how it was made.")
    return value


def generator(value: torch.Generator) -> torch.Generator:
    """`value` if it is a torch generator: sampling never touches the global seed."""
    if not isinstance(value, torch.Generator):
        raise TypeError(
            f"generator must be a torch.Generator, got {value!r}; "
            "pass generator=torch.Generator().manual_seed(seed)."
        )
    return value


def finite_matrix(name: str, value, d: int) -> np.ndarray:
    """`value` as a float64 array (d, d) without NaN or infinity."""
    matrix = np.asarray(value.detach().cpu().numpy() if isinstance(value, Tensor) else value)
    if matrix.dtype != np.float64:
        raise TypeError(
            f"{name} must be a float64 matrix, got dtype {matrix.dtype}; convert it with "
            f"np.asarray({name}, dtype=np.float64)."
        )
    if matrix.shape != (d, d):
        raise ValueError(
            f"{name} must have shape ({d}, {d}), got {matrix.shape}; "
            f"its size must equal the dimension d = {d} of the covariates."
        )
    if not np.isfinite(matrix).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity; check how it was estimated.")
    return matrix


def covariance_matrix(name: str, value, d: int) -> np.ndarray:
    """`value` as a float64 array (d, d) if symmetric, positive definite and well conditioned."""
    matrix = finite_matrix(name, value, d)
    if not np.allclose(matrix, matrix.T, rtol=1e-12, atol=1e-12 * np.abs(matrix).max()):
        raise ValueError(
            f"{name} must be symmetric, got a largest |S - S^T| of "
            f"{np.abs(matrix - matrix.T).max():.3g}; use (S + S.T) / 2 if that is rounding."
        )
    values = np.linalg.eigvalsh(matrix)
    if values[0] <= 0:
        raise ValueError(
            f"{name} must be positive definite, got a smallest eigenvalue of {values[0]:.3g}; "
            "drop the directions in which it vanishes and work in the subspace that is left."
        )
    if values[-1] > MAX_CONDITION * values[0]:
        raise ValueError(
            f"{name} must have a condition number of at most {MAX_CONDITION:.0e}, got "
            f"{values[-1] / values[0]:.3g}; its inverse would be mostly rounding. Rescale the "
            "covariates or drop the smallest directions."
        )
    return (matrix + matrix.T) / 2


def covariance_pair(covariance, task_covariance=None) -> tuple[np.ndarray, np.ndarray]:
    """(Sigma, Omega) of covariates and hidden weights; the default Omega is Sigma^-1."""
    d = len(np.atleast_1d(covariance))
    sigma = covariance_matrix("covariance", covariance, d)
    if task_covariance is not None:
        return sigma, covariance_matrix("task_covariance", task_covariance, d)
    inverse = np.linalg.inv(sigma)
    return sigma, (inverse + inverse.T) / 2
