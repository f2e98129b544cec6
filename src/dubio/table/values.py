"""Single cells of any type: whether one holds a value, and its number."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray


def is_missing(value: Any) -> bool:
    """Whether a cell has no value: None, NaN, NaT, pandas' NA.

    >>> [is_missing(value) for value in (None, float("nan"), 0, "")]
    [True, True, False, False]
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, Decimal):  # one that signals cannot be compared
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
        return float("inf") if value > 0 else float("-inf")


def distinct_texts(texts: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
    """The different texts in order, and the place of each text among them.

    An array of text would give every cell as much room as the longest one needs.

    >>> distinct_texts(["b", "a", "b"])
    (['a', 'b'], array([1, 0, 1]))
    """
    found = sorted(set(texts))
    places = {text: place for place, text in enumerate(found)}
    return found, np.fromiter((places[text] for text in texts), dtype=np.int64, count=len(texts))
