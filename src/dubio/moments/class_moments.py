"""Class moments: weight, mean and spread of each class on each feature. Moments of blocks can be merged.

Weighted Laplacian, Fisher and closed-form constraint scores are all functions of these moments.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dubio.kernels.moments import class_sums_columns, class_sums_csr, class_sums_csr_centred, class_sums_rows
from dubio.kernels.threads import chunks, default_threads, run_chunks
from dubio.problem import Problem
from dubio.table.matrix import CANCELLED, Matrix, check_finite, check_overflow, check_vanished

Floats = NDArray[np.float64]

#: Rows summed by one kernel call: enough to keep threads busy, and fixed, so that sums do not depend on the threads.
_CHUNK = 65_536
#: Number of rows used to find a provisional centre of each column.
_CENTRE_ROWS = 256
#: A cache line, 64 bytes, holds both sums of so many classes. The sums of a column begin with a new line.
_CLASSES_IN_A_LINE = 4
#: Number of pieces of a sparse table that are summed separately, each with its own sums.
_SPARSE_PIECES = 16


@dataclass(frozen=True)
class ClassMoments:
    """Weight (K,), mean (K, d) and sum of squared deviations (K, d) of every feature within every class.

    Means are stored as ``offset`` from ``origin`` (d,), a value of the column. So a column far from zero keeps the
    digits that distinguish its classes.
    """

    weight: Floats
    origin: Floats
    offset: Floats
    m2: Floats

    @classmethod
    def of_problem(cls, problem: Problem, *, first_row: int = 0, n_threads: int | None = None) -> ClassMoments:
        """Class moments of a problem's rows; unlabelled rows have zero memberships and do not count."""
        P = problem.supervision.memberships
        P = P if problem.sample_weight is None else P * problem.sample_weight[:, None]
        return class_moments(problem.X, P, problem.column_names, first_row=first_row, n_threads=n_threads)

    @property
    def mean(self) -> Floats:
        return np.asarray(self.origin + self.offset)

    @property
    def class_weight(self) -> Floats:
        """Total membership of each class."""
        return self.weight

    @property
    def bytes_per_class(self) -> int:
        """Bytes that one more class takes."""
        return 16 * len(self.origin)

    @property
    def total_weight(self) -> float:
        return float(self.weight.sum())

    @property
    def between(self) -> Floats:
        """Weighted squared distance of the class means from the overall mean, per feature."""
        # Relative to one of the class means, so that a constant column has differences of exactly zero.
        offset = self.offset - self.offset[np.argmax(self.weight)]
        offset[self.weight == 0] = 0.0
        return np.asarray(self.weight @ (offset - self.weight @ offset / self.total_weight) ** 2)

    @property
    def within(self) -> Floats:
        """Sum of squared deviations from the class means, per feature."""
        return np.asarray(self.m2.sum(axis=0))

    def merge(self, other: ClassMoments) -> ClassMoments:
        """Moments of both sets of rows together (exact: Chan, Golub and LeVeque's update)."""
        weight = self.weight + other.weight
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)[:, None]
        delta = (other.origin - self.origin) + (other.offset - self.offset)
        m2 = self.m2 + other.m2 + delta**2 * (self.weight[:, None] * share)
        return ClassMoments(weight, self.origin, self.offset + delta * share, m2)

    def place(self, positions: NDArray[np.intp], n_classes: int) -> ClassMoments:
        """The same moments as classes ``positions`` of ``n_classes``; the other classes are empty."""
        weight = np.zeros(n_classes)
        offset, m2 = np.zeros((n_classes, len(self.origin))), np.zeros((n_classes, len(self.origin)))
        weight[positions], offset[positions], m2[positions] = self.weight, self.offset, self.m2
        return ClassMoments(weight, self.origin, offset, m2)


def side_by_side(parts: list[ClassMoments]) -> ClassMoments:
    """Moments of all features, from parts that each hold some of the features of the same rows."""
    origin = np.concatenate([part.origin for part in parts])
    offset = np.concatenate([part.offset for part in parts], axis=1)
    return ClassMoments(parts[0].weight, origin, offset, np.concatenate([part.m2 for part in parts], axis=1))


def class_moments(
    X: Matrix, memberships: Floats, names: list[Any] | None = None, *, first_row: int = 0, n_threads: int | None = None
) -> ClassMoments:
    """Moments of the columns of ``X`` with the weights ``memberships`` (n, K); rows of zeros do not count.

    This takes one pass: sums are taken around a provisional centre of each column, so that a large offset costs no
    digits. ``first_row`` is the number of the first row in the whole table, for messages.
    """
    n_threads = default_threads() if n_threads is None else n_threads
    P = np.ascontiguousarray(memberships)
    if sparse.issparse(X):
        return _sparse_moments(X, P, names, first_row, n_threads)
    n, d = X.shape
    n_classes = P.shape[1]
    shift = provisional_centre(X, P)
    if not np.isfinite(shift).all():
        check_finite(X, names=names, first_row=first_row)
    if X.flags.f_contiguous and not X.flags.c_contiguous:
        kernel, table = class_sums_columns, X.T
    else:
        kernel, table = class_sums_rows, np.ascontiguousarray(X)

    def work(start: int, stop: int) -> tuple[Floats, ...]:
        sums = np.zeros(n_classes), np.zeros((n_classes, d)), np.zeros((n_classes, d)), np.zeros(d)
        kernel(table, P, shift, start, stop, *sums)
        return sums

    parts = run_chunks(work, chunks(n, _CHUNK), n_threads)
    weight, first, second, poison = (np.sum([part[j] for part in parts], axis=0) for j in range(4))
    if not (np.isfinite(first).all() and np.isfinite(second).all() and np.isfinite(poison).all()):
        check_finite(X, names=names, first_row=first_row)
        check_overflow(np.sum(np.abs(first) + second, axis=0), names)
    moments, cancelled = centred_moments(weight, first, second, shift, names)
    return recentred(moments, X[:, cancelled], P, cancelled) if len(cancelled) else moments


def provisional_centre(X: NDArray[Any], memberships: Floats) -> Floats:
    """A value near the middle of each column: the median of some rows that count, spread over the whole table.

    In a constant column it is the constant itself.
    """
    return middle(X[rows_that_count(memberships, _CENTRE_ROWS)])


def rows_that_count(memberships: Floats, most: int) -> NDArray[np.intp]:
    """At most ``most`` rows with a membership, spread over the whole table; the first row if no row has one."""
    n = len(memberships)
    some = min(n, most)
    rows = np.arange(some) * (n - 1) // max(some - 1, 1)
    rows = rows[memberships[rows].any(axis=1)]
    if len(rows) == 0:
        rows = np.flatnonzero(memberships.any(axis=1))[:most]
    return rows if len(rows) else np.zeros(1, dtype=np.intp)


def middle(some: NDArray[Any]) -> Floats:
    """The upper median of each column."""
    return np.asarray(np.partition(some, len(some) // 2, axis=0)[len(some) // 2], dtype=np.float64)


def centred_moments(
    weight: Floats, first: Floats, second: Floats, shift: Floats, names: list[Any] | None
) -> tuple[ClassMoments, NDArray[np.intp]]:
    """Moments from the sums (K, d) of ``x - shift`` and its square, and the columns that lost digits.

    The spread of these within classes is very small compared with the squares it comes from.
    """
    check_vanished(np.abs(first).sum(axis=0), second.sum(axis=0), names)
    offset = first / np.where(weight > 0, weight, 1.0)[:, None]
    moments = ClassMoments(weight, shift, offset, np.maximum(second - first * offset, 0.0))
    lost = moments.within < CANCELLED * second.sum(axis=0)
    return moments, np.flatnonzero(lost | (weight @ moments.m2 < CANCELLED * (weight @ second)))


def _sparse_moments(X: Matrix, P: Floats, names: list[Any] | None, first_row: int, n_threads: int) -> ClassMoments:
    if not X.has_canonical_format:  # duplicate entries must be added up before they are squared
        X = X.copy()
        X.sum_duplicates()
    d, n_classes = X.shape[1], P.shape[1]
    if n_classes == 0:
        return ClassMoments(np.zeros(0), np.zeros(d), np.zeros((0, d)), np.zeros((0, d)))
    room = (d, -(-n_classes // _CLASSES_IN_A_LINE) * _CLASSES_IN_A_LINE, 2)

    def work(start: int, stop: int) -> tuple[Floats, float]:
        sums = np.zeros(room)
        return sums, class_sums_csr(X.data, X.indices, X.indptr, P, start, stop, sums)

    # ranges of rows with about equally many stored values: many per sum, because every piece has its own sums
    stored = int(X.indptr[-1])
    pieces = 1 << (max(1, stored // (16 * math.prod(room))).bit_length() - 1)  # so that threads share them evenly
    cuts = np.searchsorted(X.indptr, np.linspace(0, stored, min(pieces, _SPARSE_PIECES) + 1)[1:-1])
    edges = np.unique(np.concatenate([[0], cuts, [X.shape[0]]])).tolist()
    (sums, poison), *parts = run_chunks(work, pairwise(edges), n_threads)
    for more, more_poison in parts:
        sums += more
        poison += more_poison
    first, second = sums.transpose(2, 1, 0)[:, :n_classes]
    if not np.isfinite(sums.sum() + poison):
        check_finite(X, names=names, first_row=first_row)
        check_overflow((np.abs(first) + second).sum(axis=0), names)
    moments, cancelled = centred_moments(P.sum(axis=0), first, second, np.zeros(d), names)
    return _sparse_recentred(moments, X, P, cancelled) if len(cancelled) else moments


def _sparse_recentred(moments: ClassMoments, X: Matrix, P: Floats, columns: Any) -> ClassMoments:
    """:func:`recentred` for a CSR table, over stored values; values that are not stored are zero."""
    n_classes = P.shape[1]
    slot = np.full(X.shape[1], -1, dtype=np.int64)
    slot[columns] = np.arange(len(columns))
    centre = np.full((len(columns), n_classes), np.nan)
    sums = np.zeros((len(columns), 3, n_classes))
    stored = np.zeros((len(columns), n_classes), dtype=np.int64)
    class_sums_csr_centred(X.data, X.indices, X.indptr, P, slot, centre, sums, stored)
    centre[np.isnan(centre)] = 0.0
    weight = moments.weight
    # The weight at zero; exactly none if every row of a class is stored.
    zeros = np.where(stored < np.count_nonzero(P, axis=0), np.maximum(weight - sums[:, 2], 0.0), 0.0)
    mean = sums[:, 0] / np.where(sums[:, 2] > 0, sums[:, 2], 1.0)
    to_zero = -centre - mean
    whole = np.where(weight > 0, weight, 1.0)
    m2 = np.maximum(sums[:, 1] - sums[:, 0] * mean, 0.0) + to_zero**2 * sums[:, 2] * zeros / whole
    return _replace_columns(moments, columns, centre.T, (mean + to_zero * zeros / whole).T, m2.T)


def recentred(moments: ClassMoments, X: NDArray[Any], P: Floats, columns: Any) -> ClassMoments:
    """Moments in which some columns (given as ``X``) are summed again, around a value from each class itself.

    If classes are far from the common centre compared with their own spread, squares around it lose digits.
    """
    centre = X[np.argmax(P, axis=0)].astype(np.float64)
    offset, m2 = np.zeros_like(centre), np.zeros_like(centre)
    for k in np.flatnonzero(moments.weight > 0):
        rows = np.flatnonzero(P[:, k])
        z, p = X[rows] - centre[k], P[rows, k]
        offset[k] = p @ z / moments.weight[k]
        m2[k] = p @ (z - offset[k]) ** 2
    return _replace_columns(moments, columns, centre, offset, m2)


def _replace_columns(moments: ClassMoments, columns: Any, centre: Floats, offset: Floats, m2: Floats) -> ClassMoments:
    """``moments`` with some columns replaced; their offsets are relative to a ``centre`` (K, columns) of each class."""
    new_origin = centre[np.argmax(moments.weight)]
    origin, offsets, squares = moments.origin.copy(), moments.offset.copy(), moments.m2.copy()
    origin[columns], offsets[:, columns], squares[:, columns] = new_origin, (centre - new_origin) + offset, m2
    offsets[moments.weight == 0] = 0.0
    return ClassMoments(moments.weight, origin, offsets, squares)
