"""The view of a table that alerts are found in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dubio.problem import Problem
from dubio.table.matrix import columns_of_sizes
from dubio.target.knowledge import Supervision

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

#: Cells that are looked at, at most, but never fewer than this number of rows.
_MOST_CELLS, _FEWEST_ROWS = 2_000_000, 500


@dataclass(frozen=True, eq=False)
class View:
    """Rows of a table as float64 (NaN: missing), and what is known of their target.

    Attributes
    ----------
    X : array (n_rows, n_columns)
    feature_of : array (n_columns,)
        The feature of each column.
    roles : array (n_columns,) of str
        What each column holds: see :mod:`dubio.table.matrix`.
    names : array (n_features,)
    supervision : Supervision
    texts : dict of int to array (n_rows,)
        Features of text that was left out, because it has too many different values: a number for each of these, -1 for
        a missing cell.
    rows : array (n_rows,)
        The place of each row in the table, increasing.
    whole : array (n_all, n_columns)
        All rows of the table.
    own_names : list or None
        The names in the table itself; None for an array, whose columns are counted.
    levels : dict of int to tuple of str
        The names of the categories of features.
    """

    X: Floats
    feature_of: Rows
    roles: NDArray[np.str_]
    names: NDArray[Any]
    supervision: Supervision
    texts: dict[int, Rows]
    rows: Rows
    whole: NDArray[Any]
    own_names: list[Any] | None
    levels: dict[int, tuple[str, ...]]

    @property
    def n_features(self) -> int:
        return len(self.names)

    @cached_property
    def numbers(self) -> Rows:
        """The columns of features that are one column of numbers (besides whether a cell is missing)."""
        count = np.bincount(self.feature_of[self.roles != "missing"], minlength=self.n_features)
        return np.flatnonzero((self.roles == "value") & (count[self.feature_of] == 1))

    @cached_property
    def with_levels(self) -> list[int]:
        """The features whose values are several columns of 0 and 1."""
        levels = np.bincount(self.feature_of[self.roles == "level"], minlength=self.n_features)
        return np.flatnonzero(levels > 1).tolist()

    def values_of(self, feature: int) -> Floats:
        """A number for each value of a feature: of numbers, categories or text; NaN if the cell is missing."""
        if feature in self.texts:
            codes = self.texts[feature]
            return np.where(codes < 0, np.nan, codes.astype(np.float64))
        if feature in self.with_levels:
            columns = np.flatnonzero((self.feature_of == feature) & (self.roles == "level"))
            return np.asarray(self.X[:, columns] @ np.arange(1.0, len(columns) + 1))
        return self.X[:, np.flatnonzero((self.feature_of == feature) & (self.roles != "missing"))[0]]

    def named(self, features: Sequence[int] | NDArray[Any]) -> tuple[str, ...]:
        """The names of some features."""
        return tuple(str(self.names[int(j)]) for j in features)


def view_of(problem: Problem) -> View | None:
    """The rows of a problem that the alerts look at; None for a sparse table."""
    if sparse.issparse(problem.X):
        return None
    n_rows, n_columns = problem.X.shape
    most = max(_FEWEST_ROWS, _MOST_CELLS // max(1, n_columns))
    rows, X, supervision = blocks_of_rows(n_rows, most), problem.X, problem.supervision
    if n_rows > most:
        X, supervision = X[rows], supervision.rows(rows)
    columns = columns_of_sizes([1] * n_columns) if problem.columns is None else problem.columns
    texts, levels = {}, {}
    for feature in range(columns.n_features):
        reading = columns.reading_of(feature)
        if reading is not None and reading.kind == "category":
            levels[feature] = reading.levels
        if reading is not None and reading.codes is not None and len(reading.codes) == n_rows:
            texts[feature] = reading.codes[rows]
    own, names, cells = (columns.feature_of, columns.roles), problem.feature_names, np.asarray(X, dtype=np.float64)
    return View(cells, *own, names, supervision, texts, rows, problem.X, problem.names, levels)


def standard_columns(X: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """The columns that vary, with mean 0 and standard deviation 1; and which ones do."""
    largest = np.abs(X).max(axis=0, initial=0.0)
    X = X / np.where(largest > 0, largest, 1.0)  # squares of very large numbers are infinite
    spread = X.std(axis=0)
    return (X[:, spread > 0] - X[:, spread > 0].mean(axis=0)) / spread[spread > 0], spread > 0


#: Rows that stay neighbours when only some rows are looked at.
_BLOCK = 200


def blocks_of_rows(n_rows: int, most: int) -> Rows:
    """Blocks of neighbouring rows, spread evenly over the table; all rows if these are not more than ``most``."""
    if n_rows <= most:
        return np.arange(n_rows)
    starts = np.linspace(0, n_rows - _BLOCK, max(1, most // _BLOCK)).astype(np.int64)
    return np.unique(starts[:, None] + np.arange(_BLOCK))
