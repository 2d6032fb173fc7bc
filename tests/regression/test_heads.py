"""Several heads, and keys of few numbers."""

import numpy as np
import pytest
import torch

from icgd.evidence.regression import heads as evidence
from icgd.regression import models
from icgd.regression.data import normal
from icgd.regression.enumeration import enumerate_prompts, gauss_hermite
from icgd.regression.heads import heads_loss, reduced_heads


def weights(heads, r, d, seed):
    g = torch.Generator().manual_seed(seed)
    K, Q = normal(heads, r, d + 1, generator=g), normal(heads, r, d, generator=g)
    return reduced_heads(K, Q), normal(heads, d + 1, generator=g)


def test_loss_of_three_heads_is_the_average_over_every_prompt():
    listed = enumerate_prompts(gauss_hermite(2), 2, evidence.ISOTROPIC.noise)
    A, w = weights(3, 1, 2, seed=0)
    predictions = sum(
        models.reduced_prediction(A_h, w_h, listed.prompts) for A_h, w_h in zip(A, w, strict=True)
    )
    exact = heads_loss(evidence.ISOTROPIC.moments(), 2)(A, w).item()
    assert exact == pytest.approx(listed.loss(predictions).item(), rel=1e-12)


def test_one_head_is_the_layer_of_the_other_chapters():
    A, w = weights(1, 2, 2, seed=1)
    tokens = evidence.SKEWED.moments()
    assert heads_loss(tokens, 7)(A, w).item() == pytest.approx(tokens.loss(7)(A[0], w[0]).item())


def test_reduced_heads_are_those_of_the_weight_matrices():
    """A = (W_K^T W_Q)[:, :d]^T, with W_Q any completion of Q to the label's column."""
    g = torch.Generator().manual_seed(2)
    W_K, W_Q = normal(3, 6, generator=g), normal(3, 6, generator=g)
    A = (W_K.T @ W_Q)[:, :5].T
    torch.testing.assert_close(reduced_heads(W_K[None], W_Q[None, :, :5])[0], A)


@pytest.mark.parametrize(("heads", "r"), [(1, 1), (1, 3), (2, 2), (3, 1)])
def test_rank_of_the_odd_part(heads, r):
    A, w = weights(heads, r, 5, seed=3)
    C = sum(models.odd_part(A_h, w_h) for A_h, w_h in zip(A, w, strict=True))
    values = np.linalg.svd(C.numpy())[1]
    assert (values > 1e-9).sum() == min(5, heads * r)


@pytest.mark.bad_input
def test_bad_input():
    with pytest.raises(ValueError, match="Q must have shape"):
        reduced_heads(torch.zeros(2, 1, 3).double(), torch.zeros(2, 1, 3).double())
    loss = heads_loss(evidence.ISOTROPIC.moments(), 2)
    with pytest.raises(ValueError, match="w must have shape"):
        loss(torch.zeros(2, 2, 3).double(), torch.zeros(1, 3).double())
    with pytest.raises(ValueError, match="n must be at least 1"):
        heads_loss(evidence.ISOTROPIC.moments(), 0)
