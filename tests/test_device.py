"""Models and losses live where they are told to, and bring nothing of their own from elsewhere.

Few machines have a graphics card. So every function here is also run on CPU tensors while torch's
default device is "meta": whatever a function makes without saying where would be made there, and
would not mix with the rest.
"""

import pytest
import torch

from icgd.autoregression import data as sequences
from icgd.autoregression.blocks import diagonal_blocks
from icgd.autoregression.empirical import EmpiricalLoss
from icgd.autoregression.models import CausalLinearAttention
from icgd.autoregression.population import PopulationLoss
from icgd.regression import models
from icgd.regression.data import LinearTask, normal, sample_prompts
from icgd.regression.learners import ridge
from icgd.regression.moments import TokenMoments
from icgd.regression.population import population_loss
from icgd.regression.softmax import SoftmaxAttention
from icgd.regression.standard_transformer import StandardTransformer
from icgd.training import descend, flow

CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a graphics card (CUDA)")
DEVICES = ["cpu", pytest.param("cuda", marks=CUDA)]
SIGMA = torch.tensor([[1.7, 0.4, 0.0], [0.4, 0.6, 0.1], [0.0, 0.1, 1.1]]).double()


def generator():
    return torch.Generator().manual_seed(3)


def prompts():
    return sample_prompts(LinearTask(3, 0.4), 7, 5, generator=generator())


def reduced(device):
    g = generator()
    return normal(3, 4, generator=g).to(device), normal(4, generator=g).to(device)


def layer(device):
    model = models.LinearSelfAttention(3, device=device)
    return model.initialise(0.5, generator=generator())(prompts())


def standard(device):
    model = StandardTransformer(3, width=8, layers=2, device=device)
    return model.initialise(generator=generator())(prompts())


def softmax(device):
    model = SoftmaxAttention(3, heads=2, device=device)
    return model.initialise(0.5, generator=generator())(prompts())


def construction(device):
    return models.one_step_construction(3, 0.1, device=device)(prompts().to(device or "cpu"))


def exact_loss(device):
    options = {"n": 5, "noise_var": 0.3, "covariance": SIGMA, "task_covariance": SIGMA}
    return population_loss(*reduced(device), **options)


def moments_loss(device):
    return TokenMoments.estimate(prompts()).to(device or "cpu").loss(5)(*reduced(device))


def ridge_predictions(device):
    return ridge(0.3)(prompts().to(device or "cpu"))


def reduced_predictions(device):
    return models.reduced_prediction(*reduced(device), prompts())


def x(d=2):
    return sequences.sample_sequences(sequences.Gaussian(0.8), 5, d, 7, generator=generator()).x


def causal_layer(device):
    return torch.view_as_real(CausalLinearAttention.diagonal(2, 0.3, 0.7, device=device)(x()))


def causal_loop(device):
    model = CausalLinearAttention.diagonal(2, 0.3, 0.7, device=device)
    return torch.view_as_real(model.predict_by_loop(x()))


def causal_loss(device):
    return CausalLinearAttention.diagonal(2, 0.3, 0.7, device=device).loss(x())


def stored_loss(device):
    loss = PopulationLoss(sequences.Gaussian(0.8), d=2, T=5, method="stored", device=device)
    return loss(*diagonal_blocks(2, 0.3, 0.7, device=device))


def contracted_loss(device):
    loss = PopulationLoss(sequences.Gaussian(0.8), d=2, T=5, method="contracted", device=device)
    return loss(*diagonal_blocks(2, 0.3, 0.7, device=device))


def sampled_loss(device):
    loss = EmpiricalLoss(x(), device=device)
    blocks = diagonal_blocks(2, 0.3, 0.7, device=device)
    return torch.cat([loss(*blocks)[None], loss.last(*blocks)[None], loss.ratio(*blocks)])


def descent(device):
    A, w = reduced(device)
    end = descend(
        lambda A, w: population_loss(A, w, n=5, noise_var=0.3), (0.1 * A, 0.1 * w),
        step_size=1e-3, steps=3,
    ).final  # fmt: skip
    return torch.cat([part.flatten() for part in end])


def flowed(device):
    A, w = reduced(device)
    end = flow(
        lambda A, w: population_loss(A, w, n=5, noise_var=0.3), (0.1 * A, 0.1 * w), [0, 0.01]
    ).final
    return torch.cat([part.flatten() for part in end])


RESULTS = [
    layer, standard, softmax, construction, exact_loss, moments_loss, ridge_predictions,
    reduced_predictions,
    causal_layer, causal_loop, causal_loss, stored_loss, contracted_loss, sampled_loss, descent,
    flowed,
]  # fmt: skip


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("result", RESULTS, ids=lambda function: function.__name__)
def test_lives_on_its_device_with_the_same_digits(result, device):
    found = result(device)
    assert found.device.type == device
    torch.testing.assert_close(found.cpu(), result(None), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    "result",
    [exact_loss, moments_loss, ridge_predictions, reduced_predictions, causal_layer, causal_loop,
     causal_loss, stored_loss, contracted_loss, sampled_loss],
    ids=lambda function: function.__name__,
)  # fmt: skip
def test_makes_nothing_on_the_default_device(result, monkeypatch):
    """Inputs are made on the CPU; what the function adds must follow them."""
    made = {name: globals()[name] for name in ("prompts", "reduced", "x")}
    expected = result("cpu")

    def on_cpu(name):
        def make(*arguments):
            with torch.device("cpu"):
                return made[name](*arguments)

        return make

    for name in made:
        monkeypatch.setitem(globals(), name, on_cpu(name))
    with torch.device("meta"):
        found = result("cpu")
    torch.testing.assert_close(found, expected, rtol=0, atol=0)


def test_a_model_can_be_built_without_memory():
    model = models.LinearSelfAttention(1000, device="meta")
    assert {weight.device.type for weight in model.parameters()} == {"meta"}
    assert model(sample_prompts(LinearTask(1000, 0.4), 2, 3, generator=generator())).shape == (2,)
    assert StandardTransformer(7, width=8, layers=1, device="meta").read_out.weight.is_meta
    causal = CausalLinearAttention(1000, device="meta")
    assert {weight.device.type for weight in causal.parameters()} == {"meta"}
