"""Evidence for what trained stacks run (chapter 8): the weights of data/depth_runs.json."""

import json
from pathlib import Path

import torch

from icgd.claims import Evidence, claim
from icgd.regression import depth
from icgd.regression import learners_iterative as iterative
from icgd.regression.data import LinearTask, sample_prompts
from icgd.regression.filters import Spectrum
from icgd.regression.learners import Learner
from icgd.regression.transformer import LinearTransformer, sensitivity

CHAPTER = "08-depth"
WEIGHTS = Path(__file__).resolve().parents[4] / "data" / "depth_runs.json"
SPECTRUM = Spectrum(20, 5)


def trained_stacks(path: Path = WEIGHTS) -> dict[int, LinearTransformer]:
    """The trained stacks by their number of layers; tools/depth_runs.py makes the file."""
    record, stacks = json.loads(Path(path).read_text(encoding="utf-8")), {}
    for layers, run in record["runs"].items():
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
    made = depth.tuned_gdpp(layers, SPECTRUM, starts=12)
    return {
        "constant": iterative.gradient_steps(constant),
        "tuned": iterative.gradient_steps(depth.tuned_steps(layers, SPECTRUM).copy()),
        "GD++": iterative.gd_plus_plus(made.steps, [*made.curvatures, 0.0]),
    }


def _aligned(name: str) -> Evidence:
    """Mean cosines of sensitivities, for two and three layers, on 1,000 new prompts."""
    g, cosines, stacks = torch.Generator().manual_seed(11), [], trained_stacks()
    prompts = sample_prompts(LinearTask(5, 0.0), 1000, 20, generator=g)
    for layers in (2, 3):
        u = sensitivity(stacks[layers], prompts)
        v = candidates(layers)[name].weights(prompts)
        cosines.append(torch.cosine_similarity(u, v, dim=1).mean().item())
    return Evidence([1.0, 1.0], cosines, tolerance=1e-3)


@claim(
    "Oswald.trained",
    kind="trained",
    anchor=f"{CHAPTER}#oswald-trained",
    statement="Stacks of two and three layers, all weights trained on prompts, have the "
    "sensitivities of tuned GD++: mean cosines of 1 to three digits (n = 20, d = 5).",
)
def trained():
    return _aligned("GD++")


@trained.fails_without("the change of covariates (tuned gradient steps instead)")
def _gradient_descent():
    return _aligned("tuned")
