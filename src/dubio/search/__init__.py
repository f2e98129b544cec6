"""Greedy search over subsets of features, for any criterion that can value one change at a time."""

from dubio.search.criterion import ADD, REMOVE, Criterion
from dubio.search.distances import SubsetDistances
from dubio.search.greedy import SearchPath, SearchStep, greedy_search

__all__ = ["ADD", "REMOVE", "Criterion", "SearchPath", "SearchStep", "SubsetDistances", "greedy_search"]
