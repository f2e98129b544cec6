"""Selectors that need class moments alone, so that they take a table at once, by blocks, or spread over machines."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _check_sample_weight, validate_data

from dubio.moments.class_moments import ClassMoments
from dubio.moments.dask_moments import dask_moments
from dubio.moments.running import RunningMoments
from dubio.ranking import rank_scores, resolve_count
from dubio.scores.weighted import fisher_from_moments, supervision_moments, weighted_laplacian_from_moments
from dubio.selectors.base import Count, ScoreSelector
from dubio.significance.graphs import RatioForms
from dubio.supervision import Supervision, read_supervision
from dubio.table import Matrix, is_dask, read_matrix


class MomentSelector(ScoreSelector):
    """A selector whose scores are a function of class moments: ``fit``, ``partial_fit`` and ``merge`` agree.

    A subclass gives :meth:`_score_moments`.
    """

    _takes_sparse = True
    _checks_values_itself = True
    _scores_are_independent = True

    _running: RunningMoments | None = None

    @abstractmethod
    def _score_moments(self, moments: ClassMoments) -> NDArray[np.float64]:
        """Scores from the moments of at least two classes."""

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add a block of rows; afterwards all is as if ``fit`` had seen all blocks at once (to 1e-10).

        A class may first appear in any block. ``scores_`` and the ranking are there as soon as two classes are. A
        block that raises leaves the selector as it was.

        Parameters
        ----------
        X : array-like or CSR matrix (n, d)
        y : array-like (n,) or (n, classes)
            Classes or memberships of these rows. Columns of memberships mean the same in every block.
        sample_weight : array-like (n,), optional

        Returns
        -------
        self

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.datasets import load_iris
        >>> from dubio import FisherScore
        >>> X, y = load_iris(return_X_y=True)  # sorted by class: the third one comes last
        >>> blocks = FisherScore()
        >>> for start in range(0, 150, 40):
        ...     blocks = blocks.partial_fit(X[start : start + 40], y[start : start + 40])
        >>> np.allclose(blocks.scores_, FisherScore().fit(X, y).scores_, rtol=1e-10)
        True
        """
        self._validate_own_parameters()
        running = self._running
        first_row = 0 if running is None else running.n_rows
        matrix = read_matrix(X, accept_sparse=True, check_values=False)
        validate_data(self, X, reset=running is None, skip_check_array=True)
        supervision = self._read_block_supervision(y, matrix.shape[0])
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, matrix, dtype=np.float64, ensure_non_negative=True)
        moments = supervision_moments(matrix, supervision, weights, self._known_names(), first_row=first_row)
        block = RunningMoments.of_block(supervision, moments)
        self._take(block if running is None else running.merge(block))
        return self

    def merge(self, other: Self) -> Self:
        """Add the rows another selector of the same kind was fitted on, by blocks or at once.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from dubio import FisherScore
        >>> X, y = load_iris(return_X_y=True)
        >>> one, two = FisherScore().partial_fit(X[:60], y[:60]), FisherScore().partial_fit(X[60:], y[60:])
        >>> one.merge(two).scores_.round(2)
        array([ 1.62,  0.67, 16.06, 13.06])
        """
        if type(other) is not type(self):
            raise ValueError(f"other is a {type(other).__name__}: only another {type(self).__name__} can be merged.")
        mine, theirs = self._running, other._running
        if mine is None or theirs is None:
            raise ValueError("both selectors must have seen rows (fit or partial_fit) before they can be merged.")
        if self.n_features_in_ != other.n_features_in_ or self._known_names() != other._known_names():
            raise ValueError(
                f"the selectors saw different features: {self.n_features_in_} ({self._some_names()}) and "
                f"{other.n_features_in_} ({other._some_names()})."
            )
        self._take(mine.merge(theirs))
        return self

    def _fit_once(self, X: Any, y: Any, *, sample_weight: Any = None, **pairs: Any) -> Self:
        if is_dask(X) and not any(value is not None for value in pairs.values()):
            return self._fit_dask(X, y, sample_weight)
        return super()._fit_once(X, y, sample_weight=sample_weight, **pairs)

    def _fit_dask(self, X: Any, y: Any, sample_weight: Any) -> Self:
        self._validate_own_parameters()
        names, n_features = _dask_columns(X)
        running = dask_moments(X, y, sample_weight, missing_label=getattr(self, "missing_label", "auto"))
        self.n_features_in_ = n_features
        if names is not None:
            self.feature_names_in_ = np.asarray(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self._finish(running)
        return self

    def _score(
        self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        moments = supervision_moments(X, supervision, sample_weight, self._known_names())
        if self._running is None:  # the first call is on the labels as given, later ones shuffle them for p-values
            self._running = RunningMoments.of_block(supervision, moments)
        return self._score_moments(moments)

    def _fit(self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None) -> None:
        self._running = None
        super()._fit(X, supervision, sample_weight)

    def _read_block_supervision(self, y: Any, n_rows: int) -> Supervision:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        supervision = read_supervision(y, n_rows, missing_label=getattr(self, "missing_label", "auto"), is_block=True)
        if supervision.kind == "soft" and not self._takes_soft:
            raise ValueError(f"y holds {supervision.describe()}: {type(self).__name__} needs one label a row.")
        return supervision

    def _is_ready(self, running: RunningMoments) -> bool:
        """Whether there is anything to rank by yet."""
        return running.has_two_classes

    def _finish(self, running: RunningMoments) -> None:
        """Take the moments of a whole table, or say what is missing in it."""
        running.require_two_classes()
        self._take(running)

    def _take(self, running: RunningMoments) -> None:
        """Rank by the moments so far; before a second class is seen there is nothing to rank by."""
        if self.n_features_to_select == "auto":
            raise ValueError(
                "n_features_to_select='auto' shuffles the labels of the whole table, and the moments of blocks or of a "
                "Dask table keep no rows: give a count, a share or None."
            )
        count, reason = resolve_count(self.n_features_to_select, self.n_features_in_)
        self._forget("pvalues_", "qvalues_")
        if self._is_ready(running):
            self.scores_ = self._score_moments(running.moments)
            self.ranking_ = rank_scores(self.scores_, lower_is_better=self._lower_is_better)
            self.support_ = self.ranking_ <= count
            self.n_features_, self.explanation_ = count, reason
        self._running = running
        self.classes_ = running.classes
        self.n_labelled_ = running.n_labelled
        self.n_unlabelled_ = running.n_rows - running.n_labelled

    def _some_names(self) -> str:
        names = self._names()
        return ", ".join(map(str, names[:4])) + (", ..." if len(names) > 4 else "")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "scores_")


def _dask_columns(X: Any) -> tuple[list[Any] | None, int]:
    columns = getattr(X, "columns", None)
    return (None, int(X.shape[1])) if columns is None else (list(columns), len(columns))


class WeightedLaplacianScore(MomentSelector):
    """Classes, hard or soft: keep the features that hold likely classmates together.

    See :func:`weighted_laplacian_score`. Hard labels are one-hot memberships; unlabelled rows are left out and
    counted in ``n_unlabelled_``. One pass over the table: ``partial_fit`` takes it by blocks, ``merge`` joins two
    selectors, and ``fit`` takes Dask arrays and dataframes.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None
        A count, a share, what stands out (see :class:`~dubio.selectors.base.ScoreSelector`), or None for half.
    alpha : float
        With "auto": the share of false discoveries to allow.
    missing_label : "auto", None or a value
        What means "unlabelled" in hard labels besides None and NaN: "auto" adds the whole number -1.

    Attributes
    ----------
    scores_, ranking_, support_, n_features_
        See :class:`~dubio.selectors.base.ScoreSelector`. Low scores are good.
    classes_ : array
        The classes, in the order of the columns of soft labels.
    n_labelled_, n_unlabelled_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dubio import WeightedLaplacianScore
    >>> from dubio.supervision import unsure_expert
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> doubtful = unsure_expert(y, mean=0.3, random_state=0).memberships
    >>> list(WeightedLaplacianScore(n_features_to_select=2).fit(X, doubtful).get_feature_names_out())
    ['petal length (cm)', 'petal width (cm)']
    """

    def __init__(self, *, n_features_to_select: Count = None, alpha: float = 0.05, missing_label: Any = "auto") -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.missing_label = missing_label

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
        return self._fit_once(X, y, sample_weight=sample_weight)

    def _score_moments(self, moments: ClassMoments) -> NDArray[np.float64]:
        return weighted_laplacian_from_moments(moments)

    def _screen(
        self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64] | None:
        if sample_weight is not None:
            return None  # the moments are those of unweighted rows
        assert supervision.memberships is not None
        known = supervision.labelled
        share = 1.0 - 1.0 / (1.0 + self.scores_)  # similar over all pairs, from similar over dissimilar
        return RatioForms.of_memberships(supervision.memberships[known]).pvalues(X[known], share)


class FisherScore(WeightedLaplacianScore):
    """Classes, hard or soft: spread of the class means over spread within classes (see :func:`fisher_score`).

    Parameters and attributes as for :class:`WeightedLaplacianScore`; high scores are good.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dubio import FisherScore
    >>> X, y = load_iris(return_X_y=True)
    >>> FisherScore(n_features_to_select=2).fit(X, y).scores_.round(2)
    array([ 1.62,  0.67, 16.06, 13.06])
    """

    _lower_is_better = False

    def _score_moments(self, moments: ClassMoments) -> NDArray[np.float64]:
        return fisher_from_moments(moments)

    def _screen(
        self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64] | None:
        return None
