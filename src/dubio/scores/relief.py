"""Relief scores: does a feature differ more from near rows of other classes than from near rows of the same class?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dubio.checks import clip_neighbors
from dubio.evidence.permutation import Null, permutation_pvalues
from dubio.kernels import relief_gpu as on_device
from dubio.kernels.gpu import Device, DeviceName, Worth, find_device
from dubio.kernels.relief import (
    nearest_rows,
    relieff_sums,
    relieff_sums_from_order,
    soft_relief_sums,
    sort_rows_by_distance,
)
from dubio.kernels.threads import chunks, resolve_threads, run_chunks
from dubio.methods.base import ScoreSelector
from dubio.methods.parameters import documented, estimator
from dubio.problem import Problem
from dubio.progress import parts_of
from dubio.ranking import Scored

T = TypeVar("T")
Floats = NDArray[np.float64]
#: The test of ReliefF sorts all pairs of rows, so it uses at most this many rows.
MAX_TESTED_ROWS = 2000
#: Number of differences of two numbers (rows x rows x features) from which a GPU is faster.
_GPU_IS_WORTH = Worth(again=1e7, first=1.2e10)
#: Rows handled by one kernel call: fixed, so that sums do not depend on the number of threads.
_ROWS = 64


@documented
def soft_relief_score(
    X: ArrayLike, P: Any, *, n_neighbors: int = 10, missing_label: Any = "auto", n_jobs: int | None = None
) -> Floats:
    r"""Soft Relief of every feature, for class memberships (high is good).

    Features are scaled to their range. Among the :math:`4k` rows nearest to row i (L1 distance), row j is a hit
    with weight :math:`q_{ij} = p_i \cdot p_j` and a miss with weight :math:`1 - q_{ij}`:

    .. math:: S_r = \frac1n \sum_i \Bigl[ \frac{\sum_j (1-q_{ij}) |x_{ir}-x_{jr}|}{\sum_j (1-q_{ij})}
              - \frac{\sum_j q_{ij} |x_{ir}-x_{jr}|}{\sum_j q_{ij}} \Bigr],

    over the n rows that have both hits and misses among their neighbours. Neighbours are chosen by all features
    together, so the score finds features that matter only in combination. Work grows as :math:`n^2 d`; memory does not.

    Parameters
    ----------
    P : array-like (n, classes) or (n,)
        Memberships, a row of NaN = unlabelled; or hard classes. Unlabelled rows are left out.
    n_neighbors : int
        The k of the formula: four times as many rows are used.

    Returns
    -------
    scores : array (d,)
        Between -1 and 1; ``-inf`` for a feature that is constant among the labelled rows.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio import soft_relief_score
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(300, 3))
    >>> p = np.where((X[:, 0] > 0.5) != (X[:, 1] > 0.5), 0.8, 0.2)  # the first two matter only together
    >>> int(soft_relief_score(X, np.column_stack([p, 1 - p])).argmin())
    2
    """
    return SoftReliefScore._scores_for(**locals())


@documented
def relieff_score(
    X: ArrayLike, y: Any, *, n_neighbors: int = 10, missing_label: Any = "auto", n_jobs: int | None = None
) -> Floats:
    r"""ReliefF of every feature, for hard classes (high is good).

    With features scaled to their range, :math:`H_i` the k nearest rows (L1) of row i's own class and
    :math:`M_{ic}` the k nearest of class c,

    .. math:: S_r = \frac1n \sum_i \Bigl[ \sum_{c \ne y_i} \frac{\pi_c}{1-\pi_{y_i}}
              \operatorname*{mean}_{j \in M_{ic}} |x_{ir}-x_{jr}|
              - \operatorname*{mean}_{j \in H_i} |x_{ir}-x_{jr}| \Bigr],

    where :math:`\pi` are the shares of the classes among the labelled rows [1]_. A class with fewer rows uses all.

    Parameters
    ----------
    y : array-like (n,)
        Classes; unlabelled rows are left out.
    n_neighbors : int
        Number of nearest rows of each class.

    Returns
    -------
    scores : array (d,)
        Between -1 and 1; ``-inf`` for a feature that is constant among the labelled rows.

    References
    ----------
    .. [1] M. Robnik-Sikonja and I. Kononenko (2003). Theoretical and empirical analysis of ReliefF and RReliefF.
       Machine Learning 53.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dubio import relieff_score
    >>> X, y = load_iris(return_X_y=True)
    >>> relieff_score(X, y).argsort()[::-1]  # petals first
    array([3, 2, 0, 1])
    """
    return ReliefFScore._scores_for(**locals())


@estimator
class SoftReliefScore(ScoreSelector):
    """Classes, hard or soft: keep the features in which a row differs from its neighbours of other classes.

    See :func:`soft_relief_score`. Features are scaled to their range internally; unlabelled rows are left out.

    Notes
    -----
    This method has no paper: it was found here, by trials that the guide's page on choosing a method tells. It is
    Relief [1]_ with class memberships in place of classes. Assumes that rows near in all features mostly share a
    class. Do not use it with many irrelevant features, which decide who is near.

    References
    ----------
    .. [1] K. Kira and L. A. Rendell (1992). A practical approach to feature selection. ICML, 249-256.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dubio import SoftReliefScore
    >>> from dubio.simulate import unsure_annotator
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> doubtful = unsure_annotator(y, mean=0.3, random_state=0).memberships
    >>> list(SoftReliefScore(n_features_to_select=2).fit(X, doubtful).get_feature_names_out())
    ['petal length (cm)', 'petal width (cm)']
    """

    _function = "soft_relief_score"
    _name = "soft_relief"
    _does = "differences to neighbours, weighted by class probabilities"
    _takes: ClassVar[tuple[str, ...]] = ("soft", "hard")
    _lower_is_better = False

    n_neighbors: int = 10
    missing_label: Any = "auto"
    random_state: Any = 0
    n_jobs: int | None = None
    device: DeviceName = "cpu"

    def _score(self, problem: Problem) -> Scored:
        table, varies = scale_to_range(problem)
        return Scored(np.where(varies, problem.per_feature(self._of_columns(problem.labelled, table)), -np.inf))

    def _of_columns(self, labelled: Problem, table: Floats) -> Floats:
        """The score of every column of the labelled rows."""
        neighbors = self._neighbors(labelled, table)
        return soft_relief_from_neighbors(table, labelled.supervision.memberships, neighbors, self.n_jobs)

    def _neighbors(self, problem: Problem, table: Floats) -> NDArray[np.int64]:
        """The 4 k nearest rows of every row, or all other rows if there are fewer."""
        n, space = len(table), for_neighbors(problem, table)
        wanted = min(4 * clip_neighbors(self.n_neighbors, n - 1, where="labelled row"), n - 1)
        gpu = self._device(space)
        if gpu is not None:
            return on_device.nearest_rows(gpu, space, wanted)
        neighbors = np.empty((n, wanted), dtype=np.int64)
        self._run(lambda a, b: nearest_rows(space, a, b, neighbors), n)
        return neighbors

    def _device(self, table: Floats) -> Device | None:
        return find_device(self.device, float(len(table)) * table.size, _GPU_IS_WORTH)

    def _run(self, work: Callable[[int, int], T], n: int) -> list[T]:
        return run_chunks(work, chunks(n, _ROWS), resolve_threads(self.n_jobs), parts_of("neighbours"))

    def _pvalues(self, problem: Problem, scored: Scored) -> Floats:
        """p-values from shuffled labels; the neighbours do not depend on labels, so they are not searched again."""
        table, score = self._by_order(problem.labelled, scale_to_range(problem)[0])

        n, options = len(table), dict[str, Any](lower_is_better=False, features_are_independent=False)
        scores = problem.per_feature(score(np.arange(n)))
        scores[np.isneginf(scored.scores)] = -np.inf
        null = Null(scores, lambda rng, some: problem.per_feature(score(rng.permutation(n)))[some], n, **options)
        return permutation_pvalues(null, alpha=self.alpha, random_state=self._seed, n_jobs=self.n_jobs)

    def _by_order(self, labelled: Problem, table: Floats) -> tuple[Floats, Callable[[NDArray[np.int64]], Floats]]:
        """The rows to test, and the score of every column for an order of their labels."""
        P, neighbors = labelled.supervision.memberships, self._neighbors(labelled, table)
        return table, lambda order: soft_relief_from_neighbors(table, P[order], neighbors)


@documented
class ReliefFScore(SoftReliefScore):
    """Hard classes, even if few rows have one: keep the features that differ from the nearest rows of other classes.

    See :func:`relieff_score`. Unlabelled rows are left out.

    Notes
    -----
    ReliefF for classes, as the paper [1]_ describes it. Assumes that rows near in all features mostly share a
    class. Do not use it with soft labels, with many irrelevant features, which decide who is near, or with wrong
    labels.

    References
    ----------
    .. [1] M. Robnik-Sikonja and I. Kononenko (2003). Theoretical and empirical analysis of ReliefF and RReliefF.
       Machine Learning 53, 23-69.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dubio import ReliefFScore
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> y = y.where(y.index % 5 == 0)  # four of five labels are missing
    >>> list(ReliefFScore(n_features_to_select=2).fit(X, y).get_feature_names_out())
    ['petal length (cm)', 'petal width (cm)']
    """

    _function = "relieff_score"
    _name = "relieff"
    _does = "differences to the nearest rows of each class, ReliefF"
    _takes = ("hard",)

    def _of_columns(self, labelled: Problem, table: Floats) -> Floats:
        n_neighbors = clip_neighbors(self.n_neighbors, len(table) - 1, where="labelled row")
        codes = labelled.supervision.codes
        priors = np.bincount(codes) / len(codes)
        gpu = self._device(table)
        if gpu is not None:
            return np.asarray(on_device.relieff_sums(gpu, table, codes, priors, n_neighbors) / len(table))

        def work(start: int, stop: int) -> Floats:
            out = np.zeros(table.shape[1])
            relieff_sums(table, codes, priors, n_neighbors, start, stop, out)
            return out

        return np.sum(self._run(work, len(table)), axis=0) / len(table)

    def _by_order(self, labelled: Problem, table: Floats) -> tuple[Floats, Callable[[NDArray[np.int64]], Floats]]:
        codes = labelled.supervision.codes
        if len(table) > MAX_TESTED_ROWS:  # for each row all rows are sorted, so a long table is sampled
            rows = np.random.default_rng([self._seed, 5]).permutation(len(table))[:MAX_TESTED_ROWS]
            table, codes = table[rows], codes[rows]
        n = len(table)
        neighbors = np.empty((n, n - 1), dtype=np.int32)  # all other rows of every row, nearest first
        self._run(lambda a, b: sort_rows_by_distance(table, a, b, neighbors), n)
        priors, k = np.bincount(codes) / n, min(self.n_neighbors, n - 1)

        def score(order: NDArray[np.int64]) -> Floats:
            out = np.zeros(table.shape[1])
            relieff_sums_from_order(table, neighbors, codes[order], priors, k, 0, n, out)
            return out / n

        return table, score


def soft_relief_from_neighbors(
    table: Floats, P: Floats, neighbors: NDArray[np.int64], n_jobs: int | None = None
) -> Floats:
    """The score of every column once the neighbours are known."""

    def work(start: int, stop: int) -> tuple[Floats, int]:
        out = np.zeros(table.shape[1])
        return out, soft_relief_sums(table, P, neighbors, start, stop, out)

    parts = run_chunks(work, chunks(len(table), _ROWS), resolve_threads(n_jobs))
    return np.sum([part for part, _ in parts], axis=0) / max(1, sum(used for _, used in parts))


def scale_to_range(problem: Problem) -> tuple[Floats, NDArray[np.bool_]]:
    """The labelled rows with every feature scaled to [0, 1], and which features vary at all.

    If a feature has several columns, all of them are divided by the largest difference that two rows can have, summed
    over the columns: two different categories differ by 1.
    """
    table = np.array(problem.X[problem.supervision.labelled], dtype=np.float64, order="C")
    low, high = table.min(axis=0), table.max(axis=0)
    reach, varies = high - low, high > low
    if problem.has_wide_features:
        assert problem.columns is not None
        for start, stop in problem.columns.level_blocks():  # two rows differ in two of these columns
            reach[start:stop] *= 2.0 / max(1, int(varies[start:stop].sum()))
        total = problem.per_feature(reach)
        varies = total > 0
        reach = total[problem.columns.feature_of]
    table -= low
    table /= np.where(reach > 0, reach, 1.0)
    return table, varies


def for_neighbors(problem: Problem, table: Floats) -> Floats:
    """The table in which the neighbours of soft Relief are sought; the same table if no feature holds categories.

    Two different categories differ by 1, which is as much as the ends of a numeric feature. So all near rows would have
    the same category, and none of them would show what the category says. Here two random rows differ as much in a
    feature of categories, on average, as in the median numeric feature.
    """
    blocks = [] if problem.columns is None else problem.columns.level_blocks()
    if not blocks:
        return table
    numeric = np.ones(table.shape[1], dtype=bool)
    for start, stop in blocks:
        numeric[start:stop] = False
    typical = _mean_differences(table[:, numeric])
    typical = typical[typical > 0]
    if not len(typical):
        return table
    table = table.copy()
    for start, stop in blocks:
        own = float(_mean_differences(table[:, start:stop]).sum())
        if own > 0:
            table[:, start:stop] *= min(1.0, float(np.median(typical)) / own)
    return table


def _mean_differences(table: Floats) -> Floats:
    """The mean absolute difference of two rows, for every column."""
    n = len(table)
    places = 2.0 * np.arange(n) - n + 1
    return np.asarray(2.0 * (places @ np.sort(table, axis=0)) / max(1, n * (n - 1)))
