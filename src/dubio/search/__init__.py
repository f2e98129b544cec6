"""Greedy search over subsets of features, for any criterion that can evaluate one change at a time."""

from dubio.search.combine import best_subsets, order_by_presence
from dubio.search.criterion import ADD, REMOVE, Criterion
from dubio.search.distances import MAX_ROWS, DeviceDistances, FollowedSubset, SubsetDistances, check_row_limit
from dubio.search.greedy import SearchPath, SearchStep, greedy_search

__all__ = [
    "ADD",
    "MAX_ROWS",
    "REMOVE",
    "Criterion",
    "DeviceDistances",
    "FollowedSubset",
    "SearchPath",
    "SearchStep",
    "SubsetDistances",
    "best_subsets",
    "check_row_limit",
    "greedy_search",
    "order_by_presence",
]
