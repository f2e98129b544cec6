"""Let any classifier or regressor learn from a target that is partly missing, or known only as probabilities."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from dubio._sklearn import HasMethods, StrOptions, check_parameters, check_weights, number_of_rows, safe_indexing
from dubio.doubt.experts import ExpertOptions, pooled_opinions
from dubio.doubt.number_experts import FEWEST_NUMBERS, number_opinions
from dubio.errors import InputError
from dubio.pipelines.scoring import expected_accuracy, known_r2
from dubio.problem import read_problem
from dubio.target.classes import Memberships, OfClasses
from dubio.target.knowledge import Supervision
from dubio.target.numbers import Numbers
from dubio.target.reader import read_supervision

Unlabelled = Literal["leave out", "complete"]
#: Smaller probabilities make no copy of a row.
_LEAST = 1e-3


class _DoubtModel(MetaEstimatorMixin, BaseEstimator):
    """What the classifier and the regressor share: reading y, handing rows and weights to the model."""

    _target: ClassVar[Literal["classes", "numbers"]]
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"])],
        "unlabelled": [StrOptions({"leave out", "complete"})],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        unlabelled: Unlabelled = "leave out",
        missing_label: Any = "auto",
        random_state: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.unlabelled = unlabelled
        self.missing_label = missing_label
        self.random_state = random_state

    @property
    def n_features_in_(self) -> int:
        """Number of columns of the table seen in ``fit``."""
        check_is_fitted(self)
        return int(self.estimator_.n_features_in_)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the target of some rows.

        Parameters
        ----------
        X : table (n_rows, n_features)

        Returns
        -------
        array (n_rows,)
        """
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict(X))

    def _read(self, X: Any, y: Any) -> Supervision:
        check_parameters(self._parameter_constraints, self.get_params(deep=False))
        if y is None:  # scikit-learn's checks ask for these words, and those of the next line
            raise InputError("y", "is None: a model requires y to be passed, but the target y is None")
        if getattr(getattr(X, "dtype", None), "kind", "") == "c":
            raise InputError("X", "holds complex numbers. Complex data not supported")
        supervision = read_supervision(y, number_of_rows(X), target=self._target, missing_label=self.missing_label)
        return supervision.certain()

    def _given_weights(self, X: Any, sample_weight: Any) -> NDArray[np.float64] | None:
        if sample_weight is None:
            return None
        if not weight_argument(self.estimator):
            raise InputError("sample_weight", f"cannot be used: {type(self.estimator).__name__} takes no weights")
        return check_weights(sample_weight, X)

    def _fit_model(self, X: Any, y: Any, rows: NDArray[np.int64], weights: Any) -> None:
        model = clone(self.estimator)
        table = X if len(rows) == number_of_rows(X) and (rows == np.arange(len(rows))).all() else safe_indexing(X, rows)
        self.estimator_ = (
            model.fit(table, y) if weights is None else model.fit(table, y, **{weight_argument(model): weights})
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags


def weight_argument(model: Any) -> str:
    """The argument of ``fit`` that takes weights of rows; of a pipeline, that of its last step; empty if none does."""
    if isinstance(model, Pipeline):
        name, last = model.steps[-1]
        inner = "" if last in (None, "passthrough") else weight_argument(last)
        return f"{name}__{inner}" if inner else ""
    return "sample_weight" if has_fit_parameter(model, "sample_weight") else ""


def _has(method: str) -> Any:
    """Whether the wrapped model has a method."""

    def check(self: Any) -> bool:
        getattr(getattr(self, "estimator_", self.estimator), method)  # raises an AttributeError that names it
        return True

    return check


class DoubtClassifier(ClassifierMixin, _DoubtModel):
    """Any classifier, for classes of which some are missing, and for class probabilities.

    Rows without a label are left out, or get the opinion of experts that are trained on the others. A row with
    probabilities becomes one row per possible class, with the probability as its weight. If the classifier takes no
    weights, the likeliest class is used instead.

    Parameters
    ----------
    estimator : classifier
        It is cloned, never fitted itself.
    unlabelled : {"leave out", "complete"}
        What is done with rows without a label. "complete" needs a table of numbers.
    missing_label : "auto", None or a value
        The label that means "unlabelled", besides None and NaN. "auto": -1 too.
    random_state : int or None, default=0
        Seed of the experts.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    classes_ : array (n_classes,)
    n_labelled_, n_completed_ : int
        Number of rows with a label, and of rows that the experts completed.
    uses_weights_ : bool
        Whether probabilities were used as weights.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from dubio import FeatureSelector
    >>> from dubio.pipelines.doubt_models import DoubtClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> y = np.where(np.arange(len(y)) % 3 == 0, y, -1)  # two thirds of the labels are missing
    >>> model = make_pipeline(FeatureSelector(), StandardScaler(), DoubtClassifier(LogisticRegression()))
    >>> float(model.fit(X, y).score(X, y))
    1.0
    """

    _target = "classes"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier to what is known.

        Parameters
        ----------
        X : table (n_rows, n_features)
        y : array-like
            Classes, some of them missing, or probabilities (n_rows, n_classes); a row of NaN is unlabelled.
        sample_weight : array-like (n_rows,), optional

        Returns
        -------
        self
        """
        supervision = self._read(X, y)
        if not isinstance(supervision, OfClasses):
            raise InputError("y", f"cannot be used: {supervision.given}", "a classifier needs classes")
        supervision.require_enough()
        # in the order in which scikit-learn's classifiers have them
        self.classes_, order = np.unique(supervision.classes, return_index=True)
        known, memberships = supervision.labelled, supervision.memberships
        complete = self.unlabelled == "complete" and not known.all()
        if complete:
            memberships = np.where(known[:, None], memberships, self._opinions(X, supervision))
        memberships = memberships[:, order]
        self.n_labelled_, self.n_completed_ = int(known.sum()), int((~known).sum()) if complete else 0
        in_doubt = isinstance(supervision, Memberships) or complete
        self.uses_weights_ = in_doubt and bool(weight_argument(self.estimator))
        if self.uses_weights_:
            rows, codes = np.nonzero(memberships >= _LEAST)
            weights: Any = memberships[rows, codes]
        else:
            rows, weights = np.flatnonzero(memberships.any(axis=1)), None
            codes = memberships[rows].argmax(axis=1)
        given = self._given_weights(X, sample_weight)
        if given is not None:
            weights = given[rows] if weights is None else weights * given[rows]
            some = weights > 0
            rows, codes, weights = rows[some], codes[some], weights[some]
            if len(np.unique(codes)) < 2:
                raise InputError("sample_weight", "leaves only one class", "two classes need rows of positive weight")
        self._fit_model(X, self.classes_[codes], rows, weights)
        return self

    def _opinions(self, X: Any, supervision: OfClasses) -> NDArray[np.float64]:
        problem = read_problem(X, allow_nan=True).filled.with_supervision(supervision)
        if isinstance(supervision, Memberships):
            problem = problem.with_supervision(supervision.likeliest())
        return pooled_opinions(problem, ExpertOptions(random_state=self.random_state))

    @available_if(_has("predict_proba"))
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of every class.

        Parameters
        ----------
        X : table (n_rows, n_features)

        Returns
        -------
        array (n_rows, n_classes)
            In the order of ``classes_``; 0 for a class that no row was likely to belong to.
        """
        check_is_fitted(self)
        found = self.estimator_.predict_proba(X)
        if len(self.estimator_.classes_) == len(self.classes_):
            return np.asarray(found)
        said = np.zeros((len(found), len(self.classes_)))
        said[:, np.searchsorted(self.classes_, self.estimator_.classes_)] = found
        return said

    @available_if(_has("decision_function"))
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The decision function of the classifier.

        Parameters
        ----------
        X : table (n_rows, n_features)

        Returns
        -------
        array (n_rows,) or (n_rows, n_classes)
        """
        check_is_fitted(self)
        return np.asarray(self.estimator_.decision_function(X))

    def score(self, X: Any, y: Any) -> float:
        """Expected accuracy on the rows with a label (:func:`~dubio.pipelines.scoring.expected_accuracy`).

        Parameters
        ----------
        X : table (n_rows, n_features)
        y : array-like
            Classes or probabilities.

        Returns
        -------
        float
        """
        return expected_accuracy(self, X, y, missing_label=self.missing_label)


class DoubtRegressor(RegressorMixin, _DoubtModel):
    """Any regressor, for a number that is known for some rows only.

    Rows without a number are left out, or get the prediction of experts that are trained on the others.

    Parameters
    ----------
    estimator : regressor
        It is cloned, never fitted itself.
    unlabelled : {"leave out", "complete"}
        What is done with rows without a number. "complete" needs a table of numbers.
    missing_label : "auto", None or a value
        The number that means "unlabelled", besides NaN.
    random_state : int or None, default=0
        Seed of the experts.

    Attributes
    ----------
    estimator_ : regressor
        The fitted regressor.
    n_labelled_, n_completed_ : int
        Number of rows with a number, and of rows that the experts completed.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from dubio.pipelines.doubt_models import DoubtRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 3))
    >>> y = np.where(np.arange(100) % 4 == 0, X[:, 0], np.nan)  # a quarter is known
    >>> DoubtRegressor(Ridge()).fit(X, y).n_labelled_
    25
    """

    _target = "numbers"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the regressor to what is known.

        Parameters
        ----------
        X : table (n_rows, n_features)
        y : array-like (n_rows,)
            Numbers; NaN where nothing is known.
        sample_weight : array-like (n_rows,), optional

        Returns
        -------
        self
        """
        supervision = self._read(X, y)
        if not isinstance(supervision, Numbers):
            raise InputError("y", f"cannot be used: {supervision.given}", "a regressor needs one number per row")
        if supervision.n_labelled == 0:
            raise InputError("y", "holds no number", "a regressor needs some")
        known, values = supervision.labelled, supervision.values
        complete = self.unlabelled == "complete" and not known.all() and supervision.n_labelled >= FEWEST_NUMBERS
        if complete:
            values = np.where(known, values, self._opinions(X, supervision))
        rows = np.flatnonzero(~np.isnan(values))
        self.n_labelled_, self.n_completed_ = int(known.sum()), len(rows) - int(known.sum())
        weights = self._given_weights(X, sample_weight)
        if weights is not None:
            rows = rows[weights[rows] > 0]
        self._fit_model(X, values[rows], rows, None if weights is None else weights[rows])
        return self

    def _opinions(self, X: Any, supervision: Numbers) -> NDArray[np.float64]:
        """The experts' predictions; they are normal scores, and are read back on the scale of the known numbers."""
        problem = read_problem(X, allow_nan=True).filled.with_supervision(supervision)
        found = number_opinions(problem, random_state=self.random_state)
        known = supervision.labelled
        return np.interp(found.opinions, np.sort(found.scores[known]), np.sort(supervision.values[known]))

    def score(self, X: Any, y: Any) -> float:
        """R2 on the rows with a number.

        Parameters
        ----------
        X : table (n_rows, n_features)
        y : array-like (n_rows,)

        Returns
        -------
        float
        """
        return known_r2(self, X, y, missing_label=self.missing_label)
