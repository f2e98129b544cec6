"""Units of measurement in cells: which are of the same quantity, and what one of them is in another."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

_PREFIXES = {"p": 1e-12, "n": 1e-9, "u": 1e-6, "m": 1e-3, "c": 1e-2, "d": 1e-1, "": 1.0, "h": 1e2, "k": 1e3, "M": 1e6}
_PREFIXES |= {"G": 1e9, "T": 1e12}
#: Units that take a prefix, each with its quantity.
_BASES = {"g": "mass", "l": "volume", "L": "volume", "m": "length", "mol": "amount", "s": "time", "Pa": "pressure"}
_BASES |= {"Hz": "frequency", "J": "energy", "W": "power", "V": "voltage", "A": "current", "Eq": "equivalents"}
_BASES |= {"eq": "equivalents", "kat": "catalysis", "Bq": "activity", "Gy": "dose", "Sv": "dose equivalent"}
_BASES |= {"U": "units", "E": "units", "IU": "international units", "IE": "international units", "cal": "calories"}
_BASES |= {"bar": "bars", "Ω": "resistance"}
_MINUTE, _HOUR, _DAY = 60.0, 3600.0, 86400.0
#: Units without a prefix: quantity, and size in the quantity's first unit.
_SINGLE = {"%": ("share", 0.01), "‰": ("share", 0.001), "mmHg": ("mercury", 1.0), "cmHg": ("mercury", 10.0)}
_SINGLE |= {"mcg": ("mass", 1e-6), "t": ("mass", 1e6), "lb": ("pounds", 1.0), "in": ("inches", 1.0)}
_SINGLE |= {"ft": ("inches", 12.0), "°C": ("degrees Celsius", 1.0), "°F": ("degrees Fahrenheit", 1.0)}
_SINGLE |= {"K": ("kelvin", 1.0), "bpm": ("beats", 1.0), "cmH2O": ("water", 1.0), "$": ("dollars", 1.0)}
_SINGLE |= {"€": ("euros", 1.0), "£": ("pounds sterling", 1.0), "¥": ("yen", 1.0)}
_SINGLE |= dict.fromkeys(("min", "mins", "minute", "minutes", "Minuten"), ("time", _MINUTE))
_SINGLE |= dict.fromkeys(("h", "hr", "hrs", "hour", "hours", "Std", "Stunden", "heures"), ("time", _HOUR))
_SINGLE |= dict.fromkeys(("d", "day", "days", "Tag", "Tage", "jour", "jours"), ("time", _DAY))
_SINGLE |= dict.fromkeys(("wk", "week", "weeks", "Woche", "Wochen", "semaines"), ("time", 7 * _DAY))
_SINGLE |= dict.fromkeys(("y", "yr", "yrs", "year", "years", "Jahr", "Jahre", "ans", "let"), ("years", 12.0))
_SINGLE |= dict.fromkeys(("mo", "month", "months", "Monat", "Monate", "mois"), ("years", 1.0))
_AMOUNT = re.compile(r"(\d+)? ?(\D+)")


class Unit(NamedTuple):
    """A unit: its quantity, and its size in the first unit of that quantity."""

    quantity: tuple[str, ...]
    size: float


@cache
def unit_of(text: str) -> Unit | None:
    """The unit that is written like this; None if it is not known.

    >>> unit_of("mg/dl")
    Unit(quantity=('mass', 'volume'), size=0.01)
    >>> unit_of("o") is None
    True
    """
    parts = [_simple(part.strip()) for part in text.replace("\u00b5", "u").replace("\u03bc", "u").split("/")]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    size = known[0].size
    for part in known[1:]:
        size /= part.size
    return Unit(tuple(quantity for part in known for quantity in part.quantity), size)


def _simple(text: str) -> Unit | None:
    """A unit without a stroke; a number may stand before it (100ml)."""
    match = _AMOUNT.fullmatch(text)
    if match is None:
        return None
    times, name = float(match[1] or 1), match[2].rstrip(".")
    if name in _SINGLE:
        quantity, size = _SINGLE[name]
        return Unit((quantity,), times * size)
    for base, quantity in _BASES.items():
        prefix = name.removesuffix(base)
        if name.endswith(base) and prefix in _PREFIXES:
            return Unit((quantity,), times * _PREFIXES[prefix])
    return None
