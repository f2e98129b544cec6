"""Extremely randomised trees, each of which judges rows that it has not seen.

The trees are those of scikit-learn's ``ExtraTreesClassifier`` and ``ExtraTreesRegressor``, to the last bit (the tests
compare them), grown without checks for every tree. Predictions are summed in the order of the trees, so that the number
of threads changes nothing.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state

from dubio._sklearn import grow_random_trees
from dubio.errors import InputError
from dubio.evidence.relevance import RowLosses, by_unit, goals_to_judge, rows_to_judge
from dubio.kernels.threads import chunks, resolve_threads, run_chunks
from dubio.problem import Problem

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

#: Number of trees that a thread grows at a time.
_TREES_AT_A_TIME = 25
#: Smallest number of rows in a leaf. With 4, the audit's order of doubt lost 0.5 points of AUROC (twelve tables).
LEAF = 2
#: Trees in all, of which each row is judged by one fifth. With 250, log-loss was 0.002 nats better (twelve tables).
N_TREES = 150


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
        seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=self.n_estimators).tolist()
        leaf, n_classes = self.min_samples_leaf, len(self.classes_)

        def grow(start: int, stop: int) -> list[Any]:
            return grow_random_trees(table, target, seeds[start:stop], leaf, weights, n_classes=n_classes)

        parts = run_chunks(grow, chunks(self.n_estimators, _TREES_AT_A_TIME), resolve_threads(self.n_jobs))
        self._trees = [tree for part in parts for tree in part]
        return self

    def predict_proba(self, X: NDArray[Any]) -> Floats:
        """Probability of each class: the mean over the trees."""
        table = _single(X)
        total = np.zeros((len(table), len(self.classes_)))
        for tree in self._trees:
            total += tree.predict(table)
        return total / len(self._trees)


def judge_by_trees(
    X: NDArray[Any],
    target: Floats | Codes,
    n_classes: int,
    *,
    known: NDArray[np.bool_],
    learned: NDArray[np.bool_],
    groups: Codes | None = None,
    weights: Floats | None = None,
    n_parts: int = 5,
    random_state: np.random.RandomState,
    n_jobs: int | None = None,
) -> Floats:
    """(rows, classes), or (rows, 1) for numbers: what trees predict that have not seen the row.

    The known rows are split at random into ``n_parts`` parts, again and again. For each part a tree learns from the
    learned rows of the other parts and judges the rows of this one. So each row is judged by one tree in ``n_parts``,
    trained with ever other rows. Rows that are not known are judged by all trees. ``target`` are codes of classes, each
    of which occurs among the learned rows, or numbers (``n_classes=0``).
    """
    table, rows, unknown = _single(X), np.flatnonzero(known), np.flatnonzero(~known)
    n_rounds = -(-N_TREES // n_parts)
    seeds = random_state.randint(np.iinfo(np.int32).max, size=n_rounds)
    strata = target[rows].astype(np.int64) if n_classes else np.zeros(len(rows), dtype=np.int64)
    together = None if groups is None else groups[rows]

    def judge(start: int, stop: int) -> Floats:
        total = np.zeros((len(table), max(1, n_classes)))
        for seed in seeds[start:stop].tolist():
            rng = np.random.RandomState(seed)
            part_of = random_parts(strata, together, n_parts, rng)
            for part in np.unique(part_of).tolist():
                training = rows[(part_of != part) & learned[rows]]
                asked = np.concatenate([rows[part_of == part], unknown])
                own = None if weights is None else weights[training]
                total[asked] += _predicted(table, target, n_classes, training, asked, own, rng)
        return total

    done = run_chunks(judge, chunks(n_rounds, _TREES_AT_A_TIME // n_parts or 1), resolve_threads(n_jobs))
    total = np.sum(done, axis=0)
    total[rows] /= n_rounds
    total[unknown] /= n_rounds * n_parts
    return np.asarray(total)


def tree_errors_of(problem: Problem, n_jobs: int | None = None) -> RowLosses:
    """The squared error of trees that have not seen the row, for a list of features."""
    problem, columns = rows_to_judge(problem)
    goals, every = goals_to_judge(problem), np.ones(problem.n_rows, dtype=bool)
    facts: Any = {"known": every, "learned": every, "groups": problem.groups, "weights": problem.uneven_weights}

    def losses(features: Codes) -> Floats:
        table, total = columns[:, problem.columns_of(np.sort(features))], np.zeros(problem.n_rows)
        for goal in goals:
            options: Any = {"random_state": np.random.RandomState(0), "n_jobs": n_jobs, **facts}
            if goal.shape[1] == 1:
                missed = goal - judge_by_trees(table, goal[:, 0], 0, **options)
            else:  # the likeliest class
                present, codes = np.unique(goal.argmax(axis=1), return_inverse=True)
                missed = goal.copy()
                missed[:, present] -= goal.sum(axis=1).mean() * judge_by_trees(table, codes, len(present), **options)
            total += (missed**2).sum(axis=1)
        return by_unit(problem, total)

    return losses


def _predicted(
    table: NDArray[np.float32],
    target: Floats | Codes,
    n_classes: int,
    training: Codes,
    asked: Codes,
    weights: Floats | None,
    rng: np.random.RandomState,
) -> Floats:
    """The prediction of one tree for the rows asked."""
    learned, present = target[training], np.arange(n_classes)
    if n_classes:  # whole groups are held out, perhaps with all rows of a class
        present, learned = np.unique(learned, return_inverse=True)
    goal = np.ascontiguousarray(learned[:, None], dtype=np.float64)
    seed = int(rng.randint(np.iinfo(np.int32).max))
    tree = grow_random_trees(table[training], goal, [seed], LEAF, weights, n_classes=len(present))[0]
    found = tree.predict(table[asked])
    if len(present) == n_classes:
        return np.asarray(found)
    every = np.zeros((len(asked), n_classes))
    every[:, present] = found
    return every


def random_parts(strata: Codes, groups: Codes | None, n_parts: int, rng: np.random.RandomState) -> Codes:
    """Split rows at random into parts of equal size, in which each stratum has its share; groups stay whole.

    >>> import numpy as np
    >>> from dubio.doubt.random_trees import random_parts
    >>> parts = random_parts(np.array([0, 0, 1, 1, 1, 1]), None, 2, np.random.RandomState(0))
    >>> np.bincount(parts[:2]), np.bincount(parts[2:])
    (array([1, 1]), array([2, 2]))
    """
    unit, of_unit = np.arange(len(strata)), strata
    if groups is not None:  # a group belongs to the stratum that most of its rows have
        units, unit = np.unique(groups, return_inverse=True)
        counts = np.zeros((len(units), int(strata.max()) + 1))
        np.add.at(counts, (unit, strata), 1.0)
        of_unit = counts.argmax(axis=1)
    mixed = rng.permutation(len(of_unit))
    part_of = np.empty(len(of_unit), dtype=np.int64)
    part_of[mixed[np.argsort(of_unit[mixed], kind="stable")]] = np.arange(len(of_unit)) % n_parts
    return np.asarray(part_of[unit])


def _single(X: NDArray[Any]) -> NDArray[np.float32]:
    """The table in single precision, as scikit-learn's trees use it."""
    with np.errstate(over="ignore"):
        table = np.ascontiguousarray(X, dtype=np.float32)
    if not np.isfinite(table).all():
        raise InputError("X", "has values above 3e38, too large for the trees of the audit", "rescale these columns")
    return table
