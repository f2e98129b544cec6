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
#: The guide's counterexample: nominal columns, and a hidden twin of two of the rows.
TWINS = "five rows with twins"
SUPERREDUCT, KNOWN = "superreducts of all labels (%)", "subsets as good as all features (%)"


def run(parameters: Mapping[str, Any], random: np.random.Generator) -> dict[str, float]:
    """Hide labels, search, and compare the dependencies of the subset with those of all features."""
    if parameters["dataset"] == TWINS:
        X, y, hidden = np.array([[0, 0], [0, 0], [0, 1], [1, 0], [1, 0]], dtype=float), np.array(list("aabbb")), [1, 3]
    else:
        data = load(parameters["dataset"], paper="ssfrfs")
        X, y = data.X, data.y
        hidden = random.permutation(len(y))[: round(parameters["missing"] / 100 * len(y))].tolist()
    labels = y.astype(object)
    labels[hidden] = None
    nominal = np.full(X.shape[1], parameters["dataset"] == TWINS)
    search = FuzzyRoughSearch(target="classes", nominal=nominal).fit(X, labels)
    chosen = np.flatnonzero(search.support_)
    true_all, true_chosen = (_dependency(X, y, part, nominal) for part in (np.arange(X.shape[1]), chosen))
    return {
        SUPERREDUCT: 100.0 * (true_chosen >= true_all - _SAME),
        KNOWN: 100.0 * (search.dependencies_[-1] >= search.dependency_all_ - _SAME),
        "dependency of all features, labels missing": float(search.dependency_all_),
        "size": float(len(chosen)),
    }


def _dependency(X: Any, y: Any, features: NDArray[np.int64], nominal: NDArray[np.bool_]) -> float:
    return cast(float, fuzzy_rough_dependency(X, y, features=features, nominal=nominal, target="classes"))


EXPERIMENTS = (
    Experiment(
        name="ssfrfs-superreducts",
        paper="ssfrfs",
        title="Section 3: superreducts of the fully labelled table",
        about="The paper concludes that a subset that reaches the dependency of all features with missing labels is a "
        "superreduct of the fully labelled table. That follows only if this dependency is 1. The table shows how often "
        "it is so, also for the guide's counterexample.",
        cells=(
            *(
                Cell(
                    {"dataset": name, "missing": level},
                    10,
                    int(name in ("wine", "ecoli")),
                    0.1,
                    name,
                    f"{name}, {level} %",
                )
                for name in ("australian", "cleveland", "ecoli", "glass", "heart_statlog", "olitos", "vehicle", "wine")
                for level in (30, 70)
            ),
            Cell({"dataset": TWINS, "missing": 40}, 1, 1, 0.01, label=TWINS),
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
