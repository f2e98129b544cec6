"""Alerts, and the view of a table that they are found in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dubio.errors import listed, quoted
from dubio.problem import Problem
from dubio.table.columns import ColumnReading
from dubio.target.knowledge import Supervision

Kind = Literal[
    "copy",
    "separates",
    "visits",
    "repeated rows",
    "identifier",
    "constant",
    "alike",
    "text",
    "rating",
    "lonely class",
    "sentinel",
]


@dataclass(frozen=True)
class Alert:
    """Something in the table that may make the answer wrong.

    Attributes
    ----------
    kind : str
        A short name: "copy", "separates", "visits", "repeated rows", "identifier", "constant", "text", "alike",
        "rating", "lonely class" or "sentinel".
    features : tuple of str
        The features it is about; empty if it is about rows or the target.
    sentence : str
        What was found.
    remedy : str
        What to do.
    left_out : str
        Why the features cannot be used, in a few words; empty if they can.
    asks_nothing : bool
        Whether nothing is to be done: to leave the features out is what anybody would do.
    """

    kind: Kind
    features: tuple[str, ...]
    sentence: str
    remedy: str
    left_out: str = ""
    asks_nothing: bool = False

    def __str__(self) -> str:
        return f"{self.sentence}: {self.remedy}."

    def record(self, remedy: str | None = None) -> dict[str, Any]:
        """The alert as a plain dictionary; a front end may give its own remedy."""
        return {
            "kind": self.kind,
            "features": list(self.features),
            "sentence": self.sentence,
            "remedy": self.remedy if remedy is None else remedy,
        }


#: Most cells that are looked at, and fewest rows.
_MOST_CELLS, _FEWEST_ROWS = 2_000_000, 500
#: Most names in one sentence.
_SHOWN = 5


@dataclass(frozen=True, eq=False)
class View:
    """Rows of a table as float64 (NaN: missing), and what is known of their target.

    Attributes
    ----------
    X : array (n_rows, n_columns)
    feature_of : array (n_columns,)
        The feature of each column.
    roles : array (n_columns,) of str
        What each column holds: see :mod:`dubio.table.columns`.
    names : array (n_features,)
    supervision : Supervision
    texts : dict of int to array (n_rows,)
        Features of text that was left out, because it has too many different values: a number for each of these, -1 for
        a missing cell.
    problems : dict of int to str
        Of such text that looks like numbers or dates: why it could not be read.
    rows : array (n_rows,)
        The place of each row in the table, increasing.
    whole : array (n_rows_in_all, n_columns)
        All rows of the table.
    own_names : list or None
        The names in the table itself; None for an array, whose columns are counted.
    """

    X: NDArray[np.float64]
    feature_of: NDArray[np.int64]
    roles: NDArray[np.str_]
    names: NDArray[Any]
    supervision: Supervision
    texts: dict[int, NDArray[np.int64]]
    problems: dict[int, str]
    rows: NDArray[np.int64]
    whole: NDArray[Any]
    own_names: list[Any] | None

    @property
    def n_rows_in_all(self) -> int:
        return len(self.whole)

    @property
    def n_features(self) -> int:
        return len(self.names)

    def numbers(self) -> NDArray[np.int64]:
        """The columns of features that are one column of numbers (besides whether a cell is missing)."""
        count = np.bincount(self.feature_of[self.roles != "missing"], minlength=self.n_features)
        return np.flatnonzero((self.roles == "value") & (count[self.feature_of] == 1))

    def with_levels(self) -> NDArray[np.int64]:
        """The features whose values are several columns of 0 and 1."""
        levels = np.bincount(self.feature_of[self.roles == "level"], minlength=self.n_features)
        return np.flatnonzero(levels > 1)

    def codes_of(self, feature: int) -> NDArray[np.float64]:
        """A number for each category of a feature; NaN if the cell is missing."""
        columns = np.flatnonzero((self.feature_of == feature) & (self.roles == "level"))
        return np.asarray(self.X[:, columns] @ np.arange(1.0, len(columns) + 1))

    def values_of(self, feature: int) -> NDArray[np.float64]:
        """A number for each value of a feature: of numbers, categories or text; NaN if the cell is missing."""
        if feature in self.texts:
            codes = self.texts[feature]
            return np.where(codes < 0, np.nan, codes.astype(np.float64))
        if feature in self.with_levels():
            return self.codes_of(feature)
        return self.X[:, np.flatnonzero((self.feature_of == feature) & (self.roles != "missing"))[0]]

    def called(self, features: Sequence[int] | NDArray[Any], most: int = _SHOWN) -> str:
        """Features in a sentence: ``'a'``, ``'a', 'b' and 3 more``."""
        return listed((quoted(self.names[int(j)]) for j in features), most)

    def in_python(self, feature: int) -> str:
        """A column in the caller's own table: ``X['a']``, or ``X[:, 0]`` of an array."""
        if self.own_names is None:
            return f"X[:, {feature}]"
        name = self.own_names[feature]
        return f"X[{name.item() if isinstance(name, np.generic) else name!r}]"

    def named(self, features: Sequence[int] | NDArray[Any]) -> tuple[str, ...]:
        """The names of some features."""
        return tuple(str(self.names[int(j)]) for j in features)


def view_of(problem: Problem) -> View | None:
    """The rows of a problem that the alerts look at; None for a sparse table."""
    if sparse.issparse(problem.X):
        return None
    n_rows, n_columns = problem.X.shape
    most = max(_FEWEST_ROWS, _MOST_CELLS // max(1, n_columns))
    rows = np.arange(n_rows)
    supervision = problem.supervision
    X = problem.X
    if n_rows > most:
        rows = _blocks(n_rows, most)
        X, supervision = X[rows], supervision.rows(rows)
    columns = problem.columns
    texts = _left_out_texts(problem)
    feature_of = np.arange(n_columns) if columns is None else columns.feature_of
    roles = np.full(n_columns, "value", dtype="<U7") if columns is None else columns.roles
    return View(
        np.asarray(X, dtype=np.float64),
        feature_of,
        roles,
        problem.feature_names,
        supervision,
        {feature: reading.codes[rows] for feature, reading in texts.items() if reading.codes is not None},
        {feature: reading.problem for feature, reading in texts.items() if reading.problem},
        rows,
        problem.X,
        problem.names,
    )


def _left_out_texts(problem: Problem) -> dict[int, ColumnReading]:
    """What was read of each feature of text that was left out."""
    readings = {}
    for feature in range(problem.n_features if problem.columns is not None else 0):
        assert problem.columns is not None
        reading = problem.columns.reading_of(feature)
        if reading is not None and reading.codes is not None and len(reading.codes) == problem.n_rows:
            readings[feature] = reading
    return readings


#: Rows that stay neighbours when only some rows are looked at.
_BLOCK = 200


def _blocks(n_rows: int, most: int) -> NDArray[np.int64]:
    """Blocks of neighbouring rows, spread evenly over the table."""
    starts = np.linspace(0, n_rows - _BLOCK, max(1, most // _BLOCK)).astype(np.int64)
    return np.unique(starts[:, None] + np.arange(_BLOCK))
