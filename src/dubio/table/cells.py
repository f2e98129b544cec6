"""Cells of any type, and columns of text: numbers with units, limits and marks for thousands; dates, scales, names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal as ExactNumber
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dubio.errors import counted
from dubio.table.dates import narrow, read_dates, read_times
from dubio.table.scales import levels_in_order
from dubio.table.units import Unit, unit_of
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


#: Spreadsheets run cells that begin with one of these.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
#: Text that means "missing", besides empty cells.
MISSING = ("?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "<NA>")
_MISSING = frozenset({"", *MISSING})
#: Text among numbers or dates that means "missing", without blanks and points, in small letters.
_MARKS = frozenset(
    {"na", "n/a", "nd", "nb", "nr", "nc", "ka", "k/a", "nil", "none", "unk", "unknown", "missing", "notdone", "err"}
    | {"notdetermined", "notavailable", "notmeasured", "undetermined", "error"}
    | {
        "keineangabe",
        "nichtbestimmt",
        "unbekannt",
        "fehlt",
        "inconnu",
        "inconnue",
        "manquant",
        "nonrenseigné",
        "nonfait",
    }
    | {"neuvedeno", "nezjištěno", "neznámé", "chybí", "不明", "未測定", "欠測", "欠損", "データなし"}
    | {"#div/0!", "#value!", "#ref!", "#num!", "#name?", "#null!"}
)
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
#: Names and whole numbers beside each other are categories if at most this number of texts differ,
_FEW_DIFFERENT = 10
#: and each of them occurs in this number of cells, on average.
_OFTEN = 3
#: Different texts beside whole numbers that name rows, at least, and the share of these texts that has digits.
_FEWEST_NAMES, _MOST_NAMES = 5, 0.9

Decimal = Literal[".", ","]


@dataclass(frozen=True)
class TextNumbers:
    """Numbers that were written as text, one per distinct text."""

    #: The numbers; NaN for text that is not a number.
    values: NDArray[np.float64]
    #: Cells such as "<0.1", taken at the limit.
    limits: NDArray[np.bool_]
    #: Texts that look like numbers.
    looks: NDArray[np.bool_]
    #: The unit that all of them have, or are taken to have.
    unit: str = ""
    decimal: Decimal = "."
    #: Why the column cannot be read as numbers although its cells look like numbers; else empty.
    problem: str = ""
    #: A whole number that was rounded, if there is one.
    rounded: str = ""
    #: Number of cells without the unit, and the units that were converted into it.
    n_bare: int = 0
    #: Whether the problem is that a comma may mark decimals or thousands.
    unclear_comma: bool = False
    converted: tuple[str, ...] = ()


def as_text(value: Any, mark: Decimal = ".") -> str:
    """A cell as text; a number gets this decimal mark.

    >>> as_text(5.6, ","), as_text(" 1.7 mg/l ", ",")
    ('5,6', '1.7 mg/l')
    """
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    return str(value).replace(".", mark) if isinstance(value, Real | ExactNumber) else str(value)


def is_missing_text(text: str) -> bool:
    """Whether a cell of text means that there is no value."""
    return text.strip() in _MISSING


def is_mark(text: str) -> bool:
    """Whether a cell among numbers or dates is one that people write where there is no value.

    >>> [is_mark(text) for text in ("-", "k. A.", "ND", "low")]
    [True, True, True, False]
    """
    return re.sub(r"[\s.]", "", text).casefold() in _MARKS or not re.search(r"[^\s.\-–—*?/]", text)


def read_numbers(
    texts: Sequence[str], decimal: Decimal | None = None, counts: NDArray[np.int64] | None = None
) -> TextNumbers:
    """Numbers of a text column, from its distinct texts and how often each occurs.

    Units of the same quantity are converted to the most frequent one, and numbers beside a single unit are taken to
    have it. If more than half of the numbers have no unit, those with an unknown one (``4o``, ``13k``) are no numbers.

    >>> from dubio.table.cells import read_numbers
    >>> found = read_numbers(["95,1 %", "<0,5 %", "1.204,7 %"])
    >>> found.values.tolist(), found.unit, found.limits.tolist()
    ([95.1, 0.5, 1204.7], '%', [False, True, False])
    >>> read_numbers(["5 mg/l", "0.25 g/l", "7 mg/l"]).values
    array([  5., 250.,   7.])
    """
    values, limits = np.full(len(texts), np.nan), np.zeros(len(texts), dtype=bool)
    matches = {place: match for place, text in enumerate(texts) if (match := _CELL.fullmatch(narrow(text)))}
    looks = np.zeros(len(texts), dtype=bool)
    looks[list(matches)] = True
    bodies = {place: match["body"].replace("\u2212", "-").replace("\u2019", "'") for place, match in matches.items()}
    mark, problem = _decimal_mark(list(bodies.values()), decimal)
    if mark is None:
        return TextNumbers(values, limits, looks, problem=problem, unclear_comma=True)
    pattern, thousands = (_POINT, ",") if mark == "." else (_COMMA, ".")
    rounded, units = "", {}
    for place, body in bodies.items():
        if not pattern.fullmatch(body):
            continue
        plain = re.sub(rf"['{_SPACES}{thousands}]", "", body).replace(",", ".")
        values[place], units[place] = float(plain), matches[place]["unit"] or matches[place]["currency"] or ""
        if len(plain) > 15 and plain.lstrip("+-").isdigit() and ExactNumber(plain) != values[place]:
            rounded = rounded or texts[place]
    limits[[place for place in units if matches[place]["limit"]]] = True
    often = np.ones(len(texts), dtype=np.int64) if counts is None else counts
    return _in_one_unit(TextNumbers(values, limits, looks, "", mark, "", rounded), texts, units, often)


def _in_one_unit(
    numbers: TextNumbers, texts: Sequence[str], units: dict[int, str], often: NDArray[np.int64]
) -> TextNumbers:
    """The numbers in the most frequent of their ``units``, or why they cannot be."""
    values = numbers.values
    bare = [place for place, unit in units.items() if not unit]
    if 2 * often[bare].sum() > often[list(units)].sum():
        odd = [place for place, unit in units.items() if unit and unit_of(unit) is None]
        values[odd] = np.nan
        units = {place: unit for place, unit in units.items() if place not in odd}
    total = Counter[str]()
    for place, unit in units.items():
        total[unit] += int(often[place])
    n_bare = total.pop("", 0)
    most = max(sorted(total), key=total.__getitem__) if total else ""
    into = unit_of(most)
    sizes = {unit: 1.0 if unit == most else _size_in(unit, into) for unit in total}
    unclear = n_bare and total and (into is None or len({*sizes.values()}) > 1)  # of the numbers without a unit
    if None in sizes.values() or unclear:
        shown = [next(texts[place] for place in units if units[place] == unit) for unit in sorted(units.values())]
        first, second = list(dict.fromkeys(shown))[:2]
        problem = f"its numbers have different units, as in {first!r} and {second!r}"
        return replace(numbers, values=np.full(len(texts), np.nan), limits=numbers.limits & False, problem=problem)
    for place, unit in units.items():
        values[place] *= sizes.get(unit) or 1.0
    converted = tuple(sorted(unit for unit, size in sizes.items() if size != 1.0))
    limits = numbers.limits & ~np.isnan(values)
    return replace(numbers, limits=limits, unit=most, n_bare=n_bare if most else 0, converted=converted)


def _size_in(unit: str, into: Unit | None) -> float | None:
    """One of a unit in another one; None if they are not of the same quantity."""
    own = unit_of(unit)
    if own is None or into is None or own.quantity != into.quantity:
        return None
    return float(f"{own.size / into.size:.12g}")  # 1000, and not 1000.0000000000001


def decimal_mark_of(texts: Sequence[str]) -> Decimal:
    """The decimal mark of the texts that are numbers; a point if they do not show it.

    >>> from dubio.table.cells import decimal_mark_of
    >>> decimal_mark_of(["2,5 mg/l", "-"]), decimal_mark_of(["low", "3"])
    (',', '.')
    """
    matches = (_CELL.fullmatch(narrow(text)) for text in set(texts))
    return _decimal_mark([match["body"] for match in matches if match], None)[0] or "."


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


@dataclass(frozen=True)
class TextColumn:
    """The meaning of a column of text: numbers, times, dates, places on a scale, or "" for names and free text."""

    kind: Literal["number", "time", "date", "ordered", ""]
    #: One number, hour of the day, date or place per distinct text; of names, NaN where the text is no number.
    values: NDArray[Any]
    #: The texts as numbers.
    numbers: TextNumbers
    #: The distinct texts, and how often each occurs.
    texts: Sequence[str]
    counts: NDArray[np.int64]
    #: Why it can be read neither as numbers or dates, although it looks like them, nor as names; else empty.
    problem: str = ""
    #: The texts that the problem is about.
    odd: NDArray[np.bool_] | None = None
    #: The texts that were taken for a missing value.
    marks: tuple[str, ...] = ()
    #: Of a scale: its levels, the lowest first.
    levels: tuple[str, ...] = ()

    @property
    def n_limits(self) -> int:
        """Number of cells such as "<0.1"."""
        return int(self.counts[self.numbers.limits].sum())

    def notes(self) -> list[Note]:
        """Notes on limits, units that were taken or converted, and marks that were taken for a missing value."""
        notes, numbers = [], self.numbers
        if self.marks:
            n = sum(int(count) for text, count in zip(self.texts, self.counts, strict=True) if text in self.marks)
            notes.append(note("marks", n=n, marks=self.marks))
        if self.levels:
            notes.append(note("on a scale", levels=" < ".join(self.levels)))
        if self.kind != "number":
            return notes
        if self.n_limits:
            notes.append(note("at the limit", n=self.n_limits, example=self.texts[int(np.argmax(numbers.limits))]))
        if numbers.n_bare:
            notes.append(note("without unit", n=numbers.n_bare, unit=numbers.unit))
        if numbers.converted:
            notes.append(note("converted", units=numbers.converted, unit=numbers.unit))
        return notes

    @property
    def n_numbers(self) -> int:
        """Number of cells that are numbers."""
        return int(self.counts[~np.isnan(self.numbers.values)].sum())

    @property
    def is_mixed(self) -> bool:
        """Whether the column was meant to hold numbers, so that its cells of text are a mistake."""
        return self.odd is not None

    @property
    def is_numbered(self) -> bool:
        """Whether names and whole numbers stand beside each other, few and each of them often: 4, 6, 8, rotary."""
        values = self.numbers.values[~np.isnan(self.numbers.values)]
        few = len(self.texts) <= _FEW_DIFFERENT and self.counts.sum() >= _OFTEN * len(self.texts)
        return bool(few and self.kind == "" and 0 < len(values) < len(self.texts) and (values == values.round()).all())

    @property
    def names_rows(self) -> bool:
        """Whether whole numbers and texts with digits stand beside each other, most of them different: tickets."""
        is_number = ~np.isnan(self.numbers.values)
        values, odd = self.numbers.values[is_number], [t for t, n in zip(self.texts, is_number, strict=True) if not n]
        differ = 2 * len(self.texts) > self.counts.sum() and len(odd) >= _FEWEST_NAMES
        differ = differ and 2 * len(odd) > self.counts[~is_number].sum()
        with_digits = sum(any(map(str.isdigit, text)) for text in odd) > _MOST_NAMES * len(odd)
        return bool(differ and with_digits and (values == values.round()).all())

    @property
    def in_other_mark(self) -> NDArray[np.bool_]:
        """The texts beside numbers that are numbers too, with the other decimal mark."""
        found = np.zeros(len(self.texts), dtype=bool)
        if self.odd is not None and self.n_numbers >= self.counts[self.odd].sum():  # else they stand among dates
            odd = [text for text, is_odd in zip(self.texts, self.odd, strict=True) if is_odd]
            mark: Literal[".", ","] = "." if self.numbers.decimal == "," else ","
            found[self.odd] = ~np.isnan(read_numbers(odd, mark).values) & np.array([mark in text for text in odd])
        return found

    def mixture(self) -> str:
        """Numbers and text, counted."""
        n_texts = int(self.counts.sum()) - self.n_numbers
        return f"mixes numbers ({counted(self.n_numbers, 'cell')}) with text ({counted(n_texts, 'cell')})"


def read_texts(texts: Sequence[str], counts: NDArray[np.int64], decimal: Decimal | None = None) -> TextColumn:
    """The meaning of a column of text, from its distinct texts and how often each occurs.

    If half of the cells are numbers, the column was meant to hold numbers; likewise dates. Then cells such as "-" and
    "n.d." are missing, and any other text is a problem.

    >>> import numpy as np
    >>> from dubio.table.cells import read_texts
    >>> read_texts(["6:30", "18:45"], np.array([3, 1])).kind
    'time'
    >>> read_texts(["1.5", "-", "2.5 mg"], np.array([9, 2, 5])).notes()[0].facts
    {'n': 2, 'marks': ('-',)}
    """
    whole = _meaning(texts, counts, decimal)
    marks = np.array([is_mark(text) for text in texts], dtype=bool)
    if whole.kind or marks.all() or not marks.any():
        return whole
    rest = _meaning([text for text, mark in zip(texts, marks, strict=True) if not mark], counts[~marks], decimal)
    if not rest.kind and not rest.problem:
        return whole
    missing: Any = np.datetime64("NaT") if rest.kind == "date" else np.nan
    values = np.full(len(texts), missing, dtype=rest.values.dtype)
    values[~marks] = rest.values
    numbers = {"values": np.full(len(texts), np.nan)} | {
        name: np.zeros(len(texts), dtype=bool) for name in ("limits", "looks")
    }
    for name, of_all in numbers.items():
        of_all[~marks] = getattr(rest.numbers, name)
    odd = None if rest.odd is None else np.zeros(len(texts), dtype=bool)
    if odd is not None:
        odd[~marks] = rest.odd
    shown = tuple(text for text, mark in zip(texts, marks, strict=True) if mark)
    numbers_of_all = replace(rest.numbers, **numbers)  # type: ignore[arg-type]
    return replace(
        rest,
        values=values,
        numbers=numbers_of_all,
        texts=texts,
        counts=counts,
        odd=odd,
        marks=shown if rest.kind else (),
    )


def _meaning(texts: Sequence[str], counts: NDArray[np.int64], decimal: Decimal | None) -> TextColumn:
    """The same, if no cell is taken for a missing one."""
    numbers = read_numbers(texts, decimal, counts)
    of_all, half = (numbers, texts, counts), counts.sum() / 2
    is_number = ~np.isnan(numbers.values)
    if is_number.all():
        return TextColumn("number", numbers.values, *of_all)
    times = read_times(texts)
    if not np.isnan(times).any():
        return TextColumn("time", times, *of_all)
    dates = read_dates(texts)
    is_date = ~np.isnat(dates.values)
    if is_date.all():
        return TextColumn("date", dates.values, *of_all)
    levels = levels_in_order(texts)
    if levels is not None:
        places = {level: float(place) for place, level in enumerate(levels)}
        return TextColumn("ordered", np.array([places[text] for text in texts]), *of_all, levels=tuple(levels))
    column = TextColumn("", numbers.values, *of_all)
    if numbers.problem and counts[numbers.looks].sum() >= half:
        return replace(column, problem=numbers.problem)
    if decimal is not None and counts[numbers.looks].sum() >= half > counts[is_number].sum():
        return replace(column, problem=f"its cells are no numbers with the decimal mark {decimal!r}")
    if counts[dates.looks].sum() >= half:
        odd = None if dates.problem else ~is_date
        return replace(column, problem=dates.problem or "mixes dates with text", odd=odd)
    if counts[~np.isnan(times)].sum() >= half:
        return replace(column, problem="mixes times with text", odd=np.isnan(times))
    if counts[is_number].sum() >= half and not column.is_numbered and not column.names_rows:
        return replace(column, problem=column.mixture(), odd=~is_number)
    return column
