"""How much of the target one feature explains, with a smooth curve or a straight line."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dubio.evidence.evidence import Evidence
from dubio.evidence.relations import SmoothNull, linear_pvalues, linear_r2, smooth_r2
from dubio.methods.base import ScoreSelector, TakesWeights
from dubio.methods.parameters import documented, estimator
from dubio.problem import Problem
from dubio.ranking import Scored
from dubio.target.reader import Target


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
    (:class:`dubio.evidence.relations.SmoothNull`).

    Parameters
    ----------
    y : array-like (n,) or (n, classes)
        Memberships, classes or numbers; unlabelled rows are left out.

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
    return SmoothR2Score._scores_for(**locals())


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
    y : array-like (n,) or (n, classes)
        As in :func:`smooth_r2_score`.

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
    return LinearR2Score._scores_for(**locals())


@estimator
class _RelationScore(TakesWeights, ScoreSelector):
    """A score for every kind of target, feature by feature."""

    _takes = ("hard", "soft", "numbers", "ordered", "ordered soft", "positives", "intervals", "several", "any")
    _target = "auto"
    _lower_is_better = False
    _tests_within_groups = True
    _scores_are_independent = True

    target: Target = "auto"
    missing_label: Any = "auto"


@estimator
class SmoothR2Score(_RelationScore):
    """Classes, hard or soft, or numbers: keep the features along which the target varies smoothly.

    See :func:`smooth_r2_score`. Unlabelled rows are left out. With ``n_features_to_select="auto"``, one set of
    permutations serves as the null of all features.

    Notes
    -----
    This method has no paper: it was found here, by trials that the guide's page on choosing a method tells. It is
    the share of the target that a moving mean along the feature explains, as in a smoother of local averages [1]_.
    Assumes that the target varies smoothly along the feature, with rows on both sides of most rows. Do not use it
    with fewer than about 20 rows, or with features that matter only together.

    References
    ----------
    .. [1] W. S. Cleveland (1979). Robust locally weighted regression and smoothing scatterplots. Journal of the
       American Statistical Association 74, 829-836.

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

    random_state: Any = 0
    n_jobs: int | None = None

    def _score(self, problem: Problem) -> Scored:
        evidence = Evidence.of(problem.counted, within=False)
        return Scored(smooth_r2(evidence, random_state=self._seed, n_jobs=self.n_jobs))

    def _pvalues(self, problem: Problem, scored: Scored) -> NDArray[np.float64]:
        options: dict[str, Any] = {"alpha": self.alpha, "random_state": self._seed, "n_jobs": self.n_jobs}
        return SmoothNull(Evidence.of(problem), scores=scored.scores, **options).pvalues()


@documented
class LinearR2Score(_RelationScore):
    """Classes, hard or soft, or numbers: keep the features that a regression on the target explains best.

    See :func:`linear_r2_score`: squared correlation for numbers, analysis of variance for classes, and its soft form
    for memberships. Unlabelled rows are left out. With ``n_features_to_select="auto"``, the F-test decides.

    Notes
    -----
    The F-test of the analysis of variance (classes) or of a regression (numbers), as a share of the spread [1]_.
    Assumes that classes differ in their means, or that the number changes in a straight line. Do not use it for
    relations that rise and fall again, or where a few rows with huge values decide.

    References
    ----------
    .. [1] R. A. Fisher (1925). Statistical methods for research workers. Oliver and Boyd.

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
    _tests_any_weights = True

    def _score(self, problem: Problem) -> Scored:
        return Scored(linear_r2(Evidence.of(problem.counted, within=False))[0])

    def _pvalues(self, problem: Problem, scored: Scored) -> NDArray[np.float64]:
        return linear_pvalues(Evidence.of(problem))
