"""The standard transformer against its formulas written out, its invariances and its seeds."""

from dataclasses import replace

import pytest
import torch

from icgd.evidence.regression.transformers import trained_runs
from icgd.regression.data import LinearTask, normal, sample_prompts
from icgd.regression.standard_transformer import StandardTransformer

BATCH, N, D, WIDTH, LAYERS, HEADS = 7, 5, 3, 22, 2, 11


def generator(seed):
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def prompts():
    return sample_prompts(LinearTask(D, 0.4), BATCH, N, generator=generator(0))


def network(**options):
    sizes = {"width": WIDTH, "layers": LAYERS, "heads": HEADS} | options
    return StandardTransformer(D, **sizes).initialise(generator=generator(1))


def by_hand(model, X, y, x_query):
    """One prompt, a token and a head at a time, from the weights alone."""
    weights = dict(model.named_parameters())
    examples = [torch.cat([x, label[None]]) for x, label in zip(X, y, strict=True)]
    tokens = [*examples, torch.cat([x_query, torch.zeros(1).double()])]

    def affine(name, v):
        return weights[f"{name}.weight"] @ v + weights[f"{name}.bias"]

    def norm(name, v):
        v = (v - v.mean()) / (v.var(correction=0) + 1e-5).sqrt()
        return weights[f"{name}.weight"] * v + weights[f"{name}.bias"]

    stream = [affine("read_in", v) for v in tokens]
    for layer in range(LAYERS):
        at = f"encoder.layers.{layer}"
        inner = [norm(f"{at}.norm1", v) for v in stream]
        matrix = weights[f"{at}.self_attn.in_proj_weight"]
        bias = weights[f"{at}.self_attn.in_proj_bias"]
        q, k, v = zip(*[(matrix @ u + bias).split(WIDTH) for u in inner], strict=True)
        size = WIDTH // HEADS
        for i in range(N + 1):
            read = []
            for h in range(HEADS):
                part = slice(h * size, (h + 1) * size)
                scores = [q[i][part] @ k[j][part] / size**0.5 for j in range(N)]
                shares = torch.stack(scores).softmax(0)
                read.append(sum(s * v[j][part] for j, s in enumerate(shares)))
            stream[i] = stream[i] + affine(f"{at}.self_attn.out_proj", torch.cat(read))
        for i in range(N + 1):
            hidden = affine(f"{at}.linear1", norm(f"{at}.norm2", stream[i]))
            gelu = hidden * (1 + torch.erf(hidden / 2**0.5)) / 2
            stream[i] = stream[i] + affine(f"{at}.linear2", gelu)
    return affine("read_out", stream[-1])[0]


def test_equals_its_formulas_written_out(prompts):
    model = network()
    with torch.no_grad():
        for i, weight in enumerate(model.parameters()):  # biases and gains too
            weight += 0.3 * normal(*weight.shape, generator=generator(10 + i))
        found = model(prompts)
        written = [
            by_hand(model, *prompt)
            for prompt in zip(prompts.X, prompts.y, prompts.x_query, strict=True)
        ]
    torch.testing.assert_close(found, torch.stack(written), rtol=1e-10, atol=1e-12)


def test_predicts_the_same_without_gradients(prompts):
    """Torch takes another route through its layers when no gradient is wanted."""
    model = network()
    with torch.no_grad():
        torch.testing.assert_close(model.eval()(prompts), network()(prompts).detach())


def test_does_not_notice_the_order_of_the_examples(prompts):
    order = torch.tensor([3, 0, 4, 1, 2])
    shuffled = replace(prompts, X=prompts.X[:, order], y=prompts.y[:, order])
    torch.testing.assert_close(network()(shuffled), network()(prompts))


def test_depends_on_every_example_and_on_the_query(prompts):
    X, y, x_query = (
        part.clone().requires_grad_(True) for part in (prompts.X, prompts.y, prompts.x_query)
    )
    moved = replace(prompts, X=X, y=y, x_query=x_query)
    parts = torch.autograd.grad(network()(moved).sum(), (X, y, x_query))
    assert all((part != 0).all() for part in parts)


def test_predicts_zero_until_it_is_initialised(prompts):
    model = StandardTransformer(D, width=WIDTH, layers=LAYERS, heads=HEADS)
    assert model(prompts).eq(0).all()


def test_weights_come_from_the_generator_alone():
    torch.manual_seed(0)
    before = torch.get_rng_state()
    first, second = network().state_dict(), network().state_dict()
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(first[name], second[name]) for name in first)
    matrix = network(width=220, heads=4).encoder.layers[1].linear1.weight
    assert matrix.std().item() * 220**0.5 == pytest.approx(1, abs=0.02)
    assert not torch.equal(*(layer.linear1.weight for layer in network().encoder.layers))


@pytest.mark.bad_input
def test_sizes_are_checked():
    with pytest.raises(ValueError, match="multiple of heads"):
        StandardTransformer(D, width=10, layers=1, heads=4)
    with pytest.raises(ValueError, match="layers"):
        StandardTransformer(D, width=8, layers=0)


def test_the_record_of_the_long_runs_is_whole():
    """Two starts of six sizes; excess risk and distance to ridge agree within their errors."""
    record = trained_runs()
    sizes = [(run["width"], run["layers"], run["start"]) for run in record["runs"]]
    assert len(sizes) == len(set(sizes)) == 12
    for run in record["runs"]:
        (excess, first), (distance, second) = run["above ridge"], run["distance to"]["ridge"]
        assert abs(excess - distance) < 3 * (first + second)
        model = StandardTransformer(1, width=run["width"], layers=run["layers"], device="meta")
        assert run["parameters"] == sum(weight.numel() for weight in model.parameters())
