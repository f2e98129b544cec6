"""Turn one column of a table into columns of the matrix: numbers, categories, dates, text."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio._sklearn import safe_indexing
from dubio.errors import InputError, counted, name_row, quoted
from dubio.table import cells
from dubio.table.columns import ColumnReading, Role
from dubio.table.values import as_float, distinct_texts, is_missing

#: From this share of missing cells on (and so many cells), "was missing" is a further column of the feature.
_MISSING_SHARE, _FEWEST_MISSING = 0.01, 3
#: A text column holds categories if each of them has, on average, two rows, and if there are at most so many. Very few
#: categories may have fewer rows.
_MOST_CATEGORIES, _FEW_CATEGORIES = 100, 5
#: Most categories of a column that is declared to hold categories.
_MOST_DECLARED = 1000
#: A column of numbers in which at most so many cells, or so many different ones, are text was meant to hold numbers.
_FEW_TEXTS, _FEW_DIFFERENT = 0.1, 10
#: Months need dates of so many days, and so many different months; weekdays and hours likewise.
_DAYS_FOR_MONTHS, _DAYS_FOR_WEEKDAYS, _FEWEST_DIFFERENT = 366, 14, 4
#: The variance of month, weekday and hour, each as a share of that of the days.
_SEASON_SHARE = 0.25


@dataclass(frozen=True, eq=False)
class Piece:
    """The columns of the matrix that one column of the table became."""

    columns: list[NDArray[np.float64]]
    roles: list[Role]
    reading: ColumnReading


@dataclass(frozen=True)
class CellReader:
    """How cells are read."""

    n_rows: int
    name: str = "X"
    decimal: cells.Decimal | None = None
    was_missing: bool = True


def worth_a_column(n_missing: Any, n_rows: int) -> Any:
    """Whether so many missing cells are worth a column "was missing"."""
    return (n_missing >= max(_FEWEST_MISSING, _MISSING_SHARE * n_rows)) & (n_missing < n_rows)


def number_piece(values: NDArray[Any], name: Any, mark_missing: bool, rounded: str = "", **more: Any) -> Piece:
    notes = list(more.pop("notes", ()))
    if rounded:
        notes.append(cells.rounded_words(rounded))
    missing = np.isnan(values)
    count = int(missing.sum())
    kind = more.pop("kind", "number" if count < len(values) else "empty")
    reading = ColumnReading(name, kind, n_missing=count, notes=tuple(notes), **more)
    piece = Piece([values], ["value"], reading)
    return _with_missing(piece, missing) if mark_missing else piece


def _with_missing(piece: Piece, missing: NDArray[np.bool_]) -> Piece:
    """The piece with a column "was missing". A missing cell is as far from others as one standard deviation."""
    spread = spread_of(piece.columns[: sum(role in ("value", "level") for role in piece.roles)])
    column = np.where(missing, spread, 0.0).astype(piece.columns[0].dtype)
    return replace(piece, columns=[*piece.columns, column], roles=[*piece.roles, "missing"])


def spread_of(columns: list[NDArray[Any]]) -> float:
    """Root of the sum of the variances of some columns, without missing cells; 1 if they do not vary."""
    total = 0.0
    for column in columns:
        # in order, so that rounding does not depend on the order of the rows: folds are drawn by what is in them
        known = np.sort(np.asarray(column[~np.isnan(column)], dtype=np.float64))
        if len(known) and known[0] != known[-1]:
            largest = float(np.abs(known).max())
            total += float(np.var(known / largest)) * largest**2 if largest < 1e150 else 0.0
    return float(np.sqrt(total)) if 0 < total < np.inf else 1.0


def _mark(how: CellReader, missing: NDArray[np.bool_]) -> bool:
    return how.was_missing and bool(worth_a_column(int(missing.sum()), how.n_rows))


def frame_piece(X: Any, j: int, name: Any, called: str, how: CellReader) -> Piece:
    """One column of a data frame that does not hold plain numbers."""
    dtype = list(X.dtypes)[j]
    word = str(dtype).lower()
    if word.startswith(("datetime", "date32", "timestamp")) or word == "date":
        values = np.asarray(X[name].to_numpy() if hasattr(X[name], "to_numpy") else X[name])
        if values.dtype.kind != "M":  # with a time zone, or stored by Arrow
            values = np.array([utc(value) for value in values], dtype="datetime64[us]")
        return _date_piece(values.astype("datetime64[us]"), name, how)
    if word.startswith(("timedelta", "duration")):
        values = np.asarray(X[name].to_numpy()).astype("timedelta64[us]")
        days = np.where(np.isnat(values), np.nan, values.astype(np.int64) / 86_400e6)
        return number_piece(days, name, _mark(how, np.isnan(days)), unit="days")
    values = column_values(X, j)
    if word.startswith(("categor", "enum", "dictionary")):
        if bool(getattr(dtype, "ordered", False)) and word.startswith("categor"):
            return _ordered_piece(X[name].cat, name, how)
        return _declared_piece(values, name, how)
    return object_piece(values, name, called, how)


def utc(value: Any) -> Any:
    """A point in time without its zone; missing ones as NaT."""
    if is_missing(value):
        return np.datetime64("NaT", "us")
    if getattr(value, "tzinfo", None) is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    return np.datetime64(value, "us")


def column_values(X: Any, index: int) -> NDArray[Any]:
    """The cells of one column of a data frame, as they are."""
    return np.asarray(safe_indexing(X, [index], axis=1).to_numpy(), dtype=object)[:, 0]


_DATES = (datetime.datetime, datetime.date, np.datetime64)


def object_piece(values: NDArray[Any], name: Any, called: str, how: CellReader) -> Piece:
    """One column of cells of any type."""
    if values.dtype.kind == "M":
        return _date_piece(values.astype("datetime64[us]"), name, how)
    values = values.astype(object)
    missing = np.fromiter((is_missing(v) or (isinstance(v, str) and cells.is_missing_text(v)) for v in values),
                          dtype=bool, count=len(values))  # fmt: skip
    known = values[~missing]
    types = {_type_of(value) for value in known}
    if not types:
        return number_piece(np.full(len(values), np.nan), name, False)
    if None in types:
        refuse_odd_cells(values, missing, called, how.name)
    if types == {"bool"}:
        return _numbers_of(known, missing, name, how, kind="yes/no")
    if types <= {"number", "bool"}:
        return _numbers_of(known, missing, name, how)
    if types == {"date"}:
        dates = np.full(len(values), np.datetime64("NaT"), dtype="datetime64[us]")
        dates[~missing] = [utc(value) for value in known]
        return _date_piece(dates, name, how)
    if types == {"duration"}:
        days = [np.timedelta64(value, "us") / np.timedelta64(1, "D") for value in known]
        return _numbers_of(days, missing, name, how, unit="days")
    if types == {"time"}:
        known = np.array([value.isoformat() for value in known], dtype=object)
    return _text_piece([_as_text(value) for value in known], missing, name, called, how)


class OddCell(InputError, TypeError):
    """A cell that is neither a number, text nor a date."""


def refuse_odd_cells(values: NDArray[Any], missing: NDArray[np.bool_], called: str, name: str) -> None:
    """Raise if a cell is neither a number, text nor a date."""
    for row in np.flatnonzero(~missing).tolist():
        if _type_of(values[row]) is None:
            # the words in the middle are those of NumPy and scikit-learn
            raise OddCell(
                name,
                f"has a {type(values[row]).__name__} in {called}, {name_row(row)}: {quoted(values[row])}. A cell's "
                "argument must be a string or a real number",
                "write numbers, text or dates",
            )


def _type_of(value: Any) -> str | None:
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool | np.bool_):
        return "bool"
    if isinstance(value, _DATES):
        return "date"
    if isinstance(value, datetime.timedelta | np.timedelta64):
        return "duration"
    if isinstance(value, datetime.time):
        return "time"
    if isinstance(value, Number | Decimal) and not isinstance(value, complex | np.complexfloating):
        return "number"
    return None


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    return value.isoformat(sep=" ") if isinstance(value, datetime.datetime) else str(value)


def _numbers_of(known: Any, missing: NDArray[np.bool_], name: Any, how: CellReader, **more: Any) -> Piece:
    values = np.full(len(missing), np.nan)
    values[~missing] = [as_float(value) for value in known]
    _refuse_infinite(values, name, how)
    whole = [value for value in known if isinstance(value, int | np.integer) and abs(int(value)) > cells.EXACT]
    rounded = str(max(whole, key=lambda value: abs(int(value)))) if whole else ""
    return number_piece(values, name, _mark(how, missing), rounded, **more)


def _refuse_infinite(values: NDArray[np.float64], name: Any, how: CellReader) -> None:
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite):
        raise InputError(
            how.name,
            f"contains infinity in {counted(len(infinite), 'row')} of column {name!r}, first in "
            f"{name_row(int(infinite[0]))}",
            "empty these cells",
            code="infinity",
        )


def _text_piece(known: list[str], missing: NDArray[np.bool_], name: Any, called: str, how: CellReader) -> Piece:
    """One column of text: numbers, dates or times that were written as text, categories, or free text."""
    distinct, codes = distinct_texts(known)
    counts = np.bincount(codes, minlength=len(distinct))
    found = cells.read_numbers(distinct, how.decimal, counts)
    is_number = ~np.isnan(found.values)
    if is_number.all():
        values = np.full(len(missing), np.nan)
        values[~missing] = found.values[codes]
        _refuse_infinite(values, name, how)
        notes = []
        n_limits = int(counts[found.limits].sum())
        if n_limits:
            example = distinct[int(np.flatnonzero(found.limits)[0])]
            notes.append(f"{counted(n_limits, 'cell')} such as {quoted(example)} counted as the limit itself")
        comma = "," if found.decimal == "," else ""
        more: dict[str, Any] = {"unit": found.unit, "n_limits": n_limits, "decimal": comma, "notes": notes}
        return number_piece(values, name, _mark(how, missing), found.rounded, **more)
    times = cells.read_times(distinct)
    if not np.isnan(times).any():
        values = np.full(len(missing), np.nan)
        values[~missing] = times[codes]
        return number_piece(values, name, _mark(how, missing), kind="time", unit="hours")
    dates = cells.read_dates(distinct)
    if not np.isnat(dates.values).any():
        whole = np.full(len(missing), np.datetime64("NaT"), dtype="datetime64[us]")
        whole[~missing] = dates.values[codes]
        return _date_piece(whole, name, how)
    n_numbers, n_texts = int(counts[is_number].sum()), int(counts[~is_number].sum())
    if few_texts_among_numbers(n_numbers, n_texts, int((~is_number).sum())):
        place = int(np.flatnonzero(~is_number[codes])[0])
        row = int(np.flatnonzero(~missing)[place])
        raise InputError(
            how.name,
            f"mixes numbers ({counted(n_numbers, 'cell')}) with text ({counted(n_texts, 'cell')}) in {called}, first "
            f"{quoted(known[place])} in {name_row(row)}",
            "correct or empty these cells. If they are names of categories, make the column categorical",
            code="mixed column",
        )
    problem = found.problem or dates.problem
    return _category_piece(distinct, codes, missing, name, how, problem=problem)


def few_texts_among_numbers(n_numbers: int, n_texts: int, n_different: int) -> bool:
    """Whether a column was meant to hold numbers, so that so many cells of text, so many different, are a mistake."""
    few = n_texts <= _FEW_TEXTS * (n_numbers + n_texts) or n_different <= _FEW_DIFFERENT
    return bool(n_texts and n_numbers >= n_texts and few)


def _ordered_piece(categories: Any, name: Any, how: CellReader) -> Piece:
    """A column of pandas' ordered categories: their codes."""
    codes = np.where(categories.codes >= 0, categories.codes, np.nan)
    levels = tuple(str(level) for level in categories.categories)
    return number_piece(codes, name, _mark(how, np.isnan(codes)), kind="ordered", levels=levels)


def _declared_piece(values: NDArray[Any], name: Any, how: CellReader) -> Piece:
    """A column that is declared to hold categories, without an order."""
    missing = np.fromiter((is_missing(value) for value in values), dtype=bool, count=len(values))
    levels, found = distinct_texts([str(value) for value in values[~missing]])
    if not levels:
        return number_piece(np.full(len(values), np.nan), name, False)
    return _category_piece(levels, found, missing, name, how, declared=True)


def _category_piece(
    levels: list[str],
    codes: NDArray[Any],
    missing: NDArray[np.bool_],
    name: Any,
    how: CellReader,
    *,
    declared: bool = False,
    problem: str = "",
) -> Piece:
    """One column of 0 and 1 per category; text with too many different values, or of an unclear form, is left out."""
    n_levels, n_known = len(levels), len(codes)
    many = n_levels > (_MOST_DECLARED if declared else _MOST_CATEGORIES)
    n_missing = int(missing.sum())
    if (n_levels > _FEW_CATEGORIES and 2 * n_levels > n_known) or many:
        example = quoted(levels[0])
        why = f"left out: text with {n_levels} different values, such as {example}"
        if problem:
            why = f"left out: {problem}"
        of_rows = np.full(how.n_rows, -1)
        of_rows[~missing] = codes
        reading = ColumnReading(name, "text", n_missing=n_missing, notes=(why,), problem=problem, codes=of_rows)
        return Piece([np.zeros(how.n_rows)], ["value"], reading)
    notes = (f"taken as {counted(n_levels, 'category', 'categories')}: {problem}",) if problem else ()
    reading = ColumnReading(name, "category", levels=tuple(levels), n_missing=n_missing, notes=notes)
    columns = []
    for code in range(1 if n_levels == 2 else 0, n_levels):
        column = np.full(how.n_rows, np.nan)
        column[~missing] = codes == code
        columns.append(column)
    roles: list[Role] = ["level" if n_levels > 2 else "value"] * len(columns)
    piece = Piece(columns, roles, reading)
    return _with_missing(piece, missing) if _mark(how, missing) else piece


def _date_piece(dates: NDArray[np.datetime64], name: Any, how: CellReader) -> Piece:
    """Days since the first date; month, weekday and hour as points on circles, if there are enough different ones."""
    missing = np.isnat(dates)
    if missing.all():
        return number_piece(np.full(len(dates), np.nan), name, False)
    known = dates[~missing]
    first = known.min()
    day = np.timedelta64(1, "D") / np.timedelta64(1, "us")
    days = (known - first).astype(np.int64) / day
    whole_days = known.astype("datetime64[D]")
    months = known.astype("datetime64[M]").astype(np.int64) % 12
    weekdays = (whole_days.astype(np.int64) + 3) % 7  # the first day of 1970 was a Thursday; Monday is 0
    hours = (known - whole_days).astype(np.int64) / day * 24
    seasons = []
    if days.max() >= _DAYS_FOR_MONTHS and len(np.unique(months)) >= _FEWEST_DIFFERENT:
        seasons.append(months / 12)
    if days.max() >= _DAYS_FOR_WEEKDAYS and len(np.unique(weekdays)) >= _FEWEST_DIFFERENT:
        seasons.append(weekdays / 7)
    if len(np.unique(hours)) >= _FEWEST_DIFFERENT:
        seasons.append(hours / 24)
    columns = [days]
    for turn in seasons:
        circle = [np.cos(2 * np.pi * turn), np.sin(2 * np.pi * turn)]
        scale = np.sqrt(_SEASON_SHARE) * spread_of([days]) / spread_of(circle)
        columns += [scale * part for part in circle]
    full = []
    for column in columns:
        full.append(np.full(len(dates), np.nan))
        full[-1][~missing] = column
    roles: list[Role] = ["value", *["season"] * (len(columns) - 1)]  # type: ignore[list-item]
    shown = str(first.astype("datetime64[s]")).removesuffix("T00:00:00").replace("T", " ")
    reading = ColumnReading(name, "date", n_missing=int(missing.sum()), first=shown)
    piece = Piece(full, roles, reading)
    return _with_missing(piece, missing) if _mark(how, missing) else piece
