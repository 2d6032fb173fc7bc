"""Evidence for what trained stacks run (chapter 8): the weights of data/depth_runs.json."""

import json
from pathlib import Path

import torch

from icgd.claims import Evidence, claim
from icgd.regression import depth
from icgd.regression import learners_iterative as iterative
from icgd.regression.data import LinearTask, Prompts, sample_prompts
from icgd.regression.filters import Spectrum
from icgd.regression.learners import Learner
from icgd.regression.transformer import LinearTransformer, sensitivity

CHAPTER = "08-depth"
WEIGHTS = Path(__file__).resolve().parents[4] / "data" / "depth_runs.json"
SPECTRUM = Spectrum(20, 5)


def trained_stacks(path: Path = WEIGHTS, *, group: str = "runs") -> dict[int, LinearTransformer]:
    """The trained stacks by their number of layers; tools/depth_runs.py makes the file.

    group: "runs" for those from a common start, "grown" for four layers grown from three.
    """
    record, stacks = json.loads(Path(path).read_text(encoding="utf-8")), {}
    for layers, run in record[group].items():
        stack = LinearTransformer(record["d"], int(layers))
        stack.load_state_dict(
            {name: torch.tensor(run[name], dtype=torch.float64) for name in ("P", "Q")},
            strict=False,  # w0 stays 0
        )
        stacks[int(layers)] = stack
    return stacks


def candidates(layers: int) -> dict[str, Learner]:
    """Gradient descent with the best constant and the best tuned steps, and tuned GD++."""
    constant = [depth.tuned_constant_step(layers, SPECTRUM)] * layers
    made = depth.tuned_gdpp(min(layers, 3), SPECTRUM, starts=12)
    if layers == 4:
        made = depth.deeper_gdpp(made, Spectrum(20, 5, reach=16.0))
    return {
        "constant": iterative.gradient_steps(constant),
        "tuned": iterative.gradient_steps(depth.tuned_steps(layers, SPECTRUM).copy()),
        "GD++": iterative.gd_plus_plus(made.steps, [*made.curvatures, 0.0]),
    }


def nearness(stack: LinearTransformer, learner: Learner, prompts: Prompts) -> tuple[float, float]:
    """(mean square between the predictions, in label variances; mean cosine of sensitivities)."""
    u, v = sensitivity(stack, prompts), learner.weights(prompts)
    apart = ((u - v) * prompts.x_query).sum(1).square().mean().item() / prompts.d
    return apart, torch.cosine_similarity(u, v, dim=1).mean().item()


def _aligned(name: str) -> Evidence:
    """Two, three and the four grown layers on 1,000 new prompts: no distance and a cosine of 1?"""
    g, found = torch.Generator().manual_seed(11), []
    stacks = trained_stacks() | trained_stacks(group="grown")
    prompts = sample_prompts(LinearTask(5, 0.0), 1000, 20, generator=g)
    for layers in (2, 3, 4):
        found.append(nearness(stacks[layers], candidates(layers)[name], prompts))
    return Evidence([[0.0, 1.0]] * 3, found, tolerance=3e-4)


@claim(
    "Oswald.trained",
    kind="trained",
    anchor=f"{CHAPTER}#oswald-trained",
    statement="Stacks of two, three and (grown from three) four layers, all weights trained on "
    "prompts, have the predictions and sensitivities of tuned GD++: distance 0, cosine 1 to three "
    "digits.",
)
def trained():
    return _aligned("GD++")


@trained.fails_without("the change of covariates (tuned gradient steps instead)")
def _gradient_descent():
    return _aligned("tuned")
