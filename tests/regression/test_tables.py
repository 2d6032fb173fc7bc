"""Prompts from real rows, and averages over all of them, against lists and solvers."""

from itertools import permutations

import numpy as np
import pytest
import torch
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from icgd.regression import models, tables, theory
from icgd.regression.data import LinearTask, Task, sample_prompts

TABLE, NAMES = tables.diabetes()
TREATMENTS = ["recorded", "centred", "standardised", "whitened"]


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def small(rows=7, columns=(2, 3, 8, 10)):
    return tables.column_task(TABLE[:rows, list(columns)], "standardised")


def test_the_table_is_the_one_in_the_record():
    assert TABLE.shape == (442, 11)
    assert NAMES[2] == "bmi"
    assert NAMES[-1] == "progression"
    np.testing.assert_array_equal(TABLE[0, :4], [59, 2, 32.1, 101])
    assert TABLE[:, -1].mean() == pytest.approx(152.1335, abs=1e-4)


def test_halves_share_no_row():
    tune, test = tables.split(TABLE, seed=0)
    assert len(tune) == len(test) == 221
    together = np.concatenate([tune, test])
    np.testing.assert_array_equal(np.sort(together, axis=0), np.sort(TABLE, axis=0))
    np.testing.assert_array_equal(tune, tables.split(TABLE, seed=0)[0])
    assert (tune != tables.split(TABLE, seed=1)[0]).any()


# --- Treatments ----------------------------------------------------------------------------------


@pytest.mark.parametrize("treatment", TREATMENTS)
def test_covariates_have_the_size_of_isotropic_ones(treatment):
    task = tables.column_task(TABLE, treatment)
    assert isinstance(task, Task)
    assert task.inputs.shape == (11, 442, 10)
    np.testing.assert_allclose(task.inputs.square().sum(2).mean(1), 10)
    np.testing.assert_allclose(task.labels.mean(1), 0, atol=1e-12)
    np.testing.assert_allclose(task.labels.square().mean(1), 1)


def test_standardised_and_whitened_are_those_of_scikit_learn():
    X = TABLE[:, :10]
    standardised = tables.column_task(TABLE, "standardised").inputs[-1].numpy()
    np.testing.assert_allclose(standardised, StandardScaler().fit_transform(X), atol=1e-12)
    whitened = tables.column_task(TABLE, "whitened").inputs[-1].numpy()
    np.testing.assert_allclose(whitened.T @ whitened / 442, np.eye(10), atol=1e-10)
    # Another root of the same inverse: equal up to a rotation, so all inner products agree.
    theirs = PCA(whiten=True).fit_transform(standardised) * (442 / 441) ** 0.5
    np.testing.assert_allclose(whitened @ whitened.T, theirs @ theirs.T, atol=1e-9)


def test_treatments_come_from_the_reference_rows():
    tune, test = tables.split(TABLE, seed=0)
    task = tables.column_task(test, "standardised", fitted_on=tune)
    wanted = StandardScaler().fit(tune).transform(test)
    np.testing.assert_allclose(task.labels[4], wanted[:, 4])
    np.testing.assert_allclose(task.inputs[4], np.delete(wanted, 4, axis=1), atol=1e-12)


# --- Prompts -------------------------------------------------------------------------------------


def test_prompts_hold_different_rows_with_one_sign_a_column():
    task = tables.TableTask(  # every entry says which row and column it comes from
        torch.arange(1, 36).double().view(1, 7, 5), 100 * torch.arange(1, 8).double()[None]
    )
    prompts = sample_prompts(task, 211, 6, generator=generator())
    x = torch.cat([prompts.X, prompts.x_query[:, None]], 1)
    y = torch.cat([prompts.y, prompts.y_query[:, None]], 1)
    row, column = (x.abs().long() - 1) // 5, (x.abs().long() - 1) % 5
    assert (row == row[:, :, :1]).all()
    assert (column == column[:, :1]).all()
    assert (row[:, :, 0].sort(1).values == torch.arange(7)).all()
    assert (column[:, 0].sort(1).values == torch.arange(5)).all()
    assert (y.abs() == 100 * (row[:, :, 0] + 1)).all()
    assert (x.sign() == x.sign()[:, :1]).all()
    assert (y.sign() == y.sign()[:, :1]).all()
    for sign in (x.sign()[:, 0], y.sign()[:, 0]):
        assert sign.mean().abs() < 4 / 211**0.5


def test_columns_may_stay_in_place():
    task = tables.column_task(TABLE[:7], "standardised", shuffled=False)
    prompts = sample_prompts(task, 31, 2, generator=generator())
    for x in prompts.x_query:
        assert (task.inputs.flatten(0, 1) == x).all(1).any()


def test_the_same_generator_draws_the_same_prompts():
    first, second = (sample_prompts(small(), 5, 3, generator=generator(3)) for _ in range(2))
    assert torch.equal(first.X, second.X)
    assert torch.equal(first.y_query, second.y_query)


def test_noise_is_what_least_squares_leaves():
    task = tables.column_task(TABLE, "standardised")
    left = []
    for x, y in zip(task.inputs.numpy(), task.labels.numpy(), strict=True):
        left.append(np.linalg.lstsq(x, y, rcond=None)[1][0] / len(y))
    assert task.noise_var == pytest.approx(np.mean(left))


# --- The averages --------------------------------------------------------------------------------


def listed(task, n):
    """y_q and sum of k_i for every ordered choice of n + 1 rows, in loops."""
    y_query, total = [], []
    for x, y in zip(task.inputs.numpy(), task.labels.numpy(), strict=True):
        for query, *context in permutations(range(len(y)), n + 1):
            y_query.append(y[query])
            total.append(sum(x[query] @ x[i] * y[i] for i in context))
    return np.array(y_query), np.array(total)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_moments_are_those_of_all_prompts(n):
    task = small(5)
    moments = tables.step_moments(task)
    y_query, total = listed(task, n)
    best = (y_query @ total) / (total @ total)
    assert moments.step_size(n) == pytest.approx(best, rel=1e-12)
    assert moments.least_risk(n) == pytest.approx(np.mean((y_query - best * total) ** 2))
    assert moments.risk(0.03, n) == pytest.approx(np.mean((y_query - 0.03 * total) ** 2))


def test_risk_is_that_of_the_layer_on_sampled_prompts():
    task, n = tables.column_task(TABLE, "standardised"), 11
    prompts = sample_prompts(task, 20_011, n, generator=generator(1))
    step = tables.step_moments(task).step_size(n)
    with torch.no_grad():
        guesses = models.one_step_construction(10, step)(prompts)
    errors = (guesses - prompts.y_query).square()
    exact = tables.step_moments(task).least_risk(n)
    assert abs(errors.mean() - exact) < 4 * errors.std() / len(errors) ** 0.5


def test_many_gaussian_rows_give_theorem_1():
    # Rows of many regressions with N(0, I) covariates and weights: the law of chapter 3.
    prompts = sample_prompts(LinearTask(3, 0.5), 3001, 60, generator=generator(2))
    moments = tables.step_moments(tables.TableTask(prompts.X, prompts.y))
    for n in (1, 7, 50):
        assert moments.step_size(n) == pytest.approx(theory.step_size(n, 3, 0.5), rel=0.04)
        assert moments.least_risk(n) == pytest.approx(theory.minimum_loss(n, 3, 0.5), rel=0.04)


# --- Bad input -----------------------------------------------------------------------------------


@pytest.mark.bad_input
def test_tables_that_cannot_be_used():
    with pytest.raises(ValueError, match=r"treatment must be one of recorded, centred, .*'raw'"):
        tables.column_task(TABLE, "raw")
    constant = np.column_stack([TABLE[:, :2], np.ones(442)])
    with pytest.raises(ValueError, match="every column must vary"):
        tables.column_task(constant, "standardised")
    doubled = np.column_stack([TABLE[:, :3], TABLE[:, 0] + TABLE[:, 2]])
    with pytest.raises(ValueError, match="no covariate may be a combination of the others"):
        tables.column_task(doubled, "whitened")
    with pytest.raises(ValueError, match=r"n \+ 1 different rows, got n = 7 and 7 rows"):
        sample_prompts(small(), 2, 7, generator=generator())
    with pytest.raises(ValueError, match="the number of rows must be at least 3, got 2"):
        tables.step_moments(
            tables.TableTask(torch.ones(1, 2, 3).double(), torch.ones(1, 2).double())
        )
    with pytest.raises(ValueError, match="labels must be finite"):
        tables.TableTask(torch.ones(1, 3, 2).double(), torch.full((1, 3), torch.nan).double())
    with pytest.raises(ValueError, match=r"labels must have shape \(1, 3\)"):
        tables.TableTask(torch.ones(1, 3, 2).double(), torch.ones(1, 4).double())
