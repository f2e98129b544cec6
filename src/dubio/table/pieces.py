"""Turn one column of a table into columns of the matrix: numbers, categories, dates, text."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputError, counted, name_row, quoted
from dubio.table import cells
from dubio.table.columns import ColumnReading, Role, some_columns
from dubio.table.values import as_float, distinct_texts, is_missing, missing_cells

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: From this share of missing cells on, and this number, "was missing" is a further column of the feature.
_MISSING_SHARE, _FEWEST_MISSING = 0.01, 3
#: Most categories of a text column; each of them has two rows on average, unless there are very few.
_MOST_CATEGORIES, _FEW_CATEGORIES = 100, 5
#: Most categories of a column that is declared to hold categories.
_MOST_DECLARED = 1000
#: Days that dates must span for months and for weekdays to be features, and fewest different months, weekdays or hours.
_DAYS_FOR_MONTHS, _DAYS_FOR_WEEKDAYS, _FEWEST_DIFFERENT = 366, 14, 4
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
    """Reads one column of a table.

    Attributes
    ----------
    name : object
        The name of the column; its position if the table has no names.
    called, table : str
        How messages call the column and the table.
    decimal : "." or ",", optional
        The decimal mark of numbers as text; found by their form if it is not given.
    was_missing : bool
        Whether "was missing" may be a further column of the feature.
    """

    name: Any
    called: str
    table: str = "X"
    decimal: cells.Decimal | None = None
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
        types = {_type_of(one) for one in set(map(type, present))}
        if None in types:
            refuse_odd_cells(values, missing, self.called, self.table)
        if types <= {"number", "bool"}:
            numbers = _at_rows([as_float(value) for value in present], missing)
            self._refuse_infinite(numbers)
            whole = max((int(value) for value in present if isinstance(value, int | np.integer)), key=abs, default=0)
            rounded = str(whole) if abs(whole) > cells.EXACT else ""
            return self.numbers(numbers, rounded, **({"kind": "yes/no"} if types == {"bool"} else {}))
        if types == {"date"}:
            return self._dates(_at_rows(np.array([cells.utc(value) for value in present]), missing))
        if types == {"duration"}:
            days = [np.timedelta64(value, "us") / np.timedelta64(1, "D") for value in present]
            return self.numbers(_at_rows(days, missing), unit="days")
        return self._texts([_as_text(value) for value in present], missing)

    def numbers(self, values: NDArray[Any], rounded: str = "", notes: Sequence[str] = (), **more: Any) -> Piece:
        """Numbers; ``rounded`` is a whole number that lost digits."""
        missing = np.isnan(values)
        count = int(missing.sum())
        notes = (*notes, cells.rounded_words(rounded)) if rounded else tuple(notes)
        more = {"kind": "number" if count < len(values) else "empty", **more}
        return self._piece([values], ["value"], missing, notes=notes, **more)

    def _texts(self, texts: list[str], missing: Mask) -> Piece:
        """Text: numbers, dates or times that were written as text, categories, or free text."""
        distinct, codes = distinct_texts(texts)
        text = cells.read_texts(distinct, np.bincount(codes, minlength=len(distinct)), self.decimal)
        values = _at_rows(text.values[codes], missing)
        if text.kind == "number":
            self._refuse_infinite(values)
            numbers = text.numbers
            more = {"unit": numbers.unit, "n_limits": text.n_limits, "decimal": numbers.decimal.replace(".", "")}
            return self.numbers(values, numbers.rounded, text.notes(), **more)
        if text.kind == "time":
            return self.numbers(values, kind="time", unit="hours")
        if text.kind == "date":
            return self._dates(values)
        if text.is_mixed:
            place = int(np.flatnonzero(np.isnan(text.values)[codes])[0])
            row = name_row(int(np.flatnonzero(~missing)[place]))
            raise InputError(
                self.table,
                f"{text.mixture()} in {self.called}, first {quoted(texts[place])} in {row}",
                "correct or empty these cells. If they are names of categories, make the column categorical",
                code="mixed column",
            )
        return self._categories(distinct, codes, missing, problem=text.problem)

    def _categories(
        self, levels: list[str], codes: NDArray[Any], missing: Mask, most: int = _MOST_CATEGORIES, problem: str = ""
    ) -> Piece:
        """One column of 0 and 1 per category; text of too many different values, or of an unclear form, is left out."""
        n_levels = len(levels)
        if n_levels == 0:
            return self.numbers(np.full(len(missing), np.nan))
        if n_levels > most or (n_levels > _FEW_CATEGORIES and 2 * n_levels > len(codes)):
            why = problem or f"text with {n_levels} different values, such as {quoted(levels[0])}"
            of_rows = np.full(len(missing), -1)
            of_rows[~missing] = codes
            more: dict[str, Any] = {"notes": (f"left out: {why}",), "problem": problem, "codes": of_rows}
            reading = ColumnReading(self.name, "text", n_missing=int(missing.sum()), **more)
            return Piece([np.zeros(len(missing))], ["value"], reading)
        notes = (f"taken as {counted(n_levels, 'category', 'categories')}: {problem}",) if problem else ()
        shown = range(1 if n_levels == 2 else 0, n_levels)
        columns = [_at_rows(codes == code, missing) for code in shown]
        roles: list[Role] = ["level" if n_levels > 2 else "value"] * len(columns)
        return self._piece(columns, roles, missing, kind="category", levels=tuple(levels), notes=notes)

    def _dates(self, dates: NDArray[np.datetime64]) -> Piece:
        """Days since the first date; month, weekday and hour as points on circles, if enough of them are different."""
        missing = np.isnat(dates)
        if missing.all():
            return self.numbers(np.full(len(dates), np.nan))
        present = dates[~missing]
        days, first = cells.days_since_first(present)
        whole_days = present.astype("datetime64[D]")
        weekdays = (whole_days.astype(np.int64) + 3) % 7  # the first day of 1970 was a Thursday; Monday is 0
        turns = (
            (present.astype("datetime64[M]").astype(np.int64) % 12 / 12, _DAYS_FOR_MONTHS),
            (weekdays / 7, _DAYS_FOR_WEEKDAYS),
            ((present - whole_days).astype(np.int64) / cells.DAY * 24 / 24, 0),
        )
        columns = [days]
        for turn, fewest_days in turns:
            if days.max() >= fewest_days and len(np.unique(turn)) >= _FEWEST_DIFFERENT:
                circle = [np.cos(2 * np.pi * turn), np.sin(2 * np.pi * turn)]
                scale = np.sqrt(_SEASON_SHARE) * spread_of([days]) / spread_of(circle)
                columns += [scale * part for part in circle]
        roles: list[Role] = ["value", *["season"] * (len(columns) - 1)]  # type: ignore[list-item]
        return self._piece([_at_rows(column, missing) for column in columns], roles, missing, kind="date", first=first)

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
            raise InputError(
                self.table,
                f"contains infinity in {counted(len(infinite), 'row')} of column {self.name!r}, first in "
                f"{name_row(int(infinite[0]))}",
                "empty these cells",
                code="infinity",
            )


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


class OddCell(InputError, TypeError):
    """A cell that is neither a number, text nor a date."""


def refuse_odd_cells(values: NDArray[Any], missing: Mask, called: str, name: str) -> None:
    """Raise if a cell is neither a number, text nor a date."""
    for row in np.flatnonzero(~missing).tolist():
        if _type_of(type(values[row])) is None:
            # the words in the middle are those of NumPy and scikit-learn
            raise OddCell(
                name,
                f"has a {type(values[row]).__name__} in {called}, {name_row(row)}: {quoted(values[row])}. A cell's "
                "argument must be a string or a real number",
                "write numbers, text or dates",
            )


_TYPES: tuple[tuple[str | None, Any], ...] = (
    ("text", str),
    ("bool", bool | np.bool_),
    ("date", datetime.datetime | datetime.date | np.datetime64),
    ("duration", datetime.timedelta | np.timedelta64),
    ("time", datetime.time),
    (None, complex | np.complexfloating),
    ("number", Number | Decimal),
)


def _type_of(cells_type: type) -> str | None:
    return next((name for name, types in _TYPES if issubclass(cells_type, types)), None)


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    return value.isoformat(sep=" ") if isinstance(value, datetime.datetime) else str(value)
