"""The base of every method: an estimator whose ``fit`` reads a problem once, solves it and keeps the answer."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from dubio._sklearn import check_parameters, feature_names
from dubio.checks import seed_of
from dubio.errors import InputError, counted
from dubio.methods.parameters import CONSTRAINTS
from dubio.problem import Problem, read_problem, require_weights
from dubio.ranking import Answer, Ranking
from dubio.target.classes import OfClasses
from dubio.target.knowledge import kinds_in_words


class Selector(SelectorMixin, BaseEstimator):
    """A feature selector. A subclass states in class attributes what it takes, and computes in :meth:`_solve`.

    :meth:`fit` reads the table and what is known of the target into a :class:`~dubio.problem.Problem`, once.
    :meth:`fit_problem` takes a problem that was read before. Both call :meth:`_solve`, which computes but stores
    nothing. Then they set the attributes; no other method does so.

    If a subclass takes more than ``X`` and ``y`` (weights, pairs), its ``fit`` names these arguments in its own
    signature, so that scikit-learn can route them, and passes them on to :meth:`_fit`.
    """

    #: Short name in ``dubio.METHODS``, and what the method does, in a few words. Empty if it is not registered.
    _name: ClassVar[str] = ""
    _does: ClassVar[str] = ""
    #: Kinds of supervision that it takes (``Supervision.kind``); "pairs" can be one of them.
    _takes: ClassVar[tuple[str, ...]] = ("hard", "soft")
    #: How a 1-D y is read if there is no parameter ``target``; "none": y is ignored.
    _target: ClassVar[Literal["none", "classes", "numbers", "auto"]] = "classes"
    #: Whether y is required; it must then hold at least two classes (or two numbers).
    _needs_labels: ClassVar[bool] = True
    _takes_missing: ClassVar[bool] = True
    _takes_sparse: ClassVar[bool] = False
    _takes_nan: ClassVar[bool] = False
    #: Whether the method compares rows only with rows of other groups, if rows belong together.
    _keeps_groups_apart: ClassVar[bool] = False
    #: Whether the method takes weights of rows.
    _takes_weights: ClassVar[bool] = False
    #: Whether the computation itself checks for NaN and infinities.
    _checks_values_itself: ClassVar[bool] = False
    #: Valid values of the method's own parameters; shared ones are in ``methods/parameters.py``.
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

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
        return self._fit(X, y)

    def fit_problem(self, problem: Problem) -> Self:
        """Rank the features of a problem that was read before.

        Parameters
        ----------
        problem : Problem
            A table and what is known of its target, as :meth:`read_problem` gives it.

        Returns
        -------
        self
        """
        self._check_parameters()
        self._require(problem)
        self._assign(problem, self._solve(problem))
        return self

    def read_problem(self, X: Any, y: Any = None, **more: Any) -> Problem:
        """Read a table and a target in the same way as ``fit``.

        Parameters
        ----------
        X, y
            As in ``fit``.
        **more
            Weights and pairs, if ``fit`` takes them.

        Returns
        -------
        Problem
        """
        if self._target == "none":
            y = None
        options: dict[str, Any] = {
            "target": self._reads,
            "missing_label": getattr(self, "missing_label", "auto"),
            "accept_sparse": self._takes_sparse,
            "allow_nan": self._takes_nan,
            "check_values": not self._checks_values_itself,
        }
        problem = read_problem(X, y, **{**options, **more})
        feature_names(X)  # raises if only some of the names are text
        known = problem.supervision
        if options["target"] != "ordered" and known.kind not in self._takes:
            problem = problem.with_supervision(known.simpler())
        return problem

    def _fit(self, X: Any, y: Any, **more: Any) -> Self:
        problem = self._read(X, y, **more)
        self._assign(problem, self._solve(problem))
        return self

    def _read(self, X: Any, y: Any, **more: Any) -> Problem:
        """Read the problem and check that this method can use it."""
        self._check_parameters()
        if y is None and self._needs_labels and self._target != "none":
            self._raise_no_target()
        problem = self.read_problem(X, y, **more)
        self._require(problem)
        return problem

    @abstractmethod
    def _solve(self, problem: Problem) -> Answer:
        """Solve a problem; nothing is stored."""

    @property
    def _reads(self) -> Any:
        target = getattr(self, "target", self._target)
        return "classes" if target == "none" else target

    @property
    def _seed(self) -> int:
        """A whole number as the seed, from ``random_state`` if the method has this parameter."""
        return seed_of(getattr(self, "random_state", 0))

    def _check_parameters(self) -> None:
        constraints = dict(CONSTRAINTS)
        for cls in reversed(type(self).__mro__):  # the rule of a subclass replaces that of its base
            constraints.update(vars(cls).get("_parameter_constraints", {}))
        check_parameters(constraints, self.get_params(deep=False))

    def _raise_no_target(self) -> None:
        raise InputError(
            "y",
            # scikit-learn's checks ask for these words
            f"is missing: {type(self).__name__} requires y to be passed, but the target y is None",
            "without labels, use LaplacianScore",
            code="no target",
        )

    def _require(self, problem: Problem) -> None:
        """Raise unless the method can use what is known of the target."""
        supervision, name = problem.supervision, type(self).__name__
        if supervision.has_pairs and "pairs" not in self._takes:
            raise InputError("must_link", f"and cannot_link cannot be used: {name} takes no pairs", "leave them out")
        if self._target == "none":
            return
        if supervision.kind == "none":
            if self._needs_labels:
                self._raise_no_target()
        elif supervision.kind not in self._takes:
            raise InputError(
                "y",
                f"cannot be used: {supervision.given}, and {name} needs {kinds_in_words(self._takes)}",
                "use FeatureSelector, or one target at a time" if supervision.kind == "several" else "",
                code="wrong kind",
            )
        if self._needs_labels:
            supervision.require_enough()
            require_weights(problem)
        if supervision.n_unlabelled and supervision.kind != "none" and not self._takes_missing:
            raise InputError(
                "y",
                f"has {counted(supervision.n_unlabelled, 'unlabelled row')}, and {name} needs a label for every row",
                "drop these rows, or use a method that takes them",
            )

    def _assign(self, problem: Problem, answer: Answer) -> None:
        """Store the result of a fit; this is the only place that does. Results of an earlier fit are removed."""
        columns = problem.columns
        if columns is None or not columns.inputs:
            self._assign_shape(problem.names, problem.n_features)
            self._inputs = None
        else:  # the table has its own columns, and a feature may be several of them
            self._assign_shape(columns.input_names, len(columns.read))
            self._inputs = columns.inputs
        supervision = problem.supervision
        self.n_labelled_ = supervision.n_labelled
        self.n_unlabelled_ = supervision.n_unlabelled
        if isinstance(supervision, OfClasses):
            self.classes_ = supervision.classes
        self._keep(answer)

    def _assign_shape(self, names: list[Any] | None, n_features: int) -> None:
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)
        self.n_features_in_ = n_features
        if names is not None and all(isinstance(name, str) for name in names):
            self.feature_names_in_ = np.asarray(names, dtype=object)

    def _keep(self, answer: Answer) -> None:
        ranking = answer.ranking
        self._ranking = ranking
        self.ranking_ = ranking.ranking
        self.support_ = ranking.support
        self.n_features_ = int(ranking.support.sum())
        self.explanation_ = ranking.reason
        if ranking.n_relevant is not None:
            self.n_relevant_ = ranking.n_relevant
        if ranking.n_sufficient is not None:
            self.n_sufficient_ = ranking.n_sufficient
        for column in ("pvalue", "qvalue"):
            if column in ranking.extras:
                setattr(self, f"{column}s_", ranking.extras[column])
        for name, value in answer.attributes.items():
            setattr(self, name, value)

    def to_ranking(self) -> Ranking:
        """The result as a :class:`~dubio.ranking.Ranking`: names, scores, direction, order, features kept and why."""
        check_is_fitted(self)
        return self._ranking

    def transform(self, X: Any) -> Any:
        """Return the chosen columns of ``X``.

        Parameters
        ----------
        X : array-like (n_rows, n_features)
            A table with the same columns as in ``fit``.

        Returns
        -------
        array or frame, with ``n_features_`` columns
        """
        check_is_fitted(self)  # before scikit-learn compares column names, which do not exist without a fit
        if any(getattr(dtype, "is_temporal", bool)() for dtype in getattr(X, "dtypes", ())):
            X = X.to_pandas()  # polars writes dates beside numbers into an array as numbers
        try:
            return super().transform(X)
        except np.exceptions.DTypePromotionError:  # dates beside numbers: only an array of objects can hold both
            return super().transform(X.astype(object))

    def _get_support_mask(self) -> NDArray[np.bool_]:
        """The chosen columns of the table."""
        check_is_fitted(self)
        inputs = getattr(self, "_inputs", None)
        if inputs is None:
            return self.support_
        mask = np.zeros(self.n_features_in_, dtype=bool)
        for feature in np.flatnonzero(self.support_):
            mask[list(inputs[feature])] = True
        return mask

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._needs_labels and self._target != "none"
        tags.target_tags.two_d_labels = False
        tags.input_tags.sparse = self._takes_sparse
        tags.input_tags.allow_nan = self._takes_nan
        return tags
