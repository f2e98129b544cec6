"""Second moments: the products of every pair of columns, and of every column with the target. Blocks can be merged.

A linear fit on any subset of the features is a function of these moments.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dubio._kernels.centred import centre_columns, centre_rows
from dubio._kernels.threads import chunks
from dubio.errors import InputError
from dubio.moments.class_moments import provisional_centre
from dubio.problem import Problem
from dubio.supervision import Numbers, OfClasses
from dubio.tables.matrix import CANCELLED, Matrix, check_finite, check_overflow

Floats = NDArray[np.float64]

#: Bytes of centred rows that are multiplied at once. They stay in the cache, so that centring costs little.
_BLOCK_BYTES = 2**21
#: Bytes that the products of all pairs of columns may take; a search needs about four times as much.
_MOST_BYTES = 2**30


@dataclass(frozen=True)
class SecondMoments:
    """Weighted sums over the labelled rows, all around the means.

    Means are stored as ``offset`` from ``origin``, a value of the column. So a column far from zero keeps its digits.

    Attributes
    ----------
    weight : float
        Sum of the weights of the labelled rows.
    origin, offset : array (d,)
        Their sum is the mean of each column.
    products : array (d, d)
        Sum of the products of each two columns.
    target_origin, target_offset : array (K,)
        Their sum is the mean of each column of the target: a membership of every class, or one number.
    cross : array (d, K)
        Sum of the products of each column and each column of the target.
    squares : array (K,)
        Sum of squares of each column of the target.
    """

    weight: float
    origin: Floats
    offset: Floats
    products: Floats
    target_origin: Floats
    target_offset: Floats
    cross: Floats
    squares: Floats

    @classmethod
    def of_problem(cls, problem: Problem, *, first_row: int = 0, n_threads: int | None = None) -> SecondMoments:
        """Moments of the labelled rows of a problem. BLAS chooses its own threads, so ``n_threads`` is not used."""
        return problem_second_moments(problem, first_row=first_row)

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

        def placed(values: Floats) -> Floats:
            wide = np.zeros((*values.shape[:-1], n_classes))
            wide[..., positions] = values
            return wide

        return replace(
            self,
            target_origin=placed(self.target_origin),
            target_offset=placed(self.target_offset),
            cross=placed(self.cross),
            squares=placed(self.squares),
        )


def problem_second_moments(problem: Problem, *, first_row: int = 0) -> SecondMoments:
    """Second moments of a problem's labelled rows; the values of all rows are checked.

    This takes one pass: products are taken around a provisional centre of each column, so that a large offset costs no
    digits. ``first_row`` is the number of the first row in the whole table, for messages.
    """
    X, names = problem.X, problem.names
    refuse_wide_table(problem.n_features)
    weights = problem.supervision.labelled.astype(np.float64)
    if problem.sample_weight is not None:
        weights *= problem.sample_weight
    target = _Target.of(problem, weights)
    if sparse.issparse(X):
        sums = _sparse_sums(X, target)
    else:
        shift = provisional_centre(X, weights[:, None])
        if not np.isfinite(shift).all():
            check_finite(X, names=names, first_row=first_row)
        sums = _dense_sums(X, target, shift)
    if not (np.isfinite(sums.first).all() and np.isfinite(sums.second.diagonal()).all()):
        check_finite(X, names=names, first_row=first_row)
        check_overflow(sums.first + sums.second.diagonal(), names)
    moments = sums.moments(target)
    if not sparse.issparse(X) and (moments.products.diagonal() < CANCELLED * sums.second.diagonal()).any():
        # the provisional centre is far away, compared with the spread: sum again around the mean
        sums = _dense_sums(X, target, moments.origin + moments.offset)
        moments = sums.moments(target)
    if not np.isfinite(moments.squares).all():
        raise InputError("y", "has values too large to square", "rescale it, for example divide it by its largest")
    return moments


def refuse_wide_table(n_features: int) -> None:
    """Raise if the products of all pairs of columns would not fit in memory."""
    if 8 * n_features**2 > _MOST_BYTES:
        most = int((_MOST_BYTES / 8) ** 0.5)
        raise InputError(
            "X",
            f"has {n_features} columns: the products of all pairs of them take {8e-9 * n_features**2:.1f} GB, and a "
            "search needs about four times as much",
            f"keep at most {most} columns, for example the best of FisherScore or LinearR2Score",
            code="too many columns",
        )


@dataclass(frozen=True)
class _Target:
    """The columns of the target: around the origin, with their mean; and the root of the weight of every row."""

    columns: Floats
    origin: Floats
    mean: Floats
    weight: float
    roots: Floats

    @classmethod
    def of(cls, problem: Problem, weights: Floats) -> _Target:
        known = problem.supervision
        if isinstance(known, Numbers):
            first = int(np.argmax(weights > 0))
            origin = known.values[first : first + 1] if weights[first] > 0 else np.zeros(1)
            columns = np.where(known.labelled, known.values - origin, 0.0)[:, None]
        else:
            assert isinstance(known, OfClasses)
            columns, origin = known.memberships, np.zeros(known.n_classes)
        weight = float(weights.sum())
        mean = np.asarray(weights @ columns) / weight if weight > 0 else np.zeros(len(origin))
        return cls(columns, origin, mean, weight, np.sqrt(weights))

    def rows(self, start: int, stop: int) -> Floats:
        """Some rows around the mean, times the roots of their weights."""
        return np.asarray((self.columns[start:stop] - self.mean) * self.roots[start:stop, None])


@dataclass(frozen=True)
class _Sums:
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
        return SecondMoments(
            target.weight, self.shift, offset, products, target.origin, target.mean, self.cross, self.squares
        )


def _dense_sums(X: Matrix, target: _Target, shift: Floats) -> _Sums:
    n, d = X.shape
    by_columns = X.flags.f_contiguous and not X.flags.c_contiguous
    table = X.T if by_columns else np.ascontiguousarray(X)
    size = int(np.clip(_BLOCK_BYTES // (8 * d), 64, max(n, 64)))
    buffer = np.empty((d, size) if by_columns else (size, d))
    fill: Callable[..., None] = centre_columns if by_columns else centre_rows
    n_targets = len(target.mean)
    first, second, cross, squares = np.zeros(d), np.zeros((d, d)), np.zeros((d, n_targets)), np.zeros(n_targets)
    product = np.empty((d, d))
    with np.errstate(over="ignore", invalid="ignore"):
        for start, stop in chunks(n, size):
            fill(table, shift, target.roots, start, stop, buffer)
            Z = buffer[:, : stop - start].T if by_columns else buffer[: stop - start]
            T = target.rows(start, stop)
            second += np.matmul(Z.T, Z, out=product)
            first += target.roots[start:stop] @ Z
            cross += Z.T @ T
            squares += (T**2).sum(axis=0)
    return _Sums(shift, first, second, cross, squares)


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
