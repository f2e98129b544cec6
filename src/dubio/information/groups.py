"""Memberships in the layout that the kernels read: one row per class, and a last row of ones for "all rows"."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from dubio._kernels.information import NEGLIGIBLE
from dubio.errors import InputError, counted


class Groups:
    """Weights of every row in every class, their totals, and the terms of equation 19 that do not depend on balls."""

    def __init__(self, memberships: NDArray[np.float64]) -> None:
        n, n_classes = memberships.shape
        self.weights: NDArray[np.float64] = np.ones((n_classes + 1, n))
        self.weights[:-1] = memberships.T
        self.totals: NDArray[np.float64] = self.weights.sum(axis=1)

    @property
    def n_rows(self) -> int:
        return int(self.weights.shape[1])

    def constant(self, n_neighbors: int) -> float:
        """``psi(n) - psi(k) - sum_s Gamma(s)/n psi(Gamma(s))``."""
        n = self.n_rows
        totals = self.totals[:-1]
        present = totals > NEGLIGIBLE
        expected = (totals[present] * digamma(totals[present])).sum() / n
        return float(digamma(n) - digamma(n_neighbors) - expected)


def raise_if_zero(n_zero: int, subset: NDArray[np.int64] | None = None) -> None:
    """Raise if distances are zero, which have no logarithm; the message says why this happens and what to do."""
    if n_zero:
        where = "" if subset is None else f" in features {subset.tolist()}"
        raise InputError(
            "X",
            f"has too many equal rows{where} (ties, duplicates, constant or discrete features). The distance to a "
            f"neighbour is zero {counted(n_zero, 'time')}, and zero has no logarithm",
            "add a little noise to break ties: jitter=1e-3 in the estimators, or X + 1e-3 * "
            "rng.normal(size=X.shape) with the functions",
        )
