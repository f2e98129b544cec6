"""SSLS paper, Table 1: are all relevant features ranked first?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dubio.neighbors.information import numeric_mutual_information
from dubio.scores.laplacian import supervised_laplacian_score
from dubio_papers.datasets.artificial import Problem, make_y1, make_y2, make_y3
from dubio_papers.experiment import Experiment, Table, grid
from dubio_papers.judges import best_first

MAKERS: dict[str, Any] = {"Y1": make_y1, "Y2": make_y2, "Y3": make_y3}
PRINTED = {"Y1": (100, 100, 100), "Y2": (25, 93, 100), "Y3": (32, 100, 100)}
METHODS = ("correlation", "SLS", "MI")
OTHER = "SLS, the point counts as a neighbour"


def run(parameters: Mapping[str, Any], random: np.random.Generator) -> dict[str, float]:
    """100 if all relevant features come first, else 0."""
    state = np.random.RandomState(random.bit_generator)
    made: Problem = MAKERS[parameters["problem"]](random_state=state)
    y = (made.y - made.y.mean()) / made.y.std()
    information = [numeric_mutual_information(column[:, None], made.y) for column in made.X.T]
    orders = {
        "correlation": best_first(np.abs(np.corrcoef(made.X.T, y)[-1, :-1]), low_is_good=False),
        "SLS": best_first(supervised_laplacian_score(made.X, y, n_neighbors=5), low_is_good=True),
        "MI": best_first(information, low_is_good=False),
        OTHER: best_first(supervised_laplacian_score(made.X, y, n_neighbors=4), low_is_good=True),
    }
    return {name: 100.0 * bool((order[: made.n_relevant] < made.n_relevant).all()) for name, order in orders.items()}


_CELLS = grid(full=1000, quick=30, seconds=0.06, label="{problem}", problem=tuple(MAKERS))
EXPERIMENTS = (
    Experiment(
        name="ssls-table-1",
        paper="ssls",
        title="Table 1: tables on which all relevant features come first",
        about="Percentage of 1000 tables of 1000 rows. For SLS, y is standardised and k = 5 other points are used; a "
        "second column has k = 4, which is five if a point counts as its own neighbour. Mutual information is the "
        "estimate of Kraskov et al. with k = 5, on y as it is.",
        cells=_CELLS,
        protocol=run,
        displays=(
            Table(
                "Relevant features first (% of tables)",
                (*METHODS, OTHER),
                {
                    f"problem={name}": {**dict(zip(METHODS, row, strict=True)), OTHER: row[1]}
                    for name, row in PRINTED.items()
                },
                printed_repetitions=1000,
                printed_digits=0,
                row_header="output",
                beside=(OTHER,),
            ),
        ),
    ),
)
