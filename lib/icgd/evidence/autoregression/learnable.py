"""Evidence for which laws the trained layer learns, beyond MO (chapter 12)."""

import math

import numpy as np

from icgd.autoregression import data, theory
from icgd.claims import Evidence, claim
from icgd.evidence.autoregression.capability import best_product, measured_error

CHAPTER = "12-capability"
D = 2
LONG = 2000


# --- The relative error that is left ---------------------------------

FIVE = [
    data.Gaussian(0.5),
    data.Gaussian(2.0),
    data.Rademacher(1.0),
    data.Discrete((-1.0, 0.0, 1.0), (0.3, 0.4, 0.3)),
    data.Discrete((-2.0, -1.0, 1.0, 2.0), (0.25, 0.25, 0.25, 0.25)),
]


def _relative_error(share: float) -> Evidence:
    predicted = [theory.relative_error_limit(law, d=D) for law in FIVE]
    measured = [measured_error(law, D, LONG, share * best_product(law, D, LONG)) for law in FIVE]
    return Evidence(predicted, measured, tolerance=5e-3)


@claim(
    "MO.relative-error",
    kind="exact",
    anchor=f"{CHAPTER}#mo-relative-error",
    statement=(
        "The relative error of the trained layer tends to 1 - k1^2 / (m2 k2): 0.4 for Gaussians."
    ),
)
def relative_error():
    return _relative_error(1.0)


@relative_error.fails_without("the trained product (half of it)")
def _half():
    return _relative_error(0.5)


def _regression(power: int) -> Evidence:
    """Least squares of x on x^power over the law's atoms, beside k1 / k2."""
    predicted, measured = [], []
    for law in FIVE:
        values, weights = law.atoms()
        root = np.sqrt(weights)
        slope = np.linalg.lstsq((root * values**power)[:, None], root * values, rcond=None)[0]
        predicted.append(theory.long_limit_product(law, d=D))
        measured.append(slope[0])
    return Evidence(predicted, measured, tolerance=1e-12)


@claim(
    "MO.regression-on-cubes",
    kind="exact",
    anchor=f"{CHAPTER}#mo-regression-on-cubes",
    statement="The limit a b = k1 / k2 is the least-squares slope of x on x^3.",
)
def regression():
    return _regression(3)


@regression.fails_without("the cube (regress on x^2)")
def _squares():
    return _regression(2)


def _characterised(values, probabilities) -> Evidence:
    laws = [data.Discrete(v, p) for v, p in zip(values, probabilities, strict=True)]
    errors = [theory.relative_error_limit(law, d=D) for law in laws]
    errors += [measured_error(law, D, LONG, best_product(law, D, LONG)) for law in laws]
    return Evidence(np.zeros(len(errors)), errors, tolerance=5e-3)


@claim(
    "MO.characterisation",
    kind="exact",
    anchor=f"{CHAPTER}#mo-characterisation",
    statement="For almost every W the layer learns a law iff every coordinate lies in {-c, 0, c}.",
)
def characterisation():
    return _characterised(
        [(-1.0, 1.0), (-0.5, 0.0, 0.5), (-3.0, 0.0, 3.0)],
        [(0.5, 0.5), (0.25, 0.5, 0.25), (0.4, 0.2, 0.4)],
    )


@characterisation.fails_without("a single value of |x_j| besides 0")
def _two_sizes():
    return _characterised([(-2.0, -1.0, 1.0, 2.0)], [(0.25, 0.25, 0.25, 0.25)])


# --- Erratum 5: Gamma and Poisson laws -----------------------------------------------------------


def _erratum5(centre: float) -> Evidence:
    """E[x_1 x_2^3] of Poisson(1) coordinates; Assumption 4.1 asks for 0."""
    numbers = np.arange(40) - centre
    weights = np.array([math.exp(-1) / math.factorial(n) for n in range(40)])
    mixed = (weights @ numbers) * (weights @ numbers**3)
    return Evidence(1.0 * 5.0, mixed, tolerance=1e-12)  # Bell numbers: E x = 1, E x^3 = 5


@claim(
    "MO.erratum5",
    kind="algebra",
    anchor=f"{CHAPTER}#mo-erratum-5",
    statement="Poisson laws fail Assumption 4.1 already: E[x_1 x_2^3] = E x E x^3 = 5, not 0.",
)
def erratum5():
    return _erratum5(0.0)


@erratum5.fails_without("a mean other than zero (the law centred)")
def _centred():
    return _erratum5(1.0)
