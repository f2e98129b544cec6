"""Scores for classes, hard or soft, from class moments only: weighted Laplacian score and Fisher score."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dubio.methods.base import ScoreSelector, TakesWeights, Wished
from dubio.methods.from_moments import RunningSelector
from dubio.methods.parameters import documented, estimator
from dubio.moments.class_moments import ClassMoments
from dubio.moments.running import RunningMoments
from dubio.problem import Problem
from dubio.ranking import Answer, Scored

Floats = NDArray[np.float64]


@documented
def weighted_laplacian_score(
    X: ArrayLike, P: Any, *, sample_weight: ArrayLike | None = None, missing_label: Any = "auto"
) -> Floats:
    r"""Weighted Laplacian score of every feature for class memberships (low is good).

    With :math:`S^{sim} = P P^T`, :math:`S^{dis} = 1 - S^{sim}` and graph Laplacians :math:`L = D - S`,

    .. math:: WLS_r = \frac{f_r^T L^{sim} f_r}{f_r^T L^{dis} f_r}
              = \frac{\sum_k A_k V_{kr}}{W B_r + \sum_k (W - A_k) V_{kr}},

    where :math:`A_k` is the total membership of class k, :math:`V_{kr}` the membership-weighted sum of squared
    deviations of feature r from its mean in class k, :math:`B_r` the same for the class means and the overall mean, and
    :math:`W = \sum_k A_k`. The right-hand side is computed: one pass, no n x n matrix.

    For K classes of the same size, with every row surely in one of them, it is :math:`1 / (K (1 + F_r) - 1)` with the
    Fisher score :math:`F_r`: both then rank the features in the same order.

    Parameters
    ----------
    X : array-like or CSR matrix (n, d)
        The table; the score does not depend on the scale or offset of a column.
    P : array-like (n, classes) or (n,)
        Memberships, a row of NaN = unlabelled; or hard classes, which count as one-hot memberships. Unlabelled rows
        are left out.

    Returns
    -------
    scores : array (d,)
        ``inf`` for a feature that is constant among the labelled rows.

    References
    ----------
    .. [1] G. Doquire and M. Verleysen (2012). Handling imprecise labels in feature selection with graph Laplacian.
       ICPRAM, 162-169, equations 3 to 5.

    Examples
    --------
    >>> from dubio import weighted_laplacian_score
    >>> X = [[0.0, 5.0], [0.1, 1.0], [1.0, 4.0], [0.9, 2.0]]
    >>> P = [[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.3, 0.7]]
    >>> weighted_laplacian_score(X, P).round(3)
    array([0.392, 1.045])
    """
    return WeightedLaplacianScore._scores_for(**locals())


@documented
def fisher_score(
    X: ArrayLike, y: Any, *, sample_weight: ArrayLike | None = None, missing_label: Any = "auto"
) -> Floats:
    r"""Fisher score of every feature (high is good): spread of the class means divided by spread within classes.

    .. math:: F_r = \frac{\sum_k n_k (\mu_{kr} - \mu_r)^2}{\sum_k n_k \sigma_{kr}^2}

    With soft memberships, each row counts partly in each class.

    Parameters
    ----------
    X : array-like or CSR matrix (n, d)
        The table; the score does not depend on the scale or offset of a column.
    y : array-like (n,) or (n, classes)
        Classes, or memberships (a row of NaN = unlabelled). Unlabelled rows are left out.

    Returns
    -------
    scores : array (d,)
        0 for a constant feature; ``inf`` if the classes have different means and no spread at all.

    References
    ----------
    .. [1] R. O. Duda, P. E. Hart and D. G. Stork (2001). Pattern classification, section 3.8. Wiley.

    Examples
    --------
    >>> from dubio import fisher_score
    >>> fisher_score([[0.0, 5.0], [0.2, 1.0], [1.0, 4.0], [0.8, 2.0]], ["a", "a", "b", "b"]).round(3)
    array([16.,  0.])
    """
    return FisherScore._scores_for(**locals())


@estimator
class MomentSelector(RunningSelector, ScoreSelector):
    """A selector whose scores are a function of class moments: the ratio of two sums over the columns of a feature."""

    _attributes = ("scores", "classes", "labelled")
    _scores_are_independent = True

    missing_label: Any = "auto"

    def _forms(self, moments: ClassMoments) -> Floats:
        """Two sums for each column (2, n_columns), from the moments of the labelled rows.

        Unless a subclass has others: over pairs of rows that share a class, and over pairs that do not.
        """
        total = moments.total_weight
        return np.stack([moments.weight @ moments.m2, total * moments.between + (total - moments.weight) @ moments.m2])

    def _ratio(self, above: Floats, below: Floats) -> Floats:
        return ratio(above, below)

    def _counts(self, moments: ClassMoments) -> dict[str, Any]:
        """Further attributes of the fitted estimator; raises if there is nothing to score."""
        return {}

    def _score(self, problem: Problem) -> Scored:
        moments, target = ClassMoments.of_problem(problem), problem.supervision
        attributes: dict[str, Any] = {**self._counts(moments), "_running": None}
        if not problem.has_wide_features:  # blocks of rows have one column per feature
            rows = target.n_rows, target.n_labelled
            attributes["_running"] = RunningMoments(type(target), target.column_names(), moments, *rows)
        return Scored(self._ratio(*problem.per_feature(self._forms(moments))), attributes=attributes)

    def _solve_running(self, running: RunningMoments[Any], names: NDArray[Any], wished: Wished) -> Answer:
        moments: ClassMoments = running.moments
        counts = self._counts(moments)
        return self._answer(Scored(self._ratio(*self._forms(moments)), attributes=counts), names, wished)


@documented
class WeightedLaplacianScore(TakesWeights, MomentSelector):
    """Classes, hard or soft: keep the features in which rows that probably share a class are close.

    See :func:`weighted_laplacian_score`. Hard labels are one-hot memberships; unlabelled rows are left out and
    counted in ``n_unlabelled_``. This needs one pass over the table: ``partial_fit`` takes the table in blocks,
    ``merge`` joins two selectors, and ``fit`` takes Dask arrays and dataframes.

    Notes
    -----
    Equations 3 to 5 of the paper [1]_, exactly as printed. Assumes that the memberships are honest probabilities,
    and that the classes differ in their means. Do not use it where they do not: it sees only the means and the
    spreads of the classes. For sure labels and classes of the same size it orders the features as
    :class:`FisherScore` does.

    References
    ----------
    .. [1] G. Doquire and M. Verleysen (2012). Handling imprecise labels in feature selection with graph Laplacian.
       ICPRAM, 162-169.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dubio import WeightedLaplacianScore
    >>> from dubio.simulate import unsure_annotator
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> doubtful = unsure_annotator(y, mean=0.3, random_state=0).memberships
    >>> list(WeightedLaplacianScore(n_features_to_select=2).fit(X, doubtful).get_feature_names_out())
    ['petal length (cm)', 'petal width (cm)']
    """

    _name = "weighted_laplacian"
    _does = "rows that probably share a class are close, WLS"
    _takes = ("soft", "hard")

    def _screen(self, problem: Problem, scored: Scored) -> Floats | None:
        if problem.sample_weight is not None:
            return None  # the closed-form moments are for unweighted rows
        from dubio.evidence.permutation import RatioForms

        rows = problem.supervision.labelled
        share = 1.0 - 1.0 / (1.0 + scored.scores)  # turns similar / dissimilar into similar / all pairs
        forms = RatioForms.of_memberships(problem.supervision.memberships[rows])
        return forms.pvalues(problem.X[rows], share, problem.columns)


@documented
class FisherScore(TakesWeights, MomentSelector):
    """Classes, hard or soft: spread of the class means divided by spread within classes (:func:`fisher_score`).

    Notes
    -----
    The criterion of the discriminant analysis [1]_, one feature at a time. Assumes that the classes differ in their
    means and have similar spreads. Do not use it for classes that lie on both sides of another one, or for features
    that matter only together.

    References
    ----------
    .. [1] R. O. Duda, P. E. Hart and D. G. Stork (2001). Pattern classification, section 3.8. Wiley.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dubio import FisherScore
    >>> X, y = load_iris(return_X_y=True)
    >>> FisherScore(n_features_to_select=2).fit(X, y).scores_.round(2)
    array([ 1.62,  0.67, 16.06, 13.06])
    """

    _name = "fisher"
    _does = "spread between classes divided by spread within"
    _takes = ("hard", "soft")
    _lower_is_better = False

    def _forms(self, moments: ClassMoments) -> Floats:
        return np.stack([moments.between, moments.within])

    def _ratio(self, above: Floats, below: Floats) -> Floats:
        return ratio(above, below, np.where(above > 0, np.inf, 0.0))


def ratio(above: Floats, below: Floats, otherwise: Any = np.inf) -> Floats:
    """``above / below``; where ``below`` is 0 the value of ``otherwise``: infinity, the worst score."""
    return np.divide(above, below, out=np.broadcast_to(otherwise, above.shape).astype(np.float64), where=below > 0)
