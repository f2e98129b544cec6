"""The greedy forward search of the paper (Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dubio.fuzzyrough.criterion import DependencyCriterion

#: Dependencies closer than this are equal: they are means of sums, taken in different orders.
GAMMA_TOLERANCE = 1e-9


@dataclass(frozen=True)
class ForwardPath:
    """Features in the order of their choice, and gamma after each."""

    features: list[int]
    dependencies: list[float]


def forward_search(criterion: DependencyCriterion, most_features: int | None = None) -> ForwardPath:
    """Add the feature with the largest gamma, the lowest index among equals, until gamma is that of all features.

    gamma is not submodular: a feature that gains nothing now may gain later beside another. So every candidate is
    valued anew in every round, and a round in which none gains still adds one.
    """
    path = ForwardPath([], [])
    while criterion.value < criterion.value_all - GAMMA_TOLERANCE:
        if len(path.features) == most_features:
            break
        values = criterion.values()
        best = int(np.flatnonzero(values >= values.max() - GAMMA_TOLERANCE)[0])
        feature = int(criterion.candidates[best])
        criterion.add(feature, float(values[best]))
        path.features.append(feature)
        path.dependencies.append(criterion.value)
    return path
