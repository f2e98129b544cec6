"""How well neighbours in one order predict each row: squared errors of a moving mean without the row itself.

``weights`` is one number per row, or empty if every row counts alike. Weights move together with the target.
"""

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
def weighted_sum(T: Any, weights: Any, order: Any, first: int, last: int, without: int, sums: Any) -> float:
    """Fill ``sums`` with the weighted sums of rows ``order[first:last + 1]``, and return the sum of their weights."""
    sums[:] = 0.0
    voices = 0.0
    for q in range(first, last + 1):
        if q != without:
            own = weights[order[q]]
            voices += own
            for k in range(T.shape[1]):
                sums[k] += own * T[order[q], k]
    return voices


@numba.njit(cache=True, nogil=True)
def weighted_smooth_error(T: Any, weights: Any, order: Any, half: int, window: Any) -> float:
    """The same as :func:`smooth_error` with weighted means and a weighted sum of squares.

    Sums move with the window. They are added up again every 16 rows, and wherever the row itself is most of the sum:
    differences of large numbers lose digits.
    """
    n, width = T.shape
    others = np.empty(width)
    total = voices = 0.0
    for p in range(n):
        first, last = max(p - half, 0), min(p + half, n - 1)
        own = weights[order[p]]
        if p % 16 == 0:
            voices = weighted_sum(T, weights, order, first, last, -1, window)
        else:
            if p + half < n:
                new = weights[order[p + half]]
                voices += new
                for k in range(width):
                    window[k] += new * T[order[p + half], k]
            if p - half - 1 >= 0:
                old = weights[order[p - half - 1]]
                voices -= old
                for k in range(width):
                    window[k] -= old * T[order[p - half - 1], k]
        if own > 0.5 * voices:
            rest = weighted_sum(T, weights, order, first, last, p, others)
        else:
            rest = voices - own
            for k in range(width):
                others[k] = window[k] - own * T[order[p], k]
        for k in range(width):
            error = T[order[p], k] - others[k] / rest
            total += own * error * error
    return total


@numba.njit(cache=True, nogil=True)
def error_along(T: Any, weights: Any, order: Any, half: int, window: Any) -> float:
    """The error along one order; ``weights`` is empty if every row counts alike."""
    if len(weights):
        return weighted_smooth_error(T, weights, order, half, window)
    return smooth_error(T, order, half, window)


@numba.njit(cache=True, nogil=True)
def smooth_errors(T: Any, weights: Any, orders: Any, half: int, out: Any) -> None:
    """``out[r]`` = error along ``orders[r]``, one order (a permutation of the rows) per feature."""
    window = np.empty(T.shape[1])
    for r in range(len(out)):
        out[r] = error_along(T, weights, orders[r], half, window)


@numba.njit(cache=True, nogil=True)
def shuffled_smooth_errors(T: Any, weights: Any, half: int, rng: Any, out: Any) -> None:
    """``out[b]`` = error along a random order; a new one is drawn for each b from the NumPy generator ``rng``."""
    n = T.shape[0]
    window = np.empty(T.shape[1])
    order = np.arange(n)
    for b in range(len(out)):
        for i in range(n - 1, 0, -1):
            j = int(rng.random() * (i + 1))
            order[i], order[j] = order[j], order[i]
        out[b] = error_along(T, weights, order, half, window)


@numba.njit(cache=True, nogil=True)
def shuffled_within_smooth_errors(
    T: Any, weights: Any, rows: Any, starts: Any, sizes: Any, places: Any, half: int, rng: Any, out: Any
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
        out[b] = error_along(T, weights, mixed[places], half, window)


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
    heaviness = 0.0
    for i in range(n):
        w = weights[i] if weighted else 1.0
        heaviness += w
        for k in range(width):
            sums[0, k] += w * T[i, k]
    total, start = 0.0, 0
    for count in counts:
        sums[1, :] = 0.0
        heavy = 0.0
        for p in range(start, start + count):
            w = weights[order[p]] if weighted else 1.0
            heavy += w
            for k in range(width):
                sums[1, k] += w * T[order[p], k]
        for p in range(start, start + count):
            w = weights[order[p]] if weighted else 1.0
            alone = heavy - w <= 1e-12 * heavy
            mass = heaviness - w if alone else heavy - w
            for k in range(width):
                own = T[order[p], k]
                rest = (sums[0, k] if alone else sums[1, k]) - w * own
                gap = own - rest / mass
                total += w * gap * gap
        start += count
    return total


@numba.njit(cache=True, nogil=True)
def shuffled_level_errors(T: Any, weights: Any, counts: Any, rng: Any, out: Any) -> None:
    """``out[b]`` = the same error for a random order; a new one is drawn for each b. Weights stay with the target."""
    n = T.shape[0]
    sums = np.empty((2, T.shape[1]))
    order = np.arange(n)
    for b in range(len(out)):
        for i in range(n - 1, 0, -1):
            j = int(rng.random() * (i + 1))
            order[i], order[j] = order[j], order[i]
        out[b] = level_error(T, weights, order, counts, sums)
