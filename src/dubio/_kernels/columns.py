"""Sums over one column that is in the cache: its mean and its spread."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

#: Sums may be taken in any order, so that vector instructions can be used; NaN and infinity are respected.
_ANY_ORDER = {"reassoc", "nsz", "contract"}


@numba.njit(cache=True, nogil=True, fastmath=_ANY_ORDER)
def sum_around(x: Any, origin: float) -> float:
    """Sum of ``x - origin``. It is not finite if a value is NaN or infinite."""
    total = 0.0
    for i in range(len(x)):
        total += np.float64(x[i]) - origin
    return total


@numba.njit(cache=True, nogil=True, fastmath=_ANY_ORDER)
def squares_around(x: Any, origin: float, offset: float) -> float:
    """Sum of squares around the mean ``origin + offset``.

    The sum of the deviations, which would be zero without rounding, corrects the squares.
    """
    squares, rest = 0.0, 0.0
    for i in range(len(x)):
        deviation = (np.float64(x[i]) - origin) - offset
        squares += deviation * deviation
        rest += deviation
    return squares - rest * rest / len(x)
