"""The ten explorers of the book: each ties a claim to its chapter, and reads out what theory says.

What is read out is compared with other ways to the same numbers: closed forms for a special case,
a direct sum over the data, an integrator, or another route through the library.
"""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp

import icgd.evidence  # noqa: F401, registers the claims
from icgd.autoregression import data, theory
from icgd.autoregression.full_one import full_one_flow
from icgd.claims import registry
from icgd.explorers import hypotheses, prompts, sequences, targets, tokens
from icgd.regression.models import LinearSelfAttention

ROOT = Path(__file__).resolve().parents[2]
MAKERS = {
    name: make
    for module in (prompts, targets, hypotheses, sequences, tokens)
    for name, make in vars(module).items()
    if name.endswith("_explorer")
}
every = pytest.mark.parametrize("name", MAKERS)


@pytest.fixture(scope="module")
def explorer():
    made = {}

    def get(name):
        if name not in made:
            made[name] = MAKERS[name]()
        return made[name]

    return get


def numbers(text):
    return [float(n.replace("−", "-")) for n in re.findall(r"[−-]?\d+\.?\d*", text)]


def read(explorer, label, **parameters):
    """The number read out under a label."""
    return numbers(explorer.readout(explorer.compute(**parameters))[label])[0]


# --- all of them ---------------------------------------------------------------------------------


def test_there_are_ten():
    assert len(MAKERS) >= 10


@every
def test_stands_in_the_chapter_of_its_claim(explorer, name):
    claim = registry()[explorer(name).claim]
    chapter = ROOT / "chapters" / (claim.anchor.split("#")[0] + ".ipynb")
    cells = json.loads(chapter.read_text("utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert any(source.endswith(f"{name}()") for source in sources), chapter.name


@every
def test_every_frame_is_well_formed_and_has_its_own_words(explorer, name):
    frames = explorer(name).frames
    assert len(frames) >= 20
    for frame in frames:
        ET.fromstring(frame.svg)
        assert len(frame.alt.split()) > 8
        assert not re.search(r"nan|None|\$|\\", frame.alt + " ".join(frame.readout.values()))
    assert len({frame.alt for frame in frames}) == len(frames)


@every
def test_is_within_a_third_of_the_budget(explorer, name):
    assert explorer(name).kilobytes < 33


@every
def test_controls_have_distinct_words(explorer, name):
    controls = explorer(name).controls.values()
    assert len({control.label for control in controls}) == len(controls)
    for control in controls:
        assert len(set(control.texts())) == len(control.values)


def test_names_are_unique(explorer):
    assert len({explorer(name).name for name in MAKERS}) == len(MAKERS)


# --- chapters 1 to 3 -----------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "s2"), [(2, 0.0), (60, 5.0), (12, 0.5)])
def test_risk(explorer, n, s2):
    e, d = explorer("risk_explorer"), 10
    assert read(e, "guess zero", n=n, noise_var=s2) == pytest.approx(d + s2, abs=0.005)
    sizes = np.linspace(0, 0.2, 20_001)  # the best of many step sizes
    second = n * (n - 1) * d + n * d * (d + 2) + s2 * n * d
    best = (d + s2 - 2 * sizes * n * d + sizes**2 * second).min()
    assert read(e, "one gradient step", n=n, noise_var=s2) == pytest.approx(best, abs=0.006)
    if s2 == 0:
        assert read(e, "ridge (Bayes)", n=n, noise_var=s2) == d - n
    if n == 12:
        assert read(e, "least squares", n=n, noise_var=s2) == s2 + s2 * d


def test_risk_says_where_least_squares_has_none(explorer):
    e = explorer("risk_explorer")
    for n in (9, 10, 11):
        assert e.readout(e.compute(n=n, noise_var=0.1))["least squares"] == "infinite"


def test_attention_ends_where_the_layer_does(explorer):
    e = explorer("attention_explorer")
    linear, soft, random = e.controls["weights"].values
    step = read(e, "one gradient step", read=0, weights=linear)
    assert read(e, "prediction so far", read=0, weights=linear) == 0
    assert read(e, "prediction so far", read=6, weights=linear) == step
    parts = e.compute(read=6, weights=linear)
    labels = parts["values"] / 0.1
    assert labels.min() <= e.compute(read=6, weights=soft)["running"][-1] <= labels.max()
    # the same prompt and the same random layer, through the library's batched forward pass
    g = torch.Generator().manual_seed(1)
    prompt = prompts.sample_prompts(prompts.LinearTask(3, noise_var=0.5), batch=1, n=6, generator=g)
    layer = LinearSelfAttention(3).initialise(0.5, generator=g)
    np.testing.assert_allclose(parts["target"], 0.1 * prompt.y[0] @ prompt.X[0] @ prompt.x_query[0])
    end = e.compute(read=6, weights=random)["running"][-1]
    np.testing.assert_allclose(end, layer(prompt).item(), rtol=1e-12)


def test_landscape_starts_on_the_parabola_and_ends_on_the_hyperbola(explorer):
    e = explorer("landscape_explorer")
    for start in e.controls["start"].values:
        result = e.compute(step=0, start=start)
        alpha, beta = result["path"][0]
        excess = 20 * 10 * 31.5 * (alpha * beta - 1 / 31.5) ** 2
        np.testing.assert_allclose(result["excess"][0], excess, rtol=1e-10)
        assert read(e, "product α β", step=150, start=start) == round(1 / 31.5, 4)
        assert (np.diff(result["excess"]) < 1e-12).all()


# --- chapters 4 to 6 -----------------------------------------------------------------------------


@pytest.mark.parametrize(("condition", "n"), [(1.0, 5), (1000.0, 80), (30.0, 20)])
def test_preconditioner(explorer, condition, n):
    e = explorer("preconditioner_explorer")
    inverse, identity = e.controls["omega"].values
    result = e.compute(condition=condition, n=n, omega=inverse)
    variances = result["variances"]
    assert variances.max() / variances.min() == pytest.approx(condition)
    learned, plain = result["shares"].values()
    np.testing.assert_allclose(learned, n / (n + 8 + 1 + 0.5))
    effective = variances.sum() ** 2 / (variances**2).sum()
    assert result["kept"] == pytest.approx(effective / 8)
    np.testing.assert_allclose(plain / plain[0], variances / variances[0])
    learned, _ = e.compute(condition=condition, n=n, omega=identity)["shares"].values()
    shift = variances.sum() + 0.5
    np.testing.assert_allclose(learned, n * variances / ((n + 1) * variances + shift))


@pytest.mark.parametrize("n", [1, 10, 100])
def test_family(explorer, n):
    e, d, s2 = explorer("family_explorer"), 3, 0.3
    assert read(e, "effective noise τ²", family="linear", n=n) == s2
    relu = e.compute(family="ReLU network", n=n)
    assert relu["eta"] == pytest.approx(1 / (2 * (d + 2) + 4 * s2 + n - 1))
    for name in e.controls["family"].values:
        result = e.compute(family=name, n=n)
        assert result["noise"] == pytest.approx(e.compute(family=name, n=7)["noise"])
        assert result["best"][1] >= result["share"].max() - 1e-12
        assert result["share"][0] == 0


def test_family_lines_touch_where_stein_says(explorer):
    """A linear f is its own linear part."""
    e = explorer("family_explorer")
    axes = e.scene.axes
    e.draw(axes, e.compute(family="linear", n=1))
    f, linear = (line.get_ydata() for line in axes[0].lines[:2])
    np.testing.assert_allclose(f, linear, atol=1e-12)
    e.scene._clear()


def test_hypotheses_agree_with_the_table(explorer):
    e = explorer("hypotheses_explorer")
    nothing, dropped, more = e.controls["drop"].values
    needed = {"E[x xᵀ] = I", "w and −w equally likely"}
    for name in e.controls["name"].values:
        losses = {
            drop: e.compute(name=name, drop=drop)["losses"] for drop in (nothing, dropped, more)
        }
        missed = {drop: one - least for drop, (one, least) in losses.items()}
        assert abs(missed[nothing]) < 1e-9
        assert (missed[dropped] > 1e-4) == (name in needed)
        assert missed[more] > 1e-4
        assert e.compute(name=name, drop=dropped)["needed"] == (name in needed)


def test_hypotheses_learn_the_closed_forms(explorer):
    e, n, s2 = explorer("hypotheses_explorer"), 3, 0.3
    _, dropped, more = e.controls["drop"].values
    C = e.compute(name="E[x xᵀ] = I", drop=dropped)["learned"]
    np.testing.assert_allclose(C, np.diag([1 / (n + 6 + s2), 1 / (4 * n + 9 + s2)]), atol=1e-7)
    C = e.compute(name="Gaussian covariates", drop=more)["learned"]
    np.testing.assert_allclose(C, np.diag([1 / (n + 1 + s2), 1 / (n + 3 + s2)]), atol=1e-7)
    even = [e.compute(name=row, drop=dropped)["even"] for row in e.controls["name"].values]
    assert [value > 1e-4 for value in even] == [False] * 4 + [True] + [False] * 2


# --- chapters 10 to 13 ---------------------------------------------------------------------------


@pytest.mark.parametrize("start", [(1.5, -1.2), (-1.5, 0.3), (0.3, 0.3), (1.5, 1.5)])
def test_portrait(explorer, start):
    e = explorer("portrait_explorer")
    # T = 100, d = 5, sigma = 1/2: k1 = 3/16, k2 = 15/64, k3 = 12/64
    S = (1 / np.arange(1, 99)).sum()
    c1, c2 = 98 * 15 / 64 + S * 12 / 64, 98 * 3 / 16
    run = solve_ivp(
        lambda _, p: [p[1] * (c2 - c1 * p[0] * p[1]), p[0] * (c2 - c1 * p[0] * p[1])],
        (0, 3), start, rtol=1e-10, atol=1e-12,
    )  # fmt: skip
    end = numbers(e.readout(e.compute(*start))["end (a, b)"])
    np.testing.assert_allclose(end, run.y[:, -1], atol=0.006)
    assert read(e, "a b at the end", a0=start[0], b0=start[1]) == round(c2 / c1, 3)
    a, b = e.compute(*start)["path"]
    np.testing.assert_allclose(a**2 - b**2, start[0] ** 2 - start[1] ** 2, atol=1e-12)


@pytest.mark.parametrize("a0", [1.5, -0.9, 0.0])
def test_portrait_on_the_saddles_line(explorer, a0):
    e = explorer("portrait_explorer")
    readout = e.readout(e.compute(a0=a0, b0=-a0))
    assert readout["end (a, b)"] == "(0.00, 0.00)"
    assert readout["a b within 1 % of c₂ / c₁"] == "never: it ends at the saddle"


@pytest.mark.parametrize(("t", "T"), [(2, 4), (200, 1000), (16, 30)])
def test_step(explorer, t, T):
    e = explorer("step_explorer")
    g = torch.Generator().manual_seed(4)
    x = data.sample_sequences(data.Gaussian(1.0), 1, 3, 201, generator=g).x[0].numpy()
    S = (1 / np.arange(1, T - 1)).sum()
    p = 3 / (15 + 6 * S / (T - 2))
    W_hat = p / (t - 1) * sum(np.outer(x[i + 1], x[i].conj()) for i in range(t - 1))
    result = e.compute(t=t, T=T)
    np.testing.assert_allclose(result["W_hat"], np.abs(W_hat), rtol=1e-10)
    assert result["error"] == pytest.approx(1 - 6 * p + p**2 * (15 + 6 / (t - 1)))


def test_laws(explorer):
    e = explorer("laws_explorer")
    left = {
        law: read(e, "left for ever (T, t → ∞)", law=law, T=4) for law in e.controls["law"].values
    }
    assert list(left.values()) == [0.4, 0.6, 0.16, 0.0, 0.0, 0.0]
    for law in e.controls["law"].values:
        verdict = e.readout(e.compute(law=law, T=100))["can be learned"]
        assert verdict.startswith("yes" if left[law] == 0 else "no")
    S, T, t = (1 / np.arange(1, 99)).sum(), 100, 10
    p = 1 / (1 + 4 * S / (T - 2))
    signs = (1 - p) ** 2 + p**2 * 4 / (t - 1)
    assert read(e, "error at t = 10", law="random signs", T=T) == round(signs, 4)


def test_laws_draws_values_of_the_scale_of_the_law(explorer):
    """The typical values have about the mean square that the law has: 1 for all of them."""
    e = explorer("laws_explorer")
    for law in e.controls["law"].values:
        u = e.compute(law=law, T=4)["values"]
        if len(u) > 3:
            assert (u**2).mean() == pytest.approx(1, abs=0.25)
        else:
            assert set(np.abs(u)) <= {0.0, np.abs(u).max()}


@pytest.mark.parametrize(("d", "T"), [(5, 20), (2, 50)])
def test_diagonal(explorer, d, T):
    e = explorer("diagonal_explorer")
    a1, b1, a2, b2 = full_one_flow(d, T).limit(0.5, 1.5)  # counted, and from another start
    result = e.compute(T=T, d=d)
    assert result["product"] == pytest.approx((a1 + b1) * (a2 + b2), rel=1e-6)
    np.testing.assert_allclose(result["shares"], [-b1 / (a1 + b1), -b2 / (a2 + b2)], rtol=1e-5)
    S = theory.harmonic_sum(T)
    assert result["masked"] == pytest.approx(1 / (1 + (d - 1) * S / (T - 2)))
    assert 0 < result["saved"] < 1
