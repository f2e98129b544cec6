"""Tables with columns of any type, read into one matrix: numbers, categories, dates and text become its columns."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dubio.errors import InputError, InputTypeError, counted, listed, name_row, quoted
from dubio.table import cells, dates
from dubio.table.cells import Decimal, as_float, distinct_texts, is_missing, missing_cells, type_of
from dubio.table.matrix import (
    Columns,
    Matrix,
    check_finite,
    column_names,
    in_memory,
    is_numeric,
    name_column,
    pick_columns,
    read_matrix,
    require_dense,
    some_columns,
)
from dubio.table.reading import ColumnReading, Role, refuse_problems
from dubio.table.rows import number_of_rows, some_rows
from dubio.words import Note, note

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

# From these on, "was missing" is a further column of the feature:
_MISSING_SHARE = 0.01  # of the rows
_FEWEST_MISSING = 3  # cells
#: Most categories of a text column; each of them has two rows on average, unless there are few of them.
_MOST_CATEGORIES = 100
#: Most categories of a text column that may have a single row each.
_FEW_CATEGORIES = 5
#: Most categories of a column that is declared to hold categories.
_MOST_DECLARED = 1000
# Months, weekdays and hours of dates are features
_DAYS_FOR_MONTHS = 366  # if the dates span at least this number of days,
_DAYS_FOR_WEEKDAYS = 14  # or this number of days,
_FEWEST_DIFFERENT = 4  # and if there are at least this number of different ones
#: Rows whose values are shown as examples, and values of a column that are.
_LOOKED_AT, _EXAMPLES = 1000, 3
#: Most cells of a frame with sparse columns that is made dense although the sparse one would do (80 MB).
_SMALL_CELLS = 10_000_000
#: The variance of month, weekday and hour, each as a share of that of the days.
_SEASON_SHARE = 0.25


@dataclass(frozen=True, eq=False)
class Piece:
    """The columns of the matrix that one column of the table became."""

    columns: list[Floats]
    roles: list[Role]
    reading: ColumnReading


def worth_a_column(n_missing: Any, n_rows: int) -> Any:
    """Whether this number of missing cells is worth a column "was missing"."""
    return (n_missing >= max(_FEWEST_MISSING, _MISSING_SHARE * n_rows)) & (n_missing < n_rows)


def spread_of(columns: Sequence[NDArray[Any]]) -> float:
    """Root of the sum of the variances of some columns, without missing cells; 1 if they do not vary."""
    total = 0.0
    for column in columns:
        # in order, so that rounding does not depend on the order of the rows: folds are drawn by what is in them
        present = np.sort(np.asarray(column[~np.isnan(column)], dtype=np.float64))
        if len(present) and present[0] != present[-1]:
            largest = float(np.abs(present).max())
            total += float(np.var(present / largest)) * largest**2 if largest < 1e150 else 0.0
    return float(np.sqrt(total)) if 0 < total < np.inf else 1.0


@dataclass(frozen=True)
class ColumnReader:
    """Reads one column of a table."""

    #: The name of the column; its position if the table has no names.
    name: Any
    #: How messages call the column and the table.
    called: str
    table: str = "X"
    #: The decimal mark of numbers as text; found by their form if it is not given.
    decimal: Decimal | None = None
    #: Whether "was missing" may be a further column of the feature.
    was_missing: bool = True

    def of_frame(self, X: Any, index: int) -> Piece:
        """A column of a data frame that does not hold plain numbers."""
        dtype = list(X.dtypes)[index]
        word = str(dtype).lower()
        if word.startswith("categor") and getattr(dtype, "ordered", False):
            ordered = X[self.name].cat
            codes = np.where(ordered.codes >= 0, ordered.codes, np.nan)
            return self.numbers(codes, kind="ordered", levels=tuple(str(level) for level in ordered.categories))
        values = column_values(X, index)
        if not word.startswith(("categor", "enum", "dictionary")):
            return self.of_cells(values)
        missing = missing_cells(values)
        levels, codes = distinct_texts([str(value) for value in values[~missing]])
        return self._categories(levels, codes, missing, most=_MOST_DECLARED)

    def of_cells(self, values: NDArray[Any]) -> Piece:
        """Cells of any type."""
        if values.dtype.kind == "M":
            return self._dates(values.astype("datetime64[us]"))
        if values.dtype.kind == "m":
            return self.numbers(values.astype("timedelta64[us]") / np.timedelta64(1, "D"), unit="days")
        values = values.astype(object)
        without = (is_missing(v) or (isinstance(v, str) and cells.is_missing_text(v)) for v in values)
        missing = np.fromiter(without, dtype=bool, count=len(values))
        present = values[~missing]
        types = {type_of(one) for one in set(map(type, present))}
        if None in types:
            refuse_odd_cells(values, missing, self.called, self.table)
        if types <= {"number", "bool"}:
            numbers = _at_rows([as_float(value) for value in present], missing)
            self._refuse_infinite(numbers)
            whole = max((int(value) for value in present if isinstance(value, int | np.integer)), key=abs, default=0)
            rounded = str(whole) if abs(whole) > cells.EXACT else ""
            return self.numbers(numbers, rounded, kind="yes/no" if types == {"bool"} else "")
        if types == {"date"}:
            return self._dates(_at_rows(np.array([dates.utc(value) for value in present]), missing))
        if types == {"duration"}:
            days = [np.timedelta64(value, "us") / np.timedelta64(1, "D") for value in present]
            return self.numbers(_at_rows(days, missing), unit="days")
        if {"number", "text"} <= types and self.decimal is None:  # numbers are written like those among the texts
            mark = cells.decimal_mark_of([value for value in present if isinstance(value, str)])
            return replace(self, decimal=mark)._texts([cells.as_text(value, mark) for value in present], missing)
        return self._texts([cells.as_text(value) for value in present], missing)

    def _note(self, code: str, **facts: Any) -> Note:
        return note("column", name=self.name, what=note(code, **facts))

    def numbers(
        self, values: NDArray[Any], rounded: str = "", notes: Sequence[Note] = (), *, kind: str = "", **more: Any
    ) -> Piece:
        """Numbers; ``rounded`` is a whole number that lost digits."""
        missing = np.isnan(values)
        count = int(missing.sum())
        notes = (*notes, self._note("rounded", example=rounded)) if rounded else tuple(notes)
        kind = kind or ("number" if count < len(values) else "empty")
        return self._piece([values], ["value"], missing, notes=notes, kind=kind, **more)

    def _texts(self, texts: list[str], missing: Mask) -> Piece:
        """Text: numbers, dates or times that were written as text, places on a scale, categories, or free text."""
        distinct, codes = distinct_texts(texts)
        text = cells.read_texts(distinct, np.bincount(codes, minlength=len(distinct)), self.decimal)
        if text.problem:
            raise self._unclear(text, codes, missing)
        values, notes = (
            _at_rows(text.values[codes], missing),
            [self._note(one.code, **one.facts) for one in text.notes()],
        )
        if text.kind == "number":
            self._refuse_infinite(values)
            more: dict[str, Any] = {"unit": text.numbers.unit, "decimal": text.numbers.decimal.replace(".", "")}
            return self.numbers(values, text.numbers.rounded, notes, n_limits=text.n_limits, **more)
        if text.levels:
            return self.numbers(values, notes=notes, kind="ordered", levels=text.levels)
        if text.kind == "time":
            return self.numbers(values, notes=notes, kind="time", unit="hours")
        if text.kind == "date":
            return self._dates(values, notes)
        if text.is_numbered:
            names = [name for name, value in zip(distinct, text.values, strict=True) if np.isnan(value)]
            notes = [self._note("names and numbers", names=names, n=len(distinct))]
        return self._categories(distinct, codes, missing, notes=notes)

    def _unclear(self, text: cells.TextColumn, codes: NDArray[Any], missing: Mask) -> InputError:
        """The error of a column that looks like numbers or dates and cannot be read as such."""
        in_other_mark = text.in_other_mark
        odd = text.numbers.looks if text.odd is None else in_other_mark if in_other_mark.any() else text.odd
        bad = np.flatnonzero(odd[codes] if odd.any() else np.ones(len(codes), dtype=bool))
        example, row = text.texts[codes[bad[0]]], int(np.flatnonzero(~missing)[bad[0]])
        marks = list(dict.fromkeys(text.texts[code] for code in codes[bad].tolist()))
        facts: dict[str, Any] = {
            "column": self.name,
            "row": row,
            "place": name_row(row),
            "example": example,
            "n": len(bad),
        }
        if text.odd is None:
            named = [code for code, written in enumerate(text.texts) if repr(written.strip()) in text.problem]
            last = max((int(np.argmax(codes == code)) for code in named), default=int(bad[0]))  # where it contradicts
            row = int(np.flatnonzero(~missing)[last])
            facts |= {"row": row, "place": name_row(row), "example": text.texts[codes[last]]}
            found = f"is unclear in {self.called}: {text.problem}, first in {facts['place']}"
            facts["comma"] = text.numbers.unclear_comma
            remedy = "write all of its cells in the same way. If they are names of categories, make it categorical"
            return InputError(self.table, found, remedy, code="unclear column", **facts)
        if in_other_mark.any():
            mark, other = ("points", "commas") if text.numbers.decimal == "." else ("commas", "points")
            found = f"mixes decimal {mark} with decimal {other} ({counted(len(bad), 'cell')}) in {self.called}, first "
            remedy = "write all of its numbers with the same decimal mark"
            return InputError(
                self.table, f"{found}{quoted(example)} in {facts['place']}", remedy, code="mixed decimal marks", **facts
            )
        others = f", such as {listed(map(quoted, marks[1:]), 3)}" if len(marks) > 1 else ""
        found = f"{text.problem} in {self.called}{others}, first {quoted(example)} in {name_row(row)}"
        remedy = "correct or empty these cells. If they are names of categories, make the column categorical"
        return InputError(self.table, found, remedy, code="mixed column", **facts, marks=marks)

    def _categories(
        self, levels: list[str], codes: NDArray[Any], missing: Mask, most: int = _MOST_CATEGORIES, notes: Any = ()
    ) -> Piece:
        """One column of 0 and 1 per category; text of too many different values is left out."""
        n_levels = len(levels)
        if n_levels == 0:
            return self.numbers(np.full(len(missing), np.nan))
        if n_levels > most or (n_levels > _FEW_CATEGORIES and 2 * n_levels > len(codes)):
            why = f"text with {n_levels} different values, such as {quoted(levels[0])}"
            of_rows = np.full(len(missing), -1)
            of_rows[~missing] = codes
            left_out = note("column left out", name=self.name, why=why)
            more: dict[str, Any] = {"notes": (left_out,), "left_out": why, "codes": of_rows}
            reading = ColumnReading(self.name, "text", n_missing=int(missing.sum()), **more)
            return Piece([np.zeros(len(missing))], ["value"], reading)
        shown = range(1 if n_levels == 2 else 0, n_levels)
        columns = [_at_rows(codes == code, missing) for code in shown]
        roles: list[Role] = ["level" if n_levels > 2 else "value"] * len(columns)
        return self._piece(columns, roles, missing, kind="category", levels=tuple(levels), notes=tuple(notes))

    def _dates(self, points: NDArray[np.datetime64], notes: Sequence[Note] = ()) -> Piece:
        """Days since the first date; month, weekday and hour as points on circles, if enough of them are different."""
        missing = np.isnat(points)
        if missing.all():
            return self.numbers(np.full(len(points), np.nan))
        present = points[~missing]
        days, first = dates.days_since_first(present)
        whole_days = present.astype("datetime64[D]")
        weekdays = (whole_days.astype(np.int64) + 3) % 7  # the first day of 1970 was a Thursday; Monday is 0
        turns = (
            (present.astype("datetime64[M]").astype(np.int64) % 12 / 12, _DAYS_FOR_MONTHS),
            (weekdays / 7, _DAYS_FOR_WEEKDAYS),
            ((present - whole_days).astype(np.int64) / dates.DAY * 24 / 24, 0),
        )
        columns = [days]
        for turn, fewest_days in turns:
            if days.max() >= fewest_days and len(np.unique(turn)) >= _FEWEST_DIFFERENT:
                circle = [np.cos(2 * np.pi * turn), np.sin(2 * np.pi * turn)]
                scale = np.sqrt(_SEASON_SHARE) * spread_of([days]) / spread_of(circle)
                columns += [scale * part for part in circle]
        roles: list[Role] = ["value", *["season"] * (len(columns) - 1)]  # type: ignore[list-item]
        of_rows = [_at_rows(column, missing) for column in columns]
        return self._piece(of_rows, roles, missing, kind="date", first=first, notes=tuple(notes))

    def _piece(self, columns: list[Floats], roles: list[Role], missing: Mask, **reading: Any) -> Piece:
        """The columns, and "was missing" if that is worth one: as far from others as one standard deviation."""
        count = int(missing.sum())
        if self.was_missing and worth_a_column(count, len(missing)):
            spread = spread_of([column for column, role in zip(columns, roles, strict=True) if role != "season"])
            columns = [*columns, np.where(missing, spread, 0.0).astype(columns[0].dtype)]
            roles = [*roles, "missing"]
        return Piece(columns, roles, ColumnReading(self.name, n_missing=count, **reading))

    def _refuse_infinite(self, values: Floats) -> None:
        infinite = np.flatnonzero(np.isinf(values))
        if len(infinite):
            count, first = counted(len(infinite), "row"), name_row(int(infinite[0]))
            found = f"contains infinity in {count} of column {self.name!r}, first in {first}"
            facts = {"column": self.name, "row": int(infinite[0]), "place": first, "n": len(infinite)}
            raise InputError(self.table, found, "empty these cells", code="infinity", **facts)


def column_values(X: Any, index: int) -> NDArray[Any]:
    """The cells of one column of a data frame: objects, or NumPy's dates and durations."""
    values = np.asarray(some_columns(X, index).to_numpy())
    return values if values.dtype.kind in "mM" else values.astype(object)


def _at_rows(present: Any, missing: Mask) -> NDArray[Any]:
    """The values of all rows, from those of the rows that are not missing."""
    present = np.asarray(present)
    if present.dtype.kind != "M":
        present = present.astype(np.float64)
    values = np.full(len(missing), np.datetime64("NaT") if present.dtype.kind == "M" else np.nan, dtype=present.dtype)
    values[~missing] = present
    return values


def refuse_odd_cells(values: NDArray[Any], missing: Mask, called: str, name: str) -> None:
    """Raise if a cell is neither a number, text nor a date."""
    for row in np.flatnonzero(~missing).tolist():
        if type_of(type(values[row])) is None:
            # the words in the middle are those of NumPy and scikit-learn
            found = f"has a {type(values[row]).__name__} in {called}, {name_row(row)}: {quoted(values[row])}. A cell's "
            found += "argument must be a string or a real number"
            raise InputTypeError(name, found, "write numbers, text or dates", code="odd cells", column=called)


@dataclass(frozen=True, eq=False)
class ReadTable:
    """A table as a matrix, which may hold NaN."""

    matrix: Matrix
    #: Names of the features.
    names: list[Any] | None
    #: Which columns of the matrix are one feature. None: each, and the table held only numbers.
    columns: Columns | None = None

    @property
    def read(self) -> tuple[ColumnReading, ...]:
        """The reading of each column of the table; empty if it held only numbers."""
        return () if self.columns is None else self.columns.read


def read_any_table(
    X: Any,
    feature_groups: Mapping[str, Any] | None = None,
    *,
    accept_sparse: bool = False,
    decimal: Decimal | None = None,
    was_missing: bool = True,
    name: str = "X",
) -> ReadTable:
    """Read a data frame (pandas, polars), an Arrow table, an array or a list of rows.

    * Numbers stay as they are. Numbers as text may have decimal commas, marks for thousands, one unit, and limits
      ("<0.1" counts as 0.1).
    * Booleans are 0 and 1. Ordered categories (of pandas) are one column of codes. Other categories are one column of 0
      and 1 per category, all of the same feature; of two categories one column is enough.
    * Dates are days since the first one. If there are enough, the month, the weekday and the hour, each as a point on a
      circle, are further columns of the feature. Times of the day are hours.
    * Text with many different values is left out: its feature is constant.
    * Missing cells are NaN; from 1 % on (and three cells) "was missing" is a further column of the feature.

    An array or frame of floats without NaN is passed on without a copy. ``feature_groups`` names the columns (or their
    positions) that are one feature; ``name`` is how messages call the table. Otherwise see :class:`ColumnReader`.

    >>> from dubio.table.read import read_any_table
    >>> table = read_any_table([["1,5 mg", "red"], ["2 mg", "blue"], ["<0,1 mg", "green"], ["0,7 mg", "red"]])
    >>> table.matrix
    array([[1.5, 0. , 0. , 1. ],
           [2. , 1. , 0. , 0. ],
           [0.1, 0. , 1. , 0. ],
           [0.7, 0. , 0. , 1. ]])
    >>> table.columns.feature_of, table.read[0].unit, table.read[1].levels
    (array([0, 1, 1, 1]), 'mg', ('blue', 'green', 'red'))
    """
    names = None
    if has_sparse_columns(X):
        names, X = column_names(X), _of_sparse_columns(X, accept_sparse, name)
    if sparse.issparse(X):
        if feature_groups:
            raise InputError("feature_groups", "cannot be used with a sparse table", "pass a dense table")
        return ReadTable(read_matrix(X, accept_sparse=accept_sparse, allow_nan=True, name=name), names)
    pieces, whole = _pieces(X, decimal=decimal, was_missing=was_missing, name=name, keep=not feature_groups)
    if whole is not None:
        return whole
    refuse_problems(piece.reading for piece in pieces)
    X = in_memory(X, name)
    names = column_names(X)
    kind = np.result_type(*(piece.columns[0].dtype for piece in pieces))
    return _assembled(pieces, names, _groups(feature_groups, names, len(pieces)), kind)


def has_sparse_columns(X: Any) -> bool:
    """Whether a frame of pandas has columns that hold only the cells that are not zero."""
    is_frame = type(X).__module__.startswith("pandas") and hasattr(X, "columns")
    return is_frame and any(hasattr(kind, "fill_value") for kind in X.dtypes)


def _of_sparse_columns(X: Any, accept_sparse: bool, name: str) -> Any:
    """A frame with sparse columns: dense if it is small, so that nothing is lost, else a sparse matrix."""
    stays = accept_sparse and X.shape[0] * X.shape[1] > _SMALL_CELLS
    if not stays:
        require_dense(X.shape, name)
    fills = [getattr(kind, "fill_value", None) for kind in X.dtypes]
    full = [place for place, fill in enumerate(fills) if fill is not None and (fill != 0 or not stays)]
    X = X.astype({X.columns[place]: X.dtypes.iloc[place].subtype for place in full})
    if not stays:
        return X
    if odd := [column for column, kind in zip(X.columns, X.dtypes, strict=True) if not is_numeric(kind)]:
        found = f"is a large sparse table, and not only numbers are in {listed(map(quoted, odd), 3)}"
        raise InputError(name, found, "leave such columns out")
    thin = np.array([hasattr(kind, "fill_value") for kind in X.dtypes])
    ends = [0, *(np.flatnonzero(thin[1:] != thin[:-1]) + 1).tolist(), len(thin)]
    blocks = [(thin[start], X.iloc[:, start:end]) for start, end in pairwise(ends)]
    parts = [block.sparse.to_coo() if is_thin else sparse.coo_array(block) for is_thin, block in blocks]
    return sparse.hstack(parts, format="csr")


def column_readings(X: Any, *, decimal: Decimal | None = None, name: str = "X") -> list[ColumnReading]:
    """How each column of a table is read, with some of its values. Problems are part of it, not raised.

    >>> from dubio.table.read import column_readings
    >>> [reading.kind for reading in column_readings([["1,5 mg", "red"], ["2 mg", "blue"]])]
    ['number', 'category']
    """
    X = in_memory(X, name)
    names = column_names(X)
    X = _of_sparse_columns(X, False, name) if has_sparse_columns(X) else X
    shown = []
    first = some_rows(X, np.arange(min(len(X), _LOOKED_AT)))
    values = first if names is not None else np.asarray(first, dtype=object)
    for j, piece in enumerate(_pieces(X, decimal=decimal, was_missing=False, name=name, keep=False)[0]):
        cells_of = column_values(values, j) if names is not None else values[:, j]
        known = [str(value) for value in cells_of[~missing_cells(cells_of)].tolist()]
        shown.append(replace(piece.reading, examples=tuple(dict.fromkeys(known))[:_EXAMPLES]))
    return shown


def _pieces(
    X: Any, *, decimal: Decimal | None, was_missing: bool, name: str, keep: bool
) -> tuple[list[Piece], ReadTable | None]:
    """The columns of the matrix, by column of the table; or a table of numbers as it is, if it is to be kept so."""
    X = in_memory(X, name)
    names = column_names(X)
    table, numeric = _cells_and_numbers(X, names)
    numbers = np.empty((0, 0))
    infinite: InputError | None = None
    if numeric is None and names is not None and not keep:  # each column may have its own problem
        numeric = np.ones(len(names), dtype=bool)
    if numeric is None:
        numbers = np.asarray(read_matrix(X, allow_nan=True, name=name))
        numeric = np.ones(numbers.shape[1], dtype=bool)
    elif numeric.any():
        plain = some_columns(X, np.flatnonzero(numeric))
        numbers = read_matrix(plain, check_values=False, name=name).astype(np.float64)
        try:
            check_finite(numbers, names=column_names(plain), allow_nan=True, name=name)
        except InputError as error:
            infinite = error
    rounded = _rounded_columns(X, names)
    if keep and numeric.all() and not rounded and infinite is None and not (was_missing and _misses_enough(numbers)):
        return [], ReadTable(numbers, names)
    pieces: list[Piece] = []
    of_numbers = iter(numbers.T)
    for j, is_number in enumerate(numeric.tolist()):
        reader = ColumnReader(j if names is None else names[j], name_column(names, j), name, decimal, was_missing)
        try:
            if is_number:
                pieces.append(reader.numbers(next(of_numbers), rounded.get(j, "")))
            else:
                pieces.append(reader.of_cells(table[:, j]) if names is None else reader.of_frame(X, j))
        except InputError as problem:
            reading = ColumnReading(reader.name, "text", problems=(problem,))
            pieces.append(Piece([np.zeros(number_of_rows(X))], ["value"], reading))
    if infinite is not None:  # one error names all such columns; it belongs to the first of them
        first = int(np.flatnonzero(numeric)[np.argmax(np.isinf(numbers).any(axis=0))])
        names_it = {} if names is None else {"column": names[first]}
        about = InputError(infinite.argument, infinite.found, infinite.remedy, code="infinity", **names_it)
        pieces[first] = replace(pieces[first], reading=replace(pieces[first].reading, problems=(about,)))
    return pieces, None


def _cells_and_numbers(X: Any, names: list[Any] | None) -> tuple[Any, NDArray[np.bool_] | None]:
    """The cells of an array or a list of rows, and which columns hold plain numbers; None: the table is one matrix."""
    if names is not None:
        numeric = np.array([is_numeric(dtype) for dtype in X.dtypes], dtype=bool)
        return X, None if numeric.all() or not len(X) else numeric
    table = X
    if not hasattr(X, "dtype"):  # a list of rows; of objects, with every cell as it is, if it holds not only numbers
        with contextlib.suppress(ValueError):  # rows of different lengths
            table = np.asarray(X)
            table = np.array(X, dtype=object) if table.dtype.kind in "US" else table
    if isinstance(table, np.ndarray) and table.dtype.kind == "S":
        table = np.char.decode(table, "utf-8", "replace")
    holds_cells = isinstance(table, np.ndarray) and table.ndim == 2 and table.dtype.kind in "OUSM" and table.size
    return table, np.zeros(table.shape[1], dtype=bool) if holds_cells else None


def _misses_enough(matrix: NDArray[Any]) -> bool:
    """Whether a column misses enough cells for a further one, "was missing"."""
    with np.errstate(over="ignore", invalid="ignore"):
        is_full = np.isfinite(matrix.sum())  # one cheap pass
    return not is_full and bool(worth_a_column(np.isnan(matrix).sum(axis=0), len(matrix)).any())


def _rounded_columns(X: Any, names: list[Any] | None) -> dict[int, str]:
    """Columns of whole numbers that floating point numbers cannot hold, each with an example."""
    long = ("int64", "uint64", "int64[pyarrow]", "uint64[pyarrow]")
    ends: dict[int, tuple[Any, Any]] = {}
    if names is not None:
        columns = {j: X[names[j]] for j, dtype in enumerate(X.dtypes) if str(dtype).lower() in long}
        ends = {j: (column.min(), column.max()) for j, column in columns.items()}
    elif isinstance(X, np.ndarray) and X.ndim == 2 and X.size and str(X.dtype) in long:
        ends = dict(enumerate(zip(X.min(axis=0), X.max(axis=0), strict=True)))
    examples = {j: max((0 if is_missing(v) else int(v) for v in pair), key=abs) for j, pair in ends.items()}
    return {j: str(example) for j, example in examples.items() if abs(example) > cells.EXACT}


def _groups(feature_groups: Any, names: list[Any] | None, n_columns: int) -> dict[str, list[int]]:
    """The positions of the columns of each group."""
    if not feature_groups:
        return {}
    if not isinstance(feature_groups, Mapping):
        found = f"is a {type(feature_groups).__name__}"
        raise InputError("feature_groups", found, "give a dictionary such as {'pain': ['pain today', 'pain at night']}")
    groups: dict[str, list[int]] = {}
    taken: dict[int, str] = {}
    for group, wanted in feature_groups.items():
        if not isinstance(group, str):
            raise InputError("feature_groups", f"names a group {group!r}", "the name of a group is text")
        places = pick_columns(list(wanted), names, n_columns, f"feature_groups[{group!r}]").tolist()
        if not places:
            raise InputError("feature_groups", f"has no column in group {group!r}", "name at least one column")
        for j in places:
            if j in taken:
                found = f"has {name_column(names, j)} in {taken[j]!r} and in {group!r}"
                raise InputError("feature_groups", found, "name it once")
            taken[j] = group
        groups[group] = places
    rest = [] if names is None else [str(name) for j, name in enumerate(names) if j not in taken]
    twins = [group for group in groups if group in rest]
    if twins:
        found = f"has a group {twins[0]!r}, which is also a column outside the group"
        raise InputError("feature_groups", found, "choose another name")
    return groups


def _assembled(
    pieces: list[Piece], names: list[Any] | None, groups: dict[str, list[int]], kind: np.dtype[Any]
) -> ReadTable:
    """The matrix of all pieces, feature by feature. A group stands at the place of its first column."""
    group_of: dict[int, Any] = {j: group for group, places in groups.items() for j in places}
    features = list(dict.fromkeys(group_of.get(j, j) for j in range(len(pieces))))
    inputs = [groups[feature] if isinstance(feature, str) else [feature] for feature in features]
    in_order = [(feature, pieces[j], len(places) > 1) for feature, places in enumerate(inputs) for j in places]
    sizes = np.array([len(piece.columns) for _, piece, _ in in_order])
    leads = np.zeros(sizes.sum(), dtype=bool)
    leads[np.cumsum(sizes) - sizes] = True
    matrix = np.empty((len(pieces[0].columns[0]), len(leads)), dtype=kind)
    column = 0
    for _, piece, in_group in in_order:
        spread = spread_of(piece.columns) if in_group else None  # they may have different units
        for values in piece.columns:
            matrix[:, column] = values if spread is None else values / spread
            column += 1
    own = [f"x{j}" for j in range(len(pieces))] if names is None else names
    shown = [one if isinstance(one, str) else own[one] for one in features]
    columns = Columns(
        np.repeat([feature for feature, _, _ in in_order], sizes),
        np.asarray([role for _, piece, _ in in_order for role in piece.roles], dtype="<U7"),
        leads,
        tuple(piece.reading for piece in pieces),
        tuple(map(tuple, inputs)),
        names,
    )
    return ReadTable(matrix, None if names is None and not groups else shown, columns)


def read_mixed_matrix(X: Any, nominal: Any = None, *, name: str = "X") -> tuple[Matrix, NDArray[np.bool_]]:
    """A dense float64 matrix that may hold NaN, and the mask of its nominal columns.

    A column is nominal if ``nominal`` (a mask, positions or names) declares it, or if it holds categories, text or
    bools in a data frame. Its categories become whole numbers, in the order of their names; a missing one becomes NaN.
    """
    X = in_memory(X, name)
    names = column_names(X)
    if names is None:
        matrix = X
        if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OUS":
            matrix = X.astype(object)
            for column in np.flatnonzero(_declared(nominal, names, X.shape[1])):
                matrix[:, column] = _category_codes(X[:, column], name_column(names, int(column)), name)
        matrix = read_matrix(matrix, allow_nan=True, name=name).astype(np.float64, copy=False)
        return matrix, _declared(nominal, names, matrix.shape[1])
    is_nominal = _declared(nominal, names, len(names))
    is_nominal |= np.array([_holds_categories(X, j, dtype) for j, dtype in enumerate(X.dtypes)], dtype=bool)
    if not is_nominal.any() or X.shape[0] == 0:
        return read_matrix(X, allow_nan=True, name=name).astype(np.float64, copy=False), is_nominal
    matrix = np.empty((len(X), len(names)))
    numeric = np.flatnonzero(~is_nominal)
    if len(numeric):
        matrix[:, numeric] = read_matrix(some_columns(X, numeric), check_values=False, name=name)
    for j in np.flatnonzero(is_nominal):
        matrix[:, j] = _category_codes(column_values(X, int(j)), name_column(names, int(j)), name)
    check_finite(matrix, names=names, allow_nan=True, name=name)
    return matrix, is_nominal


def _holds_categories(X: Any, index: int, dtype: Any) -> bool:
    """Whether a column of a data frame holds categories, text or bools."""
    word = str(dtype).lower()
    if word == "object":  # text in older pandas, but also numbers mixed with None
        present = [value for value in column_values(X, index) if not is_missing(value)]
        return not all(isinstance(v, Number) and not isinstance(v, bool | np.bool_) for v in present)
    return word.startswith(("categor", "enum", "bool", "str", "utf8"))


def _category_codes(column: NDArray[Any], called: str, name: str) -> NDArray[np.float64]:
    """Whole numbers for the categories of one column; NaN for a cell without a value."""
    missing = missing_cells(column)
    refuse_odd_cells(column, missing, called, name)
    codes = np.full(len(column), np.nan)
    # A column may mix text and numbers: values that print alike are the same category.
    codes[~missing] = distinct_texts([str(value) for value in column[~missing].astype(object)])[1]
    return codes


def _declared(nominal: Any, names: list[Any] | None, n_features: int) -> NDArray[np.bool_]:
    mask = np.zeros(n_features, dtype=bool)
    if nominal is not None:
        mask[pick_columns(nominal, names, n_features, "nominal")] = True
    return mask
