"""Whether the seed decides which features are kept: every real table, with many seeds.

``python -m benchmarks.seeds [seeds]`` prints the table of docs/how_many.md. A table with more than 600 rows is cut to a
random 600 of them, the same for all seeds.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd

from benchmarks.false_discoveries import CLASSES, load
from dubio.evidence.relevance import relevance_of
from dubio.problem import read_problem

TABLES = [*CLASSES, "cleveland", "pollen", "delve_census_random_order"]
MOST_ROWS = 600


def row_of(name: str, n_seeds: int) -> dict[str, object]:
    """How often the usual features are kept, which ones move, and whether the answer says so."""
    X, y = load(name)
    rows = np.random.default_rng(0).permutation(len(X))[:MOST_ROWS]
    problem = read_problem(X[rows], y[rows], target="auto", allow_nan=True).filled
    answers = [relevance_of(problem, random_state=seed) for seed in range(n_seeds)]
    kept = np.array([answer.relevant for answer in answers])
    at_the_line = np.array([answer.at_the_line for answer in answers])
    usual = kept.mean(axis=0) > 0.5
    unsaid = ((kept != usual) & ~at_the_line).any(axis=1)
    return {
        "table": name,
        "features": kept.shape[1],
        "runs that keep the same %": 100 * (kept == usual).all(axis=1).mean(),
        "features that move": int((kept != kept[0]).any(axis=0).sum()),
        "at the line, on average": at_the_line.sum(axis=1).mean(),
        "runs that differ without a word %": 100 * unsaid.mean(),
    }


def main() -> None:
    n_seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    warnings.simplefilter("ignore")
    rows = []
    for name in TABLES:
        rows.append(row_of(name, n_seeds))
        print(*(f"{value:.1f}" if isinstance(value, float) else value for value in rows[-1].values()), flush=True)
    table = pd.DataFrame(rows).set_index("table")
    print(table.round(1).to_string(), "\nmean", table["runs that keep the same %"].mean().round(1), sep="\n")


if __name__ == "__main__":
    main()
