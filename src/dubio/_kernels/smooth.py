"""How well neighbours in one order predict each row: squared errors of a moving mean without the row itself."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def smooth_error(T: Any, order: Any, half: int, window: Any) -> float:
    """Sum of squared errors when row ``order[p]`` of T is predicted by the mean of rows ``order[p-half:p+half+1]``.

    The row itself is left out, and the window is shorter at the ends. ``window`` is scratch: one value per column.
    """
    n, width = T.shape
    window[:] = 0.0
    for p in range(min(half, n)):
        for k in range(width):
            window[k] += T[order[p], k]
    total = 0.0
    for p in range(n):
        if p + half < n:
            for k in range(width):
                window[k] += T[order[p + half], k]
        if p - half - 1 >= 0:
            for k in range(width):
                window[k] -= T[order[p - half - 1], k]
        count = min(p + half, n - 1) - max(p - half, 0)  # without the row itself
        for k in range(width):
            own = T[order[p], k]
            error = own - (window[k] - own) / count
            total += error * error
    return total


@numba.njit(cache=True, nogil=True)
def smooth_errors(T: Any, orders: Any, half: int, out: Any) -> None:
    """``out[r]`` = error along ``orders[r]``, one order (a permutation of the rows) per feature."""
    window = np.empty(T.shape[1])
    for r in range(len(out)):
        out[r] = smooth_error(T, orders[r], half, window)


@numba.njit(cache=True, nogil=True)
def shuffled_smooth_errors(T: Any, half: int, rng: Any, out: Any) -> None:
    """``out[b]`` = error along a random order; a new one is drawn for each b from the NumPy generator ``rng``."""
    n = T.shape[0]
    window = np.empty(T.shape[1])
    order = np.arange(n)
    for b in range(len(out)):
        for i in range(n - 1, 0, -1):
            j = int(rng.random() * (i + 1))
            order[i], order[j] = order[j], order[i]
        out[b] = smooth_error(T, order, half, window)


@numba.njit(cache=True, nogil=True)
def shuffled_within_smooth_errors(
    T: Any, rows: Any, starts: Any, sizes: Any, places: Any, half: int, rng: Any, out: Any
) -> None:
    """The same as :func:`shuffled_smooth_errors`, but rows change places only within their group.

    ``rows`` are the rows sorted by group; those of a group begin at ``starts`` and are ``sizes`` many. The order along
    which errors are measured is ``rows[places]``.
    """
    window = np.empty(T.shape[1])
    mixed = rows.copy()
    for b in range(len(out)):
        for g in range(len(starts)):
            first = starts[g]
            for i in range(sizes[g] - 1, 0, -1):
                j = int(rng.random() * (i + 1))
                mixed[first + i], mixed[first + j] = mixed[first + j], mixed[first + i]
        out[b] = smooth_error(T, mixed[places], half, window)
