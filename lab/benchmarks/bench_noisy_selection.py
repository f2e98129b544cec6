"""Does the noise model help the selection? Section 6 of the label-noise paper on small tables.

Rows are split 70/30, and a share of the training labels is flipped to another class. Features are searched on the
training rows: BW-C with clean labels, BW-N and LNT-BW with flipped ones. Then a k-NN classifier is trained on clean
labels, with k chosen by ten-fold cross-validation. Its balanced error on the test rows is averaged over the subset
sizes 1..d-1. ``DUBIO_DATA`` adds vertebral_column to iris and wine.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import StratifiedKFold, train_test_split

from dubio import MutualInformationSearch
from dubio.simulate import flip_labels

REPETITIONS = (20, 40)
NEIGHBORS = np.array([*range(1, 11), *range(12, 21, 2), *range(25, 51, 5)])


def tables() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    found = {"iris": load_iris(return_X_y=True), "wine": load_wine(return_X_y=True)}
    path = Path(os.environ.get("DUBIO_DATA", "")) / "vertebral_column.csv.gz"
    if path.exists():
        table = pd.read_csv(path)
        found["vertebral"] = table.drop(columns="target").to_numpy(), pd.factorize(table["target"])[0]
    return found


def predictions(train: np.ndarray, y: np.ndarray, test: np.ndarray, n_classes: int) -> np.ndarray:
    """Majority class among the k nearest rows, for every k of NEIGHBORS: (k, test rows)."""
    distances = ((test[:, None] - train[None]) ** 2).sum(-1)
    order = np.argsort(distances, axis=1, kind="stable")[:, : NEIGHBORS.max()]
    votes = np.cumsum(np.eye(n_classes)[y[order]], axis=1)
    return np.array([votes[:, min(k, order.shape[1]) - 1].argmax(axis=1) for k in NEIGHBORS])


def balanced_error(y: np.ndarray, predicted: np.ndarray) -> float:
    return float(100 * np.mean([(predicted[y == c] != c).mean() for c in np.unique(y)]))


def knn_error(train: np.ndarray, y: np.ndarray, test: np.ndarray, y_test: np.ndarray) -> float:
    n_classes = y.max() + 1
    held_out = np.empty((len(NEIGHBORS), len(y)), dtype=int)
    for fit, judge in StratifiedKFold(10, shuffle=True, random_state=0).split(train, y):
        held_out[:, judge] = predictions(train[fit], y[fit], train[judge], n_classes)
    best = int(np.argmin([balanced_error(y, row) for row in held_out]))
    return balanced_error(y_test, predictions(train, y, test, n_classes)[best])


def one_run(X: np.ndarray, y: np.ndarray, rate: float, seed: int) -> dict[str, float]:
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
    centre, scale = train.mean(axis=0), train.std(axis=0)
    train, test = (train - centre) / scale, (test - centre) / scale
    noisy = flip_labels(y_train, rate, random_state=seed)
    errors = {}
    for name, labels, label_noise in (("BW-C", y_train, False), ("BW-N", noisy, False), ("LNT-BW", noisy, True)):
        search = MutualInformationSearch(label_noise=label_noise, random_state=seed).fit(train, labels)
        errors[name] = float(
            np.mean(
                [
                    knn_error(train[:, subset], y_train, test[:, subset], y_test)
                    for size, subset in search.subsets_.items()
                    if size < X.shape[1]
                ]
            )
        )
    return errors


def main() -> None:
    print("\n| table | flipped | repetitions | BW-C | BW-N | LNT-BW | LNT-BW minus BW-N | its standard error |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for name, (X, y) in tables().items():
        for rate in (0.1, 0.2):
            runs = pd.DataFrame([one_run(X, y, rate, seed) for seed in range(max(REPETITIONS))])
            for repetitions in REPETITIONS:
                first = runs[:repetitions]
                gain = first["LNT-BW"] - first["BW-N"]
                means = " | ".join(f"{first[method].mean():.2f}" for method in ("BW-C", "BW-N", "LNT-BW"))
                print(
                    f"| {name} | {rate:.0%} | {repetitions} | {means} | {gain.mean():+.2f} | {gain.sem():.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
