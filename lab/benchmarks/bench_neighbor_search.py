"""NeighborSearch compared with LNT-BW and scikit-learn's sequential search, and the audit of a large table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import measure, show

MODULE = "benchmarks.bench_neighbor_search"


def _table(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Three classes that depend on three of the features; a fifth of the labels are flipped."""
    from dubio.simulate import flip_labels

    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + X[:, 1] > 0) + 1 * (X[:, 2] > 0)
    return X, flip_labels(y, 0.2, random_state=0)


def neighbors(n: int, d: int, **options: Any) -> Callable[[], object]:
    from dubio import NeighborSearch

    X, y = _table(n, d)
    return lambda: NeighborSearch(**options).fit(X, y)


def information(n: int, d: int, **options: Any) -> Callable[[], object]:
    from dubio import MutualInformationSearch

    X, y = _table(n, d)
    return lambda: MutualInformationSearch(random_state=0, **options).fit(X, y)


def sequential(n: int, d: int) -> Callable[[], object]:
    from sklearn.feature_selection import SequentialFeatureSelector
    from sklearn.neighbors import KNeighborsClassifier

    X, y = _table(n, d)
    search = SequentialFeatureSelector(KNeighborsClassifier(15), n_features_to_select=1, direction="backward")
    return lambda: search.fit(X, y)


def audit(n: int, d: int, **options: Any) -> Callable[[], object]:
    from dubio import audit_labels

    X, y = _table(n, d)
    return lambda: audit_labels(X, y, **options)


def confident(n: int, ours: bool) -> Callable[[], object]:
    from cleanlab.count import compute_confident_joint
    from cleanlab.filter import find_label_issues

    from dubio.doubt.engines import confident_count

    rng = np.random.default_rng(0)
    codes = rng.integers(0, 5, n)
    said = rng.dirichlet(np.ones(5), size=n)
    if ours:
        return lambda: confident_count(said, codes)
    return lambda: (
        find_label_issues(codes, said, filter_by="confident_learning", n_jobs=1),
        compute_confident_joint(codes, said),
    )


def forest(n: int, d: int, ours: bool) -> Callable[[], object]:
    from sklearn.ensemble import ExtraTreesClassifier

    from dubio.doubt.random_trees import RandomTrees

    X, y = _table(n, d)
    kind = RandomTrees if ours else ExtraTreesClassifier
    return lambda: kind(100, min_samples_leaf=2, random_state=0).fit(X, y).predict_proba(X)


def command_with_report(n: int, d: int) -> Callable[[], object]:
    """``dubio rank --report``: the ranking, the resamples, the audit and the page."""
    import contextlib
    import io
    import tempfile
    from pathlib import Path

    import pandas as pd

    from dubio_app.command.run import run

    X, y = _table(n, d)
    folder = tempfile.mkdtemp(prefix="dubio-bench-")
    path = Path(folder, "table.csv")
    pd.DataFrame(X, columns=[f"x{j}" for j in range(d)]).assign(y=[f"class {k}" for k in y]).to_csv(path, index=False)

    def call() -> int:
        with contextlib.redirect_stdout(io.StringIO()):
            return run(["rank", str(path), "-t", "y", "--report", str(Path(folder, "page.html")), "--quiet", "-j", "1"])

    return call


def main() -> None:
    """Print the tables."""
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    size = {"n": 600, "d": 18}
    rows = [
        ("LNT-BW", measure(MODULE, "information", environment=one, **size)),
        ("NeighborSearch, both directions, clean='confident'", measure(MODULE, "neighbors", environment=one, **size)),
        (
            "NeighborSearch, both directions, clean=None",
            measure(MODULE, "neighbors", environment=one, clean=None, **size),
        ),
        ("plain MI backward", measure(MODULE, "information", environment=one, label_noise=False, **size)),
        (
            "scikit-learn SequentialFeatureSelector, k-NN, backward",
            measure(MODULE, "sequential", environment=one, warmup=0, repeat=1, **size),
        ),
    ]
    show("search, 600 x 18, one thread", rows, "LNT-BW")
    show(
        "dubio rank --report, 600 x 18, three classes, one job",
        [("ranking, ten resamples, audit, page", measure(MODULE, "command_with_report", environment=one, **size))],
    )
    show(
        "one forest of the audit, 480 x 18",
        [
            ("scikit-learn ExtraTreesClassifier", measure(MODULE, "forest", n=480, d=18, ours=False)),
            ("dubio", measure(MODULE, "forest", n=480, d=18, ours=True)),
        ],
        "scikit-learn ExtraTreesClassifier",
    )
    show(
        "audit_labels, 20000 x 50, two jobs",
        [("pooled", measure(MODULE, "audit", warmup=0, repeat=1, n=20_000, d=50, n_jobs=2, progress=True))],
    )
    show(
        "confident learning, 20000 rows, 5 classes",
        [
            ("cleanlab", measure(MODULE, "confident", n=20_000, ours=False)),
            ("dubio", measure(MODULE, "confident", n=20_000, ours=True)),
        ],
        "cleanlab",
    )


if __name__ == "__main__":
    main()
