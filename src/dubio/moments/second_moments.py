"""Second moments: the products of every pair of columns, and of every column with the target. Blocks can be merged.

A linear fit on any subset of the features is a function of these moments.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dubio.errors import InputError
from dubio.kernels.moments import centre_columns, centre_rows
from dubio.kernels.threads import chunks, default_threads, one_blas_thread, run_chunks
from dubio.moments.class_moments import provisional_centre
from dubio.problem import Problem
from dubio.table.matrix import CANCELLED, Matrix, check_finite, check_overflow, check_vanished
from dubio.target.knowledge import Supervision

Floats = NDArray[np.float64]

#: Bytes of centred rows that are multiplied at once. They stay in the cache, so that centring costs little.
_BLOCK_BYTES = 2**21
#: Products of at most so many columns are summed in chunks of rows, one thread for each; BLAS shares out wider ones.
_NARROW = 300
#: Rows of a chunk, and the largest number of chunks: each has products of its own.
_CHUNK, _MOST_CHUNKS = 16_384, 64
#: So many columns of the target are always multiplied together with the features.
_FEW_TARGETS = 16
#: Bytes that the products of all pairs of columns may take; a search needs about four times as much.
_MOST_BYTES = 2**30


@dataclass(frozen=True)
class SecondMoments:
    """Weighted sums over the labelled rows, all around the means.

    Means are stored as ``offset`` from ``origin``, a value of the column. So a column far from zero keeps its digits.
    The K columns of the target are the memberships of every class, or one number, or the columns of several targets
    (:meth:`~dubio.target.several.SeveralTargets.target_matrix`).
    """

    #: Number of labelled rows with a weight above 0: a row is one observation, whatever its weight.
    n_counted: int
    #: Sum of the weights of the labelled rows.
    weight: float
    origin: Floats
    offset: Floats
    #: (d, d): sum of the products of each two columns.
    products: Floats
    target_origin: Floats
    target_offset: Floats
    #: (d, K): sum of the products of each column and each column of the target.
    cross: Floats
    #: (K,): sum of squares of each column of the target.
    squares: Floats

    @classmethod
    def of_problem(cls, problem: Problem, *, first_row: int = 0, n_threads: int | None = None) -> SecondMoments:
        """Second moments of a problem's labelled rows; the values of all rows are checked.

        This takes one pass: products are taken around a provisional centre of each column, so that a large offset costs
        no digits. ``first_row`` is the number of the first row in the whole table, for messages.
        """
        X, names = problem.X, problem.column_names
        n_threads = default_threads() if n_threads is None else n_threads
        refuse_wide_table(problem.n_columns)
        weights = problem.supervision.labelled.astype(np.float64)
        if problem.sample_weight is not None:
            weights *= problem.sample_weight
        target = _Target(problem.supervision, weights)
        if sparse.issparse(X):
            sums = _sparse_sums(X, target)
        else:
            shift = provisional_centre(X, weights[:, None])
            if not np.isfinite(shift).all():
                check_finite(X, names=names, first_row=first_row)
            sums = _dense_sums(X, target, shift, n_threads)
        diagonal = sums.second.diagonal()
        if not (np.isfinite(sums.first).all() and np.isfinite(diagonal).all()):
            check_finite(X, names=names, first_row=first_row)
            check_overflow(np.abs(sums.first) + diagonal, names)
        check_vanished(sums.first, diagonal, names)
        moments = sums.moments(target)
        if not sparse.issparse(X) and (moments.products.diagonal() < CANCELLED * diagonal).any():
            # the provisional centre is far away, compared with the spread: sum again around the mean
            moments = _dense_sums(X, target, moments.origin + moments.offset, n_threads).moments(target)
        if not np.isfinite(moments.squares).all() or (not moments.squares.any() and target.varies):
            size = "small" if np.isfinite(moments.squares).all() else "large"
            remedy = "rescale it, for example divide it by its largest"
            raise InputError("y", f"has values too {size} to square", remedy)
        return moments

    @property
    def class_weight(self) -> Floats:
        """Total membership of each class."""
        return np.asarray(self.weight * (self.target_origin + self.target_offset))

    @property
    def bytes_per_class(self) -> int:
        """Bytes that one more class takes."""
        return 8 * len(self.origin)

    def merge(self, other: SecondMoments) -> SecondMoments:
        """Moments of both sets of rows together (exact: Chan, Golub and LeVeque's update)."""
        weight = self.weight + other.weight
        share = other.weight / weight if weight > 0 else 0.0
        delta = (other.origin - self.origin) + (other.offset - self.offset)
        target_delta = (other.target_origin - self.target_origin) + (other.target_offset - self.target_offset)
        between = self.weight * share
        return SecondMoments(
            self.n_counted + other.n_counted,
            weight,
            self.origin,
            self.offset + delta * share,
            self.products + other.products + np.outer(delta, delta * between),
            self.target_origin,
            self.target_offset + target_delta * share,
            self.cross + other.cross + np.outer(delta, target_delta * between),
            self.squares + other.squares + target_delta**2 * between,
        )

    def place(self, positions: NDArray[np.intp], n_classes: int) -> SecondMoments:
        """The same moments as classes ``positions`` of ``n_classes``; no row belongs to the other classes."""

        placed: dict[str, Any] = {}
        for name in ("target_origin", "target_offset", "cross", "squares"):
            values = getattr(self, name)
            placed[name] = np.zeros((*values.shape[:-1], n_classes))
            placed[name][..., positions] = values
        return replace(self, **placed)


def refuse_wide_table(n_features: int) -> None:
    """Raise if the products of all pairs of columns would not fit in memory."""
    if 8 * n_features**2 > _MOST_BYTES:
        most, room = int((_MOST_BYTES / 8) ** 0.5), f"{8e-9 * n_features**2:.1f} GB"
        found = f"has {n_features} columns: the products of all pairs of them take {room}"
        remedy = f"keep at most {most} columns, for example the best of FisherScore or LinearR2Score"
        raise InputError("X", f"{found}, and a search needs about four times as much", remedy, code="too many columns")


class _Target:
    """The columns of the target, the sum of the weights, and the root of the weight of every row."""

    def __init__(self, known: Supervision, weights: Floats) -> None:
        self.columns, self.weight, self.roots = known.summed_columns(weights), float(weights.sum()), np.sqrt(weights)

    @property
    def varies(self) -> bool:
        """Whether rows that count differ."""
        rows = self.columns.of(slice(None))[self.roots > 0]
        return bool((rows != rows[:1]).any())

    def rows(self, start: int, stop: int) -> Floats:
        """The columns of some rows around their mean, times the roots of the weights."""
        return np.asarray((self.columns.of(slice(start, stop)) - self.columns.mean) * self.roots[start:stop, None])


class _Sums(NamedTuple):
    """Sums over rows of ``x - shift``, of its products, and of its products with the centred target."""

    shift: Floats
    first: Floats
    second: Floats
    cross: Floats
    squares: Floats

    def moments(self, target: _Target) -> SecondMoments:
        offset = self.first / (target.weight or 1.0)
        products = self.second - np.outer(self.first, offset)
        np.fill_diagonal(products, np.maximum(products.diagonal(), 0.0))
        rows, columns = (int(np.count_nonzero(target.roots)), target.weight), target.columns
        of_columns, of_target = (self.shift, offset, products), (columns.origin, columns.mean)
        return SecondMoments(*rows, *of_columns, *of_target, self.cross, self.squares)


def _dense_sums(X: Matrix, target: _Target, shift: Floats, n_threads: int) -> _Sums:
    """All sums as the products of the columns of one buffer: centred features, the roots of the weights, the target.

    One symmetric product is faster than several. Many classes are multiplied apart: their own products are not needed.
    """
    n, d = X.shape
    n_targets = len(target.columns.mean)
    beside = n_targets if n_targets <= max(d, _FEW_TARGETS) else 0
    width = d + 1 + beside
    by_columns = X.flags.f_contiguous and not X.flags.c_contiguous
    table = X.T if by_columns else np.ascontiguousarray(X)
    fill: Callable[..., None] = centre_columns if by_columns else centre_rows
    size = int(np.clip(_BLOCK_BYTES // (8 * width), 64, max(n, 64)))

    def work(first_row: int, end: int) -> tuple[Floats, Floats, Floats]:
        with np.errstate(over="ignore", invalid="ignore"):  # in every thread
            columns = target.columns.of(slice(first_row, end)) if beside else np.zeros((end - first_row, 0))
            buffer = np.empty((width, size) if by_columns else (size, width))
            sums, product = np.zeros((width, width)), np.empty((width, width))
            cross, squares = np.zeros((d, n_targets)), np.zeros(n_targets)
            for start in range(first_row, end, size):
                stop = min(start + size, end)
                T = columns[start - first_row : stop - first_row]
                fill(table, shift, T, target.columns.mean, target.roots, start, stop, buffer)
                Z = buffer[:, : stop - start].T if by_columns else buffer[: stop - start]
                sums += np.matmul(Z.T, Z, out=product)
                if not beside:
                    goal = target.rows(start, stop)
                    cross += Z[:, :d].T @ goal
                    squares += (goal**2).sum(axis=0)
            if beside:
                cross, squares = sums[:d, d + 1 :], sums.diagonal()[d + 1 :]
            return sums[:d, : d + 1], cross, squares

    if width <= _NARROW:
        with one_blas_thread():
            parts = run_chunks(work, chunks(n, max(_CHUNK, -(-n // _MOST_CHUNKS))), n_threads)
    else:
        parts = [work(0, n)]
    sums, cross, squares = parts[0] if len(parts) == 1 else map(np.asarray, map(sum, zip(*parts, strict=True)))
    return _Sums(shift, sums[:, d], sums[:, :d], cross, squares)


def _sparse_sums(X: Matrix, target: _Target) -> _Sums:
    """The same over stored values. Only columns far from zero are centred: hardly any of their values are zero."""
    if not X.has_canonical_format:  # duplicate entries must be added up before they are squared
        X = X.copy()
        X.sum_duplicates()
    roots, T = target.roots, target.rows(0, len(target.roots))
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = sparse.csr_array(X).astype(np.float64)  # a copy
        scaled.data *= np.repeat(roots, np.diff(scaled.indptr))  # not a product of matrices: it would skip 0 * NaN
        by_column = sparse.csr_array(scaled.T)
        second = (by_column @ scaled).toarray()
        first, cross, shift = by_column @ roots, by_column @ T, np.zeros(X.shape[1])
        squares, spread = second.diagonal(), second.diagonal() - first**2 / (target.weight or 1.0)
        far = np.flatnonzero(spread < CANCELLED * squares)
        if len(far):
            columns = sparse.csr_array(X)[:, far].toarray().astype(np.float64)
            shift[far] = provisional_centre(columns, roots[:, None])
            columns = (columns - shift[far]) * roots[:, None]
            second[:, far] = by_column @ columns
            second[far] = second[:, far].T
            second[np.ix_(far, far)] = columns.T @ columns
            first[far], cross[far] = roots @ columns, columns.T @ T
        return _Sums(shift, first, second, cross, (T**2).sum(axis=0))
