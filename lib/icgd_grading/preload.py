"""What nearly every judge needs, loaded once by the process that all judges are forked from."""

import torch

from . import classroom  # noqa: F401

torch.testing.assert_close(torch.zeros(1), torch.zeros(1))  # the first call imports for 0.7 s
