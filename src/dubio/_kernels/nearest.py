"""The nearest rows seen so far, as a short sorted list."""

from __future__ import annotations

from typing import Any

import numba


@numba.njit(cache=True, nogil=True)
def offer(distance: float, row: int, best: Any, rows: Any, filled: int) -> int:
    """Insert a row into a list sorted by (distance, row) with room for ``len(best)``; returns how many it now holds.

    Rows must be offered in increasing order. Of two rows at equal distance, the earlier one stays first.
    """
    size = len(best)
    if filled == size and distance >= best[size - 1]:
        return filled
    place = filled if filled < size else size - 1
    while place > 0 and best[place - 1] > distance:
        best[place] = best[place - 1]
        rows[place] = rows[place - 1]
        place -= 1
    best[place] = distance
    rows[place] = row
    return min(filled + 1, size)
