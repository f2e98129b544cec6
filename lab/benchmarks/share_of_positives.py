"""Whether the 95 % interval of the share of positives holds the truth where the labelled rows are a random part.

``python -m benchmarks.share_of_positives [draws] [--jobs N] [--tables choosing|reporting]``

A class of a real table is positive, others are not; 300 or 600 rows, or what there is, so drawn that a tenth to a half
of the unlabelled rows are positive; 30 or 50 % of the positive rows are labelled. The reach of the interval was chosen
on the tables of "choosing" alone.
"""

from __future__ import annotations

import argparse
import json
import warnings
from typing import Any

import joblib
import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from benchmarks.anchored_audit import CHOOSING, REPORTING
from dubio import positive_unlabelled
from dubio.doubt.positives import estimate_positives
from dubio_papers.datasets.load import load

#: Named before anything was looked at; tables in which one class has enough rows.
SETS = {"choosing": (*CHOOSING, "wine"), "reporting": (*REPORTING[:-1], "leukemia", "colon")}
SHARES, LABELLED = (0.1, 0.2, 0.35, 0.5), (0.3, 0.5)


def drawn(name: str, draw: int) -> tuple[Any, Any, Any] | None:
    """Columns, which rows are positive, and which of them are labelled."""
    rng = np.random.default_rng([11, draw, sum(map(ord, name))])
    table = load(name)
    X, y = np.nan_to_num(pd.DataFrame(table.X).to_numpy(dtype=float)), np.asarray(table.y).astype(str)
    names, counts = np.unique(y, return_counts=True)
    usable = names[(counts >= 30) & (counts <= len(y) - 30)]
    if not len(usable):
        usable = names[[int(counts.argmax())]]
    truth = y == rng.choice(usable)
    share, rate, most = rng.choice(SHARES), rng.choice(LABELLED), int(rng.choice([300, 600]))
    # n rows, p positive: share = p (1 - rate) / (n - p rate)
    n_rows = min(most, len(y))
    while n_rows > 40:
        n_positive = round(share * n_rows / (1 - rate + share * rate))
        if n_positive <= truth.sum() and n_rows - n_positive <= (~truth).sum():
            break
        n_rows -= 10
    if n_positive * rate < 8 or n_rows <= 40:
        return None
    positive = rng.permutation(np.flatnonzero(truth))[:n_positive]
    rows = np.concatenate([positive, rng.permutation(np.flatnonzero(~truth))[: n_rows - n_positive]])
    labelled = np.isin(rows, rng.permutation(positive)[: round(rate * n_positive)])
    return X[rows], truth[rows], labelled


def one(name: str, draw: int) -> dict[str, Any] | None:
    """One estimate and the truth."""
    warnings.simplefilter("ignore")
    found = drawn(name, draw)
    if found is None:
        return None
    X, truth, labelled = found
    estimate = estimate_positives(X, positive_unlabelled(np.where(labelled, "yes", None)), n_jobs=1)
    share = float(truth[~labelled].mean())
    return {
        "table": name,
        "rows": len(truth),
        "labelled": int(labelled.sum()),
        "area": roc_auc_score(labelled, estimate.scores),
        "truth": share,
        "share": estimate.share,
        "low": estimate.low,
        "high": estimate.high,
        "holds": estimate.low <= share <= estimate.high,
    }


def main() -> None:
    """Print one line per table, and the means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("draws", type=int, nargs="?", default=20)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--tables", choices=list(SETS), action="append")
    options = parser.parse_args()
    for part in options.tables or SETS:
        tasks = [(name, draw) for name in SETS[part] for draw in range(options.draws)]
        done = joblib.Parallel(n_jobs=options.jobs, return_as="generator")(joblib.delayed(one)(*task) for task in tasks)
        found = []
        for row in done:
            if row is not None:
                print(json.dumps(row), flush=True)
                found.append(row)
        table = pd.DataFrame(found)
        table["error"], table["width"] = table["share"] - table["truth"], table["high"] - table["low"]
        means = table.groupby("table")[["area", "error", "width", "holds"]].mean(numeric_only=False)
        print(f"\n{part}\n{means.astype(float).round(2).to_string()}")
        error = 100 * means["holds"].astype(float).std(ddof=1) / len(means) ** 0.5
        print(
            f"{len(table)} draws: inside the interval {100 * table['holds'].mean():.1f} ± {error:.1f} %, mean width "
            f"{100 * table['width'].mean():.1f} points, estimate too high by {100 * table['error'].mean():+.1f} points",
            flush=True,
        )


if __name__ == "__main__":
    main()
