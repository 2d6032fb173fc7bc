"""Newton's iteration for the inverse of H = X^T X / n, as layers of linear self-attention.

Giannou et al. (2023) program it into a looped transformer; linear layers are enough (chapter 8). A
token has six slots, (x, q, e, m, r, y), five vectors and a label:

    example i:    x = x_i, y = y_i        query:   q = x_query        worker l = 1..d:   e = e_l

and all else 0, but m = start e_l for a worker: the workers' slots m are the columns of M. Two
layers are one step M <- M (2 I - H M), two more read the prediction b^T M x_query, b = X^T y / n.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from icgd import validation
from icgd.attention import LinearAttentionStack
from icgd.regression.data import Prompts

SLOTS = "xqemr"  # the label comes last


class NewtonStack(LinearAttentionStack):
    """2 iterations + 2 linear layers that predict what `learners_iterative.newton_inverse` does.

    Args:
        d: dimension of a covariate; tokens have width 5 d + 1, and d of them are workers.
        start: M = start I before the first step.   iterations: how many Newton steps.
    """

    def __init__(self, d: int, start: float, iterations: int):
        self.d = validation.positive_int("d", d)
        k = validation.positive_int("iterations", iterations)
        super().__init__(5 * self.d + 1, 2 * k + 2)
        self.start = validation.finite_float("start", start)
        self.requires_grad_(False)
        for step in range(0, 2 * k, 2):
            # r_l <- e_l - H m_l, from workers and examples: their scores are e.e_l and x.m_l
            self._write("Q", step, ("e", "e", 1), ("x", "m", 1))
            self._write("P", step, ("r", "e", 1), ("r", "x", -1))
            # m_l <- m_l + M r_l, and r_l <- r_l - r_l, from workers: their scores are e.r_l
            self._write("Q", step + 1, ("e", "r", 1))
            self._write("P", step + 1, ("m", "m", 1), ("r", "e", -1))
        # q <- q + (M - I) q, from workers: their scores are e.q
        self._write("Q", 2 * k, ("e", "q", 1))
        self._write("P", 2 * k, ("q", "m", 1), ("q", "e", -1))
        # y <- y + (1/n) sum_i y_i x_i.q, from examples
        self._write("Q", 2 * k + 1, ("x", "q", 1))
        self.P[2 * k + 1, -1, -1] = 1.0

    def _write(self, name: str, layer: int, *blocks: tuple[str, str, int]) -> None:
        """Put `factor` I where slot `row` meets slot `column`, for each (row, column, factor)."""
        for row, column, factor in blocks:
            part = getattr(self, name)[layer, self.slot(row), self.slot(column)]
            part.copy_(factor * torch.eye(self.d, dtype=torch.float64))

    def slot(self, name: str) -> slice:
        """Where a vector stands in a token: "x", "q", "e", "m" or "r"."""
        first = SLOTS.index(name) * self.d
        return slice(first, first + self.d)

    def tokens(self, prompts: Prompts) -> Float[Tensor, "batch T width"]:
        """n examples, d workers, the query; see the module."""
        n, d = prompts.n, self.d
        Z = torch.zeros(len(prompts.X), n + d + 1, self.width, dtype=torch.float64)
        workers = torch.eye(d, dtype=torch.float64)
        Z[:, :n, self.slot("x")], Z[:, :n, -1] = prompts.X, prompts.y
        Z[:, n:-1, self.slot("e")], Z[:, n:-1, self.slot("m")] = workers, self.start * workers
        Z[:, -1, self.slot("q")] = prompts.x_query
        return Z

    def mask(self, n: int) -> Float[Tensor, " T"]:
        """1/n for each example, 1 for each worker, 0 for the query."""
        parts = [torch.full((n,), 1 / n, dtype=torch.float64), torch.ones(self.d), torch.zeros(1)]
        return torch.cat([part.double() for part in parts])

    def forward(self, prompts: Prompts) -> Float[Tensor, " batch"]:
        """The prediction of y_query for each prompt: the last entry of the last token."""
        return self.forward_tokens(self.tokens(prompts), self.mask(prompts.n))[:, -1, -1]
