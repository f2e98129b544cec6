"""Compile the kernels that the tests use, in two processes, before the workers of the tests start.

Compiled code is kept beside the sources; where nothing changed, this takes a few seconds.
"""

from __future__ import annotations

import multiprocessing
import warnings

import numpy as np

#: The methods of each process: their kernels take about as long to compile as those of the other process.
HALVES = (
    ("auto", "mean_rank", "soft_relief", "weighted_laplacian", "laplacian", "constraint", "fuzzy_rough_search"),
    (
        "constrained_laplacian",
        "mutual_information_search",
        "mutual_information",
        "relieff",
        "semi_supervised_laplacian",
    ),
)


def compile_kernels(methods: tuple[str, ...]) -> None:
    """Fit each method on a small table, with each kind of target that it takes."""
    from dubio import FeatureSelector, InputError

    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    classes = (X[:, 0] > 0).astype(int)
    few = np.where(np.arange(60) % 4 == 0, classes, -1)
    groups, weights = np.arange(60) // 3, rng.random(60) + 0.5
    for method in methods:
        for y in (classes, np.column_stack([0.9 - 0.8 * classes, 0.1 + 0.8 * classes]), X[:, 0], few):
            try:
                FeatureSelector(method).fit(X, y)
            except InputError:  # the method does not take this kind of target
                continue
    if "auto" in methods:
        for y in (classes, X[:, 0]):
            FeatureSelector().fit(X, y, groups=groups, sample_weight=weights)
            FeatureSelector().fit(X, y, sample_weight=weights)


if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(len(HALVES)) as pool:
        pool.map(compile_kernels, HALVES)
