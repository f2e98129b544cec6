"""How much of the target one feature explains, with a smooth curve or a straight line, and whether it is chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from dubio._kernels.smooth import shuffled_smooth_errors, smooth_errors
from dubio._kernels.threads import chunks, resolve_threads, run_chunks
from dubio.errors import InputError, counted
from dubio.graphs.targets import target_graph
from dubio.methods.base import ScoreSelector
from dubio.methods.parameters import documented, estimator
from dubio.problem import Problem
from dubio.ranking import Scored
from dubio.seeds import generator
from dubio.significance.graph_null import GraphNull, column_moments, permutation_moments
from dubio.significance.multiple import cauchy_combination
from dubio.significance.permutation import permutation_pvalues
from dubio.supervision import Numbers
from dubio.supervision.reader import Target

#: Number of columns that one thread handles at a time.
_COLUMNS = 16
#: Permutations per kernel call; each chunk has its own generator, so the number of threads does not matter.
_CHUNK = 64
#: Minimum number of permutations, and the limit on the work (rows x columns of the target x permutations).
_FEWEST, _WORK = 999, 4e8


@documented
def smooth_r2_score(
    X: ArrayLike,
    y: Any,
    *,
    target: Target = "auto",
    missing_label: Any = "auto",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    r"""Rank-smooth R2 of every feature: the share of the target that neighbours along the feature explain.

    The rows are sorted by the feature (ties in a random, seeded order). The target vector :math:`t_i` of each row
    (memberships, or a number) is predicted by the mean :math:`\hat t_i` of its :math:`2h` neighbours in this order,
    without the row itself. Here :math:`h = \max(4, \lfloor n/16 \rfloor)`, and there are fewer neighbours at the ends.
    Then

    .. math:: R^2 = 1 - \frac{\sum_i \|t_i - \hat t_i\|^2}{\sum_i \|t_i - \bar t_{-i}\|^2},

    where :math:`\bar t_{-i}` is the mean of all other rows. The score finds any smooth relation of one feature to the
    target. It depends only on the ranks of the feature, so all features have the same null distribution
    (:func:`dubio.methods.relation.smooth_pvalues`).

    Parameters
    ----------
    X : array-like (n, d)
        The table, on any scale.
    y : array-like (n,) or (n, classes)
        Memberships, classes or numbers; unlabelled rows are left out.
    {target}
    {missing_label}
    random_state : int, RandomState or None, default=0
        Order of rows with equal values.
    {n_jobs}

    Returns
    -------
    scores : array (d,)
        At most 1; about 0, or slightly below, for a feature without a relation; ``-inf`` for a feature that is
        constant among the labelled rows.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio import smooth_r2_score
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
    >>> smooth_r2_score(X, X[:, 1] ** 2).round(2)  # not correlated, but related
    array([-0.02,  0.99])
    """
    method = SmoothR2Score(target=target, missing_label=missing_label, random_state=random_state, n_jobs=n_jobs)
    return method.scores_of(X, y)


@documented
def linear_r2_score(
    X: ArrayLike, y: Any, *, target: Target = "auto", missing_label: Any = "auto"
) -> NDArray[np.float64]:
    r"""R2 of the regression of every feature on the target (high is good).

    .. math:: R^2_r = \frac{\|U^T (f_r - \bar f_r)\|^2}{\|f_r - \bar f_r\|^2},

    with U an orthonormal basis of the centred target: memberships, or one number. For numbers it is the squared
    correlation. For hard classes it is :math:`F/(1+F)` with F the :func:`fisher_score`, and its test is the usual
    analysis of variance.

    Parameters
    ----------
    X : array-like (n, d)
    y : array-like (n,) or (n, classes)
        As in :func:`smooth_r2_score`.
    {target}
    {missing_label}

    Returns
    -------
    scores : array (d,)
        From 0 to 1; 0 for a feature that is constant among the labelled rows.

    Examples
    --------
    >>> from dubio import linear_r2_score
    >>> linear_r2_score([[0.0, 5.0], [1.0, 1.0], [2.0, 4.0], [3.0, 2.0]], [0.1, 1.1, 2.1, 3.1]).round(2)
    array([1.  , 0.18])
    """
    return LinearR2Score(target=target, missing_label=missing_label).scores_of(X, y)


@estimator
class SmoothR2Score(ScoreSelector):
    """Classes, hard or soft, or numbers: keep the features along which the target varies smoothly.

    See :func:`smooth_r2_score`. Unlabelled rows are left out. With ``n_features_to_select="auto"``, one set of
    permutations serves as the null of all features.

    Parameters
    ----------
    {n_features_to_select}
    {alpha}
    {target}
    {missing_label}
    random_state : int, RandomState or None, default=0
        For the order of rows with equal values, and for permutations.
    {n_jobs}

    Attributes
    ----------
    {scores}
        High scores are good.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio import SmoothR2Score
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(300, 5))
    >>> selector = SmoothR2Score(n_features_to_select="auto").fit(X, X[:, 1] ** 2 - np.abs(X[:, 4]))
    >>> selector.get_support(indices=True)
    array([1, 4])
    """

    _name = "smooth_r2"
    _does = "any smooth relation of one feature to the target"
    _takes = ("hard", "soft", "numbers")
    _target = "auto"
    _lower_is_better = False
    _scores_are_independent = True

    target: Target = "auto"
    missing_label: Any = "auto"
    random_state: Any = 0
    n_jobs: int | None = None

    def _score(self, problem: Problem) -> Scored:
        return Scored(smooth_r2(problem, random_state=self._seed, n_jobs=self.n_jobs))

    def _pvalues(self, problem: Problem, scored: Scored) -> NDArray[np.float64]:
        return smooth_pvalues(
            problem, scores=scored.scores, alpha=self.alpha, random_state=self._seed, n_jobs=self.n_jobs
        )


@estimator
class LinearR2Score(ScoreSelector):
    """Classes, hard or soft, or numbers: keep the features that a regression on the target explains best.

    See :func:`linear_r2_score`: squared correlation for numbers, analysis of variance for classes, and its soft form
    for memberships. Unlabelled rows are left out. With ``n_features_to_select="auto"``, the F-test decides.

    Parameters
    ----------
    {n_features_to_select}
    {alpha}
    {target}
    {missing_label}

    Attributes
    ----------
    {scores}
        High scores are good.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from dubio import LinearR2Score
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> list(LinearR2Score(n_features_to_select=2).fit(X, y).get_feature_names_out())
    ['bmi', 's5']
    """

    _name = "linear_r2"
    _does = "correlation; analysis of variance"
    _takes = ("hard", "soft", "numbers")
    _target = "auto"
    _lower_is_better = False
    _scores_are_independent = True

    target: Target = "auto"
    missing_label: Any = "auto"

    def _score(self, problem: Problem) -> Scored:
        return Scored(linear_r2(problem)[0])

    def _pvalues(self, problem: Problem, scored: Scored) -> NDArray[np.float64]:
        return linear_pvalues(problem)


@dataclass(frozen=True)
class FeatureTests:
    """p-values of every feature: combined, and for each test by name."""

    pvalues: NDArray[np.float64]
    parts: dict[str, NDArray[np.float64]]


def relation_pvalues(
    problem: Problem, *, alpha: float = 0.05, random_state: int = 0, n_jobs: int | None = None
) -> FeatureTests:
    """Test whether each feature is related to the target, linearly or along any smooth curve.

    There are two tests: a linear test with a closed-form null (analysis of variance for classes, its soft form for
    memberships, correlation for numbers), and the rank-smooth R2 with one permutation null for all features. For
    numbers, the supervised Laplacian score is a third test. :func:`~dubio.significance.cauchy_combination` combines the
    p-values.
    """
    parts = {
        "linear": linear_pvalues(problem),
        "smooth": smooth_pvalues(problem, alpha=alpha, random_state=random_state, n_jobs=n_jobs),
    }
    if isinstance(problem.supervision, Numbers):
        known = problem.supervision.labelled
        target = problem.supervision.target_matrix(known)[:, 0]
        null = GraphNull(target_graph(target, n_neighbors=min(5, len(target) - 1)), problem.X[known])
        parts["graph"] = permutation_pvalues(null, alpha=alpha, random_state=random_state, n_jobs=n_jobs)
    return FeatureTests(cauchy_combination(*parts.values()), parts)


def smooth_r2(problem: Problem, *, random_state: Any = 0, n_jobs: int | None = None) -> NDArray[np.float64]:
    """:func:`smooth_r2_score` of a problem."""
    X, supervision = problem.X, problem.supervision
    known = np.flatnonzero(supervision.labelled)
    # Shuffled rows and a stable sort: ties are in a random order, the same for every feature.
    known = known[generator(random_state).permutation(len(known))]
    target = np.ascontiguousarray(supervision.target_matrix(known))
    half = half_window(len(known))
    total = leave_one_out_total(target)

    def work(start: int, stop: int) -> NDArray[np.float64]:
        columns = np.ascontiguousarray(X[known, start:stop].T)
        errors = np.empty(stop - start)
        smooth_errors(target, np.argsort(columns, axis=1, kind="stable"), half, errors)
        return np.where((columns == columns[:, :1]).all(axis=1), -np.inf, 1.0 - errors / total)

    return np.concatenate(run_chunks(work, chunks(X.shape[1], _COLUMNS), resolve_threads(n_jobs)))


def linear_r2(problem: Problem) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """:func:`linear_r2_score` of a problem, and the basis of its target with one column per degree of freedom."""
    X, known = problem.X, problem.supervision.labelled
    basis = orthonormal_basis(problem.supervision.target_matrix(known))
    scores = np.zeros(X.shape[1])
    for start, stop in chunks(X.shape[1], 256):
        block = np.array(X[known, start:stop], dtype=np.float64)
        block -= block[0]  # makes a constant column exactly zero
        block -= block.mean(axis=0)
        total = np.einsum("ij,ij->j", block, block)
        explained = ((basis.T @ block) ** 2).sum(axis=0)
        np.divide(explained, total, out=scores[start:stop], where=total > 0)
    return np.minimum(scores, 1.0), basis


def linear_pvalues(problem: Problem) -> NDArray[np.float64]:
    r"""Test of :func:`~dubio.linear_r2_score` with a closed-form null; 1 if there are too few labelled rows.

    Under the normal law :math:`R^2 \sim \mathrm{Beta}(r/2, (n-1-r)/2)`, which is the F-test. If the feature has a heavy
    tail and a class is small, its p-values are too small. So the Beta law gets the variance of :math:`R^2` over all
    permutations, which is known in closed form (the mean is already the same). Box and Andersen [1]_ did this for two
    samples.

    References
    ----------
    .. [1] G. Box and S. Andersen (1955). Permutation theory in the derivation of robust criteria and the study of
       departures from assumption. Journal of the Royal Statistical Society B 17.
    """
    supervision = problem.supervision
    scores, basis = linear_r2(problem)
    n, rank = supervision.n_labelled, basis.shape[1]
    if n - 1 - rank <= 0 or n < 4:
        return np.ones(len(scores))
    leverage = (basis**2).sum(axis=1)
    second, fourth = column_moments(problem.X[supervision.labelled])
    varies = second > 0
    mean = rank / (n - 1)
    _, variance = permutation_moments(second, fourth, n, rank, float((leverage**2).sum()), rank)
    variance = np.divide(variance, (n * second) ** 2, out=np.full(len(scores), np.inf), where=varies)
    # no Beta law has a variance of zero, or one above that of a coin toss
    strength = np.clip(mean * (1 - mean) / np.maximum(variance, 1e-300) - 1, 1e-3, 1e9)
    pvalues = stats.beta.sf(scores, mean * strength, (1 - mean) * strength)
    return np.where(varies, pvalues, 1.0)


def smooth_pvalues(
    problem: Problem,
    *,
    scores: NDArray[np.float64] | None = None,
    alpha: float = 0.05,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Permutation test of :func:`~dubio.smooth_r2_score`, with the same permutations as the null of every feature.

    The score depends only on the order in which a feature puts the rows. Without a relation, every order is equally
    likely. So the null is drawn once; the more features there are, the more permutations are drawn.
    """
    if scores is None:
        scores = smooth_r2(problem, random_state=random_state, n_jobs=n_jobs)
    target = np.ascontiguousarray(problem.supervision.target_matrix(problem.supervision.labelled))
    count = smooth_permutations(*target.shape, n_features=len(scores), alpha=alpha)
    null = smooth_null(target, count, random_state=random_state, n_jobs=n_jobs)
    null.sort()
    # a permutation with the same order as the feature must count as equal, in spite of rounding
    reached = count - np.searchsorted(null, scores - 1e-12 * np.maximum(np.abs(scores), 1.0))
    return np.where(np.isneginf(scores), 1.0, (1.0 + reached) / (1.0 + count))


def smooth_null(
    target: NDArray[np.float64], count: int, *, random_state: int = 0, n_jobs: int | None = None
) -> NDArray[np.float64]:
    """Smooth R2 of ``count`` random orders of the rows of a centred target."""
    total = leave_one_out_total(target)
    half = half_window(len(target))

    def work(start: int, stop: int) -> NDArray[np.float64]:
        out = np.empty(stop - start)
        shuffled_smooth_errors(target, half, np.random.default_rng([random_state, 1, start]), out)
        return out

    errors = np.concatenate(run_chunks(work, chunks(count, _CHUNK), resolve_threads(n_jobs)))
    return 1.0 - errors / total


def smooth_permutations(n_rows: int, width: int, *, n_features: int, alpha: float) -> int:
    """Ten times the permutations that a single feature needs to pass Benjamini-Hochberg, within a limit on the work."""
    affordable = _WORK / (n_rows * (width + 2))
    return int(max(_FEWEST, min(10 * n_features / alpha, affordable)))


def half_window(n_rows: int) -> int:
    """Number of neighbours on each side: a sixteenth of the rows, at least four."""
    return max(4, n_rows // 16)


def leave_one_out_total(target: NDArray[np.float64]) -> float:
    """Sum of squared errors when each row is predicted by the mean of all other rows, for a centred target."""
    n = len(target)
    total = float((target**2).sum()) * (n / (n - 1)) ** 2
    if not total > 0:
        _raise_same(n)
    return total


def orthonormal_basis(target: NDArray[np.float64]) -> NDArray[np.float64]:
    """Orthonormal columns that span a centred target; columns that add nothing are left out."""
    left, values, _ = np.linalg.svd(target, full_matrices=False)
    if not values[0] > 0:
        _raise_same(len(target))
    return left[:, values > values[0] * 1e-9]


def _raise_same(n_rows: int) -> None:
    raise InputError(
        "y",
        f"is the same for all {counted(n_rows, 'labelled row')}",
        "features can only be ranked by a target that varies",
    )
