"""``FeatureSelector()`` at every size, from 1,000 rows to a million rows, and from 50 features to 20,000.

Every process first ranks a small table of the same kind, so that no compilation is in the times.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import measure, show

ME = "benchmarks.bench_auto"
#: Rows and features.
SIZES = ((1_000, 60), (20_000, 50), (1_000_000, 50), (100, 20_000), (5_000, 2_000))


def _table(n: int, d: int) -> tuple[Any, Any]:
    """Three classes that depend on four of the features; a tenth of the labels are flipped."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + X[:, 1] > 0) + 1 * (X[:, 2] * X[:, 3] > 0)
    return X, np.where(rng.random(n) < 0.1, rng.integers(0, 3, n), y)


def auto(n: int, d: int) -> Callable[[], object]:
    from dubio import FeatureSelector

    X, y = _table(n, d)
    FeatureSelector(n_jobs=2).fit(*_table(120, min(d, 250)))  # compile; wide tables have experts of their own
    return lambda: int(FeatureSelector(n_jobs=2).fit(X, y).n_features_)


def main() -> None:
    rows = [(f"{n:,} x {d:,}", measure(ME, "auto", n=n, d=d, warmup=0, repeat=1)) for n, d in SIZES]
    show("auto, three classes, a tenth of them wrong, two jobs", rows)


if __name__ == "__main__":
    main()
