"""Memberships in the layout the kernels read: one row a class, and a last row of ones for "all rows"."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from dubio._kernels.information import NEGLIGIBLE


class Groups:
    """Weights of every row in every class, their totals, and the terms of equation 19 that no ball enters."""

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


def check_neighbors(n_neighbors: Any, n_rows: int, name: str = "n_neighbors") -> None:
    """A ball holds ``n_neighbors`` rows besides its own centre."""
    if not isinstance(n_neighbors, int | np.integer) or isinstance(n_neighbors, bool) or n_neighbors < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {n_neighbors!r}.")
    if n_neighbors >= n_rows:
        raise ValueError(
            f"{name}={n_neighbors} but there are only {n_rows} rows (n_samples={n_rows}): each row needs that many "
            f"others. Give {name} below {n_rows}, or more rows."
        )


def raise_if_zero(n_zero: int, subset: NDArray[np.int64] | None = None) -> None:
    """The logarithm of a zero distance does not exist; say where it comes from and what to do."""
    if n_zero:
        where = "" if subset is None else f" in features {subset.tolist()}"
        raise ValueError(
            f"{n_zero} time(s) the rows at the edge of a ball are identical{where}, so its logarithm does not exist: "
            "too many rows are equal (ties, duplicates, constant or discrete features). Add a little noise against "
            "ties: jitter=1e-3 in the estimators, X + 1e-3 * rng.normal(size=X.shape) with the functions."
        )
