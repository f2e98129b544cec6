"""Targets that are numbers but do not look like it: text such as "96.2 %", dates, times of the day.

They are read as the cells of a table are (``tables/cells.py``): a column means the same as a feature and as a target.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputError, name_row, quoted
from dubio.table import cells


@dataclass(frozen=True)
class WrittenNumbers:
    """Numbers of a target, and how they were written.

    Attributes
    ----------
    values : array
        One number per known value; NaN for text that means "missing", such as "NA".
    as_read : str
        What they were read as, to follow "a numeric target".
    of_time : bool
        Whether they are dates or times, which are never classes.
    bare : bool
        Whether they are text without a unit or a limit ("1", "2"): if there are few, they are names of classes.
    """

    values: NDArray[np.float64]
    as_read: str
    of_time: bool = False
    bare: bool = False


def days_since_first(values: NDArray[Any]) -> WrittenNumbers | None:
    """Dates, durations or times of the day as numbers; None if the values are something else."""
    if values.dtype.kind == "O" and len(values):
        values = _common_type(values)
    if not len(values):
        return WrittenNumbers(np.empty(0), "")
    if values.dtype.kind == "M":
        days, first = cells.days_since_first(values.astype("datetime64[us]"))
        return WrittenNumbers(days, f"in days since {first}", of_time=True)
    if values.dtype.kind == "m":
        return WrittenNumbers(values.astype("timedelta64[us]").astype(np.int64) / cells.DAY, "in days", of_time=True)
    if values.dtype.kind == "O" and all(isinstance(value, datetime.time) for value in values):
        return WrittenNumbers(cells.read_times([value.isoformat() for value in values]), "in hours", of_time=True)
    return None


def _common_type(values: NDArray[Any]) -> NDArray[Any]:
    if all(isinstance(value, datetime.date | np.datetime64) for value in values):
        return np.array([cells.utc(value) for value in values], dtype="datetime64[us]")
    if all(isinstance(value, datetime.timedelta | np.timedelta64) for value in values):
        return np.array([np.timedelta64(value).astype("timedelta64[us]") for value in values])
    return values


def read_written(
    values: NDArray[np.str_], rows: NDArray[np.intp], *, only_numbers: bool, most: int
) -> WrittenNumbers | None:
    """Text as numbers, if all of it is numbers, dates or times; None if it is names of classes.

    Parameters
    ----------
    values : array of str
        The known values.
    rows : array
        The row of each of them, for messages.
    only_numbers : bool
        Whether names of classes are refused.
    most : int
        More different values than this are no names of classes.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.target.written import read_written
    >>> found = read_written(np.array(["95,1 %", "<0,5 %"]), np.arange(2), only_numbers=False, most=20)
    >>> found.values.tolist(), found.as_read
    ([95.1, 0.5], "in '%'; 1 cell such as '<0,5 %' counted as the limit itself")
    """
    distinct, codes = np.unique(np.char.strip(values), return_inverse=True)
    known = np.array([not cells.is_missing_text(text) for text in distinct.tolist()], dtype=bool)
    if not known.any():
        return None
    texts, counts = distinct[known].tolist(), np.bincount(codes, minlength=len(distinct))[known]
    found = cells.read_texts(texts, counts)
    if found.kind:
        numbers, shown = found.values, "in hours"
        if found.kind == "date":
            numbers, first = cells.days_since_first(found.values)
            shown = f"in days since {first}"
        elif found.kind == "number":
            unit = found.numbers.unit
            shown = "; ".join([*([f"in {quoted(unit)}"] if unit else []), *found.notes()])
        full = np.full(len(distinct), np.nan)
        full[known] = numbers
        is_number = found.kind == "number"
        return WrittenNumbers(full[codes], shown, of_time=not is_number, bare=is_number and not shown)
    if found.problem and (only_numbers or len(texts) > most):
        raise InputError(
            "y",
            f"is unclear: {found.problem} ({name_row(int(rows[0]))})",
            "write plain numbers such as 1250.5, or dates such as 2024-03-31. If they are names of classes, say "
            "target='classes'",
            code="unclear target",
        )
    texts_in = np.flatnonzero(np.isin(codes, np.flatnonzero(known)[np.isnan(found.values)]))
    if found.is_mixed or (only_numbers and found.n_numbers):
        raise InputError(
            "y",
            f"{found.mixture()}, first {quoted(values[texts_in[0]])} in {name_row(int(rows[texts_in[0]]))}",
            "correct or empty these cells. If they are names of classes, say target='classes'",
            code="mixed target",
        )
    if only_numbers:
        raise InputError(
            "y",
            f"holds text, such as {quoted(values[texts_in[0]])} in {name_row(int(rows[texts_in[0]]))}, where numbers "
            "are needed",
            "encode it as numbers",
        )
    return None
