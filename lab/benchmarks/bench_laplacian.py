"""The Laplacian family compared with one pass over the table, the neighbour search alone, and peers."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import measure, show

ME = "benchmarks.bench_laplacian"


def _table(n: int, d: int) -> Any:
    return np.random.default_rng(0).normal(size=(n, d))


def _classes(n: int) -> Any:
    return np.random.default_rng(1).integers(0, 3, size=n)


def column_sums(n: int, d: int) -> Callable[[], Any]:
    X = _table(n, d)
    return lambda: X.sum(axis=0)


def weighted(n: int, d: int, soft: bool = True, order: str = "C") -> Callable[[], Any]:
    from dubio import weighted_laplacian_score

    X = np.array(_table(n, d), order=order)
    P = np.random.default_rng(1).dirichlet(np.ones(3), size=n) if soft else _classes(n)
    return lambda: weighted_laplacian_score(X, P)


def f_classif(n: int, d: int) -> Callable[[], Any]:
    from sklearn.feature_selection import f_classif

    X, y = _table(n, d), _classes(n)
    return lambda: f_classif(X, y)


def fisher(n: int, d: int) -> Callable[[], Any]:
    from dubio import fisher_score

    X, y = _table(n, d), _classes(n)
    return lambda: fisher_score(X, y)


def bare_graph(n: int, d: int) -> Callable[[], Any]:
    from sklearn.neighbors import kneighbors_graph

    X = _table(n, d)
    return lambda: kneighbors_graph(X, 5, mode="distance", n_jobs=2)


def laplacian(n: int, d: int) -> Callable[[], Any]:
    from dubio import laplacian_score

    X = _table(n, d)
    return lambda: laplacian_score(X, t="mean", n_jobs=2)


def laplacian_estimator(n: int, d: int) -> Callable[[], Any]:
    from dubio import LaplacianScore

    X = _table(n, d)
    return lambda: LaplacianScore(t="mean", n_jobs=2).fit(X)


def skfeature_laplacian(n: int, d: int) -> Callable[[], Any]:
    from skfeature.function.similarity_based import lap_score
    from skfeature.utility import construct_W

    X = _table(n, d)

    def call() -> Any:
        options = {"metric": "euclidean", "neighbor_mode": "knn", "weight_mode": "heat_kernel", "k": 5, "t": 100.0}
        with contextlib.redirect_stdout(io.StringIO()):
            return lap_score.lap_score(X, y=None, mode="raw", W=construct_W.construct_W(X, **options))

    return call


def semi_supervised(n: int, d: int) -> Callable[[], Any]:
    from dubio import semi_supervised_laplacian_score

    X = _table(n, d)
    y = X[:, 0] ** 3
    y[np.random.default_rng(2).uniform(size=n) < 0.95] = np.nan
    return lambda: semi_supervised_laplacian_score(X, y, n_jobs=2)


def supervised(n: int, d: int) -> Callable[[], Any]:
    from dubio import supervised_laplacian_score

    X = _table(n, d)
    return lambda: supervised_laplacian_score(X, X[:, 0] ** 3)


def compile_seconds() -> tuple[float, float]:
    """Wall seconds of a first call in a new process, with an empty and with a filled compile cache."""
    program = (
        "import time, numpy as np, dubio; X = np.random.rand(50, 4); s = time.perf_counter();"
        "dubio.weighted_laplacian_score(X, np.arange(50) % 2); dubio.laplacian_score(X);"
        "dubio.semi_supervised_laplacian_score(X, X[:, 0]);"
        "print(time.perf_counter() - s)"
    )
    with tempfile.TemporaryDirectory() as cache:
        import os

        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        times = [
            float(
                subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True).stdout
            )
            for _ in range(2)
        ]
    return times[0], times[1]


def main() -> None:
    big = {"n": 1_000_000, "d": 50}
    show(
        "WLS on 1,000,000 x 50, 3 classes",
        [
            ("X.sum(axis=0)", measure(ME, "column_sums", repeat=7, **big)),
            ("dubio WLS, soft labels", measure(ME, "weighted", repeat=7, **big)),
            ("dubio WLS, soft labels, Fortran order", measure(ME, "weighted", repeat=5, order="F", **big)),
            ("dubio WLS, hard labels", measure(ME, "weighted", repeat=7, soft=False, **big)),
            ("dubio Fisher score", measure(ME, "fisher", repeat=7, **big)),
            ("scikit-learn f_classif", measure(ME, "f_classif", **big)),
        ],
        reference="X.sum(axis=0)",
    )
    rows = {"n": 20_000, "d": 100}
    show(
        "LS and relatives on 20,000 x 100",
        [
            ("scikit-learn kneighbors_graph alone", measure(ME, "bare_graph", **rows)),
            ("dubio laplacian_score", measure(ME, "laplacian", **rows)),
            ("dubio LaplacianScore (standardises)", measure(ME, "laplacian_estimator", **rows)),
            ("dubio SLS", measure(ME, "supervised", **rows)),
            ("dubio SSLS, 95 % unlabelled, k=30", measure(ME, "semi_supervised", **rows)),
            ("skfeature lap_score + construct_W", measure(ME, "skfeature_laplacian", warmup=0, repeat=1, **rows)),
        ],
        reference="scikit-learn kneighbors_graph alone",
    )
    cold, warm = compile_seconds()
    print(f"\nFirst calls of WLS, LS and SSLS in a new process: {cold:.1f} s cold, {warm:.2f} s from the disk cache.")


if __name__ == "__main__":
    main()
