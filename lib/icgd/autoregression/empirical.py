"""The loss of Eq. (2) on given sequences: one pass over the data, then steps that cost nothing.

Features are phi_klm = (E_t E_t^* / rho_t)_kl e_t,m, one row of 8 d^3 numbers for each sequence and
time (real and imaginary parts apart). The pass adds up their Gram matrix; every loss afterwards is
a polynomial of the parameters (`quartic`). Sequences whose initial token has zeros are grouped by
support and use only the features that are not identically zero, so sparse data cost next to
nothing.
"""

import numpy as np
import torch
from jaxtyping import Complex, Float
from torch import Tensor
from tqdm.auto import tqdm

from icgd.autoregression.blocks import check_blocks
from icgd.autoregression.data import check_sequences, recover_eigenvalues
from icgd.autoregression.normalisation import Rho, context_pairs, rho_values
from icgd.autoregression.quartic import QuarticLoss

#: Memory for the moments and the working rows, in bytes, unless the caller allows another bound.
MAX_BYTES = 1_000_000_000

#: Bytes of feature rows held at once: few enough to stay in a processor's cache.
CHUNK_BYTES = 8_000_000


class EmpiricalLoss:
    """The mean over sequences of sum_{t=2}^{T-1} |y_t - x_{t+1}|^2 / 2, after one pass over them.

    Args:
        x: (batch, T, d) complex128 sequences that obey x_{t+1} = W x_t, T >= 3.
        rho: the normaliser; the default is the paper's t - 1.
        weights: (batch,) of the sequences; the default is 1 / batch each.
        max_bytes: the memory the moments may take; checked before any of it is taken.
        device: where the coefficients are kept; the blocks must live there.
        tolerance: how far the sequences may be from the recurrence, relative to their largest
            entry.
    Attributes:
        last: the same loss for the last prediction alone, |y_{T-1} - x_T|^2 / 2 (MO's test loss).
    Raises:
        ValueError: the sequences break the recurrence.
        MemoryError: the moments would need more than `max_bytes`.
    """

    def __init__(
        self,
        x: Complex[Tensor, "batch T d"],
        *,
        rho: Rho = context_pairs,
        weights: Float[Tensor, " batch"] | None = None,
        max_bytes: int = MAX_BYTES,
        tolerance: float = 1e-8,
        device: str | torch.device | None = None,
    ):
        check_sequences(x, 3)
        batch, self.T, self.d = x.shape
        needed = bytes_needed(self.d)
        if needed > max_bytes:
            raise MemoryError(
                f"the moments for d = {self.d} must fit in max_bytes = {max_bytes:.3g}, they need "
                f"{needed:.3g} bytes; use direct.direct_loss, whose memory does not grow, or "
                "PopulationLoss, or raise max_bytes."
            )
        recover_eigenvalues(x, tolerance)
        x = x.cpu()
        weights = np.full(batch, 1 / batch) if weights is None else weights.cpu().numpy()
        steps = rho_values(rho, self.T - 1)
        data = x.numpy()

        n = 2 * self.d
        gram, last_gram = np.zeros((n**3, n**3)), np.zeros((n**3, n**3))
        cross, last_cross = np.zeros((self.d, n**3)), np.zeros((self.d, n**3))
        ratio, mass = np.zeros((self.d, n**3)), np.zeros(self.d)
        for support, members in _by_support(data[:, 0] != 0):
            if not len(support):
                continue
            where = _feature_index(support, self.d)
            sums = _pass(data[members][:, :, support], weights[members], steps)
            gram[np.ix_(where, where)] += sums["gram"]
            last_gram[np.ix_(where, where)] += sums["last_gram"]
            cross[np.ix_(support, where)] += sums["cross"]
            last_cross[np.ix_(support, where)] += sums["last_cross"]
            ratio[np.ix_(support, where)] += sums["ratio"]
            mass[support] += weights[members].sum()

        power = (np.abs(data[:, 2:]) ** 2).sum(axis=2) * weights[:, None] / 2
        shapes = (n,) * 6, (self.d, n, n, n)
        gram, cross = gram.reshape(shapes[0]), cross.reshape(shapes[1])
        self._loss = QuarticLoss(gram, cross, power.sum(), device=device)
        del gram
        last_gram, last_cross = last_gram.reshape(shapes[0]), last_cross.reshape(shapes[1])
        self.last = QuarticLoss(last_gram, last_cross, power[:, -1].sum(), device=device)
        with np.errstate(invalid="ignore"):
            shares = (ratio / mass[:, None]).reshape(self.d, n, n * n)
        self._ratio = torch.as_tensor(shares, device=device)

    def __call__(
        self, A: Float[Tensor, "two_d two_d"], B: Float[Tensor, "d two_d"]
    ) -> Float[Tensor, ""]:
        """The loss at blocks A (2d, 2d) and B (d, 2d); its cost depends on d alone."""
        return self._loss(A, B)

    def ratio(
        self, A: Float[Tensor, "two_d two_d"], B: Float[Tensor, "d two_d"]
    ) -> Float[Tensor, " d"]:
        """Mean of Re(y_{T-1,j} / x_{T,j}) over the sequences with x_{T,j} != 0, for each j.

        It is linear in B (x) A, so the pass that gave the loss gave it too; NaN where x_j is always
        0.
        Source: MO, Appendix B.3.
        """
        check_blocks(A, B)
        return torch.einsum("jk,jkp,p->j", B, self._ratio, A.reshape(-1))


def bytes_needed(d: int) -> int:
    """Bytes at the peak of the pass: three Gram matrices of (2d)^6 numbers and the working rows."""
    return 3 * 8 * (2 * d) ** 6 + 3 * CHUNK_BYTES


def _by_support(nonzero: np.ndarray):
    """(coordinates, members) for each pattern of non-zero initial coordinates."""
    patterns, which = np.unique(nonzero, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        yield np.flatnonzero(pattern), np.flatnonzero(which.ravel() == number)


def _feature_index(support: np.ndarray, d: int) -> np.ndarray:
    """Positions among the (2d)^3 features of those built from the coordinates in `support`."""
    rows = np.concatenate([support, support + d])
    n = 2 * d
    return (rows[:, None, None] * n * n + rows[:, None] * n + rows).ravel()


def _pass(x: np.ndarray, weights: np.ndarray, rho: np.ndarray) -> dict[str, np.ndarray]:
    """Weighted sums over sequences x (batch, T, d): Gram matrices, cross moments, ratios."""
    batch, T, d = x.shape
    features = (2 * d) ** 3
    sums = {"gram": np.zeros((features, features)), "last_gram": np.zeros((features, features))}
    sums |= {name: np.zeros((d, features)) for name in ("cross", "last_cross", "ratio")}
    for times, name in ((T - 2, ""), (1, "last_")):
        size = max(1, CHUNK_BYTES // (times * features * 16))
        for start in tqdm(range(0, batch, size), desc="pass", delay=2.0, leave=False):
            part = x[start : start + size]
            root = np.sqrt(weights[start : start + size])
            rows = _features(part, rho, times, root)
            target = _real(part[:, T - times :].transpose(2, 0, 1) * root[:, None])
            # numpy sees F F^T and does half the work.
            sums[name + "gram"] += rows @ rows.T
            sums[name + "cross"] += target @ rows.T
            if times == 1:  # Re(y / x) = Re(y conj(1 / conj(x)))
                inverse = _real((root / part[:, -1].conj().T)[:, :, None])
                sums["ratio"] += inverse @ rows.T
    return sums


def _features(x: np.ndarray, rho: np.ndarray, times: int, root: np.ndarray) -> np.ndarray:
    """root * phi_klm for the last `times` of t = 2, ..., T - 1, a row a feature: (8 d^3, ...).

    phi_klm = (sum_{i<=t} e_i e_i^*)_kl e_t,m / rho_t; real parts first, then imaginary parts.
    """
    batch, T, d = x.shape
    e = np.zeros((2 * d, batch, T - 1), dtype=complex)
    e[:d] = x[:, : T - 1].transpose(2, 0, 1)
    e[d:, :, 1:] = e[:d, :, :-1]
    if times == 1:
        G = np.einsum("kst,lst->kls", e, e.conj(), optimize=True)[..., None]
    else:
        G = np.cumsum(e[:, None] * e[None].conj(), axis=-1)[..., 1:]
    scaled = e[..., T - 1 - times :] / rho[len(rho) - times :] * root[:, None]
    G, scaled = G.reshape(4 * d * d, 1, -1), scaled.reshape(1, 2 * d, -1)
    n = scaled.shape[2]
    parts = (np.ascontiguousarray(p) for p in (G.real, G.imag, scaled.real, scaled.imag))
    G_re, G_im, e_re, e_im = parts
    rows, product = np.empty((4 * d * d, 2 * d, 2 * n)), np.empty((4 * d * d, 2 * d, n))
    np.multiply(G_re, e_re, out=rows[..., :n])
    rows[..., :n] -= np.multiply(G_im, e_im, out=product)
    np.multiply(G_re, e_im, out=rows[..., n:])
    rows[..., n:] += np.multiply(G_im, e_re, out=product)
    return rows.reshape(8 * d**3, 2 * n)


def _real(values: np.ndarray) -> np.ndarray:
    """Complex (features, batch, times) as real (features, 2 batch times): real parts first."""
    flat = values.reshape(len(values), -1)
    return np.concatenate([flat.real, flat.imag], axis=1)
