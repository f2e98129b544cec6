"""The one base class: a public ``fit`` that validates once and hands clean data to a private hook."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from dubio.ranking import Ranking, default_names, rank_scores, resolve_count
from dubio.significance.count import keep_significant
from dubio.significance.multiple import benjamini_hochberg
from dubio.significance.permutation import RelabelNull, permutation_pvalues
from dubio.supervision import Supervision, read_supervision, require_numbers, require_two_classes
from dubio.table import Matrix, read_matrix

#: How many features to keep: a count, a share, "auto" (those that stand out), or None for half.
Count = int | float | Literal["auto"] | None
#: What a parameter may be that counts something.
AT_LEAST_ONE: list[Any] = [Interval(Integral, 1, None, closed="left")]


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
            *AT_LEAST_ONE,
            Interval(Real, 0, 1, closed="right"),
            StrOptions({"auto"}),
        ],
        "alpha": [Interval(Real, 0, 1, closed="neither")],
        "target": [StrOptions({"auto", "classes", "numbers"})],
        "random_state": ["random_state"],
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
            if self._needs_labels and supervision.memberships is not None:
                counted = supervision.memberships[weights > 0].any(axis=0)
                if np.count_nonzero(counted) < 2:
                    raise ValueError("sample_weight leaves one class only: two classes need rows of positive weight.")
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
            target=getattr(self, "target", self._target),
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

    def transform(self, X: Any) -> Any:
        """Keep the chosen columns of ``X``.

        Parameters
        ----------
        X : array-like (n_rows, n_features)
            A table with the columns that were seen in ``fit``.

        Returns
        -------
        array or frame (n_rows, n_features_)
        """
        check_is_fitted(self)  # first: scikit-learn would compare the names of columns with those of no fit
        return super().transform(X)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    @property
    def _seed(self) -> int:
        """A whole number for what is drawn at random, from ``random_state`` where the method has one."""
        state = getattr(self, "random_state", 0)
        return int(state) if isinstance(state, Integral) else int(check_random_state(state).randint(2**31))

    def _forget(self, *names: str) -> None:
        """Drop attributes of an earlier fit that this one may not set."""
        for name in names:
            self.__dict__.pop(name, None)

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

    A subclass computes the scores in :meth:`_score`; this class ranks and cuts them. ``n_features_to_select="auto"``
    keeps the features whose score is better than chance allows (see :meth:`_pvalues`), with false discoveries held
    at ``alpha`` by Benjamini and Hochberg's rule: never none, and with a warning where no feature stands out.

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
    explanation_ : str
        Why that many.
    pvalues_, qvalues_ : array (n_features,)
        With "auto": how often chance does as well, and the same as a false-discovery rate.
    """

    #: Direction of the scores.
    _lower_is_better: ClassVar[bool] = True
    #: Whether the score of a feature does not depend on which other features are in the table.
    _scores_are_independent: ClassVar[bool] = False
    #: Permutations of the labels that "auto" starts with.
    _n_permutations: ClassVar[int] = 1000

    @abstractmethod
    def _score(
        self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Score every feature."""

    def _pvalues(
        self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """How often chance scores as well: by shuffling the labels unless a subclass knows better."""
        null = RelabelNull(
            self._score,
            X,
            supervision,
            sample_weight,
            self.scores_,
            lower_is_better=self._lower_is_better,
            features_are_independent=self._scores_are_independent,
            screen=self._screen(X, supervision, sample_weight),
        )
        return permutation_pvalues(
            null, alpha=self._alpha, n_permutations=self._n_permutations, random_state=self._seed
        )

    def _screen(
        self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64] | None:
        """Quick p-values that say which features are surely ordinary, where the score has closed-form moments."""
        return None

    def _fit(self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None) -> None:
        self._forget("pvalues_", "qvalues_")
        automatic = isinstance(self.n_features_to_select, str)
        if not automatic:
            count, self.explanation_ = resolve_count(self.n_features_to_select, X.shape[1])
        self.scores_ = self._score(X, supervision, sample_weight)
        self.ranking_ = rank_scores(self.scores_, lower_is_better=self._lower_is_better)
        if automatic:
            self.pvalues_ = self._pvalues(X, supervision, sample_weight)
            self.qvalues_ = benjamini_hochberg(self.pvalues_)
            self.support_, self.explanation_ = keep_significant(self.qvalues_, self.ranking_, self._alpha, stacklevel=5)
        else:
            self.support_ = self.ranking_ <= count
        self.n_features_ = int(self.support_.sum())

    @property
    def _alpha(self) -> float:
        return float(getattr(self, "alpha", 0.05))

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
            self.explanation_,
            extras={name: getattr(self, name + "s_") for name in ("pvalue", "qvalue") if hasattr(self, name + "s_")},
        )
