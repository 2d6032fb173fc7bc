import numpy as np
import pytest
import torch

from icgd.autoregression import experiments, theory
from icgd.training import DivergenceError


def generator():
    return torch.Generator().manual_seed(1)


def test_settings_cover_every_figure_and_every_step_size_of_table_1():
    found = experiments.load_experiments()
    assert {e.figure for e in found.values()} == {f"MO.Figure{n}" for n in range(1, 8)}
    table = {e.step_size for e in found.values() if e.step_size_source == "MO, Table 1"}
    assert table == {1e-3, 1e-4, 2e-6, 0.03, 5e-4}
    assert sum(len(e.starts) for e in found.values()) == 30


def test_runs_follow_the_scalar_recursion():
    """Descent in 150 parameters is descent in (a, b): the flow's rates, one step at a time."""
    run = experiments.load_experiments()["gaussian-0.5"]
    c1, c2 = theory.rates(run.law, d=run.d, T=run.T)
    for start, trajectory in experiments.train(run, generator=generator()).items():
        point = np.array(start)
        for _ in range(run.epochs):
            point = point + run.step_size * theory.velocity(*point, c1, c2)
        A, B = trajectory.final
        assert A[run.d, 0].item() == pytest.approx(point[0], rel=1e-9)
        assert B[0, 0].item() == pytest.approx(point[1], rel=1e-9)
        np.testing.assert_allclose(experiments.products(trajectory)[-1], point.prod(), rtol=1e-9)


def test_a_start_at_the_optimum_stays():
    run = experiments.load_experiments()["sparse-0.5"]
    trajectory = experiments.train(run, generator=generator())[2.0, 2.0]
    assert trajectory.converged
    assert np.ptp(trajectory.losses) == 0
    assert len(trajectory.times) == run.epochs + 1


def test_convergence_follows_the_stated_rule():
    run = experiments.load_experiments()["gaussian-1-short"]
    start = run.start((0.5, 1.5), generator=generator())
    found = experiments.converge(run.loss(), start, step_size=2e-3)
    assert found.gradient_norm <= experiments.GRADIENT_TOLERANCE
    limit = theory.limit_product(run.law, d=run.d, T=run.T)
    np.testing.assert_allclose(experiments.products(found)[-1], limit, rtol=1e-3)
    with pytest.raises(RuntimeError, match=r"after 3 steps of 0\.002"):
        experiments.converge(run.loss(), start, step_size=2e-3, most=3)


@pytest.mark.bad_input
def test_a_step_that_diverges_is_named():
    run = experiments.load_experiments()["gaussian-2"]
    start = run.start((2.0, 2.0), generator=generator())
    with pytest.raises(DivergenceError, match=r"at step \d+; use a smaller step_size"):
        experiments.converge(run.loss(), start, step_size=0.1)
