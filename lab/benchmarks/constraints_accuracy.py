"""Do pairs, and their selection, help? 1-NN accuracy after ranking by several scores, on the paper's datasets.

``DUBIO_DATA=... python -m benchmarks.constraints_accuracy [repetitions]`` prints the tables of the page on pairs.

Each repetition splits every class into two halves, for training and testing. A quarter of the *training* rows of each
class (rounded half up, at least two) is labelled, and all pairs between them are the constraints. No method sees the
test rows: their labels would leak. Features are standardised by the training rows. The area is the mean accuracy of
1-NN over the first 1, 2, ... features, up to all or 50. Every method sees the same splits.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from dubio import ConstrainedLaplacianScore, ConstraintScore, FisherScore, LaplacianScore
from dubio.ranking import rank_scores
from dubio.scores.coherence import select_pairs
from dubio.scores.constraint import c4_score
from dubio.table.matrix import standardize
from dubio.target.reader import pairs_from_labels

DATASETS = ["sonar", "ionosphere", "soybean_small", "iris", "wine", "colon", "leukemia"]
MOST_FEATURES = 50
REFERENCE = "constraint score"

#: Number of coherent constraints printed in the paper.
PRINTED = {"iris": 8, "ionosphere": 13, "sonar": 11, "soybean_small": 7, "colon": 7, "leukemia": 8}

#: Makes a ranking from standardised rows, all their classes, and the few known classes (-1 if unknown).
Method = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def _csfs(**parameters: str) -> Method:
    return lambda X, y, few: ConstrainedLaplacianScore(**parameters).fit(X, few).ranking_


METHODS: dict[str, Method] = {
    "Laplacian": lambda X, y, few: LaplacianScore(t="mean").fit(X).ranking_,
    "Fisher, all training labels": lambda X, y, few: FisherScore().fit(X, y).ranking_,
    "Fisher, the same quarter": lambda X, y, few: FisherScore().fit(X, few).ranking_,
    REFERENCE: lambda X, y, few: ConstraintScore().fit(X, few).ranking_,
    "C4": lambda X, y, few: rank_scores(c4_score(X, y=few, t="mean"), lower_is_better=True),
    "CSFS, clusters, all pairs": _csfs(),
    "CSFS, clusters of rows, all pairs": _csfs(unlabelled="rows"),
    "CSFS, clusters, hard": _csfs(selection="hard"),
    "CSFS, clusters, soft": _csfs(selection="soft"),
    "CSFS, k-NN, all pairs": _csfs(neighbors="knn"),
    "CSFS, k-NN, soft": _csfs(neighbors="knn", selection="soft"),
    "CSFS as published": lambda X, y, few: ConstrainedLaplacianScore.as_published().fit(X, few).ranking_,
}


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    table = pd.read_csv(Path(os.environ["DUBIO_DATA"]) / f"{name}.csv.gz")
    y = np.unique(table.pop("target"), return_inverse=True)[1]
    return table.to_numpy(dtype=np.float64), y


def split(y: np.ndarray, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The training rows, the test rows, and which of the training rows have a known label."""
    train, test, known = [], [], []
    for value in np.unique(y):
        rows = random.permutation(np.flatnonzero(y == value))
        half = len(rows) // 2
        train.append(rows[:half])
        test.append(rows[half:])
        known.append(np.arange(half) < max(2, int(half / 4 + 0.5)))
    return np.concatenate(train), np.concatenate(test), np.concatenate(known)


def area(train: np.ndarray, test: np.ndarray, y_train: np.ndarray, y_test: np.ndarray, ranking: np.ndarray) -> float:
    """Mean accuracy of 1-NN over the first 1, 2, ... features of the ranking."""
    squared = np.zeros((len(test), len(train)))
    accuracy = []
    for feature in np.argsort(ranking)[:MOST_FEATURES]:
        squared += (test[:, feature, None] - train[None, :, feature]) ** 2
        accuracy.append(np.mean(y_train[squared.argmin(axis=1)] == y_test))
    return 100 * float(np.mean(accuracy))


def run(name: str, repetitions: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The areas of each method, and the numbers of pairs: known, kept by the hard rule, kept by the soft rule.

    Each number of pairs is given for must-links and for cannot-links.
    """
    X, y = load(name)
    areas: dict[str, list[float]] = {method: [] for method in METHODS}
    counts = []
    for repetition in range(repetitions):
        train, test, known = split(y, np.random.default_rng(repetition))
        centre, spread = X[train].mean(axis=0), X[train].std(axis=0)
        scale = np.where(spread > 0, spread, 1.0)
        seen, unseen = (X[train] - centre) / scale, (X[test] - centre) / scale
        few = np.where(known, y[train], -1)
        for method, rank in METHODS.items():
            areas[method].append(area(seen, unseen, y[train], y[test], rank(seen, y[train], few)))
        pairs = pairs_from_labels(few)
        kept = [select_pairs(standardize(seen), pairs, how=how) for how in ("hard", "soft")]
        counts.append([n for p in (pairs, *kept) for n in (len(p.must_link), len(p.cannot_link))])
    return {method: np.array(values) for method, values in areas.items()}, np.mean(counts, axis=0)


def coherent(name: str, repetitions: int) -> list[str]:
    """How many pairs of a quarter of *all* rows the hard rule keeps, as in the paper, with three scalings."""
    X, y = load(name)
    reach = np.ptp(X, axis=0)
    spaces = [X - X.mean(axis=0), standardize(X), (X - X.min(axis=0)) / np.where(reach > 0, reach, 1.0)]
    cells = []
    for space in spaces:
        kept = []
        for repetition in range(repetitions):
            random = np.random.default_rng(repetition)
            few = np.full(len(y), -1)
            for value in np.unique(y):
                rows = random.permutation(np.flatnonzero(y == value))
                few[rows[: max(2, int(len(rows) / 4 + 0.5))]] = value
            pairs = pairs_from_labels(few)
            kept.append(len(select_pairs(space, pairs, how="hard")))
        cells.append(f"{np.mean(kept):.2f} ({max(kept)})")
    return cells


def show(value: np.ndarray) -> str:
    return f"{value.mean():.1f} ± {value.std(ddof=1) / np.sqrt(len(value)):.1f}"


def main(repetitions: int) -> None:
    # Empty selections, underflow and kernels that are too narrow are part of what is measured.
    warnings.simplefilter("ignore", UserWarning)
    results, counts = {}, {}
    for name in DATASETS:
        results[name], counts[name] = run(name, repetitions)
        print(f"{name}: done", file=sys.stderr, flush=True)
    heads = [*DATASETS, "mean", f"less {REFERENCE}"]
    print(f"| 1-NN area, {repetitions} splits | {' | '.join(heads)} |")
    print("|---|" + "---:|" * len(heads))
    for method in METHODS:
        cells = [show(results[name][method]) for name in DATASETS]
        mean = np.mean([results[name][method].mean() for name in DATASETS])
        # each dataset is one observation: what holds on these seven may not hold on an eighth
        gain = np.array([(results[name][method] - results[name][REFERENCE]).mean() for name in DATASETS])
        cells += [f"{mean:.1f}", "" if method == REFERENCE else show(gain)]
        print(f"| {method} | {' | '.join(cells)} |")
    print("\n| mean number of pairs, must-link + cannot-link | known | kept by the hard rule | by the soft rule |")
    print("|---|---:|---:|---:|")
    for name in DATASETS:
        n = counts[name]
        print(f"| {name} | {n[0]:.0f} + {n[1]:.0f} | {n[2]:.1f} + {n[3]:.1f} | {n[4]:.1f} + {n[5]:.1f} |")
    print("\n| coherent pairs of a quarter of all rows, mean (most) | the paper | raw | standardised | to [0, 1] |")
    print("|---|---:|---:|---:|---:|")
    for name, printed in PRINTED.items():
        print(f"| {name} | {printed} | {' | '.join(coherent(name, repetitions))} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
