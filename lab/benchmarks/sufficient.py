"""What models lose on fresh rows if they have only the sufficient features, and not all related ones.

The loss is the accuracy of the best of three usual models (nearest neighbours, logistic regression, a random forest) on
all related features, minus the accuracy of the best of them on the sufficient ones. Half of a table, at most 300 rows,
is selected and learned from; the other half, at most 1,000 rows, is predicted. Rules were chosen on "choosing" alone.

Run ``python -m benchmarks.sufficient [draws] [--tables choosing|reporting] [--jobs N]``: ten draws of five tables take
about 5 minutes on one core.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import joblib
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("draws", type=int, nargs="?", default=10)
    parser.add_argument("--tables", choices=list(SETS), default="reporting")
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    print("| table | points lost | sufficient | related |\n|---|---:|---:|---:|")
    means = []
    for name in SETS[asked.tables]:
        draws = (joblib.delayed(one)(name, draw) for draw in range(asked.draws))
        found = np.array(joblib.Parallel(n_jobs=asked.jobs)(draws))
        lost, enough, related = found.mean(axis=0)
        error = found[:, 0].std(ddof=1) / np.sqrt(len(found)) if len(found) > 1 else np.nan
        means.append(lost)
        print(f"| {name} | {lost:.2f} ± {error:.2f} | {enough:.1f} | {related:.1f} |", flush=True)
    error = np.std(means, ddof=1) / np.sqrt(len(means))
    above = sum(lost > 2 for lost in means)
    print(f"| mean of {len(means)} tables, {asked.draws} draws each | {np.mean(means):.2f} ± {error:.2f} | | |")
    print(f"\nMore than 2 points: {above} of {len(means)} tables.", flush=True)


if __name__ == "__main__":
    main()
