"""Projected overlaps of segments on lines, computed only from inner products."""

from __future__ import annotations

import numba
import numpy as np

from dubio.kernels.distances import Floats, Integers, Marks


@numba.njit(cache=True, nogil=True)
def _shared(first: float, second: float, span: float) -> float:
    """Length shared by the interval from ``first`` to ``second`` and ``[0, span]``; 0 if they do not overlap."""
    return max(0.0, min(max(first, second), span) - max(min(first, second), 0.0))


@numba.njit(cache=True, nogil=True)
def count_coherent(products: Floats, lines: Integers, segments: Integers, tolerance: float, floor: float) -> Integers:
    """For each segment, the number of lines on which it has no overlap.

    An overlap counts as none up to ``tolerance`` (a length), or up to ``floor`` (a product: the rounding error of
    the inner products, which matters on very short lines).
    """
    counts = np.zeros(segments.shape[0], dtype=np.int64)
    for c in range(lines.shape[0]):
        origin = products[c, lines[c, 0]]
        span = products[c, lines[c, 1]] - origin
        none = max(tolerance * np.sqrt(max(span, 0.0)), floor)
        for m in range(segments.shape[0]):
            first = products[c, segments[m, 0]] - origin
            second = products[c, segments[m, 1]] - origin
            if _shared(first, second, span) <= none:
                counts[m] += 1
    return counts


@numba.njit(cache=True, nogil=True)
def _apart(gram: Floats, segment: Integers, line: Integers, tolerance: float, floor: float) -> bool:
    a, b = line[0], line[1]
    p, q = segment[0], segment[1]
    # Grouped so that a row shared by segment and line lies exactly at one end of the line.
    origin = gram[a, b] - gram[a, a]
    span = (gram[b, b] - gram[b, a]) - origin
    first = (gram[p, b] - gram[p, a]) - origin
    second = (gram[q, b] - gram[q, a]) - origin
    return _shared(first, second, span) <= max(tolerance * np.sqrt(max(span, 0.0)), floor)


@numba.njit(cache=True, nogil=True)
def select_greedily(
    gram: Floats, pairs: Integers, kind: Marks, order: Integers, tolerance: float, floor: float
) -> Marks:
    """Take pairs in order, but skip a pair that overlaps, on either line, with a taken pair of the other kind."""
    kept = np.zeros(len(pairs), dtype=np.bool_)
    # One list per kind, so that a pair is compared only with the other kind.
    taken = np.empty((2, len(pairs)), dtype=np.int64)
    n_taken = np.zeros(2, dtype=np.int64)
    for position in order:
        side = 1 if kind[position] else 0
        coherent = True
        # Newest first: in order of length these are the most likely to overlap.
        for k in range(n_taken[1 - side] - 1, -1, -1):
            other = taken[1 - side, k]
            if not (
                _apart(gram, pairs[position], pairs[other], tolerance, floor)
                and _apart(gram, pairs[other], pairs[position], tolerance, floor)
            ):
                coherent = False
                break
        if coherent:
            kept[position] = True
            taken[side, n_taken[side]] = position
            n_taken[side] += 1
    return kept
