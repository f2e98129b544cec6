"""Combine several searches with the same criterion: the best subset of each size, and a ranking."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dubio.search.greedy import SearchPath

Subsets = dict[int, NDArray[np.int64]]


def best_subsets(paths: Sequence[SearchPath], *, larger_is_better: bool) -> tuple[Subsets, dict[int, float]]:
    """For each size, the best subset that any path passed, and its value; ties go to the earlier path."""
    subsets: Subsets = {}
    values: dict[int, float] = {}
    for size in sorted(set().union(*(path.subsets for path in paths))):
        passed = [path for path in paths if size in path.subsets]
        sign = -1.0 if larger_is_better else 1.0
        best = min(passed, key=lambda path: sign * path.values[size])
        subsets[size], values[size] = best.subsets[size], best.values[size]
    return subsets, values


def order_by_presence(subsets: Subsets, n_features: int) -> NDArray[np.int64]:
    """Features by the number of subsets they are in, most first; then by the smallest such subset, then by index.

    For the nested subsets of one greedy search, this is the order of the search itself.
    """
    present = np.zeros(n_features, dtype=np.int64)
    smallest = np.full(n_features, n_features + 1, dtype=np.int64)
    for size, subset in sorted(subsets.items(), reverse=True):
        present[subset] += 1
        smallest[subset] = size
    return np.lexsort((np.arange(n_features), smallest, -present))
