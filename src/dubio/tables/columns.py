"""The names of a table's columns, and how messages and arguments refer to columns."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputError, counted, has_row_names, listed, quoted
from dubio.tables.values import is_valid_text


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


def array_of_names(names: list[Any]) -> NDArray[Any]:
    """Names as an array with one entry per name: a name may be a tuple."""
    return np.fromiter(names, dtype=object, count=len(names))


def name_column(names: list[Any] | None, index: int) -> str:
    """How an error message refers to a column: by its name and, in Python, its position."""
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
