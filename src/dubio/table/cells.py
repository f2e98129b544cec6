"""Cells of any type, and columns of text: numbers with units, limits and marks for thousands; dates, times, names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal as ExactNumber
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dubio.errors import counted
from dubio.words import Note, note


def is_missing(value: Any) -> bool:
    """Whether a cell has no value: None, NaN, NaT, pandas' NA.

    >>> [is_missing(value) for value in (None, float("nan"), 0, "")]
    [True, True, False, False]
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, ExactNumber):  # one that signals cannot be compared
        return value.is_nan()
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # an array, for example
        return False


def missing_cells(values: NDArray[Any]) -> NDArray[np.bool_]:
    """The cells of an array of any type that have no value."""
    if values.dtype.kind != "O":
        return np.asarray(values != values)
    return np.fromiter((is_missing(value) for value in values), dtype=bool, count=len(values))


def is_valid_text(text: str) -> bool:
    r"""Whether a text can be written: half of a pair of UTF-16 cannot.

    >>> is_valid_text("\u00e9"), is_valid_text("\ud800")
    (True, False)
    """
    return text.isascii() or text.encode(errors="ignore").decode() == text


def as_float(value: Any) -> float:
    """A number of any type as a floating point number; infinity if it is too large for one.

    >>> as_float(-(10**400))
    -inf
    """
    try:
        return float(value)
    except OverflowError:
        return float("inf" if value > 0 else "-inf")


def distinct_texts(texts: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
    """The different texts in order, and the place of each text among them.

    An array of text would give every cell as much room as the longest one needs.

    >>> distinct_texts(["b", "a", "b"])
    (['a', 'b'], array([1, 0, 1]))
    """
    distinct = sorted(set(texts))
    places = {text: place for place, text in enumerate(distinct)}
    return distinct, np.fromiter((places[text] for text in texts), dtype=np.int64, count=len(texts))


#: Types of cells, by name; the first that fits counts (NumPy says that its durations are whole numbers).
TYPES: dict[str, Any] = {
    "text": str,
    "bool": bool | np.bool_,
    "duration": timedelta | np.timedelta64,
    "date": date | np.datetime64,
    "time": time,
    "number": Real | ExactNumber,
}


def type_of(cells_type: type) -> str | None:
    """What cells of a type hold, in a word; None if they are neither text, numbers nor dates."""
    return next((name for name, types in TYPES.items() if issubclass(cells_type, types)), None)


#: Text that means "missing", besides empty cells.
MISSING = ("?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "<NA>")
_MISSING = frozenset({"", *MISSING})
#: Whole numbers beyond this are rounded when they become floating point numbers.
EXACT = 2**53

_SPACES = "\u0020\u00a0\u2009\u202f"
_LIMIT = r"(?P<limit>[<>]=?|[\u2264\u2265])?"
_UNIT = r"(?P<unit>(?:[^\W\d_]|[%\u2030\u00b0\u00b5$\u20ac\u00a3\u00a5])[^\s<>]{0,14}(?: [^\W\d_][^\s<>]{0,9})?)?"
_CELL = re.compile(
    rf"{_LIMIT}\s*(?:(?P<currency>[$\u20ac\u00a3\u00a5])\s*)?"
    rf"(?P<body>[+\-\u2212]?[.,]?\d(?:[\d.,'\u2019{_SPACES}]*\d)?[.,]?"
    rf"(?:[eE][+-]?\d+)?)\s*{_UNIT}"
)
_TAIL = r"(?:[eE][+-]?\d+)?"
_POINT = re.compile(rf"[+-]?(?:\d+|[1-9]\d{{0,2}}(?:[,'{_SPACES}]\d{{3}})+)?(?:\.\d*)?{_TAIL}")
_COMMA = re.compile(rf"[+-]?(?:\d+|[1-9]\d{{0,2}}(?:[.'{_SPACES}]\d{{3}})+)?(?:,\d*)?{_TAIL}")
#: 1,234 may mean 1.234 or 1234. In 0,234 and 1234,567 the comma can only be a decimal comma.
_UNCLEAR = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})?")
# A column of text was meant to hold numbers if few of its cells are none:
_FEW_TEXTS = 0.1  # as a share of the cells
_FEW_DIFFERENT = 10  # or as a number of different texts

Decimal = Literal[".", ","]


@dataclass(frozen=True)
class TextNumbers:
    """Numbers that were written as text, one per distinct text."""

    #: The numbers; NaN for text that is not a number.
    values: NDArray[np.float64]
    #: Cells such as "<0.1", taken at the limit.
    limits: NDArray[np.bool_]
    #: The unit that all of them have.
    unit: str = ""
    decimal: Decimal = "."
    #: Why the column cannot be read as numbers although every cell looks like one; else empty.
    problem: str = ""
    #: A whole number that was rounded, if there is one.
    rounded: str = ""


def is_missing_text(text: str) -> bool:
    """Whether a cell of text means that there is no value."""
    return text.strip() in _MISSING


def read_numbers(
    texts: Sequence[str], decimal: Decimal | None = None, counts: NDArray[np.int64] | None = None
) -> TextNumbers:
    """Numbers of a text column, from its distinct texts and how often each occurs.

    If more than half of the numbers have no unit, those with one (``4o``, ``13k``) are no numbers.

    >>> from dubio.table.cells import read_numbers
    >>> found = read_numbers(["95,1 %", "<0,5 %", "1.204,7 %"])
    >>> found.values.tolist(), found.unit, found.limits.tolist()
    ([95.1, 0.5, 1204.7], '%', [False, True, False])
    """
    values, limits = np.full(len(texts), np.nan), np.zeros(len(texts), dtype=bool)
    matches = {place: match for place, text in enumerate(texts) if (match := _CELL.fullmatch(text.strip()))}
    bodies = {place: match["body"].replace("\u2212", "-").replace("\u2019", "'") for place, match in matches.items()}
    mark, problem = _decimal_mark(list(bodies.values()), decimal)
    if mark is None:
        return TextNumbers(values, limits, problem=problem)
    pattern, thousands = (_POINT, ",") if mark == "." else (_COMMA, ".")
    rounded, units = "", {}
    for place, body in bodies.items():
        if not pattern.fullmatch(body):
            continue
        plain = re.sub(rf"['{_SPACES}{thousands}]", "", body).replace(",", ".")
        values[place], units[place] = float(plain), matches[place]["unit"] or matches[place]["currency"] or ""
        if len(plain) > 15 and plain.lstrip("+-").isdigit() and ExactNumber(plain) != values[place]:
            rounded = rounded or texts[place]
    often = np.ones(len(texts)) if counts is None else counts
    bare = [place for place, unit in units.items() if not unit]
    if often[bare].sum() > 0.5 * often[list(units)].sum():
        values[[place for place, unit in units.items() if unit]] = np.nan
        units = dict.fromkeys(bare, "")
    examples = {unit: texts[place] for place, unit in reversed(units.items())}  # the first one of each unit
    if len(examples) > 1:
        first, second = sorted(examples.values())[:2]
        problem = f"its numbers have different units, as in {first!r} and {second!r}"
        return TextNumbers(np.full(len(texts), np.nan), limits, problem=problem)
    limits[[place for place in units if matches[place]["limit"]]] = True
    return TextNumbers(values, limits, next(iter(examples), ""), mark, "", rounded)


def _decimal_mark(bodies: list[str], decimal: Decimal | None) -> tuple[Decimal | None, str]:
    """The decimal mark of a column, or why it is unclear. Cells that fit neither mark decide nothing."""
    if decimal is not None:
        return decimal, ""
    fits = [(bool(_POINT.fullmatch(body)), bool(_COMMA.fullmatch(body))) for body in bodies]
    points, commas = sum(point for point, _ in fits), sum(comma for _, comma in fits)
    if points != commas:
        return ("." if points > commas else ","), ""
    marked = [body for body in bodies if "," in body]
    if not marked or not all(map(_UNCLEAR.fullmatch, bodies)) or len(marked) == len(bodies):
        return ".", ""  # if every number has one comma, both readings differ only by a factor of 1000
    return None, f"in numbers such as {marked[0]!r} the comma may mark decimals or thousands"


_MONTHS = {
    name: number
    for number, names in enumerate(
        ("jan january", "feb february", "mar march", "apr april", "may", "jun june", "jul july", "aug august",
         "sep sept september", "oct october", "nov november", "dec december"), 1)
    for name in names.split()
}  # fmt: skip
_CLOCK = r"(?:[T ]+(?P<clock>\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(?P<zone>Z|[+-]\d{2}:?\d{2})?)?"
_ISO = re.compile(rf"(?P<year>\d{{4}})(?P<mark>[-/.])(?P<month>\d{{1,2}})(?P=mark)(?P<day>\d{{1,2}}){_CLOCK}")
_SHORT = re.compile(rf"(?P<one>\d{{1,2}})(?P<mark>[-/.])\s?(?P<two>\d{{1,2}})(?P=mark)\s?(?P<year>\d{{4}}){_CLOCK}")
_WORDS = re.compile(rf"(?P<day>\d{{1,2}})\.?[ -](?P<name>[A-Za-z]{{3,9}})\.?,?[ -](?P<year>\d{{4}}){_CLOCK}")
_WORDS_FIRST = re.compile(rf"(?P<name>[A-Za-z]{{3,9}})\.? (?P<day>\d{{1,2}}),? (?P<year>\d{{4}}){_CLOCK}")
_DATES = (_ISO, _WORDS, _WORDS_FIRST, _SHORT)
_TIME = re.compile(r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?")


def read_dates(texts: Sequence[str]) -> tuple[NDArray[np.datetime64], str]:
    """Dates of a text column, from its distinct texts: 2024-03-31, 31.3.2024, 3/31/2024, 31 Mar 2024, with times.

    NaT where the text is not a date; and why they cannot be read although every cell looks like a date, or "".

    >>> from dubio.table.cells import read_dates
    >>> read_dates(["31/1/2024", "1/2/2024 12:00"])[0]
    array(['2024-01-31T00:00:00.000000', '2024-02-01T12:00:00.000000'],
          dtype='datetime64[us]')
    """
    values = np.full(len(texts), np.datetime64("NaT"), dtype="datetime64[us]")
    short: list[tuple[int, re.Match[str]]] = []
    for place, text in enumerate(texts):
        match = next(filter(None, (form.fullmatch(text.strip()) for form in _DATES)), None)
        if match is None:
            continue
        parts = match.groupdict()
        if "one" in parts:
            short.append((place, match))
            continue
        month = parts.get("month") or _MONTHS.get(parts.get("name", "").lower(), 0)
        values[place] = _date(int(month), int(parts["day"]), match)
    if short:
        first, second = (max(int(match[part]) for _, match in short) for part in ("one", "two"))
        if any(match["mark"] == "." for _, match in short) or first > 12:
            day, month = "one", "two"
        elif second > 12:
            day, month = "two", "one"
        else:
            shown = texts[short[0][0]].strip()
            return values, f"in dates such as {shown!r} day and month cannot be told apart"
        for place, match in short:
            values[place] = _date(int(match[month]), int(match[day]), match)
    return values, ""


def read_times(texts: Iterable[str]) -> NDArray[np.float64]:
    """Times of the day in hours; NaN where the text is not a time.

    >>> from dubio.table.cells import read_times
    >>> read_times(["6:30", "18:45:36"])
    array([ 6.5 , 18.76])
    """
    matches = (_TIME.fullmatch(text.strip()) for text in texts)
    return np.asarray([_hours(match[0]) if match else np.nan for match in matches], dtype=np.float64)


@dataclass(frozen=True)
class TextColumn:
    """The meaning of a column of text: numbers, times, dates, or "" for names and free text."""

    kind: Literal["number", "time", "date", ""]
    #: One number, hour of the day or date per distinct text; of names, NaN where the text is no number.
    values: NDArray[Any]
    #: The texts as numbers.
    numbers: TextNumbers
    #: The distinct texts, and how often each occurs.
    texts: Sequence[str]
    counts: NDArray[np.int64]
    #: Why names cannot be read as numbers or dates although each looks like one; else empty.
    problem: str = ""

    @property
    def n_limits(self) -> int:
        """Number of cells such as "<0.1"."""
        return int(self.counts[self.numbers.limits].sum())

    def notes(self) -> list[Note]:
        """A note on cells such as "<0.1", if there are some."""
        if not self.n_limits:
            return []
        return [note("at the limit", n=self.n_limits, example=self.texts[int(np.argmax(self.numbers.limits))])]

    @property
    def n_numbers(self) -> int:
        """Number of cells that are numbers."""
        return int(self.counts[~np.isnan(self.numbers.values)].sum())

    @property
    def is_mixed(self) -> bool:
        """Whether the column was meant to hold numbers, so that its few cells of text are a mistake."""
        n_cells, n_different = int(self.counts.sum()), int(np.isnan(self.numbers.values).sum())
        few = n_cells - self.n_numbers <= _FEW_TEXTS * n_cells or n_different <= _FEW_DIFFERENT
        return n_different > 0 and 2 * self.n_numbers >= n_cells and few

    def mixture(self) -> str:
        """Numbers and text, counted."""
        n_texts = int(self.counts.sum()) - self.n_numbers
        return f"mixes numbers ({counted(self.n_numbers, 'cell')}) with text ({counted(n_texts, 'cell')})"


def read_texts(texts: Sequence[str], counts: NDArray[np.int64], decimal: Decimal | None = None) -> TextColumn:
    """The meaning of a column of text, from its distinct texts and how often each occurs.

    >>> import numpy as np
    >>> from dubio.table.cells import read_texts
    >>> read_texts(["6:30", "18:45"], np.array([3, 1])).kind
    'time'
    """
    numbers = read_numbers(texts, decimal, counts)
    of_all = numbers, texts, counts
    if not np.isnan(numbers.values).any():
        return TextColumn("number", numbers.values, *of_all)
    times = read_times(texts)
    if not np.isnan(times).any():
        return TextColumn("time", times, *of_all)
    dates, problem = read_dates(texts)
    if not np.isnat(dates).any():
        return TextColumn("date", dates, *of_all)
    return TextColumn("", numbers.values, *of_all, numbers.problem or problem)


#: Microseconds of a day.
DAY = np.timedelta64(1, "D") / np.timedelta64(1, "us")


def days_since_first(dates: NDArray[np.datetime64]) -> tuple[NDArray[np.float64], str]:
    """Dates, none of which is missing, as days since the first of them; and that one in words."""
    first = dates.min()
    shown = str(first.astype("datetime64[s]")).removesuffix("T00:00:00").replace("T", " ")
    return (dates - first).astype(np.int64) / DAY, shown


def utc(value: Any) -> Any:
    """A point in time without its zone; missing ones as NaT."""
    if is_missing(value):
        return np.datetime64("NaT", "us")
    if getattr(value, "tzinfo", None) is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(value, "us")


def _hours(clock: str) -> float:
    hours, minutes, seconds, *_ = map(float, [*clock.split(":"), "0"])
    return hours + minutes / 60 + seconds / 3600 if hours < 24 and minutes < 60 and seconds < 60 else float("nan")


def _date(month: int, day: int, match: re.Match[str]) -> np.datetime64:
    try:
        found = np.datetime64(datetime(int(match["year"]), month, day), "us")
        found += np.timedelta64(round(_hours(match["clock"] or "0:00") * 3.6e9), "us")
    except ValueError:  # there is no such day, or no such hour: it is NaN, which cannot be rounded
        return np.datetime64("NaT", "us")
    zone = match["zone"] or "Z"
    minutes = 0 if zone == "Z" else 60 * int(zone[1:3]) + int(zone[-2:])
    return found - np.timedelta64(-minutes if zone[0] == "-" else minutes, "m")
