"""What models lose on fresh rows if they have only the sufficient features, and not all related ones.

The loss is the accuracy of the best of three usual models (nearest neighbours, logistic regression, a random forest) on
all related features, minus the accuracy of the best of them on the sufficient ones. Half of a table, at most 300 rows,
is selected and learned from; the other half, at most 1,000 rows, is predicted. Rules were chosen on "choosing" alone.

Run ``python -m benchmarks.sufficient [draws] [--first N] [--tables choosing|reporting] [--store FILE] [--seconds N]``:
ten draws of five tables take about 5 minutes on one core.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.draws import drawn, mean_and_error, parser_of
from dubio import FeatureSelector
from dubio_papers.datasets.load import load

#: Named before anything was looked at.
SETS = {
    "choosing": ("sonar", "vehicle", "water_treatment", "olitos", "australian"),
    "reporting": (
        *("ionosphere", "segment", "waveform", "wine", "cleveland"),
        *("heart_statlog", "page_blocks", "yeast", "vertebral_column", "wall_robot"),
    ),
}
MOST, MOST_FRESH = 300, 1000


def one(name: str, draw: int) -> tuple[float, int, int]:
    """Points of accuracy lost, and how many features are sufficient and related."""
    warnings.simplefilter("ignore")
    table = load(name)
    X, y = np.nan_to_num(pd.DataFrame(table.X).to_numpy(dtype=float)), np.asarray(table.y).astype(str)
    names, counts = np.unique(y, return_counts=True)
    rows = np.flatnonzero(np.isin(y, names[counts >= 12]))
    options: dict[str, Any] = {"stratify": y[rows], "random_state": draw}
    train, fresh = train_test_split(rows, train_size=min(MOST, len(rows) // 2), **options)
    fresh = fresh[:MOST_FRESH]
    ranking = FeatureSelector(random_state=draw).fit(X[train], y[train]).to_ranking()
    if not ranking.n_relevant or ranking.n_sufficient is None:
        return 0.0, 0, 0
    best = []
    for count in (ranking.n_relevant, ranking.n_sufficient):
        own = ranking.best_first[:count]
        scores = []
        for model in (
            KNeighborsClassifier(15),
            LogisticRegression(max_iter=1000),
            RandomForestClassifier(300, random_state=0),
        ):
            fitted = make_pipeline(StandardScaler(), model).fit(X[np.ix_(train, own)], y[train])
            scores.append(fitted.score(X[np.ix_(fresh, own)], y[fresh]))
        best.append(max(scores))
    return 100 * (best[0] - best[1]), ranking.n_sufficient, ranking.n_relevant


def main() -> None:
    parser = parser_of(__doc__, 10)
    parser.add_argument("--tables", choices=list(SETS), default="reporting")
    asked = parser.parse_args()
    found = drawn({name: partial(one, name) for name in SETS[asked.tables]}, asked)
    print("| table | draws | points lost | sufficient | related |\n|---|---:|---:|---:|---:|")
    lost = []
    for name, draws in found.items():
        means, errors, counts = mean_and_error(draws)
        lost.append(means[0])
        print(f"| {name} | {counts[0]} | {means[0]:.2f} ± {errors[0]:.2f} | {means[1]:.1f} | {means[2]:.1f} |")
    mean, error, _ = mean_and_error(np.array(lost)[:, None])
    print(f"| mean of {len(lost)} tables | | {mean[0]:.2f} ± {error[0]:.2f} | | |")
    print(f"\nMore than 2 points: {sum(one > 2 for one in lost)} of {len(lost)} tables.", flush=True)


if __name__ == "__main__":
    main()
