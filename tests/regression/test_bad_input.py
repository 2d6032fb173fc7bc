"""Every public function refuses what it cannot answer: the invariant, what came, the repair."""

import numpy as np
import pytest
import torch

from icgd.regression import enumeration, learners, models, theory
from icgd.regression.data import LinearTask, Prompts, SkewedTask, sample_prompts
from icgd.regression.population import population_loss
from icgd.regression.wishart import expected_trace

pytestmark = pytest.mark.bad_input

EYE = np.eye(3)
G = torch.Generator().manual_seed(0)
PROMPTS = sample_prompts(LinearTask(3, 0.5), 5, 7, generator=G)
A, W = torch.zeros(3, 4, dtype=torch.float64), torch.zeros(4, dtype=torch.float64)
LINE = enumeration.rademacher(1)

# What takes a size, as a function of that size; its name in the message.
SIZES = {
    "LinearTask.d": (lambda v: LinearTask(v, 0.5), "d"),
    "sample_prompts.batch": (
        lambda v: sample_prompts(LinearTask(3, 0.5), v, 7, generator=G),
        "batch",
    ),
    "sample_prompts.n": (lambda v: sample_prompts(LinearTask(3, 0.5), 5, v, generator=G), "n"),
    "LinearSelfAttention.d": (lambda v: models.LinearSelfAttention(v), "d"),
    "one_step_construction.d": (lambda v: models.one_step_construction(v, 0.1), "d"),
    "population_loss.n": (lambda v: population_loss(A, W, n=v, noise_var=0.5), "n"),
    "step_size.n": (lambda v: theory.step_size(v, 3, 0.5), "n"),
    "step_size.d": (lambda v: theory.step_size(7, v, 0.5), "d"),
    "minimum_loss.n": (lambda v: theory.minimum_loss(v, 3, 0.5), "n"),
    "minimum_loss.d": (lambda v: theory.minimum_loss(7, v, 0.5), "d"),
    "one_step_risk.n": (lambda v: theory.one_step_risk(0.1, n=v, d=3, noise_var=0.5), "n"),
    "ridge_risk.n": (lambda v: theory.ridge_risk(v, 3, 0.5), "n"),
    "ridge_risk.d": (lambda v: theory.ridge_risk(7, v, 0.5), "d"),
    "least_squares_risk.n": (lambda v: theory.least_squares_risk(v, 3, 0.5), "n"),
    "preconditioner.n": (lambda v: theory.preconditioner(EYE, n=v, noise_var=0.5), "n"),
    "skewed_minimum_loss.n": (lambda v: theory.skewed_minimum_loss(EYE, n=v, noise_var=0.5), "n"),
    "skewed_risk.n": (lambda v: theory.skewed_risk(EYE, EYE, n=v, noise_var=0.5), "n"),
    "nonlinear_step_size.n": (
        lambda v: theory.nonlinear_step_size(1.0, 1.0, n=v, d=3, noise_var=0.5),
        "n",
    ),
    "expected_trace.n": (lambda v: expected_trace(np.log, v, 3), "n"),
    "expected_trace.d": (lambda v: expected_trace(np.log, 7, v), "d"),
    "gauss_hermite.d": (lambda v: enumeration.gauss_hermite(v), "d"),
    "gauss_hermite.nodes": (lambda v: enumeration.gauss_hermite(1, v), "nodes"),
    "rademacher.d": (lambda v: enumeration.rademacher(v), "d"),
    "Rule.power": (lambda v: LINE.power(v), "copies"),
    "enumerate_prompts.n": (lambda v: enumeration.enumerate_prompts(LINE, v, 0.5), "n"),
}

NOISES = {
    "LinearTask": lambda v: LinearTask(3, v),
    "SkewedTask": lambda v: SkewedTask(EYE, v),
    "ridge": learners.ridge,
    "population_loss": lambda v: population_loss(A, W, n=7, noise_var=v),
    "step_size": lambda v: theory.step_size(7, 3, v),
    "minimum_loss": lambda v: theory.minimum_loss(7, 3, v),
    "one_step_risk": lambda v: theory.one_step_risk(0.1, n=7, d=3, noise_var=v),
    "ridge_risk": lambda v: theory.ridge_risk(7, 3, v),
    "least_squares_risk": lambda v: theory.least_squares_risk(7, 3, v),
    "preconditioner": lambda v: theory.preconditioner(EYE, n=7, noise_var=v),
    "skewed_minimum_loss": lambda v: theory.skewed_minimum_loss(EYE, n=7, noise_var=v),
    "skewed_risk": lambda v: theory.skewed_risk(EYE, EYE, n=7, noise_var=v),
    "nonlinear_step_size": lambda v: theory.nonlinear_step_size(1.0, 1.0, n=7, d=3, noise_var=v),
    "enumerate_prompts": lambda v: enumeration.enumerate_prompts(LINE, 2, v),
}

COVARIANCES = {
    "SkewedTask": lambda v: SkewedTask(v, 0.5),
    "SkewedTask.task_covariance": lambda v: SkewedTask(EYE, 0.5, v),
    "population_loss": lambda v: population_loss(A, W, n=7, noise_var=0.5, covariance=v),
    "population_loss.task_covariance": lambda v: population_loss(
        A, W, n=7, noise_var=0.5, task_covariance=v
    ),
    "preconditioner": lambda v: theory.preconditioner(v, n=7, noise_var=0.5),
    "preconditioner.task_covariance": lambda v: theory.preconditioner(
        EYE, n=7, noise_var=0.5, task_covariance=v
    ),
    "skewed_minimum_loss": lambda v: theory.skewed_minimum_loss(v, n=7, noise_var=0.5),
    "skewed_risk": lambda v: theory.skewed_risk(EYE, v, n=7, noise_var=0.5),
    "optimal_predictor": lambda v: theory.optimal_predictor(EYE, v),
}

# What takes reduced parameters.
REDUCED = {
    "population_loss": lambda A, w: population_loss(A, w, n=7, noise_var=0.5),
    "effective_predictor": lambda A, w: models.effective_predictor(A, w, PROMPTS),
    "reduced_prediction": lambda A, w: models.reduced_prediction(A, w, PROMPTS),
    "odd_part": models.odd_part,
    "even_part": models.even_part,
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes_that_are_not_positive_integers(name):
    call, size = SIZES[name]
    for value in (0, -1):
        with pytest.raises(ValueError, match=rf"\b{size} must be at least 1, got {value}; pass a"):
            call(value)
    for value in (2.0, True, "3", None):
        with pytest.raises(TypeError, match=rf"\b{size} must be a whole number.*pass an int"):
            call(value)


@pytest.mark.parametrize("name", SIZES)
def test_numpy_integers_are_integers(name):
    SIZES[name][0](np.int64(3))


@pytest.mark.parametrize("name", NOISES)
def test_noise_that_is_not_a_variance(name):
    with pytest.raises(ValueError, match=r"noise_var must (not be negative|be positive), got -0.1"):
        NOISES[name](-0.1)
    for value in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match=r"noise_var must be finite, got .*; check"):
            NOISES[name](value)
    for value in ("0.5", True, None, 1j):
        with pytest.raises(TypeError, match=r"noise_var must be a real number.*pass a float"):
            NOISES[name](value)


def test_ridge_without_noise_is_least_squares_and_says_so_by_refusing():
    with pytest.raises(ValueError, match="noise_var must be positive, got 0"):
        learners.ridge(0.0)


@pytest.mark.parametrize("name", COVARIANCES)
@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.array([[1.0, 0.5, 0], [0, 1, 0], [0, 0, 1]]), r"must be symmetric.*use \(S \+ S.T\)"),
        (np.diag([1.0, 1.0, -0.1]), "must be positive definite.*drop the directions"),
        (np.diag([1.0, 1.0, 0.0]), "must be positive definite.*drop the directions"),
        (np.diag([1.0, 1.0, 1e-11]), "condition number of at most 1e.10.*Rescale"),
        (np.diag([1.0, 1.0, np.nan]), "must be finite.*check how it was estimated"),
        (np.ones((3, 2)), "must have shape .*its size must equal"),
        (np.ones(3), "must have shape .*its size must equal"),
        (1.0, "must have shape .*its size must equal"),
        (np.eye(3, dtype=int), "must be a float64 matrix.*convert"),
        (np.eye(3, dtype=np.float32), "must be a float64 matrix.*convert"),
        (torch.eye(3), "must be a float64 matrix.*convert"),
    ],
    ids=[
        "skew", "negative", "singular", "ill-conditioned", "nan", "shape", "vector", "scalar",
        "int", "single", "tensor",
    ],
)  # fmt: skip
def test_matrices_that_are_not_covariances(name, matrix, message):
    with pytest.raises((ValueError, TypeError), match=message):
        COVARIANCES[name](matrix)


@pytest.mark.parametrize(
    "call",
    [COVARIANCES["SkewedTask.task_covariance"], COVARIANCES["population_loss"]],
)
def test_covariance_of_another_dimension(call):
    with pytest.raises(ValueError, match=r"must have shape \(3, 3\), got \(2, 2\).*d = 3"):
        call(np.eye(2))


@pytest.mark.parametrize("name", REDUCED)
def test_reduced_parameters_of_the_wrong_shape(name):
    call = REDUCED[name]
    with pytest.raises(ValueError, match=r"A must have shape \(3, 4\), got .*check the order"):
        call(A[:, :3].clone(), W)
    with pytest.raises(ValueError, match=r"w must have shape \(4,\), got \(3,\).*check the order"):
        call(A, W[:3])
    with pytest.raises(ValueError, match=r"A must have shape .*, got \(12,\)"):
        call(A.flatten(), W)


@pytest.mark.parametrize("name", REDUCED)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64, torch.complex128])
def test_reduced_parameters_of_another_type(name, dtype):
    call = REDUCED[name]
    with pytest.raises(TypeError, match=r"A must have dtype torch.float64, got .*A.double\(\)"):
        call(A.to(dtype), W)
    with pytest.raises(TypeError, match=r"w must have dtype torch.float64, got .*w.double\(\)"):
        call(A, W.to(dtype))
    with pytest.raises(TypeError, match=r"A must be a torch tensor, got ndarray; use torch"):
        call(A.numpy(), W)


def test_parameters_of_another_dimension_than_the_prompts():
    small = torch.zeros(2, 3, dtype=torch.float64)
    with pytest.raises(ValueError, match=r"A must have shape \(3, any\), got \(2, 3\)"):
        models.reduced_prediction(small, W[:3], PROMPTS)
    with pytest.raises(ValueError, match=r"tokens must have shape \(any, any, 3\), got"):
        models.LinearSelfAttention(2)(PROMPTS)
    loss = enumeration.enumerate_prompts(LINE, 1, 0.5).reduced_loss()
    with pytest.raises(ValueError, match=r"A must have shape \(1, any\)"):
        loss(A, W)


FIELDS = {
    "X": PROMPTS.X, "y": PROMPTS.y, "x_query": PROMPTS.x_query, "y_query": PROMPTS.y_query,
    "w": PROMPTS.w,
}  # fmt: skip


@pytest.mark.parametrize("name", FIELDS)
def test_prompts_whose_parts_do_not_fit(name):
    with pytest.raises(ValueError, match=r"must have shape .*check the order of its axes"):
        Prompts(**{**FIELDS, name: FIELDS[name][:-1]})
    with pytest.raises(ValueError, match=f"{name} must have shape"):
        Prompts(**{**FIELDS, name: FIELDS[name][..., None]})
    for wrong in (FIELDS[name].float(), FIELDS[name].half(), FIELDS[name].long()):
        with pytest.raises(TypeError, match=rf"{name} must have dtype .*{name}.double\(\)"):
            Prompts(**{**FIELDS, name: wrong})
    with pytest.raises(TypeError, match=f"{name} must be a torch tensor"):
        Prompts(**{**FIELDS, name: FIELDS[name].tolist()})


def test_prompts_without_examples():
    with pytest.raises(ValueError, match="number of examples n must be at least 1, got 0"):
        Prompts(PROMPTS.X[:, :0], PROMPTS.y[:, :0], PROMPTS.x_query, PROMPTS.y_query)


@pytest.mark.parametrize(
    "call",
    [
        lambda **g: sample_prompts(LinearTask(3, 0.5), 5, 7, **g),
        lambda **g: models.LinearSelfAttention(3).initialise(0.1, **g),
    ],
    ids=["sample_prompts", "initialise"],
)
def test_randomness_needs_a_generator(call):
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'generator'"):
        call()
    for wrong in (None, 0, np.random.default_rng(0)):
        with pytest.raises(TypeError, match=r"generator must be a torch.Generator.*manual_seed"):
            call(generator=wrong)


@pytest.mark.parametrize(
    "call",
    [
        lambda v: models.one_step_construction(3, v),
        learners.gradient_step,
        lambda v: theory.one_step_risk(v, n=7, d=3, noise_var=0.5),
    ],
    ids=["construction", "learner", "risk"],
)
def test_step_sizes_that_are_not_numbers(call):
    with pytest.raises(ValueError, match="step_size must be finite, got nan"):
        call(float("nan"))
    with pytest.raises(TypeError, match="step_size must be a real number"):
        call("0.1")


def test_layer_refuses_tokens_and_scales_it_cannot_use():
    model = models.LinearSelfAttention(3)
    with pytest.raises(TypeError, match=r"tokens must have dtype torch.float64.*tokens.double\(\)"):
        model.attend(PROMPTS.tokens().float())
    with pytest.raises(ValueError, match="tokens must have shape"):
        model.attend(PROMPTS.tokens()[0])
    for value in (0.0, -0.1):
        with pytest.raises(ValueError, match="scale must be positive"):
            model.initialise(value, generator=G)


def test_preconditioner_that_does_not_fit():
    with pytest.raises(TypeError, match=r"preconditioner must have dtype torch.float64"):
        learners.preconditioned_step(torch.eye(3))
    with pytest.raises(ValueError, match=r"preconditioner must have shape \(3, 3\), got \(2, 2\)"):
        learners.preconditioned_step(torch.eye(2).double())(PROMPTS)


def test_matrices_of_the_closed_forms():
    with pytest.raises(ValueError, match=r"predictor must have shape \(3, 3\), got \(2, 2\)"):
        theory.skewed_risk(np.eye(2), EYE, n=7, noise_var=0.5)
    with pytest.raises(ValueError, match=r"E_u_yX must have shape \(3, 3\), got \(2, 2\)"):
        theory.optimal_predictor(np.eye(2), EYE)
    with pytest.raises(ValueError, match="beta_sq must not be negative"):
        theory.nonlinear_step_size(-1.0, 1.0, n=7, d=3, noise_var=0.5)
    with pytest.raises(ValueError, match="f_sq_x_sq must be positive"):
        theory.nonlinear_step_size(1.0, 0.0, n=7, d=3, noise_var=0.5)


def test_laws_that_are_not_laws():
    points = LINE.points
    for weights in ([0.5, 0.6], [1.5, -0.5], [float("nan"), 1.0]):
        weights = torch.tensor(weights).double()
        with pytest.raises(ValueError, match=r"weights must be non-negative and sum to 1.*divide"):
            enumeration.Rule(points, weights)
    with pytest.raises(ValueError, match=r"weights must have shape \(2,\), got \(1,\)"):
        enumeration.Rule(points, torch.ones(1).double())
    with pytest.raises(TypeError, match=r"points must have dtype torch.float64"):
        enumeration.Rule(points.float(), LINE.weights)
    with pytest.raises(ValueError, match=r"weights must have shape \(5,\), got \(2,\)"):
        enumeration.WeightedPrompts(PROMPTS, LINE.weights)


def test_predictions_that_would_broadcast():
    law = enumeration.enumerate_prompts(LINE, 1, 0.5)
    with pytest.raises(ValueError, match="predictions must have shape"):
        law.loss(law.prompts.y_query[:, None])
