"""What the tests of the autoregressive setting share: random blocks and laws of every kind."""

import pytest
import torch

from icgd.autoregression import data


@pytest.fixture
def blocks():
    """blocks(d, seed): dense A (2d, 2d) and B (d, 2d) that require gradients."""

    def make(d, seed=0):
        generator = torch.Generator().manual_seed(seed)
        A = torch.randn(2 * d, 2 * d, dtype=torch.float64, generator=generator)
        B = torch.randn(d, 2 * d, dtype=torch.float64, generator=generator)
        return A.requires_grad_(), B.requires_grad_()

    return make


@pytest.fixture
def generator():
    return torch.Generator().manual_seed(11)


LAWS = {
    "gaussian": data.Gaussian(0.8),
    "sparse": data.Sparse(1.3),
    "ones": data.Ones(),
    "rademacher": data.Rademacher(0.7),
    "skewed": data.Discrete((2.0, -1.0), (1 / 3, 2 / 3)),
    "off-centre": data.Discrete((0.5, -1.0, 2.0), (0.3, 0.3, 0.4)),
}


@pytest.fixture(params=LAWS.values(), ids=LAWS.keys())
def law(request):
    return request.param
