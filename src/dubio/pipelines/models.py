"""Models, folds and scores for a target that is partly missing, or known only as probabilities.

Each score can be the ``scoring`` of GridSearchCV and cross_val_score. With scikit-learn's metadata routing, groups that
are passed on reach the folds, and weights of rows the scores.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.metrics import r2_score
from sklearn.model_selection import BaseCrossValidator, GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, get_tags
from sklearn.utils.metadata_routing import MetadataRequest
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from dubio.checks import HasMethods, Interval, StrOptions, check_parameters, seed_of
from dubio.doubt.experts import ExpertOptions, pooled_opinions
from dubio.doubt.number_experts import FEWEST_NUMBERS, number_opinions
from dubio.errors import InputError, counted
from dubio.methods.parameters import documented
from dubio.problem import Problem, read_problem
from dubio.table.rows import check_weights, number_of_rows, read_groups, some_rows
from dubio.target.knowledge import Supervision
from dubio.target.numbers import moderate
from dubio.target.reader import Target, read_supervision

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
Predicted = Literal["classes", "numbers"]

#: The forms of a target that a model can predict, and these in words.
_NEEDED = {"classes": (("hard", "soft"), "classes or probabilities"), "numbers": (("numbers",), "one number per row")}


def _require(supervision: Supervision, predicted: Predicted, who: str) -> None:
    forms, words = _NEEDED[predicted]
    supervision.require_form(*forms, remedy=f"{who} needs {words}")


#: Probabilities below this count as this in the logarithm.
_FLOOR = 1e-12


def _takes_weights(score: Callable[..., float]) -> Callable[..., float]:
    """Let scikit-learn's metadata routing pass weights to a score."""
    request = MetadataRequest(owner=score.__name__)
    request.score.add_request(param="sample_weight", alias=True)
    score.get_metadata_routing = lambda: request  # type: ignore[attr-defined]
    return score


@_takes_weights
@documented
def expected_accuracy(
    estimator: Any, X: Any, y: Any, *, missing_label: Any = "auto", sample_weight: Any = None
) -> float:
    r"""The probability of the predicted classes, on average over the rows with a label.

    With probabilities :math:`P_{ik}` and predictions :math:`\hat y_i` this is :math:`\frac1n \sum_i P_{i \hat y_i}`,
    the accuracy to expect if the true classes follow the probabilities. With one class per row it is the accuracy.

    Parameters
    ----------
    estimator : fitted classifier
        Its predictions are judged.
    X : table (n_rows, n_features)
        What it predicts from.
    y : array-like
        Classes, some of them missing, or probabilities.
    {missing_label}
    {sample_weight}

    Returns
    -------
    float
        From 0 to 1; high is good.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from dubio.pipelines import expected_accuracy
    >>> X, P = np.zeros((2, 1)), np.array([[0.9, 0.1], [0.5, 0.5]])
    >>> round(expected_accuracy(DummyClassifier().fit(X, [0, 0]), X, P), 2)
    0.7
    """
    return _accuracy(estimator, *_labelled(X, y, "classes", missing_label, sample_weight))


@_takes_weights
def negative_expected_log_loss(
    estimator: Any, X: Any, y: Any, *, missing_label: Any = "auto", sample_weight: Any = None
) -> float:
    r"""Minus the cross-entropy of the rows with a label, :math:`\frac1n \sum_i \sum_k P_{ik} \log \hat p_{ik}`.

    Parameters
    ----------
    estimator : fitted classifier
        With ``predict_proba``.
    X, y, missing_label, sample_weight
        As in :func:`expected_accuracy`.

    Returns
    -------
    float
        At most 0; high is good.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from dubio.pipelines import negative_expected_log_loss
    >>> X, y = np.zeros((3, 1)), np.array([0, 1, -1])
    >>> round(negative_expected_log_loss(DummyClassifier().fit(X[:2], y[:2]), X, y), 3)
    -0.693
    """
    table, supervision, weights = _labelled(X, y, "classes", missing_label, sample_weight)
    predicted = np.asarray(estimator.predict_proba(table))
    places = _places(supervision.classes, np.asarray(estimator.classes_))
    aligned = _aligned(predicted, places, supervision.n_classes)
    gains = (supervision.memberships * np.log(np.maximum(aligned, _FLOOR))).sum(axis=1)
    return float(np.average(gains, weights=weights))


@_takes_weights
def known_r2(estimator: Any, X: Any, y: Any, *, missing_label: Any = "auto", sample_weight: Any = None) -> float:
    """R2 on the rows with a number.

    Parameters
    ----------
    estimator : fitted regressor
        Its predictions are judged.
    X, missing_label, sample_weight
        As in :func:`expected_accuracy`.
    y : array-like (n_rows,)
        Numbers; NaN where nothing is known.

    Returns
    -------
    float
        At most 1; high is good.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyRegressor
    >>> from dubio.pipelines import known_r2
    >>> X, y = np.zeros((3, 1)), np.array([1.0, 2.0, np.nan])
    >>> known_r2(DummyRegressor().fit(X[:2], y[:2]), X, y)
    0.0
    """
    return _r2(estimator, *_labelled(X, y, "numbers", missing_label, sample_weight))


def _labelled(
    X: Any, y: Any, predicted: Predicted, missing_label: Any, sample_weight: Any
) -> tuple[Any, Supervision, Floats | None]:
    """The labelled rows of the table, of the target and of the weights."""
    supervision = read_supervision(y, len(y), target=predicted, missing_label=missing_label)
    rows = np.flatnonzero(supervision.labelled)
    if not len(rows):
        raise InputError("y", "has no labelled row", "a score needs some; dubio.pipelines.KnownFolds tests only those")
    _require(supervision, predicted, "this score")
    weights = None if sample_weight is None else check_weights(sample_weight, X)[rows]
    return some_rows(X, rows), supervision.rows(rows), weights


def _accuracy(estimator: Any, table: Any, supervision: Supervision, weights: Floats | None) -> float:
    places = _places(supervision.classes, np.asarray(estimator.predict(table)))
    hits = np.where(places >= 0, supervision.memberships[np.arange(len(places)), places], 0.0)
    return float(np.average(hits, weights=weights))


def _r2(estimator: Any, table: Any, supervision: Supervision, weights: Floats | None) -> float:
    # squares of huge numbers would overflow
    values, predicted = moderate(np.stack([supervision.values, np.ravel(estimator.predict(table))]))
    return float(r2_score(values, predicted, sample_weight=weights))


_SCORES = {"classes": _accuracy, "numbers": _r2}


def _places(classes: NDArray[Any], wanted: NDArray[Any]) -> Rows:
    """Place of each wanted name among the classes; -1 for a name that is not there."""
    place = {name: k for k, name in enumerate(classes.tolist())}
    return np.array([place.get(name, -1) for name in wanted.tolist()], dtype=np.int64)


def _aligned(predicted: Floats, places: Rows, n_classes: int) -> Floats:
    """Predicted probabilities in the places of their classes; 0 for classes that were not predicted."""
    aligned = np.zeros((len(predicted), n_classes))
    aligned[:, places[places >= 0]] = predicted[:, places >= 0]
    return aligned


@documented
class KnownFolds(BaseCrossValidator):
    """Split the labelled rows into folds; rows without a label are in every training set and in no test set.

    Folds of classes keep the share of each class (of probabilities, that of the likeliest class). With ``groups``, all
    rows of a group are on the same side, and unlabelled rows of a tested group are left out.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    {target}
    {missing_label}
    {random_state}

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.pipelines import KnownFolds
    >>> y = np.array(["a", "b", None, "a", "b", None], dtype=object)
    >>> for train, test in KnownFolds(2).split(np.zeros((6, 1)), y):
    ...     print(train, test)
    [0 2 4 5] [1 3]
    [1 2 3 5] [0 4]
    """

    __metadata_request__split: ClassVar[dict[str, bool]] = {"groups": True}  # scikit-learn's name for it

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"n_splits": [Interval(Integral, 2, None, closed="left")]}

    def __init__(
        self, n_splits: int = 5, *, target: Target = "auto", missing_label: Any = "auto", random_state: Any = 0
    ) -> None:
        self.n_splits = n_splits
        self.target = target
        self.missing_label = missing_label
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of splits, whatever the data."""
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Rows, Rows]]:
        """Give the rows to train on and the rows to test on, fold by fold.

        Parameters
        ----------
        X : table (n_rows, n_features)
            Only its length is used.
        y : array-like
            What is known of the target.
        groups : array-like (n_rows,), optional
            Rows of one group stay together.

        Yields
        ------
        train, test : array of int
        """
        if y is None:
            raise InputError("y", "is None", "folds of known rows need the target")
        supervision = read_supervision(y, len(y), target=self.target, missing_label=self.missing_label)
        yield from self.split_target(supervision.certain(), groups)

    def split_target(self, supervision: Supervision, groups: Any = None) -> list[tuple[Rows, Rows]]:
        """The same as :meth:`split`, for a target that was read."""
        check_parameters(self._parameter_constraints, vars(self))
        labelled, others = np.flatnonzero(supervision.labelled), np.flatnonzero(~supervision.labelled)
        group_of = read_groups(groups, supervision.n_rows)
        strata = (supervision.likeliest() or supervision).strata[labelled]
        own = None if group_of is None else group_of[labelled]
        n_groups = len(labelled) if own is None else len(np.unique(own))
        few = ""
        if len(labelled) < self.n_splits:
            few = f"has {counted(len(labelled), 'labelled row')}, fewer than the {self.n_splits} folds"
        elif n_groups < self.n_splits:
            few = f"has {counted(n_groups, 'group')} with a label, fewer than the {self.n_splits} folds"
        elif np.bincount(strata).max() < self.n_splits:
            few = f"has fewer labelled rows in every class than the {self.n_splits} folds"
        if few:
            raise InputError("y", few, "use fewer folds (n_splits), or label more rows", code="few for folds")
        makers = (KFold, StratifiedKFold) if group_of is None else (GroupKFold, StratifiedGroupKFold)
        maker = makers[len(np.unique(strata)) > 1]
        folds = maker(self.n_splits, shuffle=True, random_state=seed_of(self.random_state))
        found = []
        for training, tested in folds.split(labelled, strata, own):
            extra = others
            if group_of is not None:
                extra = others[~np.isin(group_of[others], group_of[labelled[tested]])]
            found.append((np.sort(np.append(labelled[training], extra)), labelled[tested]))
        return found


#: Smaller probabilities make no copy of a row.
_LEAST = 1e-3


class DoubtModel(MetaEstimatorMixin, BaseEstimator):
    """A model that learns from a target in doubt: it reads y, and hands rows and weights to the model."""

    #: What it predicts.
    predicts: ClassVar[Predicted]
    #: The measure of its score.
    measure: ClassVar[Literal["accuracy", "R2"]]

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"])],
        "unlabelled": [StrOptions({"leave out", "complete"})],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        unlabelled: Literal["leave out", "complete"] = "leave out",
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to what is known.

        Parameters
        ----------
        X : table (n_rows, n_features)
        y : array-like
            Classes, some of them missing, or probabilities (n_rows, n_classes), of which a row of NaN is unlabelled; or
            numbers, NaN where nothing is known.
        sample_weight : array-like (n_rows,), optional

        Returns
        -------
        self
        """
        check_parameters(self._parameter_constraints, self.get_params(deep=False))
        if y is None:  # scikit-learn's checks ask for these words, and those of the next line
            raise InputError("y", "is None: a model requires y to be passed, but the target y is None")
        if getattr(getattr(X, "dtype", None), "kind", "") == "c":
            raise InputError("X", "holds complex numbers. Complex data not supported")
        supervision = read_supervision(y, number_of_rows(X), target=self.predicts, missing_label=self.missing_label)
        return self.fit_target(X, supervision.certain(), sample_weight)

    def fit_target(self, X: Any, supervision: Supervision, sample_weight: Any = None) -> Self:
        """The same as :meth:`fit`, for a target that was read."""
        weights = None
        if sample_weight is not None:
            if not weight_argument(self.estimator):
                raise InputError("sample_weight", f"cannot be used: {type(self.estimator).__name__} takes no weights")
            weights = check_weights(sample_weight, X)
        y, rows, weights = self._training(X, supervision, weights)
        is_all = np.array_equal(rows, np.arange(number_of_rows(X)))
        options = {} if weights is None else {weight_argument(self.estimator): weights}
        self.estimator_ = clone(self.estimator).fit(X if is_all else some_rows(X, rows), y, **options)
        return self

    @abstractmethod
    def _training(self, X: Any, supervision: Supervision, weights: Floats | None) -> tuple[Any, Rows, Floats | None]:
        """The targets to learn from, the row of each, and their weights."""

    def score_target(self, X: Any, supervision: Supervision, weights: Floats | None) -> float:
        """Score on rows that all have a label: expected accuracy, or R2."""
        return _SCORES[self.predicts](self, X, supervision, weights)

    def chance(self, supervision: Supervision, weights: Floats | None, train: Rows, test: Rows) -> float:
        """Score of a constant prediction, the best one for the training rows: of the mean, an R2 of 0."""
        return 0.0

    def _to_complete(self, supervision: Supervision, X: Any) -> Problem | None:
        """The problem whose unlabelled rows the audit's models complete; None if they are left out."""
        if self.unlabelled == "leave out" or supervision.labelled.all():
            return None
        return read_problem(X, allow_nan=True).filled.with_supervision(supervision.likeliest() or supervision)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the target of the rows of a table."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict(X))

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
    """A condition: the wrapped model has this method."""

    def check(self: Any) -> bool:
        getattr(getattr(self, "estimator_", self.estimator), method)  # raises an AttributeError that names it
        return True

    return check


@documented
class DoubtClassifier(ClassifierMixin, DoubtModel):
    """Any classifier, for classes of which some are missing, and for class probabilities.

    Rows without a label are left out, or get the opinion of models that are trained on the others. A row with
    probabilities becomes one row per possible class, with the probability as its weight. If the classifier takes no
    weights, the likeliest class is used instead.

    Parameters
    ----------
    estimator : classifier
        It is cloned, never fitted itself.
    unlabelled : {"leave out", "complete"}
        What is done with rows without a label. "complete" needs a table of numbers.
    {missing_label}
    {random_state}

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    classes_ : array (n_classes,)
    n_labelled_, n_completed_ : int
        Number of rows with a label, and of rows that were completed.
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
    >>> from dubio.pipelines import DoubtClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> y = np.where(np.arange(len(y)) % 3 == 0, y, -1)  # two thirds of the labels are missing
    >>> model = make_pipeline(FeatureSelector(), StandardScaler(), DoubtClassifier(LogisticRegression()))
    >>> float(model.fit(X, y).score(X, y))
    1.0
    """

    predicts, measure = "classes", "accuracy"

    def _training(self, X: Any, supervision: Supervision, weights: Floats | None) -> tuple[Any, Rows, Floats | None]:
        _require(supervision, self.predicts, "a classifier")
        supervision.require_enough()
        # in the order in which scikit-learn's classifiers have them
        self.classes_, order = np.unique(supervision.classes, return_index=True)
        memberships, problem = supervision.memberships, self._to_complete(supervision, X)
        self.n_labelled_, self.n_completed_ = supervision.n_labelled, 0
        if problem is not None:
            opinions = pooled_opinions(problem, ExpertOptions(random_state=self.random_state))
            memberships = np.where(supervision.labelled[:, None], memberships, opinions)
            self.n_completed_ = supervision.n_unlabelled
        memberships = memberships[:, order]
        in_doubt = bool(((memberships > 0) & (memberships < 1)).any())
        self.uses_weights_ = in_doubt and bool(weight_argument(self.estimator))
        if self.uses_weights_:
            rows, codes = np.nonzero(memberships >= _LEAST)
            shares = memberships[rows, codes]
        else:
            rows = np.flatnonzero(memberships.any(axis=1))
            codes, shares = memberships[rows].argmax(axis=1), np.ones(len(rows))
        if weights is not None:
            shares = shares * weights[rows]
            rows, codes, shares = rows[shares > 0], codes[shares > 0], shares[shares > 0]
            if len(np.unique(codes)) < 2:
                raise InputError("sample_weight", "leaves only one class", "two classes need rows of positive weight")
        return self.classes_[codes], rows, shares if self.uses_weights_ or weights is not None else None

    def chance(self, supervision: Supervision, weights: Floats | None, train: Rows, test: Rows) -> float:
        """Score of the most frequent class of the training rows."""
        weights = np.ones(supervision.n_rows) if weights is None else weights
        likeliest = int((weights[train] @ supervision.memberships[train]).argmax())
        return float(np.average(supervision.memberships[test, likeliest], weights=weights[test]))

    def probabilities_of(self, X: Any, supervision: Supervision) -> Floats:
        """Probabilities of the classes in the order of a target; of a model without, 1 for the class that it names."""
        if hasattr(self, "predict_proba"):
            said = self.predict_proba(X)
        elif hasattr(self, "decision_function") and len(self.classes_) == 2:
            high = 1.0 / (1.0 + np.exp(-self.decision_function(X)))
            said = np.column_stack([1.0 - high, high])
        else:
            said = np.equal(self.predict(X)[:, None], self.classes_).astype(np.float64)
        return _aligned(said, _places(supervision.classes, self.classes_), supervision.n_classes)

    @available_if(_has("predict_proba"))
    def predict_proba(self, X: Any) -> Floats:
        """Probability of every class, in the order of ``classes_``; 0 for a class of which no row was learned."""
        check_is_fitted(self)
        predicted = np.asarray(self.estimator_.predict_proba(X))
        if len(self.estimator_.classes_) == len(self.classes_):
            return predicted
        return _aligned(predicted, _places(self.classes_, self.estimator_.classes_), len(self.classes_))

    @available_if(_has("decision_function"))
    def decision_function(self, X: Any) -> Floats:
        """The decision function of the classifier, for the rows of a table."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.decision_function(X))

    def score(self, X: Any, y: Any) -> float:
        """Expected accuracy on the rows with a class or probabilities: :func:`~dubio.pipelines.expected_accuracy`."""
        return expected_accuracy(self, X, y, missing_label=self.missing_label)


@documented
class DoubtRegressor(RegressorMixin, DoubtModel):
    """Any regressor, for a number that is known for some rows only.

    Rows without a number are left out, or get the prediction of models that are trained on the others.

    Parameters
    ----------
    estimator : regressor
        It is cloned, never fitted itself.
    unlabelled : {"leave out", "complete"}
        What is done with rows without a number. "complete" needs a table of numbers.
    {missing_label}
    {random_state}

    Attributes
    ----------
    estimator_ : regressor
        The fitted regressor.
    n_labelled_, n_completed_ : int
        Number of rows with a number, and of rows that were completed.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from dubio.pipelines import DoubtRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 3))
    >>> y = np.where(np.arange(100) % 4 == 0, X[:, 0], np.nan)  # a quarter is known
    >>> DoubtRegressor(Ridge()).fit(X, y).n_labelled_
    25
    """

    predicts, measure = "numbers", "R2"

    def _training(self, X: Any, supervision: Supervision, weights: Floats | None) -> tuple[Any, Rows, Floats | None]:
        _require(supervision, self.predicts, "a regressor")
        if supervision.n_labelled == 0:
            raise InputError("y", "holds no number", "a regressor needs some")
        values, labelled = supervision.values, supervision.labelled
        problem = self._to_complete(supervision, X) if supervision.n_labelled >= FEWEST_NUMBERS else None
        if problem is not None:
            found = number_opinions(problem, random_state=self.random_state)
            # predictions are normal scores, and are read back on the scale of the known numbers
            scale = np.sort(found.scores[labelled]), np.sort(values[labelled])
            values = np.where(labelled, values, np.interp(found.opinions, *scale))
        rows = np.flatnonzero(~np.isnan(values))
        self.n_labelled_, self.n_completed_ = supervision.n_labelled, len(rows) - supervision.n_labelled
        if weights is not None:
            rows = rows[weights[rows] > 0]
        return values[rows], rows, None if weights is None else weights[rows]

    def score(self, X: Any, y: Any) -> float:
        """R2 on the rows with a number: :func:`~dubio.pipelines.known_r2`."""
        return known_r2(self, X, y, missing_label=self.missing_label)
