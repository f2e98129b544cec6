"""Extremely randomised trees, grown as in scikit-learn's ``ExtraTreesClassifier`` but without checks for every tree.

The audit grows twenty small forests per table, and twenty more for each draw of a stability analysis. The probabilities
equal those of ``ExtraTreesClassifier`` to the last bit (the tests compare them). On a few hundred rows they take a
third of the processor time (``benchmarks/bench_neighbor_search.py``). They are summed in the order of the trees, so
that the number of threads changes nothing.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state

from dubio._sklearn import grow_random_trees
from dubio.errors import InputError
from dubio.kernels.threads import chunks, resolve_threads, run_chunks

#: Number of trees that a thread grows at a time.
_TREES = 25


class RandomTrees(ClassifierMixin, BaseEstimator):
    """A forest of extremely randomised trees; the parameters are those of scikit-learn."""

    def __init__(
        self, n_estimators: int = 100, *, min_samples_leaf: int = 1, random_state: Any = 0, n_jobs: int | None = None
    ) -> None:
        self.n_estimators = n_estimators
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: NDArray[Any], y: NDArray[Any], sample_weight: NDArray[Any] | None = None) -> Self:
        """Grow the trees on a table of finite values, the classes of its rows, and their weights if they differ."""
        weights = None if sample_weight is None else np.ascontiguousarray(sample_weight, dtype=np.float64)
        self.classes_, codes = np.unique(y, return_inverse=True)
        table, target = _single(X), np.ascontiguousarray(codes[:, None], dtype=np.float64)
        random_state = check_random_state(self.random_state)
        seeds = [random_state.randint(np.iinfo(np.int32).max) for _ in range(self.n_estimators)]

        def grow(start: int, stop: int) -> list[Any]:
            return grow_random_trees(table, target, seeds[start:stop], self.min_samples_leaf, weights)

        parts = run_chunks(grow, chunks(self.n_estimators, _TREES), resolve_threads(self.n_jobs))
        self._trees = [tree for part in parts for tree in part]
        return self

    def predict_proba(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Probability of each class: the mean over the trees."""
        table = _single(X)
        total = np.zeros((len(table), len(self.classes_)))
        for tree in self._trees:
            total += tree.predict(table)
        return total / len(self._trees)


def _single(X: NDArray[Any]) -> NDArray[np.float32]:
    """The table in single precision, as scikit-learn's trees use it."""
    with np.errstate(over="ignore"):
        table = np.ascontiguousarray(X, dtype=np.float32)
    if not np.isfinite(table).all():
        raise InputError("X", "has values above 3e38, too large for the trees of the audit", "rescale these columns")
    return table
