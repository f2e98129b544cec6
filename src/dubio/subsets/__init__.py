"""What every criterion of a subset shares: what a search asks of it, and distances that follow the subset."""

from dubio.subsets.criterion import ADD, REMOVE, Criterion
from dubio.subsets.distances import MAX_ROWS, SubsetDistances, check_row_limit

__all__ = ["ADD", "MAX_ROWS", "REMOVE", "Criterion", "SubsetDistances", "check_row_limit"]
