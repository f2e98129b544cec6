"""Class names that look like mistakes: one class in two spellings, or a missing label written as text."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputWarning, counted, quoted, warn

#: What many programs write for "no label". With only two classes it may be one of them, as in -1 and 1.
_MINUS_ONE = "-1"
#: Text that usually means "no label". A lower-case "none" is not here: it may well be a class.
_MISSING_IN_WORDS = ("", "nan", "NaN", "None", "<NA>")
_SHOWN = 5


class OddClassNames(InputWarning):
    """Classes are read as they are written, which may not be what the user meant."""


def warn_of_odd_names(classes: NDArray[Any], codes: NDArray[np.int64]) -> None:
    """Warn of text classes that differ only in case or spaces, and of those that look like a missing label.

    Only the distinct names are checked; ``codes`` are counted only if there is something to warn of.
    """
    if classes.dtype.kind != "U":
        return
    names = classes.tolist()
    words = (*_MISSING_IN_WORDS, _MINUS_ONE) if len(names) > 2 else _MISSING_IN_WORDS
    missing = [index for index, name in enumerate(names) if name.strip() in words]
    if missing:
        warn(
            OddClassNames(
                "y",
                f"has text labels that look like missing labels: {_counted(names, codes, missing)}. They are "
                "read as classes",
                "write None for rows without a label",
                code="missing in words",
            )
        )
    spellings: dict[str, list[int]] = {}
    for index, name in enumerate(names):
        spellings.setdefault(name.strip().casefold(), []).append(index)
    alike = [index for group in spellings.values() if len(group) > 1 for index in group if index not in missing]
    if len(alike) > 1:
        warn(
            OddClassNames(
                "y",
                f"has classes that differ only in case or spaces: {_counted(names, codes, alike)}. They are read as "
                "different classes",
                "if they are the same class, spell them the same way",
            )
        )


def _counted(names: list[str], codes: NDArray[np.int64], wanted: list[int]) -> str:
    """``'yes' (12 rows), 'Yes ' (3 rows)``."""
    counts = np.bincount(codes, minlength=len(names))
    rest = len(wanted) - _SHOWN
    shown = ", ".join(f"{quoted(names[index])} ({counted(int(counts[index]), 'row')})" for index in wanted[:_SHOWN])
    return shown + (f" and {rest} more" if rest > 0 else "")
