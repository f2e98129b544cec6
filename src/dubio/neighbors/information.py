"""Nearest-neighbour estimates of entropy and mutual information, and the criterion of a search made from them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import KDTree
from scipy.special import digamma, gammaln

from dubio.checks import check_parameters, clip_neighbors
from dubio.errors import InputError, counted
from dubio.kernels.distances import UNBOUNDED, fill_squared_distances
from dubio.kernels.information import (
    NEGLIGIBLE,
    Balls,
    Seeds,
    candidate_information,
    current_information,
    univariate_information,
)
from dubio.kernels.information_gpu import information_terms
from dubio.kernels.threads import chunks, resolve_threads, run_chunks
from dubio.neighbors.distances import Change, DeviceDistances, Distances, SubsetDistances
from dubio.problem import Problem, read_problem
from dubio.table.matrix import read_matrix


class Groups:
    """The classes of all rows, as kernels take them, and the terms of equation 19 that do not depend on balls."""

    def __init__(
        self, memberships: NDArray[np.float64], n_neighbors: int, slack: float = 0.5, include_self: bool = False
    ) -> None:
        n, n_classes = memberships.shape
        weights, own_counts = np.ones((n_classes + 1, n)), np.full(n_classes + 1, float(include_self))
        weights[:-1] = memberships.T
        own_counts[-1] = 0.0  # equation 5: the k-th neighbour among all rows is another row
        self.balls = Balls(weights, weights.sum(axis=1), float(n_neighbors), float(slack), own_counts)
        totals = self.balls.totals[:-1]
        totals = totals[totals > NEGLIGIBLE]
        #: ``psi(n) - psi(k) - sum_s Gamma(s)/n psi(Gamma(s))``
        self.constant = float(digamma(n) - digamma(n_neighbors) - (totals * digamma(totals)).sum() / n)


def raise_if_zero(n_zero: int, subset: NDArray[np.int64] | None = None) -> None:
    """Raise if distances are zero, which have no logarithm; the message says why this happens and what to do."""
    if n_zero:
        where = "" if subset is None else f" in features {subset.tolist()}"
        equal = f"has too many equal rows{where} (ties, duplicates, constant or discrete features)"
        zero = f"The distance to a neighbour is zero {counted(n_zero, 'time')}, and zero has no logarithm"
        noise = "jitter=1e-3 in the estimators, or X + 1e-3 * rng.normal(size=X.shape) with the functions"
        raise InputError("X", f"{equal}. {zero}", f"add a little noise to break ties: {noise}")


def require_another_row(n_neighbors: int, include_self: bool, argument: str = "n_neighbors") -> None:
    """Raise if a ball would hold nothing but the row in its centre: its radius would be zero."""
    if include_self and n_neighbors < 2:
        raise InputError(
            argument, "=1, and with include_self=True a ball of one row is the row itself", "give 2 or more"
        )


# Number of rows whose distances are held at a time.
_ROWS_PER_CHUNK = 64


def log_unit_ball_volume(dimension: int) -> float:
    """Logarithm of the volume of a ball of *diameter* 1: ``pi^(d/2) / Gamma(d/2 + 1) / 2^d``."""
    return float(0.5 * dimension * math.log(math.pi) - gammaln(0.5 * dimension + 1) - dimension * math.log(2))


def knn_entropy(X: ArrayLike, *, n_neighbors: int = 8, n_jobs: int | None = None) -> float:
    r"""Differential entropy of a sample, in nats (Kozachenko and Leonenko).

    .. math:: \hat H(X) = \psi(n) - \psi(k) + \log c_d + \frac{d}{n} \sum_i \log \epsilon_k(i)

    with :math:`\epsilon_k(i)` twice the distance from row i to its k-th nearest other row and
    :math:`c_d = \pi^{d/2} / \Gamma(d/2 + 1) / 2^d` the volume of a ball of diameter 1. (The paper's equation 5 prints
    the surface of the unit sphere instead. It cancels in a mutual information but would shift an entropy.)

    Parameters
    ----------
    X : array-like (n, d)
        The sample, used as it is: no scaling, no noise added to break ties.
    n_neighbors : int, default=8
        Number of neighbours, k.
    n_jobs : int, optional
        Threads.

    Returns
    -------
    float
        In nats.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio import knn_entropy
    >>> X = np.random.default_rng(0).normal(size=(2000, 1))
    >>> round(knn_entropy(X), 2), round(float(0.5 * np.log(2 * np.pi * np.e)), 2)
    (1.42, 1.42)
    """
    table = np.ascontiguousarray(read_matrix(X), dtype=np.float64)
    n, d = table.shape
    n_neighbors = clip_neighbors(n_neighbors, n - 1)
    total = _information_sum(table, Groups(np.empty((n, 0)), n_neighbors), resolve_threads(n_jobs))
    return float(digamma(n) - digamma(n_neighbors) + log_unit_ball_volume(d) + total / n)


def mutual_information(
    X: ArrayLike, y: Any, *, n_neighbors: int = 8, missing_label: Any = "auto", n_jobs: int | None = None
) -> float:
    r"""Mutual information between all columns of ``X`` together and a class, in nats (Gomez-Verdejo et al.).

    .. math:: \hat I(X; Y) = \psi(n) - \frac1n \sum_y n_y \psi(n_y)
              + \frac dn \Bigl[\sum_i \log \epsilon_k(i) - \sum_y \sum_{i \in y} \log \epsilon_k(i|y)\Bigr]

    :math:`\epsilon_k(i)` is twice the distance to the k-th nearest other row, :math:`\epsilon_k(i|y)` to the k-th
    nearest other row of the same class. A class with :math:`n_y \le k` rows uses :math:`k_y = n_y - 1` instead, and
    :math:`\psi(k_y) - \psi(k)` no longer cancels.

    The estimate is noisy and may be below zero or above the entropy of the classes.

    Parameters
    ----------
    X : array-like (n, d)
        The features, used as they are: no scaling, no noise added to break ties.
    y : array-like (n,) or (n, classes)
        Classes; rows without one are left out. A 2-D ``y`` holds memberships and is passed to
        :func:`noise_tolerant_mutual_information`.
    n_neighbors : int, default=8
        Number of neighbours, k.
    missing_label : "auto", None or a value
        The value that means "unlabelled", besides None and NaN.
    n_jobs : int, optional
        Threads.

    Returns
    -------
    float
        In nats; it may be below zero.

    References
    ----------
    .. [1] V. Gomez-Verdejo, M. Verleysen and J. Fleury (2009). Information-theoretic feature selection for functional
       data classification. Neurocomputing 72, 3580-3589.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dubio import mutual_information
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(mutual_information(X[:, 2:] + 0.0, y) > mutual_information(X[:, :2], y))
    True
    """
    return _information_of_labels(read_problem(X, y, missing_label=missing_label), n_neighbors, n_jobs)


def noise_tolerant_mutual_information(
    X: ArrayLike,
    memberships: Any,
    *,
    n_neighbors: int = 8,
    slack: float = 0.5,
    include_self: bool = False,
    n_jobs: int | None = None,
) -> float:
    r"""Mutual information between all columns of ``X`` together and an uncertain class, in nats.

    .. math:: \hat I(X; S) = \hat H(X) - \sum_s \frac{\Gamma(s)}{n} \hat H(X | S = s), \qquad
              \hat H(X | S = s) = \psi(\Gamma(s)) + \log c_d + \frac{1}{\Gamma(s)} \sum_i \gamma(s|i)
              \bigl[d \log \epsilon(i|s) - \psi(\Gamma(s|i))\bigr]

    :math:`\gamma(s|i)` is the membership of row i in class s, :math:`\Gamma(s)` its sum over rows, and
    :math:`\epsilon(i|s)` the diameter of the ball around row i. The ball grows over the other rows, nearest first,
    until their memberships in s sum to :math:`\Gamma(s|i) \ge k - \text{slack}`.

    Parameters
    ----------
    X : array-like (n, d)
        The features, used as they are: no scaling, no noise added to break ties.
    memberships : array-like (n, classes)
        Rows sum to 1; rows of NaN are left out. Hard classes (1-D) count as one-hot memberships and give the same
        result as :func:`mutual_information`.
    n_neighbors : int, default=8
        Number of neighbours, k.
    slack : float, default=0.5
        How far below k a ball may stop. A membership is hardly ever exactly 1. Without slack, nine rows of 0.999
        would be taken instead of eight. If less than k members are available, the ball stops within ``slack`` of the
        available sum. Must lie in [0, 1). The paper has no slack: 0 is the printed form.
    include_self : bool, default=False
        Whether the row in the centre of a ball counts towards :math:`\Gamma(s|i)`, as the paper says below its
        equation 16. Then one-hot memberships no longer give the estimator of Gomez-Verdejo et al.: the value rises by
        about :math:`\psi(k) - \psi(k - 1)`, in every subset alike. Needs k of at least 2.
    n_jobs : int, optional
        Threads.

    Returns
    -------
    float
        In nats; it may be below zero.

    References
    ----------
    .. [1] B. Frenay, G. Doquire and M. Verleysen (2014). Estimating mutual information for feature selection in the
       presence of label noise. Computational Statistics and Data Analysis 71, 832-848.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio import noise_tolerant_mutual_information
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> p = 1 / (1 + np.exp(8 * (X[:, 0] ** 2 - 0.5)))  # the class depends on the square of the first feature
    >>> P = np.column_stack([p, 1 - p])
    >>> [round(noise_tolerant_mutual_information(X[:, [j]], P), 1) for j in range(2)]
    [0.5, -0.1]
    """
    check_parameters({"include_self": ["boolean"]}, {"include_self": include_self})
    return _information_of_labels(read_problem(X, memberships), n_neighbors, n_jobs, slack, include_self)


def numeric_mutual_information(X: ArrayLike, y: Any, *, n_neighbors: int = 5, n_jobs: int | None = None) -> float:
    r"""Mutual information between all columns of ``X`` together and a number, in nats.

    .. math:: \hat I = \psi(k) + \psi(n) - \frac1n \sum_i [\psi(n_x(i) + 1) + \psi(n_y(i) + 1)]

    The distance of two rows is their largest gap in any column or in y. :math:`n_x(i)` is the number of other rows that
    are closer to row i in X than its k-th neighbour is in X and y together; :math:`n_y(i)` the same in y. The estimate
    may be below zero.

    Parameters
    ----------
    X : array-like (n, d)
        The features, used as they are: bring columns to one scale if they should count alike.
    y : array-like (n,)
        Numbers, used as they are. Rows without one (NaN) are left out.
    n_neighbors : int, default=5
        Number of neighbours, k.
    n_jobs : int, optional
        Threads.

    Returns
    -------
    float
        In nats; it may be below zero.

    References
    ----------
    .. [1] A. Kraskov, H. Stogbauer and P. Grassberger (2004). Estimating mutual information. Physical Review E 69,
       066138, its first estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio import numeric_mutual_information
    >>> x, noise = np.random.default_rng(0).normal(size=(2, 2000))
    >>> round(numeric_mutual_information(x[:, None], x + noise), 1), round(float(0.5 * np.log(2)), 1)
    (0.3, 0.3)
    """
    problem = read_problem(X, y, target="numbers")
    problem.supervision.require_enough()
    problem = problem.labelled
    numbers = problem.supervision.row_numbers
    assert numbers is not None
    table = np.asarray(problem.table, dtype=np.float64)
    n, workers = len(table), resolve_threads(n_jobs)
    k = clip_neighbors(n_neighbors, n - 1, where="row with a number")
    joint = np.column_stack([table, numbers])
    radius = KDTree(joint).query(joint, k=k + 1, p=np.inf, workers=workers)[0][:, -1]
    in_x, in_y = (digamma(_rows_closer(points, radius, workers) + 1) for points in (table, numbers[:, None]))
    return float(digamma(k) + digamma(n) - (in_x + in_y).mean())


def _rows_closer(points: NDArray[np.float64], radius: NDArray[np.float64], workers: int) -> NDArray[np.int64]:
    """For each point, the number of other points that are strictly closer than its radius."""
    # The k-th neighbour itself lies exactly at the radius, so gaps are compared without any rounding.
    below = np.nextafter(radius, 0)
    tree = KDTree(points)
    counts = tree.query_ball_point(points, below, p=np.inf, return_length=True, workers=workers)
    return np.asarray(counts, dtype=np.int64) - 1


def feature_mutual_information(
    columns: NDArray[np.float64], features: Sequence[NDArray[np.int64]], groups: Groups, n_threads: int
) -> NDArray[np.float64]:
    """The estimate for each feature, given by its columns. For a single column, no distances of all rows are needed."""
    values = np.empty(len(features))
    single = [place for place, own in enumerate(features) if len(own) == 1]
    alone = np.array([features[place][0] for place in single], dtype=np.int64)
    parts = run_chunks(partial(univariate_information, columns, alone, groups.balls), chunks(len(alone), 8), n_threads)
    raise_if_zero(sum(n_zero for _, n_zero in parts))
    if len(alone):
        values[single] = np.concatenate([part for part, _ in parts])
    for place in sorted(set(range(len(features))) - set(single)):
        values[place] = _information_sum(np.ascontiguousarray(columns[features[place]].T), groups, n_threads)
    return np.asarray(groups.constant + values / columns.shape[1])


def table_mutual_information(levels: NDArray[np.int64], memberships: NDArray[np.float64]) -> float:
    r"""Mutual information of categories and classes from their table of shares, in nats.

    .. math:: \sum_{ls} p_{ls} \log \frac{p_{ls}}{p_l p_s} - \frac{(L - 1)(K - 1)}{2n}

    The last term is the bias of the first one without a relation (Miller 1955).

    >>> import numpy as np
    >>> from dubio.neighbors.information import table_mutual_information
    >>> codes = np.arange(1000) % 2
    >>> round(table_mutual_information(codes, np.eye(2)[codes]), 3)  # log 2, less a little
    0.693
    """
    shares = np.zeros((int(levels.max()) + 1, memberships.shape[1]))
    np.add.at(shares, levels, memberships)
    shares /= shares.sum()
    shares = shares[:, shares.any(axis=0)]
    expected = np.outer(shares.sum(axis=1), shares.sum(axis=0))
    present = shares > 0
    bias = (shares.shape[0] - 1) * (shares.shape[1] - 1) / (2.0 * len(levels))
    return float((shares[present] * np.log(shares[present] / expected[present])).sum() - bias)


def _information_of_labels(
    problem: Problem, n_neighbors: int, n_jobs: int | None, slack: float = 0.5, include_self: bool = False
) -> float:
    if not isinstance(slack, Real) or not 0 <= slack < 1:
        raise InputError("slack", f"={slack!r}", "it must lie in [0, 1): with 1 a ball could stop one row short")
    problem.supervision.require_form("hard", "soft", remedy="mutual information needs classes or memberships")
    problem.supervision.require_enough()
    problem.supervision.require_two_rows_per_class()
    problem = problem.labelled
    n_neighbors = clip_neighbors(n_neighbors, problem.n_rows - 1, where="labelled row")
    require_another_row(n_neighbors, include_self)
    groups = Groups(problem.supervision.memberships, n_neighbors, slack, include_self)
    total = _information_sum(np.ascontiguousarray(problem.table), groups, resolve_threads(n_jobs))
    return groups.constant + total / problem.n_rows


def _no_seeds(groups: Groups, n_rows: int, room: int = 0) -> Seeds:
    shape = n_rows, len(groups.balls.totals)
    return Seeds(np.zeros((*shape, room), dtype=np.int32), np.zeros(shape, dtype=np.int32), np.full(shape, UNBOUNDED))


def _information_sum(table: NDArray[np.float64], groups: Groups, n_threads: int) -> float:
    n, d = table.shape
    columns = np.ascontiguousarray(table.T)
    features = np.arange(d, dtype=np.int64)
    seeds = _no_seeds(groups, n)

    def work(start: int, stop: int) -> tuple[float, int]:
        part = np.empty((stop - start, n))
        fill_squared_distances(columns, features, start, part)
        total, n_zero = current_information(table, features, part, groups.balls, 0.0, seeds, start, stop)
        return total, n_zero

    parts = run_chunks(work, chunks(n, _ROWS_PER_CHUNK), n_threads)
    raise_if_zero(sum(n_zero for _, n_zero in parts))
    return sum(total for total, _ in parts)


# If a row has less membership than this in a class, its term is only bounded at first: such terms seldom decide which
# feature wins, and their balls are large. Candidates that may still win are then evaluated exactly.
MINOR = 1e-3

MembershipsOf = Callable[[Distances], NDArray[np.float64]]


class InformationCriterion:
    """Noise-tolerant mutual information (equation 19) of the current subset and of all subsets one feature apart.

    Follows `dubio.neighbors.greedy.Criterion`. One-hot memberships give the estimator of Gomez-Verdejo et al.

    The criterion updates the shared ``distances``, and works where they are. ``memberships_of`` is called with them
    once for each subset the search reaches, before its candidates are evaluated (Algorithm 2 estimates the label noise
    at this point), and returns memberships (n, classes): the same array each time, if they are fixed. For ``slack`` and
    ``include_self`` see :func:`dubio.noise_tolerant_mutual_information`.
    """

    larger_is_better = True

    def __init__(
        self,
        distances: Distances,
        memberships_of: MembershipsOf,
        *,
        n_neighbors: int,
        slack: float = 0.5,
        include_self: bool = False,
    ) -> None:
        self.distances, self.n_neighbors, self.slack, self.include_self = distances, n_neighbors, slack, include_self
        self._memberships_of = memberships_of
        self._memberships: NDArray[np.float64] | None = None
        self._ready = False

    def start(self, features: NDArray[np.int64]) -> float:
        self.distances.start(features)
        return self._prepare(0.0)

    def apply(self, feature: int, change: int) -> None:
        self.distances.apply(feature, change)
        self._ready = False

    def evaluate(self, candidates: NDArray[np.int64], change: int) -> NDArray[np.float64]:
        if not self._ready:
            self._prepare(MINOR)
        at = self.distances
        if len(at.subset) == 0:
            features = [at.columns_of(one) for one in candidates[:, None]]
            return feature_mutual_information(at.columns, features, self._groups, at.n_threads)
        if isinstance(at, DeviceDistances):
            return self._on_device(at, candidates, change).mean(axis=1)
        lower, values = self._bounds(candidates, change, MINOR)
        contenders = np.flatnonzero(values >= lower.max() - 1e-12)
        if (lower[contenders] < values[contenders]).any():
            values[contenders] = self._bounds(candidates[contenders], change, 0.0)[1]
        return values

    def _on_device(self, at: DeviceDistances, candidates: NDArray[np.int64], change: int) -> NDArray[np.float64]:
        """(candidates, rows): values of which the mean over rows is the criterion."""
        terms, n_zero = information_terms(at.pairs, at.subset, self._groups.balls, candidates, change)
        raise_if_zero(n_zero, at.subset if change == 0 else None)
        return self._groups.constant + terms

    def _bounds(
        self, candidates: NDArray[np.int64], change: int, minor: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """A lower and an upper bound on each candidate's value; equal if ``minor`` is 0."""
        at = self.distances
        assert isinstance(at, SubsetDistances)
        both = np.empty((2, len(candidates)))

        def work(step: Change, start: int, stop: int) -> Any:
            changed = at.rows, at.columns, step.squared, step.subset, step.columns, float(change)
            return candidate_information(*changed, self._groups.balls, minor, self._seeds, start, stop)

        for places, parts in at.in_chunks(candidates, change, work):
            raise_if_zero(sum(n_zero for _, _, n_zero in parts))
            both[:, places] = np.sum([(lower, upper) for lower, upper, _ in parts], axis=0)
        lower, upper = self._groups.constant + both / at.n_rows
        return lower, upper

    def _prepare(self, minor: float) -> float:
        """Update memberships, seeds and radii for the current subset; return its value if ``minor`` is 0."""
        at = self.distances
        memberships = self._memberships_of(at)
        if memberships is not self._memberships:
            self._groups = Groups(memberships, self.n_neighbors, self.slack, self.include_self)
        if self._memberships is None and isinstance(at, SubsetDistances):
            self._seeds = _no_seeds(self._groups, at.n_rows, 4 * self.n_neighbors)
        self._memberships = memberships
        self._ready = True
        if len(at.subset) == 0:
            return 0.0
        if isinstance(at, DeviceDistances):
            return float(self._on_device(at, at.subset[:1], 0).mean()) if minor == 0.0 else 0.0
        parts = run_chunks(lambda start, stop: self._current(at, start, stop, minor), at.row_chunks, at.n_threads)
        raise_if_zero(sum(n_zero for _, n_zero in parts), at.subset)
        return self._groups.constant + sum(total for total, _ in parts) / at.n_rows

    def _current(self, at: SubsetDistances, start: int, stop: int, minor: float = 0.0) -> tuple[float, int]:
        """How much rows ``start:stop`` add to the value of the current subset, times n; and balls of radius zero."""
        part, balls = at.squared[start:stop], self._groups.balls
        total, n_zero = current_information(at.rows, at.subset_columns, part, balls, minor, self._seeds, start, stop)
        return total, n_zero

    def row_values(self, features: NDArray[np.int64]) -> NDArray[np.float64]:
        """How much each row adds to the value of a subset; this subset becomes the current one."""
        self.start(features)
        at = self.distances
        if isinstance(at, DeviceDistances):
            return self._on_device(at, at.subset[:1], 0)[0] / at.n_rows
        totals = np.array([self._current(at, i, i + 1)[0] for i in range(at.n_rows)])
        return (self._groups.constant + totals) / at.n_rows
