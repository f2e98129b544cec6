"""How well neighbours in one order predict each row: squared errors of a moving mean without the row itself.

``weights`` is one number per row. If every row counts alike, it is None along orders (then nothing is compiled for
weights), and empty for categories. Weights move together with the target.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np


@numba.njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
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
            value = T[order[p], k]
            error = value - (window[k] - value) / count
            total += error * error
    return total


@numba.njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def weighted_sum(T: Any, weights: Any, order: Any, first: int, last: int, without: int, sums: Any) -> float:
    """Fill ``sums`` with the weighted sums of rows ``order[first:last + 1]``, and return the sum of their weights."""
    sums[:] = 0.0
    mass = 0.0
    for q in range(first, last + 1):
        if q != without:
            weight = weights[order[q]]
            mass += weight
            for k in range(T.shape[1]):
                sums[k] += weight * T[order[q], k]
    return mass


@numba.njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def weighted_smooth_error(T: Any, weights: Any, order: Any, half: int, window: Any) -> float:
    """The same as :func:`smooth_error` with weighted means and a weighted sum of squares.

    Sums move with the window. They are added up again every 16 rows, and wherever the row itself is most of the sum:
    differences of large numbers lose digits.
    """
    n, width = T.shape
    others = np.empty(width)
    total = mass = 0.0
    for p in range(n):
        first, last = max(p - half, 0), min(p + half, n - 1)
        weight = weights[order[p]]
        if p % 16 == 0:
            mass = weighted_sum(T, weights, order, first, last, -1, window)
        else:
            if p + half < n:
                new = weights[order[p + half]]
                mass += new
                for k in range(width):
                    window[k] += new * T[order[p + half], k]
            if p - half - 1 >= 0:
                old = weights[order[p - half - 1]]
                mass -= old
                for k in range(width):
                    window[k] -= old * T[order[p - half - 1], k]
        if weight > 0.5 * mass:
            rest = weighted_sum(T, weights, order, first, last, p, others)
        else:
            rest = mass - weight
            for k in range(width):
                others[k] = window[k] - weight * T[order[p], k]
        for k in range(width):
            error = T[order[p], k] - others[k] / rest
            total += weight * error * error
    return total


@numba.njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def error_along(T: Any, weights: Any, order: Any, half: int, window: Any) -> float:
    """The error along one order."""
    if weights is None:
        return smooth_error(T, order, half, window)
    return weighted_smooth_error(T, weights, order, half, window)


@numba.njit(cache=True, nogil=True)
def smooth_errors(T: Any, weights: Any, orders: Any, half: int, out: Any) -> None:
    """``out[r]`` = error along ``orders[r]``, one order (a permutation of the rows) per feature."""
    window = np.empty(T.shape[1])
    for r in range(len(out)):
        out[r] = error_along(T, weights, orders[r], half, window)


@numba.njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _shuffle(order: Any, start: int, size: int, rng: Any) -> None:
    """Shuffle ``order[start : start + size]`` with the NumPy generator ``rng``."""
    for i in range(size - 1, 0, -1):
        j = int(rng.random() * (i + 1))
        order[start + i], order[start + j] = order[start + j], order[start + i]


@numba.njit(cache=True, nogil=True)
def shuffled_smooth_errors(
    T: Any, weights: Any, rows: Any, starts: Any, sizes: Any, places: Any, half: int, rng: Any, out: Any
) -> None:
    """``out[b]`` = error along a random order; a new one for each b. Rows change places only within their group.

    ``rows`` are the rows sorted by group; those of group g are ``sizes[g]`` rows from ``starts[g]``. The order along
    which errors are measured is ``rows[places]``, or ``rows`` if ``places`` is None.
    """
    window = np.empty(T.shape[1])
    mixed = rows.copy()
    for b in range(len(out)):
        for g in range(len(starts)):
            _shuffle(mixed, starts[g], sizes[g], rng)
        out[b] = error_along(T, weights, mixed if places is None else mixed[places], half, window)


@numba.njit(cache=True, nogil=True)
def level_error(T: Any, weights: Any, order: Any, counts: Any, sums: Any) -> float:
    """Sum of squared errors if each row of T is predicted by the mean of the other rows of its category.

    The first ``counts[0]`` rows of ``order`` are the first category, and so on. If the other rows have no weight, a row
    is predicted by the mean of all other rows. ``weights`` is empty if all rows count alike. ``sums`` is scratch: two
    rows, one value per column.
    """
    n, width = T.shape
    weighted = len(weights) > 0
    sums[:] = 0.0
    total_weight = 0.0
    for i in range(n):
        w = weights[i] if weighted else 1.0
        total_weight += w
        for k in range(width):
            sums[0, k] += w * T[i, k]
    total, start = 0.0, 0
    for count in counts:
        sums[1, :] = 0.0
        group_weight = 0.0
        for p in range(start, start + count):
            w = weights[order[p]] if weighted else 1.0
            group_weight += w
            for k in range(width):
                sums[1, k] += w * T[order[p], k]
        for p in range(start, start + count):
            w = weights[order[p]] if weighted else 1.0
            alone = group_weight - w <= 1e-12 * group_weight
            mass = total_weight - w if alone else group_weight - w
            for k in range(width):
                value = T[order[p], k]
                rest = (sums[0, k] if alone else sums[1, k]) - w * value
                gap = value - rest / mass
                total += w * gap * gap
        start += count
    return total


@numba.njit(cache=True, nogil=True)
def shuffled_level_errors(T: Any, weights: Any, counts: Any, rng: Any, out: Any) -> None:
    """``out[b]`` = the same error for a random order; a new one is drawn for each b. Weights stay with the target."""
    sums = np.empty((2, T.shape[1]))
    order = np.arange(len(T))
    for b in range(len(out)):
        _shuffle(order, 0, len(T), rng)
        out[b] = level_error(T, weights, order, counts, sums)
