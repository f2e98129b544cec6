"""Class names that look like mistakes of writing: one class in two spellings, a missing label in words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputWarning, counted, warn

#: Text that most often stands for "no label"; "none" in small letters may well be a class.
_MISSING_IN_WORDS = ("", "nan", "NaN", "None", "<NA>")
_SHOWN = 5


class OddClassNames(InputWarning):
    """Classes that are read as they are written, which may not be what was meant."""


def warn_of_odd_names(classes: NDArray[Any], codes: NDArray[np.int64]) -> None:
    """Warn of text classes that differ only in case or blanks, and of those that read like a missing label.

    ``codes`` are only counted where there is something to warn of: the look is at the distinct names.
    """
    if classes.dtype.kind != "U":
        return
    names = classes.tolist()
    missing = [index for index, name in enumerate(names) if name.strip() in _MISSING_IN_WORDS]
    if missing:
        warn(
            OddClassNames(
                "y",
                f"has labels that look like missing ones and are text: {_counted(names, codes, missing)}. They are "
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
                f"has classes that differ only in case or blanks: {_counted(names, codes, alike)}. They are read as "
                "different classes",
                "write them alike if they are the same",
            )
        )


def _counted(names: list[str], codes: NDArray[np.int64], wanted: list[int]) -> str:
    """``'yes' (12 rows), 'Yes ' (3 rows)``."""
    counts = np.bincount(codes, minlength=len(names))
    rest = len(wanted) - _SHOWN
    shown = ", ".join(f"{names[index]!r} ({counted(int(counts[index]), 'row')})" for index in wanted[:_SHOWN])
    return shown + (f" and {rest} more" if rest > 0 else "")
