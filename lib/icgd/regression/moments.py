"""The pre-training loss of (A, w) for any law of targets, from moments of one token.

A token is v = (x, y), s = d + 1 numbers. Given the target f, the tokens of a prompt are independent
and alike. Write T_f = E[v v^T | f]; its last column holds E[x y | f] = beta_f. With Q = A^T S A,
S = E[x x^T], and G the sum of n outer products v v^T,

    L(A, w) = E[y^2] - 2 n E_f[beta_f . A T_f w]
              + n E[(v^T Q v) (w.v)^2] + n (n - 1) E_f[w^T T_f Q T_f w].

Three arrays therefore say everything about a law: E[v v^T], E_f[T_f (x) T_f] and E[v (x) v (x) v
(x) v]. No symmetry is used, so the loss is right for laws that break Assumption 1 as well. Its cost
forgets both n and how the arrays were found: by a finite list of weighted points (exactly, up to
the quadrature), or from sampled prompts.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from icgd import validation
from icgd.regression.data import Prompts
from icgd.regression.enumeration import Rule, gauss_hermite
from icgd.regression.models import check_reduced

_CHUNK = 20_000  # prompts or functions whose outer products are held in memory at once


@dataclass(frozen=True)
class TokenMoments:
    """Moments of a token v = (x, y) under a law of targets; s = d + 1.

    second: (s, s) E[v v^T].   pairs: (s, s, s, s) E_f[T_f (x) T_f], the moment of two tokens of one
    prompt.   fourth: (s, s, s, s) E[v (x) v (x) v (x) v], the moment of one token with itself.
    """

    second: Float[Tensor, "s s"]
    pairs: Float[Tensor, "s s s s"]
    fourth: Float[Tensor, "s s s s"]

    def __post_init__(self):
        s = len(self.second)
        validation.float64_tensor("second", self.second, (s, s))
        validation.float64_tensor("pairs", self.pairs, (s,) * 4)
        validation.float64_tensor("fourth", self.fourth, (s,) * 4)

    @property
    def d(self) -> int:
        return len(self.second) - 1

    def to(self, device: str | torch.device) -> "TokenMoments":
        """The same moments on another device; `loss` then takes parameters that live there."""
        return TokenMoments(*(m.to(device) for m in (self.second, self.pairs, self.fourth)))

    def loss(self, n: int) -> Callable[[Tensor, Tensor], Tensor]:
        """(A, w) -> E[((A G w)^T x_query - y_query)^2] for prompts of n examples.

        The result can be differentiated, and costs O(s^4) whatever n and the law.
        """
        n, d, s = validation.positive_int("n", n), self.d, self.d + 1
        S, cross, constant = self.second[:d, :d], self.pairs[:d, d], self.second[d, d]
        quartic = n * self.fourth + n * (n - 1) * self.pairs.permute(1, 2, 0, 3)
        quartic = quartic.reshape(s * s, s * s)

        def loss(A: Tensor, w: Tensor) -> Tensor:
            check_reduced(A, w, d)
            Q = (A.T @ S @ A).flatten()
            square = Q @ quartic @ torch.outer(w, w).flatten()
            return constant - 2 * n * (A * (cross @ w)).sum() + square

        return loss

    def predictor_moments(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """(E[u y^T X], E[X^T y y^T X]), each (d, d), as `theory.optimal_predictor` takes them.

        u = S^-1 E[x y | context] is the best linear predictor given the context; averaged against
        a function of the context it may be replaced by S^-1 beta_f (tower property). For a singular
        S the pseudo-inverse stands.
        """
        n, d = validation.positive_int("n", n), self.d
        beta_beta = self.pairs[:d, d, :d, d]
        cross = n * torch.linalg.pinv(self.second[:d, :d], hermitian=True, rtol=1e-12) @ beta_beta
        second = n * self.fourth[:d, :d, d, d] + n * (n - 1) * beta_beta
        return cross.cpu().numpy(), second.cpu().numpy()

    @classmethod
    def enumerate(
        cls,
        covariates: Rule,
        values: Float[Tensor, "functions points"],
        weights: Float[Tensor, " functions"],
        *,
        noise: Rule | float,
    ) -> "TokenMoments":
        """Moments of a finite list of functions on a finite law of x: exact for that law.

        Args:
            covariates: the law of x, with `points` points.
            values: f(x) for each function (row) at each of the points.
            weights: of the functions; they sum to one.
            noise: variance of Gaussian noise, or any law on R^1 as a `Rule`.

        >>> from icgd.regression.enumeration import gauss_hermite
        >>> w = x = gauss_hermite(2)
        >>> m = TokenMoments.enumerate(x, w.points @ x.points.T, w.weights, noise=0.5)
        >>> round(m.second[2, 2].item(), 12)  # E[y^2] = d + noise_var
        2.5
        """
        count = len(covariates.weights)
        validation.float64_tensor("values", values, (-1, count))
        functions = Rule(torch.zeros(len(values), 1, dtype=torch.float64), weights)
        if not isinstance(noise, Rule):
            noise = gaussian_noise(noise)
        token_law = covariates * noise
        y = values.repeat_interleave(len(noise.weights), 1) + token_law.points[:, -1]
        second, pairs, fourth = _zeros(covariates.points.shape[1] + 1, values.device)
        for rows in torch.arange(len(values), device=values.device).split(
            max(1, _CHUNK // len(token_law.weights))
        ):
            x = token_law.points[:, :-1].expand(len(rows), -1, -1)
            vv = _outer(torch.cat([x, y[rows, :, None]], 2))
            T = torch.einsum("p,fpa->fa", token_law.weights, vv)
            weight = functions.weights[rows]
            second += weight @ T
            pairs += T.T @ (weight[:, None] * T)
            flat = (weight[:, None] * token_law.weights).flatten()
            fourth += vv.flatten(0, 1).T @ (flat[:, None] * vv.flatten(0, 1))
        return cls._shaped(second, pairs, fourth)

    @classmethod
    def estimate(cls, prompts: Prompts) -> "TokenMoments":
        """Unbiased estimates from sampled prompts; every token serves, the query's included.

        Two tokens of one prompt share f and nothing else, so `pairs` averages over pairs of
        different tokens. The error falls like 1 / sqrt(prompts).
        """
        m = validation.int_at_least("the number of tokens n + 1", prompts.n + 1, 2)
        x = torch.cat([prompts.X, prompts.x_query[:, None]], 1)
        y = torch.cat([prompts.y, prompts.y_query[:, None]], 1)
        batch = len(x)
        second, pairs, fourth = _zeros(prompts.d + 1, x.device)
        for rows in torch.arange(batch, device=x.device).split(max(1, _CHUNK // m)):
            vv = _outer(torch.cat([x[rows], y[rows, :, None]], 2))
            total, flat = vv.sum(1), vv.flatten(0, 1)
            alone = flat.T @ flat
            second += total.sum(0) / (m * batch)
            pairs += (total.T @ total - alone) / (m * (m - 1) * batch)
            fourth += alone / (m * batch)
        return cls._shaped(second, pairs, fourth)

    @classmethod
    def _shaped(cls, second: Tensor, pairs: Tensor, fourth: Tensor) -> "TokenMoments":
        s = round(len(second) ** 0.5)
        return cls(second.view(s, s), pairs.view(s, s, s, s), fourth.view(s, s, s, s))


def gaussian_noise(noise_var: float) -> Rule:
    """N(0, noise_var) by three points, exact up to degree 5."""
    scale = validation.non_negative("noise_var", noise_var) ** 0.5
    return gauss_hermite(1).image(torch.full((1, 1), scale, dtype=torch.float64))


def _outer(v: Float[Tensor, "batch points s"]) -> Float[Tensor, "batch points s*s"]:
    return (v[..., :, None] * v[..., None, :]).flatten(2)


def _zeros(s: int, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    square = torch.zeros(s * s, s * s, dtype=torch.float64, device=device)
    return square[0].clone(), square, square.clone()
