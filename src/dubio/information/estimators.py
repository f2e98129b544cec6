"""k-NN entropy, and the mutual information of a table with hard, soft or doubtful classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import digamma, gammaln

from dubio._kernels.distances import UNBOUNDED, fill_squared_distances
from dubio._kernels.information import current_information
from dubio._kernels.threads import chunks, resolve_threads, run_chunks
from dubio._kernels.univariate import univariate_information
from dubio.counts import clip_neighbors
from dubio.errors import InputError
from dubio.information.groups import Groups, raise_if_zero
from dubio.problem import Problem, read_problem
from dubio.supervision import OfClasses
from dubio.tables.matrix import read_matrix

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
        k.
    n_jobs : int, optional
        Threads.

    Returns
    -------
    float

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
    groups = Groups(np.empty((n, 0)))
    total = _information_sum(table, groups, n_neighbors, 0.5, resolve_threads(n_jobs))
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
        k.
    missing_label : "auto", None or a value
        The value that means "unlabelled", besides None and NaN.
    n_jobs : int, optional
        Threads.

    Returns
    -------
    float

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
    X: ArrayLike, memberships: Any, *, n_neighbors: int = 8, slack: float = 0.5, n_jobs: int | None = None
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
        k.
    slack : float, default=0.5
        How far below k a ball may stop. A membership is hardly ever exactly 1. Without slack, nine rows of 0.999
        would be taken instead of eight. If less than k members are available, the ball stops within ``slack`` of the
        available sum. Must lie in [0, 1).
    n_jobs : int, optional
        Threads.

    Returns
    -------
    float

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
    return _information_of_labels(read_problem(X, memberships), n_neighbors, n_jobs, slack)


def univariate_mutual_information(
    columns: NDArray[np.float64],
    features: NDArray[np.int64],
    groups: Groups,
    *,
    n_neighbors: int,
    slack: float,
    n_threads: int,
) -> NDArray[np.float64]:
    """The estimate for each single feature, from sorted columns: no distances between all rows are needed."""

    def work(start: int, stop: int) -> tuple[NDArray[np.float64], int]:
        sums: tuple[NDArray[np.float64], int] = univariate_information(
            columns, features, groups.weights, groups.totals, float(n_neighbors), slack, start, stop
        )
        return sums

    parts = run_chunks(work, chunks(len(features), 8), n_threads)
    raise_if_zero(sum(n_zero for _, n_zero in parts))
    sums = np.concatenate([part for part, _ in parts])
    return groups.constant(n_neighbors) + sums / groups.n_rows


def feature_mutual_information(
    rows: NDArray[np.float64],
    columns: NDArray[np.float64],
    features: Sequence[NDArray[np.int64]],
    groups: Groups,
    *,
    n_neighbors: int,
    slack: float,
    n_threads: int,
) -> NDArray[np.float64]:
    """The estimate for each feature, given by its columns; ``rows`` and ``columns`` are the same table."""
    values = np.empty(len(features))
    single = np.array([len(own) == 1 for own in features], dtype=bool)
    if single.any():
        alone = np.array([own[0] for own, is_single in zip(features, single, strict=True) if is_single])
        values[single] = univariate_mutual_information(
            columns, alone, groups, n_neighbors=n_neighbors, slack=slack, n_threads=n_threads
        )
    for place in np.flatnonzero(~single).tolist():
        table = np.ascontiguousarray(rows[:, features[place]])
        total = _information_sum(table, groups, n_neighbors, slack, n_threads)
        values[place] = groups.constant(n_neighbors) + total / len(rows)
    return values


def table_mutual_information(levels: NDArray[np.int64], memberships: NDArray[np.float64]) -> float:
    r"""Mutual information of categories and classes from their table of shares, in nats.

    .. math:: \sum_{ls} p_{ls} \log \frac{p_{ls}}{p_l p_s} - \frac{(L - 1)(K - 1)}{2n}

    The last term is the bias of the first one without a relation (Miller 1955).

    >>> import numpy as np
    >>> from dubio.information.estimators import table_mutual_information
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


def _information_of_labels(problem: Problem, n_neighbors: int, n_jobs: int | None, slack: float = 0.5) -> float:
    if not isinstance(slack, Real) or not 0 <= slack < 1:
        raise InputError("slack", f"={slack!r}", "it must lie in [0, 1): with 1 a ball could stop one row short")
    if not isinstance(problem.supervision, OfClasses):
        raise InputError("y", "is None", "mutual information needs classes or memberships")
    problem.supervision.require_enough()
    problem.supervision.require_two_rows_per_class()
    known = problem.labelled
    assert isinstance(known.supervision, OfClasses)
    n_neighbors = clip_neighbors(n_neighbors, known.n_rows - 1, where="labelled row")
    groups = Groups(known.supervision.memberships)
    table = np.ascontiguousarray(known.table)
    total = _information_sum(table, groups, n_neighbors, slack, resolve_threads(n_jobs))
    return groups.constant(n_neighbors) + total / known.n_rows


def _information_sum(
    table: NDArray[np.float64], groups: Groups, n_neighbors: int, slack: float, n_threads: int
) -> float:
    n, d = table.shape
    n_groups = len(groups.totals)
    columns = np.ascontiguousarray(table.T)
    features = np.arange(d, dtype=np.int64)
    no_seeds = np.empty((n, n_groups, 0), dtype=np.int32)
    n_seeds = np.zeros((n, n_groups), dtype=np.int32)
    radii = np.full((n, n_groups), UNBOUNDED)

    def work(start: int, stop: int) -> tuple[float, int]:
        part = np.empty((stop - start, n))
        fill_squared_distances(columns, features, start, part)
        result: tuple[float, int] = current_information(
            table,
            features,
            part,
            groups.weights,
            groups.totals,
            float(n_neighbors),
            slack,
            0.0,
            no_seeds,
            n_seeds,
            radii,
            start,
            stop,
        )
        return result

    parts = run_chunks(work, chunks(n, _ROWS_PER_CHUNK), n_threads)
    raise_if_zero(sum(n_zero for _, n_zero in parts))
    return sum(total for total, _ in parts)
