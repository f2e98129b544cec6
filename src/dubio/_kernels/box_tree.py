"""A balanced tree of boxes over rows, for nearest-row searches under a truncated L1 distance.

The rows are split in half at the median of the column in which they are spread most. This is repeated until a part
holds at most ``leaf_size`` rows. Each node stores the smallest and the largest value of every column. Interval
arithmetic then gives a lower bound on the distance from a row to every row of the node. A missing value is at distance
zero from everything, so a node that holds one has an unbounded interval in that column.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def count_levels(n_rows: int, leaf_size: int) -> int:
    """Number of times to split in half until no part holds more than ``leaf_size`` rows."""
    levels = 0
    while (n_rows + (1 << levels) - 1) >> levels > leaf_size:
        levels += 1
    return levels


@numba.njit(cache=True, nogil=True)
def _partition_at(order: Any, keys: Any, start: int, stop: int, middle: int) -> None:
    """Reorder ``order[start:stop]`` so that position ``middle`` holds the entry that sorting by key would put there."""
    low, high = start, stop - 1
    while low < high:
        pivot = keys[order[(low + high) >> 1]]
        left, right = low, high
        while left <= right:
            while keys[order[left]] < pivot:
                left += 1
            while keys[order[right]] > pivot:
                right -= 1
            if left <= right:
                order[left], order[right] = order[right], order[left]
                left += 1
                right -= 1
        if middle <= right:
            high = right
        elif middle >= left:
            low = left
        else:
            return


@numba.njit(cache=True, nogil=True)
def build_box_tree(points: Any, leaf_size: int) -> tuple[Any, Any, Any, Any]:
    """Return ``(order, starts, low, high)``; node ``i`` has the children ``2 i + 1`` and ``2 i + 2``.

    ``order`` lists the rows leaf by leaf; node ``i`` holds ``order[starts[i, 0]:starts[i, 1]]``.
    """
    n_rows, n_columns = points.shape
    levels = count_levels(n_rows, leaf_size)
    n_nodes = (1 << (levels + 1)) - 1
    first_leaf = (1 << levels) - 1
    order = np.arange(n_rows)
    starts = np.empty((n_nodes, 2), np.int64)
    low = np.empty((n_nodes, n_columns))
    high = np.empty((n_nodes, n_columns))
    keys = np.empty(n_rows)
    starts[0, 0] = 0
    starts[0, 1] = n_rows
    for node in range(n_nodes):
        start, stop = starts[node, 0], starts[node, 1]
        widest, widest_spread = -1, 0.0
        for column in range(n_columns):
            least, largest, total, known = np.inf, -np.inf, 0.0, 0
            for i in range(start, stop):
                value = points[order[i], column]
                if value == value:
                    known += 1
                    total += value
                    least = min(least, value)
                    largest = max(largest, value)
            if known < stop - start:
                low[node, column], high[node, column] = -np.inf, np.inf
            else:
                low[node, column], high[node, column] = least, largest
            if node < first_leaf and known > 0 and (largest > least or known < stop - start):
                # Distances are truncated at 1, so a few far rows must not make a column look wide.
                centre, spread = total / known, 0.0
                for i in range(start, stop):
                    value = points[order[i], column]
                    if value == value:
                        spread += min(1.0, abs(value - centre))
                    else:
                        spread += 0.5
                if spread > widest_spread:
                    widest, widest_spread = column, spread
        if node < first_leaf:
            middle = (start + stop) >> 1
            if widest >= 0:
                for i in range(start, stop):
                    value = points[order[i], widest]
                    keys[order[i]] = value if value == value else -np.inf
                _partition_at(order, keys, start, stop, middle)
            starts[2 * node + 1, 0], starts[2 * node + 1, 1] = start, middle
            starts[2 * node + 2, 0], starts[2 * node + 2, 1] = middle, stop
    return order, starts, low, high
