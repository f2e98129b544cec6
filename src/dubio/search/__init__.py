"""Greedy search over subsets of features, for any criterion that can value one change at a time."""

from dubio.search.combine import best_subsets, order_by_presence
from dubio.search.greedy import SearchPath, SearchStep, greedy_search
from dubio.subsets.criterion import ADD, REMOVE, Criterion
from dubio.subsets.distances import SubsetDistances

__all__ = [
    "ADD",
    "REMOVE",
    "Criterion",
    "SearchPath",
    "SearchStep",
    "SubsetDistances",
    "best_subsets",
    "greedy_search",
    "order_by_presence",
]
