"""The normaliser rho_t of causal linear attention (MO, Section 3.2). numpy only."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from icgd import validation

Rho = Callable[[int], float]


def context_pairs(t: int) -> float:
    """rho_t = t - 1, MO's choice: the number of pairs (x_i, x_{i+1}) in a context of t tokens."""
    return float(t - 1)


def constant(t: int) -> float:
    """rho_t = 1: no normaliser, the choice of Sander et al. (2024)."""
    return 1.0


def rho_values(rho: Rho, last: int) -> Float[np.ndarray, " times"]:
    """rho_2, ..., rho_last as an array.

    Raises:
        ValueError: a value is not positive and finite, so it cannot divide.

    >>> rho_values(context_pairs, 5)
    array([1., 2., 3., 4.])
    """
    values = np.array([float(rho(t)) for t in range(2, last + 1)])
    if not (np.isfinite(values) & (values > 0)).all():
        raise ValueError(
            f"rho must be positive and finite for t = 2, ..., {last}, got {values}; "
            "use normalisation.context_pairs (t - 1) or normalisation.constant (1)."
        )
    return values


def context_sizes(T: int) -> Float[np.ndarray, " times"]:
    """t - 1 for the training times t = 2, ..., T - 1 of Eq. (2)."""
    T = training_length(T)
    return np.arange(1, T - 1, dtype=float)


def training_length(T: int) -> int:
    """`T` as an int if the loss of Eq. (2) has a term: t runs from 2 to T - 1, so T >= 3."""
    return validation.int_at_least("the sequence length T", T, 3)
