"""What a greedy search needs from a criterion."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

# The two changes that a search makes to a subset. They are signs, so that a kernel can use
# `squared_distances + change * column` for both.
ADD = 1
REMOVE = -1


class Criterion(Protocol):
    """The value of a subset of features, kept up to date through single changes.

    A criterion has a current subset. The search sets it once, asks for the value of every subset that differs by one
    change, and then makes one of those changes. The criterion decides what to carry over from one subset to the next
    (distances, neighbours, a noise model). The search only compares values.

    Attributes
    ----------
    larger_is_better : bool
        Whether the search looks for the largest or the smallest value.
    """

    larger_is_better: bool

    def start(self, features: NDArray[np.int64]) -> float:
        """Make ``features`` the current subset (it may be empty) and return its value; 0.0 when empty."""
        ...

    def evaluate(self, candidates: NDArray[np.int64], change: int) -> NDArray[np.float64]:
        """Value of the current subset after adding (``ADD``) or removing (``REMOVE``) each single candidate.

        The best value must be exact. A candidate that cannot be the best may get a bound instead of its value, if that
        bound is also worse than the best value: a value that cannot win need not be computed.
        """
        ...

    def apply(self, feature: int, change: int) -> None:
        """Make this change to the current subset. Not called after the last step of a search."""
        ...
