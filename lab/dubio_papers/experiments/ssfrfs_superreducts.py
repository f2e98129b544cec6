"""ssFRFS paper, section 3: are the subsets superreducts of the fully labelled table, and how much can be pruned?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dubio.searches.fuzzy_rough import FuzzyRoughSearch, fuzzy_rough_dependency
from dubio_papers.datasets.load import load
from dubio_papers.experiment import Cell, Experiment, Table

_SAME = 1e-9
SUPERREDUCT, KNOWN = "superreducts of all labels (%)", "subsets as good as all features (%)"


def run(parameters: Mapping[str, Any], random: np.random.Generator) -> dict[str, float]:
    """Hide labels, search, and compare the dependencies of the subset with those of all features."""
    data = load(parameters["dataset"], paper="ssfrfs")
    labels = data.y.astype(object)
    labels[random.permutation(len(labels))[: round(parameters["missing"] / 100 * len(labels))]] = None
    search = FuzzyRoughSearch(target="classes").fit(data.X, labels)
    chosen = np.flatnonzero(search.support_)
    true_all, true_chosen = (_dependency(data.X, data.y, part) for part in (np.arange(data.X.shape[1]), chosen))
    return {
        SUPERREDUCT: 100.0 * (true_chosen >= true_all - _SAME),
        KNOWN: 100.0 * (search.dependencies_[-1] >= search.dependency_all_ - _SAME),
        "dependency of all features, labels missing": float(search.dependency_all_),
        "size": float(len(chosen)),
    }


def _dependency(X: Any, y: Any, features: NDArray[np.int64]) -> float:
    return cast(float, fuzzy_rough_dependency(X, y, features=features, target="classes"))


EXPERIMENTS = (
    Experiment(
        name="ssfrfs-superreducts",
        paper="ssfrfs",
        title="Section 3: superreducts of the fully labelled table",
        about="The paper concludes that a subset that reaches the dependency of all features with missing labels is a "
        "superreduct of the fully labelled table. That follows only if this dependency is 1. The table shows how often "
        "it is so.",
        cells=tuple(
            Cell(
                {"dataset": name, "missing": level},
                10,
                1 if name in ("wine", "ecoli") else 0,
                0.1,
                name,
                f"{name}, {level} %",
            )
            for name in ("australian", "cleveland", "ecoli", "glass", "heart_statlog", "olitos", "vehicle", "wine")
            for level in (30, 70)
        ),
        protocol=run,
        displays=(
            Table(
                "Share of superreducts",
                (SUPERREDUCT, KNOWN, "dependency of all features, labels missing", "size"),
                digits=2,
                row_header="dataset",
            ),
        ),
    ),
)
