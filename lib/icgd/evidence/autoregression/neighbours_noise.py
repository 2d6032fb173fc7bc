"""Evidence for noise in the process, and for what several steps can do (chapter 15)."""

import numpy as np
import torch

from icgd.autoregression import noisy
from icgd.autoregression.learners import gradient_step
from icgd.autoregression.normalisation import constant
from icgd.autoregression.processes import evolve
from icgd.autoregression.steps import gradient_steps
from icgd.claims import Evidence, claim
from icgd.evidence.autoregression.tools import as_real

CHAPTER = "15-sequence-neighbours"
START, NOISE = 1.3, 0.4


# --- T1 and T2 as traces -------------------------------------------------------------------------


def _every_noisy_sequence(W: np.ndarray, t: int):
    """x_1, ..., x_{t+1} for all nodes of a Gauss rule, last noise left out, and their weights.

    Four nodes a coordinate integrate polynomials of degree seven; T2 has degree six.
    """
    d = len(W)
    nodes, weights = np.polynomial.hermite_e.hermegauss(4)
    index = np.indices((4,) * (d * t)).reshape(d * t, -1).T
    z = torch.as_tensor(nodes[index]).reshape(-1, t, d)
    weight = torch.as_tensor((weights / weights.sum())[index].prod(axis=1))
    noise = NOISE**0.5 * torch.cat([z[:, 1:], torch.zeros_like(z[:, :1])], dim=1)
    rotations = torch.as_tensor(W).to(torch.complex128).expand(len(z), d, d)
    return evolve(START**0.5 * z[:, 0], rotations, noise.to(torch.complex128)), weight


def _traces(scale: float) -> Evidence:
    """(T1, T2) of a dense reflection or rotation, t = 3, beside exact quadrature."""
    said, found = [], []
    c, s = np.cos(0.9), np.sin(0.9)
    for W in (np.array([[c, -s], [s, c]]), np.array([[c, s], [s, -c]])):
        law = {"t": 3, "start_var": START, "noise_var": NOISE, "circular": False}
        said += noisy.step_sums(noisy.traces(np.linalg.eigvals(W)), **law)
        x, weight = _every_noisy_sequence(scale * W, 3)
        y = gradient_step(1.0, rho=constant)(x[:, :-1])[:, -1]
        inner = (x[:, -1].conj() * y).sum(1).real, y.abs().square().sum(1)
        found += [(weight * value).sum().item() for value in inner]
    return Evidence(said, found, tolerance=1e-10, relative=True)


@claim(
    "Process.traces",
    kind="exact",
    anchor=f"{CHAPTER}#process-traces",
    statement="A step's loss on the noisy process depends on W through traces of its powers only.",
)
def traces():
    return _traces(1.0)


@traces.fails_without("an orthogonal W (shrunk by a tenth)")
def _shrunk():
    return _traces(0.9)


def _phases(equal: bool) -> Evidence:
    d, t = 2, 4
    N = 6 * t
    angles = 2 * np.pi * np.indices((N,) * d).reshape(d, -1).T / N
    if equal:
        angles[:, 1] = angles[:, 0]
    law = {"t": t, "start_var": START, "noise_var": NOISE}
    tau = noisy.traces(np.exp(1j * angles))
    found = [part.mean() for part in noisy.step_sums(tau, circular=True, **law)]
    return Evidence(noisy.phase_sums(d, **law), found, tolerance=1e-10, relative=True)


@claim(
    "Process.phases",
    kind="exact",
    anchor=f"{CHAPTER}#process-phases",
    statement="Averaged over independent phases T1 and T2 are sums of products of the variances.",
)
def phases():
    return _phases(False)


@phases.fails_without("independent phases (all equal instead)")
def _one_phase():
    return _phases(True)


def _limit(noise_var: float) -> Evidence:
    """eta t c_{t+1} and the relative loss, extrapolated from t and 2 t; c_{t+1} is about s2 t."""
    found, d = [], 3
    for t in (300, 600):
        T1, T2 = noisy.phase_sums(d, t=t, start_var=1.0, noise_var=noise_var)
        last = 1.0 + t * noise_var
        eta, error = noisy.best_step(T1, T2, d * last)
        found.append(np.array([eta * t * last, error]))
    return Evidence([50 / 61, 58 / 183], 2 * found[1] - found[0], tolerance=1e-4)


@claim(
    "Process.noise-limit",
    kind="exact",
    anchor=f"{CHAPTER}#process-noise-limit",
    statement="With noise the best step tends to 50 / (61 s2 t^2), its relative loss to 58/183.",
)
def noise_limit():
    return _limit(0.5)


@noise_limit.fails_without("noise (then the loss tends to 1/3)")
def _noiseless():
    return _limit(0.0)


# --- How many steps are enough -------------------------------------------------------------------

SIZES = (0.5, 1.0, 1.5)


def _enough(layers: int) -> Evidence:
    """k steps of sizes 1 / v^2 on a context of one full period, where M_t is exactly diagonal."""
    period = 7
    sizes = np.array([0.5, 1.5, 1.0, 1.5])
    lambdas = np.exp(2j * np.pi * np.array([1, 2, 3, 5]) / period)
    x = torch.as_tensor(sizes * lambdas ** np.arange(period + 2)[:, None])[None]
    y = gradient_steps([v**-2 for v in SIZES[:layers]])(x[:, :-1])[0, -1]
    truth = x[0, -1]
    return Evidence(as_real(truth), as_real(y), tolerance=1e-10)


@claim(
    "Process.enough-steps",
    kind="algebra",
    anchor=f"{CHAPTER}#process-enough-steps",
    statement="k steps are exact if x_t lies in k eigenspaces of M_t whose eigenvalues are known.",
)
def enough_steps():
    return _enough(3)


@enough_steps.fails_without("as many steps as sizes")
def _one_less():
    return _enough(2)


def _long_context_error(steps) -> float:
    """Relative error of these steps on one coordinate of each size, after one full period.

    There M_t is exactly diagonal, so coordinates do not meet: their mean is that over the law.
    """
    period = 5
    lambdas = np.exp(2j * np.pi * np.arange(1, len(SIZES) + 1) / period)
    x = torch.as_tensor(np.array(SIZES) * lambdas ** np.arange(period + 2)[:, None])[None]
    miss = gradient_steps(steps)(x[:, :-1])[0, -1] - x[0, -1]
    return (miss.abs().square().sum() / x[0, -1].abs().square().sum()).item()


def _best_steps(k: int) -> np.ndarray:
    """One over the zeros of the q of degree k, q(0) = 1, with the least E[x^2 q(x^2)^2]."""
    v = np.array(SIZES) ** 2
    design = v[:, None] ** np.arange(1, k + 1)  # q(v) = 1 - sum_i c_i v^i
    weight = np.sqrt(v)[:, None]
    c = np.linalg.lstsq(design * weight, weight[:, 0], rcond=None)[0]
    return 1 / np.roots([*-c[::-1], 1.0]).real


def _floor(sizes_known: int) -> Evidence:
    """Two steps of any size; then the best one, the best two, and a step for each size."""
    v, any_two = np.array(SIZES) ** 2, (0.3, 0.9)
    m = [np.mean(v**k) for k in range(1, 6)]
    said = np.mean(v * (1 - any_two[0] * v) ** 2 * (1 - any_two[1] * v) ** 2) / m[0]
    # By hand: 1 - (E v^2)^2 / (E v E v^3), and for two steps a ratio of Hankel determinants.
    one = 1 - m[1] ** 2 / (m[0] * m[2])
    big = np.linalg.det([[m[0], m[1], m[2]], [m[1], m[2], m[3]], [m[2], m[3], m[4]]])
    two = big / (m[2] * m[4] - m[3] ** 2) / m[0]
    runs = any_two, _best_steps(1), _best_steps(2), 1 / v[:sizes_known]
    return Evidence([said, one, two, 0.0], [*map(_long_context_error, runs)], tolerance=1e-10)


@claim(
    "Process.k-sizes",
    kind="exact",
    anchor=f"{CHAPTER}#process-k-sizes",
    statement="On long contexts k tuned steps learn W exactly if and only if |x_j| has k values.",
)
def k_sizes():
    return _floor(3)


@k_sizes.fails_without("a third step for the third size")
def _two_steps():
    return _floor(2)
