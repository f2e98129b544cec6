"""What a greedy search asks of a criterion."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

# The two changes a search makes to a subset. They are signs, so that a kernel can write
# `squared_distances + change * column` for both.
ADD = 1
REMOVE = -1


class Criterion(Protocol):
    """The value of a subset of features, kept up to date through single changes.

    A criterion has a current subset. The search sets it once, asks for the value of every subset one change
    away, and commits one of those changes; whatever the criterion can carry over from one subset to the next
    (distances, neighbours, a noise model) is its own affair. The search compares values, nothing else.

    Attributes
    ----------
    larger_is_better : bool
        Whether the search looks for the largest value or for the smallest.
    """

    larger_is_better: bool

    def start(self, features: NDArray[np.int64]) -> float:
        """Make ``features`` the current subset (it may be empty) and return its value; 0.0 when empty."""
        ...

    def evaluate(self, candidates: NDArray[np.int64], change: int) -> NDArray[np.float64]:
        """Value of the current subset with (``ADD``) or without (``REMOVE``) each candidate alone.

        The best one's value must be exact. A candidate that cannot be the best may get a bound in place of its value,
        if that bound is worse than the best value too: nobody has to compute what cannot win.
        """
        ...

    def apply(self, feature: int, change: int) -> None:
        """Make that change to the current subset. Not called after the last step of a search."""
        ...
