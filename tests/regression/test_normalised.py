"""The loss of the layer without a mask."""

import numpy as np
import pytest
import torch

from icgd.regression.data import SkewedTask, normal, sample_prompts
from icgd.regression.normalised import normalised_loss

SIGMA = np.array([[1.4, 0.5, 0.1], [0.5, 0.9, -0.2], [0.1, -0.2, 0.6]])


def test_one_dimension_by_hand():
    """q = alpha omega x^3 / n, so E[q x] and E[q^2] are moments of degree four and six."""
    n, v, s2 = 5, 1.7, 0.3
    alpha, a, omega, b = 0.8, -0.4, 0.6, 1.1
    A, w = torch.tensor([[alpha, a]]).double(), torch.tensor([omega, b]).double()
    keys = {"n": n, "noise_var": s2, "covariance": np.array([[v]])}
    gap = normalised_loss(A, w, **keys) - normalised_loss(A, w, self_term=False, **keys)
    alpha, a, omega, b = A[0, 0].item(), A[0, 1].item(), w[0].item(), w[1].item()
    even = alpha * v * omega + (v + s2) * a * b
    wanted = even * 3 * alpha * omega * v**2 / n + 15 * (alpha * omega) ** 2 * v**3 / n**2 / 2
    assert gap.item() == pytest.approx(wanted, rel=1e-12)


def test_average_over_sampled_prompts():
    g = torch.Generator().manual_seed(3)
    n, s2, batch = 7, 0.4, 40_000
    A, w = 0.4 * normal(3, 4, generator=g), 0.4 * normal(4, generator=g)
    prompts = sample_prompts(SkewedTask(SIGMA, s2, np.eye(3)), batch, n, generator=g)
    tokens = prompts.tokens()
    predicted = torch.einsum("bi,ij,btj,btk,k->b", prompts.x_query, A, tokens, tokens, w) / n
    errors = (predicted - (prompts.w * prompts.x_query).sum(1)) ** 2 / 2
    exact = normalised_loss(A, w, n=n, noise_var=s2, covariance=SIGMA).item()
    assert errors.mean().item() == pytest.approx(exact, abs=4 * errors.std().item() / batch**0.5)


def test_loss_is_even_in_a_and_w_x():
    g = torch.Generator().manual_seed(4)
    A, w = normal(3, 4, generator=g), normal(4, generator=g)
    keys = {"n": 5, "noise_var": 0.3, "covariance": SIGMA}
    flipped_A, flipped_w = A.clone(), w.clone()
    flipped_A[:, 3] *= -1
    flipped_w[:3] *= -1
    same = normalised_loss(flipped_A, flipped_w, **keys).item()
    assert same == pytest.approx(normalised_loss(A, w, **keys).item(), rel=1e-12)


@pytest.mark.bad_input
def test_bad_input():
    A, w = torch.zeros(3, 4).double(), torch.zeros(4).double()
    with pytest.raises(ValueError, match="n must be at least 1"):
        normalised_loss(A, w, n=0, noise_var=0.0, covariance=SIGMA)
    with pytest.raises(ValueError, match=r"covariance must have shape \(3, 3\)"):
        normalised_loss(A, w, n=5, noise_var=0.0, covariance=np.eye(2))
