"""Scores for classes, hard or soft, from class moments only: weighted Laplacian score and Fisher score."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dubio.evidence.permutation import RatioForms
from dubio.methods.from_moments import MomentSelector
from dubio.methods.parameters import documented, estimator
from dubio.moments.class_moments import ClassMoments
from dubio.problem import Problem
from dubio.ranking import Scored
from dubio.table.columns import Columns, feature_sums
from dubio.target.classes import OfClasses


@documented
def weighted_laplacian_score(
    X: ArrayLike, P: Any, *, sample_weight: ArrayLike | None = None, missing_label: Any = "auto"
) -> NDArray[np.float64]:
    r"""Weighted Laplacian score of every feature for class memberships (low is good).

    With :math:`S^{sim} = P P^T`, :math:`S^{dis} = 1 - S^{sim}` and graph Laplacians :math:`L = D - S`,

    .. math:: WLS_r = \frac{f_r^T L^{sim} f_r}{f_r^T L^{dis} f_r}
              = \frac{\sum_k A_k V_{kr}}{W B_r + \sum_k (W - A_k) V_{kr}},

    where :math:`A_k` is the total membership of class k, :math:`V_{kr}` the membership-weighted sum of squared
    deviations of feature r from its mean in class k, :math:`B_r` the same for the class means and the overall mean, and
    :math:`W = \sum_k A_k`. The right-hand side is computed: one pass, no n x n matrix.

    Parameters
    ----------
    X : array-like or CSR matrix (n, d)
        The table; the score does not depend on the scale or offset of a column.
    P : array-like (n, classes) or (n,)
        Memberships, a row of NaN = unlabelled; or hard classes, which count as one-hot memberships. Unlabelled rows
        are left out.
    {sample_weight}
    {missing_label}

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
    return WeightedLaplacianScore(missing_label=missing_label).scores_of(X, P, sample_weight=sample_weight)


@documented
def fisher_score(
    X: ArrayLike, y: Any, *, sample_weight: ArrayLike | None = None, missing_label: Any = "auto"
) -> NDArray[np.float64]:
    r"""Fisher score of every feature (high is good): spread of the class means divided by spread within classes.

    .. math:: F_r = \frac{\sum_k n_k (\mu_{kr} - \mu_r)^2}{\sum_k n_k \sigma_{kr}^2}

    With soft memberships, each row counts partly in each class.

    Parameters
    ----------
    X : array-like or CSR matrix (n, d)
        The table; the score does not depend on the scale or offset of a column.
    y : array-like (n,) or (n, classes)
        Classes, or memberships (a row of NaN = unlabelled). Unlabelled rows are left out.
    {sample_weight}
    {missing_label}

    Returns
    -------
    scores : array (d,)
        0 for a constant feature; ``inf`` if the classes have different means and no spread at all.

    Examples
    --------
    >>> from dubio import fisher_score
    >>> fisher_score([[0.0, 5.0], [0.2, 1.0], [1.0, 4.0], [0.8, 2.0]], ["a", "a", "b", "b"]).round(3)
    array([16.,  0.])
    """
    return FisherScore(missing_label=missing_label).scores_of(X, y, sample_weight=sample_weight)


@estimator
class WeightedLaplacianScore(MomentSelector):
    """Classes, hard or soft: keep the features in which rows that probably share a class are close.

    See :func:`weighted_laplacian_score`. Hard labels are one-hot memberships; unlabelled rows are left out and
    counted in ``n_unlabelled_``. This needs one pass over the table: ``partial_fit`` takes the table in blocks,
    ``merge`` joins two selectors, and ``fit`` takes Dask arrays and dataframes.

    Parameters
    ----------
    {n_features_to_select}
    {alpha}
    {missing_label}

    Attributes
    ----------
    {scores}
        Low scores are good.
    classes_ : array
        The classes, in the order of the columns of soft labels.
    {labelled}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dubio import WeightedLaplacianScore
    >>> from dubio.simulate import unsure_expert
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> doubtful = unsure_expert(y, mean=0.3, random_state=0).memberships
    >>> list(WeightedLaplacianScore(n_features_to_select=2).fit(X, doubtful).get_feature_names_out())
    ['petal length (cm)', 'petal width (cm)']
    """

    _name = "weighted_laplacian"
    _takes_weights = True
    _does = "rows that probably share a class are close, WLS"
    _takes = ("soft", "hard")

    missing_label: Any = "auto"

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Rank the features of ``X``.

        Parameters
        ----------
        X : array-like, CSR matrix, Dask array or dataframe (n, d)
        y : array-like (n,) or (n, classes)
            Classes, or memberships whose rows sum to 1 (a row of NaN = unlabelled).
        sample_weight : array-like (n,), optional

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight=sample_weight)

    def _score_moments(self, moments: ClassMoments, columns: Columns | None = None) -> Scored:
        return Scored(weighted_laplacian_from_moments(moments, columns))

    def _screen(self, problem: Problem, scored: Scored) -> NDArray[np.float64] | None:
        if problem.sample_weight is not None:
            return None  # the closed-form moments are for unweighted rows
        supervision = problem.supervision
        assert isinstance(supervision, OfClasses)
        known = supervision.labelled
        share = 1.0 - 1.0 / (1.0 + scored.scores)  # turns similar / dissimilar into similar / all pairs
        forms = RatioForms.of_memberships(supervision.memberships[known])
        return forms.pvalues(problem.X[known], share, problem.columns)


@documented
class FisherScore(WeightedLaplacianScore):
    """Classes, hard or soft: spread of the class means divided by spread within classes (:func:`fisher_score`).

    Parameters
    ----------
    {n_features_to_select}
    {alpha}
    {missing_label}

    Attributes
    ----------
    {scores}
        High scores are good.
    classes_ : array
        The classes, in the order of the columns of soft labels.
    {labelled}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dubio import FisherScore
    >>> X, y = load_iris(return_X_y=True)
    >>> FisherScore(n_features_to_select=2).fit(X, y).scores_.round(2)
    array([ 1.62,  0.67, 16.06, 13.06])
    """

    _name = "fisher"
    _takes_weights = True
    _does = "spread between classes divided by spread within"
    _takes = ("hard", "soft")
    _lower_is_better = False

    def _score_moments(self, moments: ClassMoments, columns: Columns | None = None) -> Scored:
        return Scored(fisher_from_moments(moments, columns))

    def _screen(self, problem: Problem, scored: Scored) -> NDArray[np.float64] | None:
        return None


def weighted_laplacian_from_moments(moments: ClassMoments, columns: Columns | None = None) -> NDArray[np.float64]:
    """The score from class moments (of the labelled rows); forms are summed over the columns of a feature."""
    total = moments.total_weight
    similar = feature_sums(moments.weight @ moments.m2, columns)
    different = feature_sums(total * moments.between + (total - moments.weight) @ moments.m2, columns)
    return np.divide(similar, different, out=np.full(len(similar), np.inf), where=different > 0)


def fisher_from_moments(moments: ClassMoments, columns: Columns | None = None) -> NDArray[np.float64]:
    """The score from class moments (of the labelled rows); spreads are summed over the columns of a feature."""
    between, within = feature_sums(moments.between, columns), feature_sums(moments.within, columns)
    worst_or_best = np.where(between > 0, np.inf, 0.0)
    return np.divide(between, within, out=worst_or_best, where=within > 0)
