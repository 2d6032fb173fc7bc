"""Evidence for the mesa layer and for the inner steps towards it (chapter 15)."""

import torch

from icgd.autoregression.mesa_layer import mesa_layer
from icgd.autoregression.normalisation import constant
from icgd.autoregression.steps import gradient_steps, ridge, ridge_steps
from icgd.claims import Evidence, claim
from icgd.evidence.autoregression.neighbours_layers import CHAPTER, D, descended, samples
from icgd.evidence.autoregression.tools import as_real, generator


def _online(z: float) -> Evidence:
    x = samples()
    return Evidence(
        as_real(ridge(0.3)(x)), as_real(mesa_layer(z)(x)), tolerance=1e-10, relative=True
    )


@claim(
    "Mesa.online",
    kind="algebra",
    anchor=f"{CHAPTER}#mesa-online",
    statement="Rank-one updates give the regularised least-squares prediction at every t.",
)
def online():
    return _online(0.3)


@online.fails_without("R_0 = I / z (R_0 = I instead)")
def _wrong_start():
    return _online(1.0)


def _linear_limit(z: float) -> Evidence:
    """z Phi_t x_t beside linear attention; and z times the difference beside its limit."""
    x = samples()
    linear = gradient_steps([1.0], rho=constant)(x)
    two = gradient_steps([1.0, 1.0], rho=constant)(x)  # 2 linear - sum v k^* K q
    scaled = z * mesa_layer(z)(x)
    said = torch.stack([linear, two - 2 * linear])
    found = torch.stack([scaled, z * (scaled - linear)])
    return Evidence(as_real(said), as_real(found), tolerance=1e-4, relative=True)


@claim(
    "Mesa.linear-limit",
    kind="exact",
    anchor=f"{CHAPTER}#mesa-linear-limit",
    statement="As z grows z Phi_t x_t tends to linear attention, with an error -sum v k^* K q / z.",
)
def linear_limit():
    return _linear_limit(1e6)


@linear_limit.fails_without("a large z")
def _small_z():
    return _linear_limit(10.0)


def _ridge_steps(z: float) -> Evidence:
    x, a = samples(), 0.05
    explicit = descended(x, lambda t: [a] * 4, ridge_strength=0.3)
    return Evidence(
        as_real(explicit), as_real(ridge_steps(a, z, 4)(x)), tolerance=1e-10, relative=True
    )


@claim(
    "Mesa.ridge-steps",
    kind="algebra",
    anchor=f"{CHAPTER}#mesa-ridge-steps",
    statement="J inner iterations on the query are J gradient steps on the regularised problem.",
)
def inner_steps():
    return _ridge_steps(0.3)


@inner_steps.fails_without("the regulariser in the iteration")
def _no_ridge():
    return _ridge_steps(0.0)


def _bayes(z_factor: float) -> Evidence:
    """The posterior mean of W x_t for W of N(0, w2) entries, by conditioning, and the layer."""
    g, t, w2, s2 = generator(2), 5, 0.7, 0.4
    x = torch.randn(1, t, D, dtype=torch.float64, generator=g)
    keys, values, query = x[0, :-1], x[0, 1:], x[0, -1]
    # Coordinates of W are independent: each row is a Gaussian process with kernel w2 k.k'.
    K = w2 * keys @ keys.T + s2 * torch.eye(t - 1, dtype=torch.float64)
    posterior = values.T @ torch.linalg.solve(K, w2 * keys @ query)
    y = mesa_layer(z_factor * s2 / w2)(x.to(torch.complex128))[0, -1]
    return Evidence(posterior.numpy(), y.real.numpy(), tolerance=1e-10)


@claim(
    "Mesa.bayes",
    kind="algebra",
    anchor=f"{CHAPTER}#mesa-bayes",
    statement="For a Gaussian prior on W the mesa layer with z = s2 / w2 is the Bayes predictor.",
)
def bayes():
    return _bayes(1.0)


@bayes.fails_without("z = s2 / w2 (twice that)")
def _wrong_z():
    return _bayes(2.0)
