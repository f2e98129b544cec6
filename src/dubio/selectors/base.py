"""The one base class: a public ``fit`` that validates once and hands clean data to a private hook."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, validate_parameter_constraints
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from dubio.ranking import Ranking, default_names, rank_scores, resolve_count
from dubio.supervision import Supervision, read_supervision, require_numbers, require_two_classes
from dubio.table import Matrix, read_matrix


class BaseSelector(SelectorMixin, BaseEstimator):
    """A feature selector that validates its table and its supervision once.

    A subclass says with class attributes what it can take, and computes in :meth:`_fit`, which gets a float
    matrix and a :class:`~dubio.supervision.Supervision`. It must set ``ranking_`` and ``support_``.

    ``fit`` of a subclass that takes more than ``X`` and ``y`` (weights, pairs) names these arguments in its own
    signature, so that scikit-learn can route them, and passes them on to :meth:`_fit_once`.
    """

    #: What a 1-D y holds: "none" (y is ignored), "classes", "numbers", or "auto" (see read_supervision).
    _target: ClassVar[Literal["none", "classes", "numbers", "auto"]] = "classes"
    #: Whether y must be given, with two classes (or two numbers) in it.
    _needs_labels: ClassVar[bool] = True
    _takes_soft: ClassVar[bool] = True
    _takes_missing: ClassVar[bool] = True
    _takes_sparse: ClassVar[bool] = False
    _takes_nan: ClassVar[bool] = False
    #: Whether the look for NaN and infinities is left to the computation itself.
    _checks_values_itself: ClassVar[bool] = False

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": [
            None,
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="right"),
        ],
        "standardize": ["boolean"],
        "n_jobs": [None, Integral],
        "missing_label": [object],
    }

    def fit(self, X: Any, y: Any = None) -> Self:
        """Rank the features of ``X`` and choose among them.

        Parameters
        ----------
        X : array-like (n_rows, n_features)
            The table.
        y : array-like, optional
            What is known of the target.

        Returns
        -------
        self
        """
        return self._fit_once(X, y)

    def _fit_once(self, X: Any, y: Any, *, sample_weight: Any = None, **pairs: Any) -> Self:
        self._validate_own_parameters()
        matrix = self._read_table(X)
        supervision = self._read_supervision(y, matrix.shape[0], pairs)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, matrix, dtype=np.float64, ensure_non_negative=True)
            if self._needs_labels and not weights[supervision.labelled].any():
                raise ValueError("sample_weight is zero on every labelled row: nothing is left to learn from.")
        self.n_labelled_ = supervision.n_labelled
        self.n_unlabelled_ = supervision.n_rows - supervision.n_labelled
        if supervision.classes is not None:
            self.classes_ = supervision.classes
        self._fit(matrix, supervision, weights)
        return self

    @abstractmethod
    def _fit(self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None) -> None:
        """Compute on validated data; sets ``ranking_``, ``support_`` and what else the method shows."""

    def _validate_own_parameters(self) -> None:
        own = self.get_params(deep=False)
        known: dict[str, Any] = {}
        for cls in reversed(type(self).__mro__):  # a subclass's rule wins over its base's
            known.update(vars(cls).get("_parameter_constraints", {}))
        validate_parameter_constraints(
            {name: known[name] for name in own if name in known}, own, caller_name=type(self).__name__
        )

    def _read_table(self, X: Any) -> Matrix:
        matrix = read_matrix(
            X,
            accept_sparse=self._takes_sparse,
            allow_nan=self._takes_nan,
            check_values=not self._checks_values_itself,
        )
        validate_data(self, X, reset=True, skip_check_array=True)
        return matrix

    def _read_supervision(self, y: Any, n_rows: int, pairs: dict[str, Any]) -> Supervision:
        if self._target == "none":
            return read_supervision(None, n_rows, **pairs)
        if y is None and self._needs_labels:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None. Without any label use "
                "LaplacianScore."
            )
        supervision = read_supervision(
            y,
            n_rows,
            target=self._target,
            missing_label=getattr(self, "missing_label", "auto"),
            **pairs,
        )
        if supervision.kind == "soft" and not self._takes_soft:
            raise ValueError(
                f"y has shape ({n_rows}, {supervision.n_classes}), class probabilities, and {type(self).__name__} "
                "needs one label a row."
            )
        if self._needs_labels and supervision.kind in ("hard", "soft"):
            require_two_classes(supervision)
        elif self._needs_labels and supervision.kind == "numbers":
            require_numbers(supervision)
        if supervision.n_labelled < n_rows and supervision.kind != "none" and not self._takes_missing:
            raise ValueError(
                f"y has {n_rows - supervision.n_labelled} unlabelled row(s), and {type(self).__name__} needs a label "
                "for every row: drop the others, or use a method that takes them."
            )
        return supervision

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def _known_names(self) -> list[Any] | None:
        """Names of the columns, where the table had any."""
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else list(names)

    def _names(self) -> NDArray[Any]:
        names = self._known_names()
        return default_names(self.n_features_in_) if names is None else np.asarray(names, dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._needs_labels and self._target != "none"
        tags.target_tags.two_d_labels = False
        tags.input_tags.sparse = self._takes_sparse
        tags.input_tags.allow_nan = self._takes_nan
        return tags


class ScoreSelector(BaseSelector):
    """A selector that gives every feature a score of its own.

    A subclass computes the scores in :meth:`_score`; this class ranks and cuts them.

    Attributes
    ----------
    scores_ : array (n_features,)
        Raw scores; a feature without any information has the worst possible one, never NaN.
    ranking_ : array (n_features,)
        1 = best; of equal scores the earlier column comes first.
    support_ : array (n_features,) of bool
        The features kept.
    n_features_ : int
        How many were kept.
    """

    #: Direction of the scores.
    _lower_is_better: ClassVar[bool] = True

    @abstractmethod
    def _score(
        self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Score every feature."""

    def _fit(self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None) -> None:
        count, self._reason = resolve_count(self.n_features_to_select, X.shape[1])
        self.scores_ = self._score(X, supervision, sample_weight)
        self.ranking_ = rank_scores(self.scores_, lower_is_better=self._lower_is_better)
        self.support_ = self.ranking_ <= count
        self.n_features_ = count

    def to_ranking(self) -> Ranking:
        """The result as a :class:`~dubio.ranking.Ranking`: names, scores, direction, order, what was kept."""
        check_is_fitted(self)
        return Ranking(
            self._names(),
            self.scores_,
            self._lower_is_better,
            self.ranking_,
            self.support_,
            type(self).__name__,
            self._reason,
        )
