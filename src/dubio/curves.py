"""Curves of a fitted selector: how good its subsets are by their size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Curve:
    """The basis for choosing a number of features: one value per number of features."""

    sizes: NDArray[np.int64]
    values: NDArray[np.float64]
    chosen: int
    label: str
    threshold: float | None = None
    logarithmic: bool = False


def size_curve(selector: Any) -> Curve:
    """The curve behind the chosen size: q-values, the criterion of a search, or otherwise the scores."""
    ranking = selector.to_ranking().without_handed_on().without_left_out()
    kept = int(ranking.support.sum())
    qvalues = ranking.extras.get("qvalue")
    if qvalues is not None:
        alpha = float(getattr(selector, "alpha", 0.05)) / (2 if ranking.nothing_stands_out else 1)
        steps = np.arange(1, len(qvalues) + 1)
        return Curve(steps, np.sort(qvalues), kept, "q-value of the last feature added", alpha, True)
    path = subset_path(selector)
    if path is not None:
        return path
    scores = ranking.scores[ranking.order]
    direction = "low" if ranking.lower_is_better else "high"
    return Curve(np.arange(1, len(scores) + 1), scores, kept, f"score ({direction} is good)")


def subset_path(selector: Any) -> Curve | None:
    """The criterion of a search for each subset size; None for a method that ranks features one by one."""
    inner = getattr(selector, "selector_", selector)
    for attribute in ("values_", "dependencies_"):
        values = getattr(inner, attribute, None)
        if not hasattr(inner, "subsets_") or values is None or len(values) == 0:
            continue
        if not isinstance(values, dict):  # a list, from the smallest subset on
            values = dict(zip(sorted(inner.subsets_), values, strict=False))
        sizes = np.asarray(sorted(values), dtype=np.int64)
        heights = np.asarray([values[size] for size in sizes.tolist()], dtype=np.float64)
        sufficient = selector.to_ranking().n_sufficient
        chosen = sufficient or int(inner.n_features_)
        return Curve(sizes, heights, chosen, getattr(inner, "_criterion", "criterion"))
    return None
