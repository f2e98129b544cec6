"""Fuzzy-rough search compared with the literal formulas and fuzzy-rough-learn, and its growth with the rows.

fuzzy-rough-learn has no named strict minimum; weights that are 1 for the smallest value and 0 elsewhere give one.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Measurement, measure, show

ONE_THREAD = {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def segment() -> tuple[Any, Any]:
    """The segment table of the paper (2310 x 18), or one of the same shape if it is unavailable."""
    path = Path(os.environ.get("DUBIO_DATA", "")) / "segment.csv.gz"
    if path.is_file():
        import pandas as pd

        table = pd.read_csv(path)
        X = table.drop(columns=["target", "region_pixel_count"]).to_numpy(dtype=np.float64)
        return X, np.unique(table["target"], return_inverse=True)[1]
    from sklearn.datasets import make_classification

    return make_classification(2310, 18, n_informative=8, n_classes=7, random_state=0)


def gaussian(n_rows: int, n_features: int, kind: str = "plain") -> tuple[Any, Any]:
    """A two-class table; "heavy" has long tails, "unlabelled" has a label in only one row of ten."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    y = (X[:, :5].sum(axis=1) > 0).astype(int)
    if kind == "heavy":
        X = np.exp(2 * X)
    if kind == "unlabelled":
        y[rng.random(n_rows) < 0.9] = -1
    return X, y


def dubio_segment() -> Callable[[], list[int]]:
    from dubio import FuzzyRoughSearch

    X, y = segment()
    return lambda: np.flatnonzero(FuzzyRoughSearch().fit(X, y).support_).tolist()


def frlearn_segment() -> Callable[[], list[int]]:
    from frlearn.feature_preprocessors import FRFS

    X, y = segment()

    def hard_minimum(k: int) -> Any:
        return (np.arange(k) == 0).astype(float)

    return lambda: np.flatnonzero(FRFS(owa_weights=hard_minimum)(X, y).selection).tolist()


def literal_segment() -> Callable[[], list[int]]:
    """Algorithm 1 with whole n x n matrices: the formulas written directly in NumPy."""
    X, y = segment()
    X = X / X.std(axis=0, ddof=1)

    def search() -> list[int]:
        apart = [np.minimum(1.0, np.abs(column[:, None] - column)) for column in X.T]
        friends = y[:, None] == y

        def gamma(distance: Any) -> float:
            return float(np.where(friends, 1.0, np.minimum(1.0, distance)).min(axis=1).mean())

        everything = gamma(sum(apart))
        chosen: list[int] = []
        distance, now = np.zeros((len(X), len(X))), 0.0
        while now < everything - 1e-9:
            values = {j: gamma(distance + apart[j]) for j in range(X.shape[1]) if j not in chosen}
            now = max(values.values())
            best = min(j for j in values if values[j] >= now - 1e-9)
            chosen.append(best)
            distance += apart[best]
        return sorted(chosen)

    return search


def dubio_rows(n_rows: int, n_features: int, n_jobs: int, kind: str = "plain") -> Callable[[], int]:
    from dubio import FuzzyRoughSearch

    X, y = gaussian(n_rows, n_features, kind)
    search = FuzzyRoughSearch(n_jobs=n_jobs)
    search.fit(X[:1000], y[:1000])  # compile

    return lambda: int(search.fit(X, y).n_features_)


def main() -> None:
    here = "benchmarks.bench_fuzzy_rough"  # not __name__, which is __main__ if this file is run as a script
    ours = measure(here, "dubio_segment", environment=ONE_THREAD)
    literal = measure(here, "literal_segment", warmup=0, repeat=1, environment=ONE_THREAD)
    rows = [("dubio, one thread", ours), ("literal n x n formulas, one thread", literal)]
    peer = None
    try:
        peer = measure(here, "frlearn_segment", warmup=0, repeat=1)
        rows.append(("fuzzy-rough-learn, hard minimum", peer))
    except RuntimeError as error:
        print(f"fuzzy-rough-learn did not run: {str(error).splitlines()[-1]}")
    X, _ = segment()
    show(f"search for a reduct, segment {X.shape[0]} x {X.shape[1]}", rows, "dubio, one thread")
    print(f"\nsame subset as the literal search: {ours.value == literal.value}")
    if peer is not None:
        print(f"same subset as fuzzy-rough-learn: {ours.value == peer.value}")

    sizes = (5000, 10_000, 20_000)
    two = [
        (f"{n} x 50, two threads", measure(here, "dubio_rows", warmup=0, n_rows=n, n_features=50, n_jobs=2))
        for n in sizes
    ]
    show("growth with the rows", two)
    print(
        f"\ngrowth exponent of the CPU time, {sizes[0]} to {sizes[-1]} rows: {growth(sizes, [m for _, m in two]):.2f}"
    )

    hard = [
        (
            f"20000 x 50, {kind}, two threads",
            measure(here, "dubio_rows", warmup=0, repeat=1, n_rows=20_000, n_features=50, n_jobs=2, kind=kind),
        )
        for kind in ("unlabelled", "heavy")
    ]
    show("harder tables: nine labels in ten missing; long tails", hard)


def growth(sizes: tuple[int, ...], measured: list[Measurement]) -> float:
    """Slope of log CPU time over log rows (wall time depends on what else is running)."""
    return float(np.polyfit(np.log(sizes), np.log([m.cpu for m in measured]), 1)[0])


if __name__ == "__main__":
    main()
