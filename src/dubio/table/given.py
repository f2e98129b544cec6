"""Columns that are given: what the other columns add to them is asked. Some of the table, or further ones beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dubio.errors import InputError, counted, nearest, quoted
from dubio.table.matrix import Columns
from dubio.table.read import ReadTable, read_any_table
from dubio.table.reading import ColumnReading, refuse_problems
from dubio.table.rows import number_of_rows, some_rows

Codes = NDArray[np.int64]

#: Share of the categories of a given column that may have a single row.
_SINGLE_ROWS = 0.5


@dataclass(frozen=True, eq=False)
class Given:
    """Which features of a problem are given."""

    #: Their positions, in the order in which they were given.
    features: Codes
    #: The positions of those that are no columns of the table.
    beside: Codes
    #: The categories of each of them; none for numbers.
    levels: tuple[tuple[str, ...], ...] = ()

    def only(self, index: NDArray[Any]) -> Given | None:
        """The same among some features, which are numbered again; None if none of these is given."""
        place = {int(feature): new for new, feature in enumerate(index)}
        features, beside = (
            np.array([place[int(j)] for j in some if int(j) in place], dtype=np.int64)
            for some in (self.features, self.beside)
        )
        there = [int(j) in place for j in self.features]
        return Given(features, beside, tuple(compress(self.levels, there))) if len(features) else None


def with_given(table: ReadTable, given: Any) -> tuple[ReadTable, Given]:
    """A table with its given columns; further ones come after its own.

    ``given`` names columns of the table (text, a position, or a list of these), or holds further columns of any type (a
    series, a frame, or an array with two dimensions).

    >>> import numpy as np
    >>> from dubio.table.given import with_given
    >>> from dubio.table.read import read_any_table
    >>> table = read_any_table(np.random.default_rng(0).normal(size=(6, 2)))
    >>> with_given(table, 1)[1].features
    array([1])
    >>> joined, given = with_given(table, np.arange(12.0).reshape(6, 2))
    >>> joined.names, given.features
    (['x0', 'x1', 'given_1', 'given_2'], array([2, 3]))
    """
    n_rows = table.matrix.shape[0]
    columns = _names(given, n_rows)
    if columns is None:
        further, first = _further(given, n_rows), _n_features(table)
        table, features = _joined(table, further), np.arange(first, first + _n_features(further))
        beside, checked = features, (further, features - first)
    else:
        features, beside = np.array([_position(one, table) for one in columns], dtype=np.int64), np.arange(0)
        checked = table, features
        if len(np.unique(features)) < len(features):
            raise InputError("given", "names a column twice", "name it once")
    if not len(features):
        raise InputError("given", "names no column", "name one, or leave it out")
    if len(features) == _n_features(table):
        raise InputError("given", "names all columns of the table", "leave at least one to be judged")
    for feature in checked[1].tolist():
        _require_usable(checked[0], feature)
    return table, Given(features, beside, tuple(_levels(checked[0], feature) for feature in checked[1].tolist()))


def with_column_beside(table: ReadTable, values: NDArray[np.float64], name: str) -> ReadTable:
    """A table with one more column of numbers, which is no column of the user's table."""
    return _joined(table, ReadTable(values[:, None], [name]))


def joined_with(X: Any, given: Any) -> tuple[Any, Any]:
    """A table that was not read with the further columns of ``given`` after its own, and their positions; both as they
    are if ``given`` names columns of the table."""
    n_rows, n_columns = number_of_rows(X), int(X.shape[1])
    if given is None or _names(given, n_rows) is not None:
        return X, given
    if number_of_rows(given) != n_rows:
        raise _other_rows(given, n_rows)
    if hasattr(given, "to_frame") and not hasattr(given, "columns"):
        given = given.to_frame()
    if hasattr(X, "iloc"):
        import pandas as pd

        further = pd.DataFrame(given) if hasattr(given, "iloc") else pd.DataFrame(np.asarray(given))
        names = [name if isinstance(name, str) else f"given_{j + 1}" for j, name in enumerate(further.columns)]
        _refuse_twice(names, list(X.columns))
        joined = pd.concat([X, further.set_axis(names, axis=1).set_axis(X.index, axis=0)], axis=1)
    elif isinstance(X, np.ndarray):
        joined = np.column_stack([X, np.asarray(given)])
    else:
        raise InputError("given", "holds further columns, which no model would see", "add them to X, and name them")
    return joined, list(range(n_columns, int(joined.shape[1])))


def given_positions(given: Any, n_rows: int, names: Any, n_columns: int) -> Codes:
    """The positions of given columns of a table that was not read."""
    wanted, own = _names(given, n_rows), None if names is None else list(names)
    assert wanted is not None
    return np.array([_position(one, ReadTable(np.empty((0, n_columns)), own)) for one in wanted], dtype=np.int64)


def some_given(given: Any, rows: Codes, n_rows: int) -> Any:
    """What is given, for some of all rows only: names of columns stay as they are."""
    if _names(given, n_rows) is not None:
        return given
    if number_of_rows(given) != n_rows:
        raise _other_rows(given, n_rows)
    return some_rows(given, rows)


def _names(given: Any, n_rows: int) -> list[Any] | None:
    """The names or positions of columns of the table; None if further columns are given."""
    if isinstance(given, str | Integral) and not isinstance(given, bool):
        return [given]
    is_index = hasattr(given, "to_series") and not hasattr(given, "columns")  # such as X.columns[-2:]
    if not is_index and (hasattr(given, "to_frame") or getattr(given, "ndim", 1) == 2 or hasattr(given, "columns")):
        return None
    try:
        if isinstance(given, Mapping):
            raise TypeError("a mapping has names and values")
        names = list(given)
    except TypeError as error:
        remedy = "give names or positions of columns, or a table of further columns"
        raise InputError("given", f"is a {type(given).__name__}", remedy) from error
    if names and all(isinstance(one, Sequence | np.ndarray) and not isinstance(one, str) for one in names):
        return None
    if len(names) == n_rows and n_rows > 0:
        found = f"has {n_rows} entries, as many as the table has rows, so they may be names of columns, or values"
        raise InputError("given", found, "give further columns as a series, a frame or an array with two dimensions")
    for one in names:
        if isinstance(one, bool | np.bool_) or not isinstance(one, str | Integral):
            raise InputError("given", f"holds {one!r}", "give names or positions of columns")
    return names


def _position(wanted: Any, table: ReadTable) -> int:
    """The feature of a column that is named, or counted from 0."""
    names, columns, n_features = table.names, table.columns, _n_features(table)
    if isinstance(wanted, str):
        names = [] if names is None else [str(name) for name in names]
        if wanted in names:
            return names.index(wanted)
        inside = [] if columns is None else [str(name) for name in columns.input_names or ()]
        if wanted in inside:
            raise _part_of_a_feature(quoted(wanted))
        near = nearest(wanted, names)
        remedy = f"did you mean {quoted(near[0])}?" if near else "name a column, or give further ones as a frame"
        raise InputError("given", f"names {quoted(wanted)}, which is not a column of the table", remedy)
    inputs = columns.inputs if columns is not None and columns.inputs else [(j,) for j in range(n_features)]
    n_columns = sum(map(len, inputs))
    if not 0 <= wanted < n_columns:
        raise InputError("given", f"names column {wanted}, but the table has columns 0 to {n_columns - 1}")
    feature = next(j for j, places in enumerate(inputs) if wanted in places)
    if len(inputs[feature]) > 1:
        raise _part_of_a_feature(str(wanted))
    return feature


def _part_of_a_feature(column: str) -> InputError:
    found = f"names column {column}, which is one of several columns of a feature"
    return InputError("given", found, "name the feature, or leave the column out of feature_groups")


def _further(given: Any, n_rows: int) -> ReadTable:
    """Further columns, read as those of the table; columns without a name are called given_1, given_2, ..."""
    if hasattr(given, "to_frame") and not hasattr(given, "columns"):
        given = given.to_frame()
    if number_of_rows(given) != n_rows:
        raise _other_rows(given, n_rows)
    read = read_any_table(given, name="given")
    refuse_problems(read.read)
    n_columns = _n_features(read)
    names = [f"given_{j + 1}" for j in range(n_columns)]
    if read.names is not None:
        own = [name if isinstance(name, str) and name else None for name in read.names]
        names = [one or other for one, other in zip(own, names, strict=True)]
    return replace(read, names=names)


def _other_rows(given: Any, n_rows: int) -> InputError:
    found = f"has {counted(number_of_rows(given), 'row')}, but the table has {n_rows}"
    return InputError("given", found, "give one row per row of the table")


def _joined(table: ReadTable, further: ReadTable) -> ReadTable:
    """One table of both; the readings are those of the first."""
    own, n_features = _columns_of(table), _n_features(table)
    more = _columns_of(further)
    names = [f"x{j}" for j in range(n_features)] if table.names is None else [str(name) for name in table.names]
    assert further.names is not None
    _refuse_twice(further.names, names)
    columns = replace(
        own,
        feature_of=np.concatenate([own.feature_of, more.feature_of + n_features]),
        roles=np.concatenate([own.roles, more.roles]),
        leads=np.concatenate([own.leads, more.leads]),
        inputs=(*own.inputs, *[()] * more.n_features),
    )
    parts = [table.matrix, further.matrix]
    is_sparse = sparse.issparse(table.matrix)
    matrix = sparse.hstack(parts, format="csr") if is_sparse else np.hstack(parts)
    return ReadTable(matrix, [*names, *further.names], columns)


def _refuse_twice(further: Sequence[Any], names: Sequence[Any]) -> None:
    """Raise if a further column is called like a column of the table."""
    if twice := [name for name in further if name in names]:
        found = f"has a column {quoted(twice[0])}, which is also a column of the table"
        raise InputError("given", found, "name the column of the table, or call the other one differently")


def _columns_of(table: ReadTable) -> Columns:
    if table.columns is not None:
        return table.columns
    n = table.matrix.shape[1]
    read = tuple(ColumnReading(j if table.names is None else table.names[j]) for j in range(n))
    roles, inputs = np.full(n, "value", dtype="<U7"), tuple((j,) for j in range(n))
    return Columns(np.arange(n), roles, np.ones(n, dtype=bool), read, inputs, table.names)


def _n_features(table: ReadTable) -> int:
    return int(table.matrix.shape[1]) if table.columns is None else table.columns.n_features


def _levels(table: ReadTable, feature: int) -> tuple[str, ...]:
    """The categories of a column, in the order of their codes; none if it holds numbers."""
    reading = None if table.columns is None else table.columns.reading_of(feature)
    return () if reading is None else tuple(map(str, reading.levels))


def _require_usable(table: ReadTable, feature: int) -> None:
    """Raise if nothing can be learned from a given column."""
    name = f"column {feature}" if table.names is None else quoted(str(table.names[feature]))
    reading = None if table.columns is None else table.columns.reading_of(feature)
    if reading is not None and reading.left_out:
        raise InputError("given", f"names {name}, which cannot be used: {reading.left_out}", "leave it out")
    places = np.array([feature]) if table.columns is None else table.columns.of(feature)
    cells = table.matrix[:, places]
    cells = np.asarray(cells.toarray() if sparse.issparse(cells) else cells, dtype=np.float64)
    spread = [np.ptp(column[~np.isnan(column)]) if not np.isnan(column).all() else 0.0 for column in cells.T]
    if not np.any(spread):
        raise InputError("given", f"names {name}, which has only one value", "leave it out")
    levels = np.zeros(len(places), dtype=bool) if table.columns is None else table.columns.roles[places] == "level"
    if levels.sum() > 1:
        rows = np.nansum(cells[:, levels] > 0, axis=0)
        if (rows == 1).mean() > _SINGLE_ROWS:
            found = f"names {name}, and most of its {levels.sum()} categories have a single row"
            raise InputError("given", found, "leave it out, or join its categories")
