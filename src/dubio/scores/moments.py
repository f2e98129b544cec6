"""Class moments: how much, where and how spread out each class is on each feature; mergeable across blocks.

Weighted Laplacian, Fisher and closed-form constraint scores are all functions of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dubio._kernels.moments import class_sums_columns, class_sums_csr, class_sums_rows
from dubio._kernels.threads import chunks, default_threads, run_chunks
from dubio.table import Matrix, check_finite, check_overflow

#: Rows summed by one kernel call: large enough to keep threads busy, fixed so that sums do not depend on them.
_CHUNK = 65_536
#: Rows looked at to find a provisional centre of each column.
_CENTRE_ROWS = 256


@dataclass(frozen=True)
class ClassMoments:
    """Weight (K,), mean (K, d) and sum of squared deviations (K, d) of every feature within every class."""

    weight: NDArray[np.float64]
    mean: NDArray[np.float64]
    m2: NDArray[np.float64]

    @property
    def total_weight(self) -> float:
        return float(self.weight.sum())

    @property
    def between(self) -> NDArray[np.float64]:
        """Weighted squared distance of the class means from the overall mean, per feature."""
        # Around one of the class means, so that a constant column has differences of exactly zero.
        offset = self.mean - self.mean[np.argmax(self.weight)]
        offset[self.weight == 0] = 0.0
        return np.asarray(self.weight @ (offset - self.weight @ offset / self.total_weight) ** 2)

    @property
    def within(self) -> NDArray[np.float64]:
        """Sum of squared deviations from the class means, per feature."""
        return np.asarray(self.m2.sum(axis=0))

    def merge(self, other: ClassMoments) -> ClassMoments:
        """Moments of both sets of rows together (exact: Chan, Golub and LeVeque's update)."""
        weight = self.weight + other.weight
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)[:, None]
        delta = other.mean - self.mean
        return ClassMoments(
            weight,
            self.mean + delta * share,
            self.m2 + other.m2 + delta**2 * (self.weight[:, None] * share),
        )


def class_moments(X: Matrix, memberships: NDArray[np.float64], names: list[Any] | None = None) -> ClassMoments:
    """Moments of the columns of ``X`` with the weights ``memberships`` (n, K); zero rows do not count.

    One pass: sums are taken around a provisional centre of each column, so that a large offset costs no digits.
    """
    if sparse.issparse(X):
        return _sparse_moments(X, memberships, names)
    n, d = X.shape
    n_classes = memberships.shape[1]
    P = np.ascontiguousarray(memberships)
    # Rows that count, from all over the table, for a rough centre; on a constant column it is the constant itself.
    rows = np.unique(np.linspace(0, n - 1, min(n, _CENTRE_ROWS)).astype(np.intp))
    rows = rows[P[rows].any(axis=1)]
    if len(rows) == 0:
        rows = np.flatnonzero(P.any(axis=1))[:_CENTRE_ROWS]
    shift = np.partition(X[rows], len(rows) // 2, axis=0)[len(rows) // 2].astype(np.float64)
    if not np.isfinite(shift).all():
        check_finite(X, names=names)
    if X.flags.f_contiguous and not X.flags.c_contiguous:
        kernel, table = class_sums_columns, X.T
    else:
        kernel, table = class_sums_rows, np.ascontiguousarray(X)

    def work(start: int, stop: int) -> tuple[NDArray[np.float64], ...]:
        sums = np.zeros(n_classes), np.zeros((n_classes, d)), np.zeros((n_classes, d)), np.zeros(d)
        kernel(table, P, shift, start, stop, *sums)
        return sums

    parts = run_chunks(work, chunks(n, _CHUNK), default_threads())
    weight, first, second, poison = (np.sum([part[j] for part in parts], axis=0) for j in range(4))
    if not (np.isfinite(first).all() and np.isfinite(second).all() and np.isfinite(poison).all()):
        check_finite(X, names=names)
        check_overflow(np.sum(first + second, axis=0), names)
    return _centred(weight, first, second, shift)


def _sparse_moments(X: Matrix, memberships: NDArray[np.float64], names: list[Any] | None) -> ClassMoments:
    shape = (memberships.shape[1], X.shape[1])
    first, second = np.zeros(shape), np.zeros(shape)
    class_sums_csr(X.data, X.indices, X.indptr, np.ascontiguousarray(memberships), 0, X.shape[0], first, second)
    check_finite(X, names=names)
    check_overflow((first + second).sum(axis=0), names)
    return _centred(memberships.sum(axis=0), first, second, np.zeros(X.shape[1]))


def _centred(
    weight: NDArray[np.float64],
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    shift: NDArray[np.float64],
) -> ClassMoments:
    safe = np.where(weight > 0, weight, 1.0)[:, None]
    offset = first / safe
    return ClassMoments(weight, shift + offset, np.maximum(second - first * offset, 0.0))
