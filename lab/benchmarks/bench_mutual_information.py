"""The mutual information search: compared with the literal loops of `tests/naive.py`, one thread or two, and memory.

Ratios between cases with one thread are ratios of CPU time. The literal loops would take minutes. So one iteration of
the noise model and one value of a subset are timed, and multiplied by the numbers of iterations and subsets that the
fast search really needed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import make_classification

from benchmarks.harness import Measurement, measure, show
from dubio import MutualInformationSearch
from dubio.doubt.noise_model import NoiseTracker
from dubio.errors import counted
from dubio.simulate import flip_labels


def problem(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Three classes of two clusters each; half of the features are informative, a fifth redundant; 20 % flips."""
    X, y = make_classification(
        n, d, n_informative=d // 2, n_redundant=d // 5, n_classes=3, n_clusters_per_class=2, random_state=0
    )
    return (X - X.mean(axis=0)) / X.std(axis=0), flip_labels(y, 0.2, random_state=0)


def search_case(n: int, d: int, n_jobs: int = 1, **parameters: Any) -> Callable[[], None]:
    X, y = problem(n, d)
    search = MutualInformationSearch(random_state=0, jitter=0.0, n_jobs=n_jobs, **parameters)

    def call() -> None:
        search.fit(X, y)

    search.fit(X[:200], y[:200])  # compile
    return call


def literal_seconds(n: int, d: int, label_noise: bool, n_init: int = 5) -> float:
    """Seconds that the literal loops would need for the same search."""
    from tests import naive

    X, y = problem(n, d)
    iterations: list[int] = []
    fit = NoiseTracker.fit

    def counted(self: NoiseTracker, distances: Any) -> Any:
        model = fit(self, distances)
        iterations.extend(len(objective) for objective in model.objectives)
        return model

    NoiseTracker.fit = counted  # type: ignore[method-assign]
    try:
        search = MutualInformationSearch(label_noise=label_noise, n_init=n_init, random_state=0, jitter=0.0).fit(X, y)
    finally:
        NoiseTracker.fit = fit  # type: ignore[method-assign]
    memberships = np.eye(3)[y] if not label_noise else search.noise_model_.memberships
    half = X[:, : d // 2]
    began = time.process_time()
    if label_noise:
        naive.noise_tolerant_mutual_information(half, memberships)
    else:
        naive.mutual_information(half, y)
    one_value = time.process_time() - began
    n_values = sum(len(step.candidates) for step in search.history_) + 1
    one_iteration = 0.0
    if label_noise:
        began = time.process_time()
        naive.log_densities(half, memberships, 3)
        one_iteration = time.process_time() - began
    return n_values * one_value + sum(iterations) * one_iteration


def main() -> None:
    here = "benchmarks.bench_mutual_information"

    def run(**parameters: Any) -> Measurement:
        return measure(here, "search_case", warmup=0, repeat=2, **parameters)

    for n, d, n_init in ((1000, 10, 5), (3500, 20, 1)):
        restarts = counted(n_init, "restart")
        rows = [
            ("plain backward (BW), one thread", run(n=n, d=d, label_noise=False)),
            (f"LNT-BW, {restarts}, one thread", run(n=n, d=d, n_init=n_init)),
            ("plain backward (BW), two threads", run(n=n, d=d, label_noise=False, n_jobs=2)),
            (f"LNT-BW, {restarts}, two threads", run(n=n, d=d, n_init=n_init, n_jobs=2)),
        ]
        show(f"n={n}, d={d}; ratio of wall times to plain backward on one thread", rows, rows[0][0])
        (_, plain), (_, noisy), (_, plain_two), (_, noisy_two) = rows
        print(f"\nCPU time, LNT-BW over plain: {noisy.cpu / plain.cpu:.1f}")
        print(f"wall time, one thread over two: plain {plain.wall / plain_two.wall:.2f}, ", end="")
        print(f"LNT-BW {noisy.wall / noisy_two.wall:.2f}")
        literal = literal_seconds(n, d, label_noise=False)
        print(f"literal loops, plain: {literal:.0f} s CPU, {literal / plain.cpu:.0f} times slower")
        literal = literal_seconds(n, d, label_noise=True, n_init=n_init)
        print(f"literal loops, LNT-BW: {literal:.0f} s CPU, {literal / noisy.cpu:.0f} times slower")
        print(f"distances: {8 * n * n / 2**20:.0f} MB, neighbour lists of the noise model: {4 * n * n / 2**20:.0f} MB")


if __name__ == "__main__":
    main()
