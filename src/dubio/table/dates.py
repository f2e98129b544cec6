"""Dates and times: those of any type, and those that are written as text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "jan january januar jänner janv janvier led leden ledna",
            "feb february februar feber févr février úno únor února",
            "mar march mär märz mars bře březen března",
            "apr april avr avril dub duben dubna",
            "may mai kvě květen května",
            "jun june juni juin čvn červen června",
            "jul july juli juil juillet čvc červenec července",
            "aug august août srp srpen srpna",
            "sep sept september septembre zář září",
            "oct october okt oktober octobre říj říjen října",
            "nov november novembre lis listopad listopadu",
            "dec december dez dezember déc décembre pro prosinec prosince",
        ),
        start=1,
    )
    for name in names.split()
}
_HALF = r"(?:\s?[AaPp]\.?[Mm]\.?)?"
_CLOCK = rf"(?:[T ]+(?P<clock>\d{{1,2}}:\d{{2}}(?::\d{{2}}(?:\.\d{{1,9}})?)?{_HALF})(?P<zone>Z|[+-]\d{{2}}:?\d{{2}})?)?"
_NAME = r"(?P<name>[^\W\d_]{3,9})"
_ISO = re.compile(rf"(?P<year>\d{{4}})(?P<mark>[-/.])(?P<month>\d{{1,2}})(?P=mark)(?P<day>\d{{1,2}}){_CLOCK}")
_SHORT = re.compile(rf"(?P<one>\d{{1,2}})(?P<mark>[-/.])\s?(?P<two>\d{{1,2}})(?P=mark)\s?(?P<year>\d{{4}}){_CLOCK}")
_WORDS = re.compile(rf"(?P<day>\d{{1,2}})\.?[ -]{_NAME}\.?,?[ -](?P<year>\d{{4}}){_CLOCK}")
_WORDS_FIRST = re.compile(rf"{_NAME}\.? (?P<day>\d{{1,2}}),? (?P<year>\d{{4}}){_CLOCK}")
_JAPANESE = re.compile(rf"(?P<year>\d{{4}})年(?P<month>\d{{1,2}})月(?P<day>\d{{1,2}})日{_CLOCK}")
_FORMS = (_ISO, _WORDS, _WORDS_FIRST, _JAPANESE, _SHORT)
#: Dates whose century is not written.
_NO_CENTURY = re.compile(r"\d{1,2}([-/.])\s?\d{1,2}\1\s?\d{2}")
_TIME = re.compile(rf"\d{{1,2}}:\d{{2}}(?::\d{{2}}(?:\.\d{{1,9}})?)?{_HALF}")
#: Wide signs of Japanese and Chinese text, and the digits and marks of Arabic numbers, as plain ones.
_NARROW = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)} | {0x3000: 0x20, 0x66B: 0x2E, 0x66C: 0x27}
_NARROW |= {zero + digit: 0x30 + digit for zero in (0x660, 0x6F0) for digit in range(10)}


def narrow(text: str) -> str:
    """A cell without blanks around it, and with plain signs for wide ones.

    >>> narrow(" １２．５ ")
    '12.5'
    """
    return (text if text.isascii() else text.translate(_NARROW)).strip()


@dataclass(frozen=True)
class TextDates:
    """Dates that were written as text, one per distinct text."""

    #: The dates; NaT for text that is no date, or an unclear one.
    values: NDArray[np.datetime64]
    #: Texts that look like a date.
    looks: NDArray[np.bool_]
    #: Why some of them cannot be read; else empty.
    problem: str = ""


def read_dates(texts: Sequence[str]) -> TextDates:
    """Dates of a text column, from its distinct texts: 2024-03-31, 31.3.2024, 3/31/2024, 31 Mar 2024, with times.

    Dates with points have the day first. Those with strokes or hyphens have it first if one of them can be read in no
    other way; if none, or if both ways occur, day and month of some of them cannot be told apart.

    >>> from dubio.table.dates import read_dates
    >>> read_dates(["31/1/2024", "1/2/2024 12:00"]).values
    array(['2024-01-31T00:00:00.000000', '2024-02-01T12:00:00.000000'],
          dtype='datetime64[us]')
    """
    values = np.full(len(texts), np.datetime64("NaT"), dtype="datetime64[us]")
    looks = np.zeros(len(texts), dtype=bool)
    short: dict[str, list[tuple[int, re.Match[str]]]] = {}
    problem = ""
    for place, text in enumerate(texts):
        match = next(filter(None, (form.fullmatch(narrow(text)) for form in _FORMS)), None)
        if match is None:
            if _NO_CENTURY.fullmatch(narrow(text)):
                looks[place] = True
                problem = problem or f"the century of dates such as {text.strip()!r} is not written"
            continue
        looks[place], parts = True, match.groupdict()
        if "one" in parts:
            short.setdefault(match["mark"], []).append((place, match))
            continue
        month = parts.get("month") or _MONTHS.get(parts.get("name", "").lower(), 0)
        values[place] = _date(int(month), int(parts["day"]), match)
    for mark, matches in short.items():
        day_first = any(mark == "." or int(match["one"]) > 12 for _, match in matches)
        month_first = mark != "." and any(int(match["two"]) > 12 for _, match in matches)
        for place, match in matches:
            one, two = int(match["one"]), int(match["two"])
            if day_first == month_first and max(one, two) <= 12 and one != two:
                problem = f"in dates such as {texts[place].strip()!r} day and month cannot be told apart"
            elif (one > 12 or day_first) and not (month_first and two > 12):
                values[place] = _date(two, one, match)
            else:
                values[place] = _date(one, two, match)
    return TextDates(values, looks, problem)


def read_times(texts: Iterable[str]) -> NDArray[np.float64]:
    """Times of the day in hours; NaN where the text is not a time.

    >>> from dubio.table.dates import read_times
    >>> read_times(["6:30", "6:45:36 PM"])
    array([ 6.5 , 18.76])
    """
    matches = (_TIME.fullmatch(narrow(text)) for text in texts)
    return np.asarray([_hours(match[0]) if match else np.nan for match in matches], dtype=np.float64)


#: Microseconds of a day.
DAY = np.timedelta64(1, "D") / np.timedelta64(1, "us")


def days_since_first(dates: NDArray[np.datetime64]) -> tuple[NDArray[np.float64], str]:
    """Dates, none of which is missing, as days since the first of them; and that one in words."""
    first = dates.min()
    shown = str(first.astype("datetime64[s]")).removesuffix("T00:00:00").replace("T", " ")
    return (dates - first).astype(np.int64) / DAY, shown


def utc(value: Any) -> Any:
    """A point in time without its zone; missing ones as NaT."""
    if value is None or value != value or type(value).__name__ in ("NAType", "NaTType"):
        return np.datetime64("NaT", "us")
    if getattr(value, "tzinfo", None) is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(value, "us")


def _hours(clock: str) -> float:
    half = re.sub("[^ap]", "", clock.casefold())  # of the day
    hours, minutes, seconds, *_ = map(float, [*re.sub(r"[^\d:.]", "", clock).strip(".").split(":"), "0"])
    if half:
        hours = hours % 12 + 12 * (half == "p") if 1 <= hours <= 12 else 24
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
