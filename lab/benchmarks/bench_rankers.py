"""Rankers for hard classes compared with scikit-learn, skfeature, skrebate and fastcan, if these are installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import Measurement, measure, show

ME = "benchmarks.bench_rankers"


def _table(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Three classes, far apart in the first features and not separated at all in the last."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, size=n)
    return rng.normal(size=(n, d)) + np.linspace(1, 0, d) * y[:, None], y


def score(name: str, n: int, d: int, **options: Any) -> Callable[[], object]:
    """One of our functions, by name."""
    import dubio

    X, y = _table(n, d)
    return lambda: getattr(dubio, name)(X, y, **options)[0]


def information(n: int, d: int) -> Callable[[], object]:
    from dubio import MutualInformationRanking

    X, y = _table(n, d)
    return lambda: MutualInformationRanking(label_noise=False, random_state=0).fit(X, y)


def f_classif(n: int, d: int) -> Callable[[], object]:
    from sklearn.feature_selection import f_classif

    X, y = _table(n, d)
    return lambda: f_classif(X, y)


def mutual_info_classif(n: int, d: int) -> Callable[[], object]:
    from sklearn.feature_selection import mutual_info_classif

    X, y = _table(n, d)
    return lambda: mutual_info_classif(X, y, random_state=0)


def fastcan(n: int, d: int) -> Callable[[], object]:
    from fastcan import FastCan

    X, y = _table(n, d)
    classes = np.eye(3)[y]
    return lambda: FastCan(20, verbose=0).fit(X, classes)


def skfeature_fisher(n: int, d: int) -> Callable[[], object]:
    from skfeature.function.similarity_based import fisher_score

    X, y = _table(n, d)
    return lambda: fisher_score.fisher_score(X, y)


def skfeature_relief(n: int, d: int) -> Callable[[], object]:
    from skfeature.function.similarity_based import reliefF

    X, y = _table(n, d)
    return lambda: reliefF.reliefF(X, y)


def skrebate_relief(n: int, d: int) -> Callable[[], object]:
    from skrebate import ReliefF

    X, y = _table(n, d)
    return lambda: ReliefF(n_neighbors=10, n_jobs=1).fit(X, y)


def compare(title: str, cases: dict[str, tuple[str, str | None, dict[str, Any]]], **size: int) -> None:
    """Measure the cases (function, package, options) whose package is installed; the first is the reference."""
    rows: list[tuple[str, Measurement]] = []
    for label, (function, package, options) in cases.items():
        if package is None or importlib.util.find_spec(package):
            rows.append((label, measure(ME, function, **size, **options)))
    show(f"{title}, {size['n']:,} x {size['d']}, three classes", rows, rows[0][0])


def main() -> None:
    moments = {
        "dubio fisher_score": ("score", None, {"name": "fisher_score"}),
        "dubio weighted_laplacian_score": ("score", None, {"name": "weighted_laplacian_score"}),
        "scikit-learn f_classif": ("f_classif", None, {}),
    }
    fisher = {"skfeature fisher_score": ("skfeature_fisher", "skfeature", {})}
    canonical = {"fastcan FastCan, 20 features": ("fastcan", "fastcan", {})}
    compare("Means and spreads of classes", {**moments, **fisher, **canonical}, n=2_000, d=200)
    compare("Means and spreads of classes", {**moments, **canonical}, n=50_000, d=200)
    relief = {
        "dubio relieff_score": ("score", None, {"name": "relieff_score"}),
        "dubio soft_relief_score": ("score", None, {"name": "soft_relief_score"}),
        "skrebate ReliefF": ("skrebate_relief", "skrebate", {}),
        "skfeature reliefF": ("skfeature_relief", "skfeature", {}),
    }
    compare("Relief", relief, n=2_000, d=50)
    nonlinear = {
        "dubio MutualInformationRanking, k=8": ("information", None, {}),
        "dubio smooth_r2_score": ("score", None, {"name": "smooth_r2_score"}),
        "scikit-learn mutual_info_classif, k=3": ("mutual_info_classif", None, {}),
    }
    compare("Relations of any shape", nonlinear, n=5_000, d=40)


if __name__ == "__main__":
    main()
