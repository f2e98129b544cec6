"""One order of all features and two lines: how many are relevant, and how many of these suffice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dubio.significance.relevance import Relevance
from dubio.significance.sufficient import RowLosses, sufficient_size

#: Values of ``n_features_to_select`` that need tests: the second line of the answer (two names), and the first line.
TESTED = ("auto", "relevant", "sufficient")


@dataclass(frozen=True)
class Lines:
    """One order of all features, how many of its beginning to keep and why, and the two lines if they were drawn."""

    order: NDArray[np.int64]
    count: int
    reason: str
    n_relevant: int | None = None
    n_sufficient: int | None = None


def draw_lines(
    wish: str,
    best_first: NDArray[np.int64],
    relevance: Relevance,
    losses: RowLosses | None,
    n_found: int | None = None,
) -> Lines:
    """Relevant features first, each part in the order of the method, and the two lines.

    The first line comes from ``losses``, or from a number of features that the method found sufficient (``n_found``).
    """
    order = relevance.relevant_first(best_first)
    n_relevant = int(relevance.relevant.sum())
    n_sufficient = None if n_found is None else min(n_found, n_relevant)
    if losses is not None:
        n_sufficient = sufficient_size(order, n_relevant, losses)
    reason = relevance.reason
    count = max(1, n_relevant)
    if wish == "sufficient":
        assert n_sufficient is not None
        count = max(1, n_sufficient)
        reason = f"{reason}; {n_sufficient} of them predict it as well as all" if n_relevant else reason
    return Lines(order, count, reason, n_relevant, n_sufficient)
