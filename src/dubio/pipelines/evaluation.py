"""What is a selection worth? Nested cross-validation of a model on the selected features, on all and on random ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from dubio._kernels.threads import one_blas_thread, resolve_threads
from dubio._sklearn import check_weights, number_of_rows, safe_indexing
from dubio.errors import InputError
from dubio.pipelines.doubt_models import DoubtClassifier, DoubtRegressor, weight_argument
from dubio.pipelines.evaluation_record import SelectionEvaluation
from dubio.pipelines.known_folds import KnownFolds
from dubio.pipelines.scoring import expected_accuracy, known_r2
from dubio.problem import Problem
from dubio.progress import advance
from dubio.seeds import seed_of
from dubio.supervision import Classes, Memberships, Numbers, OfClasses, Supervision, read_supervision
from dubio.tables.matrix import is_dask
from dubio.tables.row_groups import read_groups

Rows = NDArray[np.int64]
#: Largest number of sizes at which the model is evaluated.
_MOST_SIZES = 12
#: Random subsets of each size per fold.
_RANDOM_DRAWS = 3


def evaluate_selection(
    selector: Any,
    model: Any,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    sizes: Any = None,
    n_splits: int = 5,
    n_repeats: int = 2,
    target: Literal["auto", "classes", "numbers"] = "auto",
    missing_label: Any = "auto",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> SelectionEvaluation:
    """Nested cross-validation: in every fold the selector sees only the training rows.

    Parameters
    ----------
    selector : feature selector
        It is cloned; ``ranking_`` and ``support_`` are used.
    model : classifier or regressor
        Any; it is wrapped so that it takes missing labels and probabilities.
    X : table (n_rows, n_features)
        Whatever the selector and the model take.
    y : array-like
        What is known of the target: classes, probabilities or numbers; some may be missing.
    groups : array-like (n_rows,), optional
        Rows that belong together: they are never divided between training and test, and the selector gets them too if
        it takes groups.
    sample_weight : array-like (n_rows,), optional
        Weight of each row: in the score, and in the selection and the model if they take weights. Rows of weight 0 are
        left out.
    sizes : list of int, optional
        Numbers of features at which the model is evaluated; by default up to 12 between 1 and all.
    n_splits, n_repeats : int
        Folds, and how often the rows are divided anew.
    target, missing_label
        How y is read.
    random_state : int or None, default=0
        Seed of the folds and of the random features.
    n_jobs : int, optional
        Folds at the same time.

    Returns
    -------
    SelectionEvaluation
        Accuracy (of numbers R2) by number of features, with intervals.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from dubio import LinearR2Score
    >>> from dubio.pipelines import evaluate_selection
    >>> X, y = load_wine(return_X_y=True)
    >>> found = evaluate_selection(LinearR2Score(n_features_to_select=5), GaussianNB(), X, y, n_repeats=1)
    >>> found.measure, found.sizes.tolist()
    ('accuracy', [1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13])
    """
    X = _table_of(X)
    if is_dask(y):
        raise InputError("y", f"is a Dask {type(y).__name__}, and folds need its rows in memory", "pass y.compute()")
    weights = None if sample_weight is None else check_weights(sample_weight, X)
    groups = read_groups(groups, number_of_rows(X))
    if weights is not None and not weights.all():
        counted = np.flatnonzero(weights)
        X, y, weights = safe_indexing(X, counted), safe_indexing(y, counted), weights[counted]
        groups = None if groups is None else groups[counted]
    known = read_supervision(y, number_of_rows(X), target=target, missing_label=missing_label).certain()
    is_numeric = isinstance(known, Numbers)
    known_target(known)  # raises if a model cannot be evaluated on it
    if is_numeric and is_classifier(_last(model)):
        raise InputError("model", f"is a classifier, but {known.given}", "give a regressor, or target='classes'")
    if not is_numeric and is_regressor(_last(model)):
        raise InputError("model", f"is a regressor, but {known.given}", "give a classifier, or target='numbers'")
    table = _ArrayTable(y, is_numeric, missing_label, weights, groups, X)
    return _evaluate(selector, model, table, sizes, n_splits, n_repeats, random_state, n_jobs)


def _table_of(X: Any) -> Any:
    """A list of rows as an array, of numbers if it holds only numbers; other tables as they are."""
    if is_dask(X):
        raise InputError("X", f"is a Dask {type(X).__name__}, and folds need its rows in memory", "pass X.compute()")
    if not hasattr(X, "shape"):
        try:
            table = np.asarray(X)
            X = np.asarray(X, dtype=object) if table.dtype.kind in "US" else table
        except ValueError as error:
            raise InputError("X", "has rows of different lengths", "give every row one cell per feature") from error
    if len(X.shape) != 2:
        raise InputError(
            "X", f"has {len(X.shape)} dimensions", "give a table: one row per case, one column per feature"
        )
    return X


def evaluate_problem(
    selector: Any,
    model: Any,
    problem: Problem,
    *,
    sizes: Any = None,
    n_splits: int = 5,
    n_repeats: int = 2,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> SelectionEvaluation:
    """The same as :func:`evaluate_selection`, for a selector of dubio and a problem.

    The model gets the columns of numbers that the features were read as; some cells may be missing.

    Parameters
    ----------
    selector : selector of dubio
        It is cloned.
    model : classifier or regressor
        It is cloned.
    problem : Problem
        The table and what is known of the target.
    sizes, n_splits, n_repeats, random_state, n_jobs
        As in :func:`evaluate_selection`.

    Returns
    -------
    SelectionEvaluation
        The accuracy by number of features, with and without selection.
    """
    if sparse.issparse(problem.X):
        problem = replace(problem, X=problem.X.toarray())
    problem = problem.counted
    known = problem.supervision.certain()
    y, is_numeric = known_target(known), isinstance(known, Numbers)
    table = _ProblemTable(y, is_numeric, -1, problem.sample_weight, problem.groups, problem)
    return _evaluate(selector, model, table, sizes, n_splits, n_repeats, random_state, n_jobs)


def known_target(known: Supervision) -> NDArray[Any]:
    """The target of a model: codes of classes (-1 if unlabelled), probabilities or numbers (NaN if unlabelled)."""
    if isinstance(known, Numbers):
        return np.where(known.labelled, known.values, np.nan)
    if isinstance(known, Classes):
        return np.where(known.labelled, known.codes, -1)
    if isinstance(known, Memberships):
        return np.where(known.labelled[:, None], known.memberships, np.nan)
    raise InputError(
        "y", f"cannot be evaluated: {known.given}", "give classes, probabilities or numbers, of one target"
    )


@dataclass(frozen=True)
class _Table(ABC):
    """A table and its target: selectors and models are fitted to parts of it."""

    y: Any
    is_numeric: bool
    missing_label: Any
    weights: NDArray[np.float64] | None
    groups: Rows | None

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of features."""

    @abstractmethod
    def selected(self, selector: Any, rows: Rows) -> Any:
        """A clone of the selector, fitted to some rows."""

    @abstractmethod
    def part(self, rows: Rows, features: Rows) -> Any:
        """Some rows of some features, for a model."""

    @contextmanager
    def unreadable_cells_named(self) -> Iterator[None]:
        """Say what a model cannot read, and what to do about it, where it fails."""
        yield

    def target(self, rows: Rows) -> Any:
        """The target of some rows."""
        return safe_indexing(self.y, rows)

    def n_independent(self, rows: Rows) -> float:
        r"""How many independent rows of the same weight say as much as these: :math:`(\sum w)^2 / \sum w^2`.

        The weights are those of the groups, if rows belong together: equal rows of one group say no more than one. See
        L. Kish (1965), Survey Sampling, section 11.7.
        """
        weights: NDArray[np.float64] = np.ones(len(rows)) if self.weights is None else self.weights[rows]
        if self.groups is not None:
            weights = np.bincount(self.groups[rows], weights=weights).astype(np.float64)
        return float(weights.sum() ** 2 / (weights**2).sum())

    def weight(self, rows: Rows) -> dict[str, Any]:
        """The weights of some rows, as an argument of ``fit`` or of a score; nothing if rows have no weights."""
        return {} if self.weights is None else {"sample_weight": self.weights[rows]}


@dataclass(frozen=True)
class _ArrayTable(_Table):
    """A table as the user gave it."""

    X: Any

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    def selected(self, selector: Any, rows: Rows) -> Any:
        options = self.weight(rows)
        if self.groups is not None:
            options["groups"] = self.groups[rows]
        options = {name: value for name, value in options.items() if has_fit_parameter(selector, name)}
        return clone(selector).fit(safe_indexing(self.X, rows), self.target(rows), **options)

    def part(self, rows: Rows, features: Rows) -> Any:
        return safe_indexing(safe_indexing(self.X, rows), features, axis=1)

    @contextmanager
    def unreadable_cells_named(self) -> Iterator[None]:
        try:
            yield
        except (ValueError, TypeError) as error:
            unreadable = "" if isinstance(error, InputError) else _not_numbers(self.X)
            if not unreadable:
                raise
            raise InputError(
                "model",
                f"cannot read the table, in which some cells are {unreadable} ({error})",
                "put an encoder and an imputer before the model, or let the selector read the table as numbers for it: "
                "dubio.pipelines.evaluate_problem(selector, usual_model('logistic'), selector.read_problem(X, y))",
            ) from error


@dataclass(frozen=True)
class _ProblemTable(_Table):
    """A problem: a feature may be several columns of its matrix."""

    problem: Problem

    @property
    def n_features(self) -> int:
        return self.problem.n_features

    def selected(self, selector: Any, rows: Rows) -> Any:
        return clone(selector).fit_problem(self.problem.rows(rows))

    def part(self, rows: Rows, features: Rows) -> Any:
        return self.problem.table[np.ix_(rows, self.problem.columns_of(features))]


def _evaluate(
    selector: Any,
    model: Any,
    table: _Table,
    sizes: Any,
    n_splits: int,
    n_repeats: int,
    random_state: Any,
    n_jobs: int | None,
) -> SelectionEvaluation:
    if n_repeats < 1:
        raise InputError("n_repeats", f"={n_repeats}", "give at least 1")
    workers = resolve_threads(n_jobs)
    kind: Literal["classes", "numbers"] = "numbers" if table.is_numeric else "classes"
    seed = seed_of(random_state)
    wanted = _sizes(sizes, table.n_features)
    options: dict[str, Any] = {"target": kind, "missing_label": table.missing_label}
    folds = [
        fold
        for repeat in range(n_repeats)
        for fold in KnownFolds(n_splits, random_state=seed + repeat, **options).split(table.y, table.y, table.groups)
    ]
    wrap: Any = DoubtRegressor if table.is_numeric else DoubtClassifier
    judge = _Judge(selector, wrap(model, missing_label=table.missing_label), table, wanted)
    found = []
    work = joblib.Parallel(n_jobs=min(workers, len(folds)), return_as="generator")(
        joblib.delayed(judge)(train, test, seed + number) for number, (train, test) in enumerate(folds)
    )
    for scores in work:
        found.append(scores)
        advance("folds", len(found), len(folds))
    columns: dict[str, Any] = {name: np.array([scores[name] for scores in found]) for name in found[0]}
    return SelectionEvaluation(
        sizes=wanted,
        measure="R2" if table.is_numeric else "accuracy",
        share_tested=1 / n_splits,
        n_tested=table.n_independent(np.unique(np.concatenate([test for _, test in folds]))),
        n_selected=columns.pop("n_selected").astype(np.int64),
        **columns,
    )


@dataclass(frozen=True)
class _Judge:
    """Scores one fold."""

    selector: Any
    model: Any
    table: _Table
    sizes: NDArray[np.int64]

    def __call__(self, train: Rows, test: Rows, seed: int) -> dict[str, Any]:
        with one_blas_thread():  # hundreds of small models
            return self._fold(train, test, seed)

    def _fold(self, train: Rows, test: Rows, seed: int) -> dict[str, Any]:
        table, rng = self.table, np.random.default_rng(seed)
        selector = table.selected(self.selector, train)
        order = np.argsort(selector.ranking_, kind="stable")
        n_features = len(order)
        y, y_test = table.target(train), table.target(test)
        weights = table.weight(train) if weight_argument(self.model.estimator) else {}
        options = {"missing_label": table.missing_label, **table.weight(test)}
        score: Any = known_r2 if table.is_numeric else expected_accuracy

        scores: dict[bytes, float] = {}

        def on(features: Rows) -> float:
            features = np.sort(features)
            key = features.tobytes()
            if key not in scores:
                with table.unreadable_cells_named():
                    fitted = clone(self.model).fit(table.part(train, features), y, **weights)
                    scores[key] = float(score(fitted, table.part(test, features), y_test, **options))
            return scores[key]

        # the same random orders for every size: the curve and the headline then say the same of one size
        orders = [rng.permutation(n_features) for _ in range(_RANDOM_DRAWS)]

        def random(size: int) -> float:
            return float(np.mean([on(drawn[:size]) for drawn in orders]))

        kept = np.flatnonzero(selector.support_)
        return {
            "by_size": [on(order[:size]) for size in self.sizes],
            "random_by_size": [random(int(size)) for size in self.sizes],
            "selected": on(kept),
            "all_features": on(order),
            "random": random(len(kept)),
            "n_selected": len(kept),
            "chance": 0.0 if table.is_numeric else self._chance(train, test),
        }

    def _chance(self, train: Rows, test: Rows) -> float:
        """What it scores to say always the most frequent class of the training rows."""
        known, tested = (self._classes(rows) for rows in (train, test))
        weights = np.ones(len(train)) if self.table.weights is None else self.table.weights[train]
        likeliest = known.classes.tolist()[int((weights @ known.memberships).argmax())]
        names = tested.classes.tolist()
        if likeliest not in names:
            return 0.0
        hits = tested.memberships[:, names.index(likeliest)][tested.labelled]
        counted = None if self.table.weights is None else self.table.weights[test][tested.labelled]
        return float(np.average(hits, weights=counted))

    def _classes(self, rows: Rows) -> OfClasses:
        y = self.table.target(rows)
        read: Any = read_supervision(y, len(rows), target="classes", missing_label=self.table.missing_label)
        return read


def _sizes(sizes: Any, n_features: int) -> NDArray[np.int64]:
    """The sizes asked for, or up to twelve between 1 and all features; of many features, small sizes more densely."""
    if sizes is None:
        spread = np.linspace if n_features <= 2 * _MOST_SIZES else np.geomspace
        return np.unique(spread(1, n_features, min(_MOST_SIZES, n_features)).round().astype(np.int64))
    wanted = np.unique(np.asarray(sizes, dtype=np.int64))
    if not len(wanted) or wanted[0] < 1 or wanted[-1] > n_features:
        raise InputError("sizes", f"={list(sizes)!r}", f"give numbers from 1 to the {n_features} features")
    return wanted


def _not_numbers(X: Any) -> str:
    """What some cells of a table are that are no numbers, in words; "" if all are numbers."""
    if sparse.issparse(X):
        return ""
    try:
        cells = np.asarray(X, dtype=np.float64)
    except (ValueError, TypeError):
        return "text or dates"
    return "missing" if np.isnan(cells).any() else ""


def _last(model: Any) -> Any:
    return model.steps[-1][1] if isinstance(model, Pipeline) else model
