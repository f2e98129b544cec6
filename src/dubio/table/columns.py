"""Names of columns, and which columns of the matrix are one feature."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputError, InputTypeError, counted, has_row_names, listed, quoted
from dubio.table.cells import is_valid_text
from dubio.words import Note


def column_names(X: Any, *, name: str = "X") -> list[Any] | None:
    """Column names of a data frame (pandas, polars, ...), None for anything else; raises if a name occurs twice."""
    columns = getattr(X, "columns", None)
    if columns is None or not hasattr(X, "dtypes"):
        return None
    names = list(columns)
    require_distinct(names, name)
    return names


def require_distinct(names: list[Any], name: str = "X") -> None:
    """Raise if a column name occurs twice, or cannot be written: half of a pair of UTF-16, for example."""
    if len(set(names)) < len(names):
        twins = [f"{column!r} ({count} columns)" for column, count in Counter(names).items() if count > 1]
        raise InputError(name, f"has columns with the same name: {listed(twins)}", "rename or drop them")
    for column in names:
        if isinstance(column, str) and not is_valid_text(column):
            raise InputError(name, f"has a column named {quoted(column)}, which is no valid text", "rename it")


def refuse_mixed_names(X: Any) -> None:
    """Raise if only some of the column names are text."""
    names = column_names(X) or []
    if 0 < sum(isinstance(name, str) for name in names) < len(names):
        kinds = sorted({type(name).__name__ for name in names})
        raise InputTypeError(
            "X",
            f"has column names of different types ({', '.join(kinds)})",
            "make all of them text: X.columns = X.columns.astype(str)",
        )


def some_columns(X: Any, positions: Any) -> Any:
    """Some columns of a data frame, an array or a sparse matrix, by their positions; a single one as a column."""
    return X.iloc[:, positions] if hasattr(X, "iloc") else X[:, positions]


def array_of_names(names: list[Any]) -> NDArray[Any]:
    """Names as an array with one entry per name: a name may be a tuple."""
    return np.fromiter(names, dtype=object, count=len(names))


def name_column(names: list[Any] | None, index: int) -> str:
    """A column in a message: its name and, in Python, its position."""
    if names is None:
        return f"column {index}"
    name = f"column {quoted(names[index])}" if isinstance(names[index], str) else f"column {names[index]!r}"
    return name if has_row_names() else f"{name} (position {index})"


def pick_columns(wanted: Any, names: list[Any] | None, n_features: int, argument: str) -> NDArray[np.int64]:
    """Positions of the ``wanted`` columns, given as None (all), a mask, positions or names."""
    if wanted is None:
        return np.arange(n_features)
    columns = np.asarray(wanted)
    if columns.ndim != 1:
        raise InputError(argument, f"has {columns.ndim} dimensions", "give a list of columns or a mask")
    if columns.dtype.kind == "b":
        if len(columns) != n_features:
            raise InputError(argument, f"is a mask of {len(columns)} columns, but the table has {n_features}")
        return np.flatnonzero(columns)
    if columns.dtype.kind in "iu" or len(columns) == 0:
        outside = [int(j) for j in columns if not 0 <= j < n_features]
        if outside:
            raise InputError(argument, f"holds {outside[0]}, but the table has columns 0 to {n_features - 1}")
        positions = columns.astype(np.int64)
    else:
        unknown = [str(name) for name in columns.tolist() if names is None or name not in names]
        if names is None or unknown:
            why = "the table has no column names" if names is None else f"the table has no column {unknown[0]!r}"
            raise InputError(argument, f"names {counted(len(columns), 'column')}, but {why}")
        positions = np.array([names.index(name) for name in columns.tolist()], dtype=np.int64)
    if len(np.unique(positions)) < len(positions):
        raise InputError(argument, "holds a column more than once")
    return positions


#: What a column of the matrix holds. "value": numbers; "level": one category, as 0 and 1; "season": a further column of
#: a date; "missing": whether the cell was missing.
Role = Literal["value", "level", "season", "missing"]
#: What a column of the table holds. "text" is left out; "group": several columns that the user put together.
Kind = Literal["number", "yes/no", "category", "ordered", "date", "time", "text", "empty", "group"]


@dataclass(frozen=True)
class ColumnReading:
    """The content of one column of the table, and what was done with it.

    Attributes
    ----------
    name : object
        The name of the column; its position if the table has no names.
    kind : str
        What it holds.
    unit : str
        The unit that all its numbers had.
    levels : tuple of str
        The categories, in the order of their codes.
    n_missing, n_limits : int
        Number of missing cells, and of cells such as "<0.1" that were taken at the limit.
    decimal : str
        A comma if its numbers were text with decimal commas.
    first : str
        Of dates: the first one, from which days are counted.
    notes : tuple of Note
        What the user should know.
    problem : str
        Of text that is left out although it looks like numbers or dates: why it could not be read.
    codes : array (n_rows,) or None
        Of text that is left out: a number for each different text, -1 for a missing cell. The text may still say which
        rows belong together.
    """

    name: Any
    kind: Kind = "number"
    unit: str = ""
    levels: tuple[str, ...] = ()
    n_missing: int = 0
    n_limits: int = 0
    decimal: str = ""
    first: str = ""
    notes: tuple[Note, ...] = ()
    problem: str = ""
    codes: NDArray[np.int64] | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of the matrix by feature. The columns of one feature are side by side.

    Attributes
    ----------
    feature_of : int64 array (n_columns,)
        The feature of each column of the matrix: 0, ..., in order.
    roles : array (n_columns,) of str
        What each column holds.
    leads : bool array (n_columns,)
        The first column of each column of the table.
    read : tuple of ColumnReading
        What was done with each column of the table.
    inputs : tuple of int tuples
        For each feature, the positions of its columns in the table.
    input_names : list or None
        The names of the columns of the table.
    """

    feature_of: NDArray[np.int64]
    roles: NDArray[np.str_]
    leads: NDArray[np.bool_]
    read: tuple[ColumnReading, ...] = ()
    inputs: tuple[tuple[int, ...], ...] = ()
    input_names: list[Any] | None = None

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """The first column of each feature."""
        return np.flatnonzero(np.diff(self.feature_of, prepend=-1))

    @property
    def n_features(self) -> int:
        return len(self.starts)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of columns of each feature."""
        return np.diff(self.starts, append=len(self.feature_of))

    @property
    def is_plain(self) -> bool:
        """Whether every feature is one column."""
        return len(self.starts) == len(self.feature_of)

    def of(self, feature: int) -> NDArray[np.int64]:
        """The columns of one feature."""
        return self.of_all([feature])

    def of_all(self, features: Sequence[int] | NDArray[Any]) -> NDArray[np.int64]:
        """The columns of some features, feature by feature."""
        features = np.asarray(features, dtype=np.int64)
        sizes = self.sizes[features]
        return np.arange(sizes.sum()) + np.repeat(self.starts[features] - np.cumsum(sizes) + sizes, sizes)

    def only(self, features: NDArray[Any]) -> Columns:
        """The columns of some features, numbered again."""
        columns = self.of_all(features)
        counts = self.sizes[features]
        return replace(
            self,
            feature_of=np.repeat(np.arange(len(counts)), counts),
            roles=self.roles[columns],
            leads=self.leads[columns],
            inputs=tuple(self.inputs[int(f)] for f in features) if self.inputs else (),
        )

    def level_blocks(self) -> list[tuple[int, int]]:
        """First column, and the one after the last, of each column of categories."""
        levels = self.roles == "level"
        inner = np.append(levels & ~self.leads, False)
        starts = np.flatnonzero(levels & self.leads).tolist()
        return [(start, start + 1 + int(np.argmin(inner[start + 1 :]))) for start in starts]

    def reading_of(self, feature: int) -> ColumnReading | None:
        """The reading of the table's column of a feature; None if the feature has several, or there is none."""
        inputs = self.inputs[feature] if self.inputs else ()
        return self.read[inputs[0]] if len(inputs) == 1 and self.read else None


def feature_sums(values: NDArray[np.float64], columns: Columns | None) -> NDArray[np.float64]:
    """Sums over the columns of each feature, along the last axis; the values themselves if features are columns.

    >>> import numpy as np
    >>> from dubio.table.columns import columns_of_sizes, feature_sums
    >>> feature_sums(np.array([1.0, 2.0, 4.0]), columns_of_sizes([1, 2]))
    array([1., 6.])
    """
    if columns is None or columns.is_plain:
        return values
    return np.add.reduceat(values, columns.starts, axis=-1)


def columns_of_sizes(sizes: Sequence[int] | NDArray[Any]) -> Columns:
    """Columns of numbers; ``sizes`` is their number for each feature."""
    feature_of = np.repeat(np.arange(len(sizes)), sizes)
    roles = np.full(len(feature_of), "value", dtype="<U7")
    return Columns(feature_of, roles, np.ones(len(feature_of), dtype=bool))
