"""Evidence for standard transformers trained on prompts (chapter 8)."""

import json
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

from icgd.claims import Evidence, claim
from icgd.regression import theory
from icgd.regression.data import LinearTask, Prompts, normal, sample_prompts
from icgd.regression.enumeration import gauss_hermite
from icgd.regression.learners import Learner, gradient_step, least_squares, ridge
from icgd.regression.standard_transformer import StandardTransformer

CHAPTER = "08-depth"
RUNS = Path(__file__).resolve().parents[4] / "data" / "standard_transformers.json"


def trained_runs(path: Path = RUNS) -> dict:
    """What tools/standard_transformers.py recorded."""
    return json.loads(Path(path).read_text(encoding="utf-8"))


def trained_transformer(runs: dict) -> StandardTransformer:
    """The network whose weights are kept in the record."""
    kept = runs["kept"]
    model = StandardTransformer(runs["d"], width=kept["width"], layers=kept["layers"])
    weights = {name: torch.tensor(w).double() for name, w in kept["weights"].items()}
    model.load_state_dict(weights)
    return model


def distance_identity(best: Learner, w_var: float) -> Evidence:
    """The risk of an untrained network, and that of `best` plus the distance between them.

    For two fixed covariates and a query all averages over w and the noise are Gauss and Hermite's.
    """
    noise_var, g = 0.25, torch.Generator().manual_seed(3)
    x1, x2, query = normal(3, generator=g)
    rule = gauss_hermite(3, 24)  # w and the noise of both labels
    w, noise = w_var**0.5 * rule.points[:, 0], noise_var**0.5 * rule.points[:, 1:]
    X = torch.stack([x1, x2]).expand(len(w), 2)
    answer = w * query
    prompts = Prompts(
        X[..., None], X * w[:, None] + noise, query.expand(len(w), 1), answer, w[:, None]
    )
    model = StandardTransformer(1, width=8, layers=1).initialise(generator=g)
    with torch.no_grad():
        network, known = model(prompts), best(prompts)

    def mean(values):
        return rule.weights @ values.square()

    predicted = mean(known - answer) + mean(network - known) + noise_var
    return Evidence(predicted, mean(network - answer) + noise_var, tolerance=1e-5)


@claim(
    "Garg.distance",
    kind="exact",
    anchor=f"{CHAPTER}#transformers-distance",
    statement="The risk of any predictor is that of ridge plus its mean squared distance to ridge.",
)
def distance() -> Evidence:
    """An untrained transformer, 24 nodes for each of w and two noises."""
    return distance_identity(ridge(0.25), 1.0)


@distance.fails_without("ridge (least squares in its place)")
def distance_least_squares() -> Evidence:
    """Its error is not orthogonal to functions of the prompt."""
    return distance_identity(least_squares(), 1.0)


@distance.fails_without("the prior of ridge")
def distance_prior() -> Evidence:
    """Weights of variance 2: this ridge is no longer the posterior mean."""
    return distance_identity(ridge(0.25), 2.0)


def references(prompts: Prompts, noise_var: float) -> dict[str, Tensor]:
    """What ridge, least squares and the best gradient step predict."""
    step = gradient_step(theory.step_size(prompts.n, prompts.d, noise_var))
    learners = {"ridge": ridge(noise_var), "least squares": least_squares(), "one step": step}
    return {name: learner(prompts) for name, learner in learners.items()}


def predict(model: StandardTransformer, prompts: Prompts) -> Tensor:
    """Predictions without gradients; a few prompts at a time, which takes less memory and time."""
    fields = (prompts.X, prompts.y, prompts.x_query, prompts.y_query)
    batches = zip(*(field.split(500) for field in fields), strict=True)
    model.eval()
    with torch.no_grad():
        return torch.cat([model(Prompts(*batch)) for batch in batches])


@cache
def record_prompts() -> tuple[Prompts, dict[str, Tensor]]:
    """The prompts on which the record compares, and what the three learners predict on them."""
    runs = trained_runs()
    d, n, noise_var = runs["d"], runs["n"], runs["noise_var"]
    g = torch.Generator().manual_seed(runs["test_seed"])
    prompts = sample_prompts(LinearTask(d, noise_var), runs["test_prompts"], n, generator=g)
    return prompts, references(prompts, noise_var)


def kept_run(runs: dict) -> dict:
    """The row of the record that belongs to the kept network."""
    names = ("width", "layers", "start")
    (row,) = [run for run in runs["runs"] if all(run[x] == runs["kept"][x] for x in names)]
    return row


def again(model: StandardTransformer, count: int | None = None) -> Evidence:
    """Loss, loss above ridge and three distances of the kept run: recomputed over recorded.

    On all prompts of the record no sampling error is left, only the digits that it keeps. `count`
    takes the first few of them.
    """
    prompts, known = record_prompts()
    fields = (prompts.X, prompts.y, prompts.x_query, prompts.y_query)
    guesses = predict(model, Prompts(*(field[:count] for field in fields)))
    y = prompts.y_query[:count]
    known = {name: guess[:count] for name, guess in known.items()}
    loss, least = ((guess - y).square().mean() for guess in (guesses, known["ridge"]))
    distances = [(guesses - guess).square().mean() for guess in known.values()]
    row = kept_run(trained_runs())
    recorded = [row["loss"], row["above ridge"], *(row["distance to"][name] for name in known)]
    found = torch.stack([loss, loss - least, *distances])
    ratios = found / torch.tensor([mean for mean, _ in recorded])
    return Evidence(torch.ones(5), ratios, tolerance=1e-4)


@claim(
    "Garg.trained",
    kind="trained",
    anchor=f"{CHAPTER}#transformers-trained",
    statement="A standard transformer with two layers of width 16, trained on prompts (d = 1, "
    "n = 6), predicts nearly what ridge does: 0.016 away, where one step is 0.22 away.",
)
def trained() -> Evidence:
    """The kept weights, on the record's 100,000 prompts, against the record of the run."""
    return again(trained_transformer(trained_runs()))


@trained.fails_without("training")
def untrained() -> Evidence:
    """The same network at its start, on the first 2,000 prompts: it errs by a hundredfold."""
    runs = trained_runs()
    model = trained_transformer(runs)
    g = torch.Generator().manual_seed(runs["kept"]["start"])
    return again(model.initialise(generator=g), 2_000)


def nearest(name: str) -> Evidence:
    """For every run of the record: is it nearer to `name` than to the other two learners?

    Then, over the mean of all starts: does the distance to ridge fall from the narrowest to the
    widest, and from one layer to the deepest? Nothing is trained here. The record keeps the weights
    of one network, whose distances `again` recomputes; for the others it has to be believed, or
    made anew by tools/standard_transformers.py.
    """
    runs = trained_runs()
    answers = []
    for run in runs["runs"] + runs["longer"]["runs"]:
        distances = {learner: pair[0] for learner, pair in run["distance to"].items()}
        answers.append(distances[name] == min(distances.values()))
    table = mean_distances(runs, name)
    widths = {width: gap for (width, layers), gap in table.items() if layers == 2}
    depths = {layers: gap for (width, layers), gap in table.items() if width == 16}
    answers += [falls[max(falls)] < falls[min(falls)] for falls in (widths, depths)]
    return Evidence([1.0] * len(answers), answers, tolerance=0.5)


def mean_distances(runs: dict, name: str = "ridge") -> dict[tuple[int, int], float]:
    """{(width, layers): mean squared distance to a learner, over the starts}."""
    found = {}
    for run in runs["runs"]:
        found.setdefault((run["width"], run["layers"]), []).append(run["distance to"][name][0])
    return {size: sum(gaps) / len(gaps) for size, gaps in found.items()}


@claim(
    "Akyurek.nearness",
    kind="trained",
    anchor=f"{CHAPTER}#transformers-nearness",
    statement="Of ridge, least squares and one step, every network of the record of trainings is "
    "nearest to ridge; the widest and the deepest are nearer to it than the narrowest and the "
    "shallowest.",
)
def nearness() -> Evidence:
    """The record of all runs; none is left out."""
    return nearest("ridge")


@nearness.fails_without("ridge (least squares in its place)")
def nearness_least_squares() -> Evidence:
    """None is nearest to least squares."""
    return nearest("least squares")


@nearness.fails_without("ridge (one step in its place)")
def nearness_one_step() -> Evidence:
    """None is nearest to one gradient step, and width does not bring them nearer."""
    return nearest("one step")
