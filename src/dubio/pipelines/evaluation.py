"""The worth of a selection to a model, on rows that neither has seen."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import norm as normal
from scipy.stats import t as student
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.utils.validation import has_fit_parameter

from dubio.checks import seed_of
from dubio.doubt.belief import believe
from dubio.doubt.experts import ExpertOptions
from dubio.errors import InputError
from dubio.kernels.threads import one_blas_thread, resolve_threads
from dubio.methods.parameters import documented
from dubio.pipelines.estimate import Estimate
from dubio.pipelines.models import DoubtClassifier, DoubtModel, DoubtRegressor, KnownFolds, weight_argument
from dubio.pipelines.truth_scores import TruthScores, truth_scores
from dubio.problem import Problem
from dubio.progress import advance
from dubio.table.given import given_positions, joined_with
from dubio.table.matrix import column_names, is_dask, some_columns
from dubio.table.rows import check_weights, number_of_rows, read_groups, some_rows
from dubio.target.checked import Checks, read_checks
from dubio.target.knowledge import Supervision
from dubio.target.reader import read_supervision
from dubio.words import Note, note, sentence

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class SelectionEvaluation:
    """The result of :func:`evaluate_selection`. Every score is of rows that neither selection nor model has seen.

    Attributes
    ----------
    sizes : array (n_sizes,)
        Numbers of features.
    by_size, random_by_size : array (n_folds, n_sizes)
        Score of the model on the first features of the ranking, and on as many random ones.
        Random features are the first ones of the same random orders at every size.
    selected, all_features, random : array (n_folds,)
        Score of the model on the features that the selector keeps, on all features, and on as many random ones. If as
        many are kept in every fold, ``random`` is the column of ``random_by_size`` for this number of features.
    n_selected : array (n_folds,)
        Number of features kept in each fold.
    chance : array (n_folds,)
        Score of always saying the most frequent class, or the mean.
    measure : str
        "accuracy" (with probabilities, the expected one) or "R2".
    share_tested : float
        Share of the known rows in a test fold.
    confidence : float
    n_tested : float
        Number of independent rows on which the model was tested: groups count once if rows belong together, and rows of
        different weights count as fewer rows of the same weight. 0 if it is not known.
    truth : TruthScores or None
        If rows were checked: scores of the model on the selected features against the truth.
    given_alone : array (n_folds,) or None
        If columns are given: score of the model on these alone. All other features, kept or random, come with them.
    """

    sizes: NDArray[np.int64]
    by_size: Floats
    random_by_size: Floats
    selected: Floats
    all_features: Floats
    random: Floats
    n_selected: NDArray[np.int64]
    chance: Floats
    measure: Literal["accuracy", "R2"]
    share_tested: float
    confidence: float = 0.95
    n_tested: float = 0.0
    truth: TruthScores | None = None
    given_alone: Floats | None = None

    def estimate(self, scores: Floats) -> Estimate:
        r"""Mean of the scores of the folds, with an interval.

        Folds share most of their training rows, so their plain standard error is too small. The variance is
        :math:`\sigma^2 (1/m + n_{test} / n_{train})` for :math:`m` folds [1]_. If the folds happen to have nearly the
        same accuracy :math:`p`, this says too little about other rows: the interval is at least Wilson's of a share
        :math:`p` of all tested rows [2]_. If rows belong together, these are the groups.

        .. [1] C. Nadeau and Y. Bengio (2003). Inference for the generalization error. Machine Learning 52, 239-281.
        .. [2] E. B. Wilson (1927). Probable inference, the law of succession, and statistical inference. Journal of the
           American Statistical Association 22, 209-212.
        """
        mean, half = float(scores.mean()), self._half(scores)
        low, high = mean - half, min(mean + half, 1.0)
        if self.measure == "accuracy" and self.n_tested:
            n, z = self.n_tested, float(normal.ppf(0.5 + self.confidence / 2))
            middle = (mean + z**2 / (2 * n)) / (1 + z**2 / n)
            reach = z / (1 + z**2 / n) * float(np.sqrt(mean * (1 - mean) / n + z**2 / (4 * n**2)))
            low, high = min(low, middle - reach), max(high, min(middle + reach, 1.0))
        return Estimate(mean, max(low, 0.0) if self.measure == "accuracy" else low, high)

    def difference(self, scores: Floats, others: Floats) -> Estimate:
        r"""Mean difference between two scores, fold by fold, with an interval.

        Two accuracies whose difference is :math:`d` differ in at least a share :math:`|d|` of the rows. So the variance
        of the difference is at least :math:`(|d| - d^2) / n`, however alike the folds are.
        """
        mean, half = float((scores - others).mean()), self._half(scores - others)
        if self.measure == "accuracy" and self.n_tested:
            error = float(np.sqrt(max(0.0, abs(mean) - mean**2) / self.n_tested))
            half = max(half, self._quantile(len(scores)) * error)
        least, most = (-1.0, 1.0) if self.measure == "accuracy" else (-np.inf, np.inf)
        return Estimate(mean, max(mean - half, least), min(mean + half, most))

    def _quantile(self, n_folds: int) -> float:
        return float(student.ppf(0.5 + self.confidence / 2, n_folds - 1))

    def _half(self, values: Floats) -> float:
        """Half of the interval of a mean over folds."""
        shared = 1 / len(values) + self.share_tested / (1 - self.share_tested)
        return float(self._quantile(len(values)) * (float(np.std(values, ddof=1)) * np.sqrt(shared)))

    def _means(self) -> dict[str, Estimate]:
        fields = ("selected", "all_features", "random", *(() if self.given_alone is None else ("given_alone",)))
        return {name: self.estimate(getattr(self, name)) for name in fields}

    @property
    def gain(self) -> Estimate:
        """Score on the selected features minus the score on all features, fold by fold."""
        return self.difference(self.selected, self.all_features)

    @property
    def added(self) -> Estimate | None:
        """Score on the selected features minus that on the given columns alone, fold by fold; None if none is given."""
        return None if self.given_alone is None else self.difference(self.selected, self.given_alone)

    @property
    def gain_over_random(self) -> Estimate:
        """Score on the selected features minus the score on as many random ones, fold by fold."""
        return self.difference(self.selected, self.random)

    @property
    def above_chance(self) -> Estimate:
        """Score on the selected features minus that of a constant prediction, fold by fold."""
        return self.difference(self.selected, self.chance)

    def scores(self, chosen: str = "selected") -> Note:
        """The scores; ``chosen`` says which features a fold keeps, such as "related"."""
        fewest, most = int(self.n_selected.min()), int(self.n_selected.max())
        kept = f"{most}" if fewest == most else f"{fewest} to {most}, on average {self.n_selected.mean():.3g}"
        means = self._means()
        means["everything"] = means.pop("all_features")
        facts = {"measure": self.measure, "chosen": chosen, "kept": kept, "chance": self.chance.mean()}
        return note("scores of folds" if self.given_alone is None else "scores beyond given", **facts, **means)

    def verdict(self) -> str:
        """The answer to whether the selection helps, in a sentence with the difference and its interval.

        If columns are given, a sentence before it says what the selection adds to them.
        """
        gain, over_random, above_chance = self.gain, self.gain_over_random, self.above_chance
        cases = (
            ("worth no model", above_chance.low <= 0),
            ("worth gain", gain.low > 0),
            ("worth loss", gain.high < 0),
            ("worth the same", over_random.low > 0),
            ("worth unclear", round(over_random.mean, 3) > 0),
        )
        code = next((code for code, holds in cases if holds), "worth nothing")
        facts = {"gain": gain, "over_random": over_random, "above_chance": above_chance}
        usual = sentence(note(code, **{name: value.signed() for name, value in facts.items()}))
        if self.added is None:
            return usual
        code = "worth beyond given" if self.added.low > 0 else "worth no more than given"
        return f"{sentence(note(code, added=self.added.signed()))} {usual}"

    def headline(self) -> str:
        """The worth of the selection, in two sentences."""
        return " ".join([sentence(self.scores()), self.verdict(), *self.about_truth()])

    def about_truth(self) -> list[str]:
        """If rows were checked: the scores of the model against the truth, in a sentence."""
        return [] if self.truth is None else [sentence(self.truth.note())]

    def record(self) -> dict[str, Any]:
        """Everything as plain numbers, for JSON."""
        return {
            "measure": self.measure,
            "verdict": self.verdict(),
            "n_selected": float(self.n_selected.mean()),
            "n_folds": len(self.selected),
            "confidence": self.confidence,
            **{name: vars(mean) for name, mean in self._means().items()},
            "chance": float(self.chance.mean()),
            "gain": vars(self.gain),
            "gain_over_random": vars(self.gain_over_random),
            **({} if self.added is None else {"added": vars(self.added)}),
            **({} if self.truth is None else {"truth": self.truth.record()}),
            "by_size": [
                {
                    "n_features": int(size),
                    **vars(self.estimate(self.by_size[:, place])),
                    "random": float(self.random_by_size[:, place].mean()),
                }
                for place, size in enumerate(self.sizes)
            ],
        }

    def to_frame(self) -> Any:
        """One row per number of features: mean score with its interval, and that of random features (needs pandas)."""
        import pandas as pd

        frame = pd.DataFrame(self.record()["by_size"])
        return frame.rename(columns={"mean": self.measure})

    def __str__(self) -> str:
        return self.headline()

    def __repr__(self) -> str:
        selected, everything = self.selected.mean(), self.all_features.mean()
        kept = f"{self.n_selected.mean():.3g} features"
        return f"<SelectionEvaluation: {self.measure} {selected:.3f} with {kept}, {everything:.3f} with all>"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.headline())}</p>{self.to_frame().round(3).to_html(index=False, border=0)}"


#: Largest number of sizes at which the model is evaluated.
_MOST_SIZES = 12
#: Models by what they predict.
_MODELS = {"classes": ("a classifier", is_classifier), "numbers": ("a regressor", is_regressor)}
#: Random subsets of each size per fold.
_RANDOM_DRAWS = 3


@documented
def evaluate_selection(
    selector: Any,
    model: Any,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    given: Any = None,
    checked: Any = None,
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
    given : str, int, a list of these, or a table (n_rows, any), optional
        What is known already, for a :class:`~dubio.FeatureSelector`: columns of X, or further ones, which the model
        gets too. The result also says what the selection adds to them.
    checked : CheckedRows, optional
        The truth of rows that were drawn at random (:func:`dubio.checked_rows`): the result also has the scores of the
        model against the truth (``truth``). The selector gets them too, if it takes them.
    sizes : list of int, optional
        Numbers of features at which the model is evaluated; by default up to 12 between 1 and all.
    n_splits, n_repeats : int
        Folds, and how often the rows are divided anew.
    {target}
    {missing_label}
    {random_state}
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
    X, given = joined_with(_table_of(X), given)
    if is_dask(y):
        raise InputError("y", f"is a Dask {type(y).__name__}, and folds need its rows in memory", "pass y.compute()")
    weights = None if sample_weight is None else check_weights(sample_weight, X)
    groups = read_groups(groups, number_of_rows(X))
    if weights is not None and not weights.all():
        counted = np.flatnonzero(weights)
        X, y, weights = some_rows(X, counted), some_rows(y, counted), weights[counted]
        groups = None if groups is None else groups[counted]
        checked = None if checked is None else checked[counted]
    supervision = read_supervision(y, number_of_rows(X), target=target, missing_label=missing_label).certain()
    _wrapper(supervision)  # raises if a model cannot be evaluated on it
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    for predicted, (name, is_one) in _MODELS.items():
        if predicted != supervision.reads and is_one(last):
            remedy = f"give {_MODELS[supervision.reads][0]}, or target={predicted!r}"
            raise InputError("model", f"is {name}, but {supervision.given}", remedy)
    checks = None if checked is None else read_checks(checked, supervision)
    facts = {"sample_weight": weights, "groups": groups, "checked": checked}
    which = _positions_of_given(given, selector, X)
    facts = {name: values for name, values in facts.items() if values is not None and has_fit_parameter(selector, name)}

    def fit(selector: Any, rows: Rows) -> Any:
        options = {name: values[rows] for name, values in facts.items()} | ({} if given is None else {"given": given})
        return clone(selector).fit(some_rows(X, rows), some_rows(y, rows), **options)

    table = _Table(
        supervision,
        weights,
        groups,
        n_features=int(X.shape[1]),
        fit=fit,
        part=lambda rows, features: some_columns(some_rows(X, rows), features),
        unreadable=lambda: _not_numbers(X),
        given=which,
        checks=checks,
    )
    return _evaluate(selector, model, table, sizes, n_splits, n_repeats, random_state, n_jobs)


def _positions_of_given(given: Any, selector: Any, X: Any) -> Rows:
    """The positions of given columns in a table."""
    if given is None:
        return np.zeros(0, dtype=np.int64)
    if not has_fit_parameter(selector, "given"):
        raise InputError(
            "given", f"cannot be used by {type(selector).__name__}", "use FeatureSelector, or leave it out"
        )
    return given_positions(given, number_of_rows(X), column_names(X), int(X.shape[1]))


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
        remedy = "give a table: one row per case, one column per feature"
        raise InputError("X", f"has {len(X.shape)} dimensions", remedy)
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
    problem = problem.dense.counted
    supervision = problem.supervision.certain()
    if supervision.n_classes:  # whatever their names are, any model can read codes
        supervision = replace(supervision, classes=np.arange(supervision.n_classes))  # type: ignore[call-arg]
    table = _Table(
        supervision,
        problem.sample_weight,
        problem.groups,
        n_features=problem.n_features,
        fit=lambda selector, rows: clone(selector).fit_problem(replace(problem.rows(rows), is_resample=True)),
        part=lambda rows, features: problem.table[np.ix_(rows, problem.columns_of(features))],
        given=problem.given_features,
        checks=_with_belief(problem),
    )
    return _evaluate(selector, model, table, sizes, n_splits, n_repeats, random_state, n_jobs)


def _with_belief(problem: Problem) -> Checks | None:
    """The checks of a problem, with what models believe of all rows as a proxy of the truth."""
    if problem.checks is None or not problem.supervision.n_classes:
        return None
    return replace(problem.checks, belief=believe(problem, "experts", True, ExpertOptions()).supervision)


def _wrapper(supervision: Supervision) -> type[DoubtModel]:
    """The wrapper that lets a model learn from a target."""
    remedy = "give classes, probabilities or numbers, of one target"
    supervision.require_form("hard", "soft", "numbers", remedy=remedy, cannot="cannot be evaluated")
    return DoubtRegressor if supervision.reads == DoubtRegressor.predicts else DoubtClassifier


@dataclass(frozen=True)
class _Table:
    """A table and its target: selectors and models are fitted to parts of it."""

    supervision: Supervision
    weights: Floats | None
    groups: Rows | None
    n_features: int
    #: A clone of a selector, fitted to some rows.
    fit: Callable[[Any, Rows], Any]
    #: Some rows of some features, for a model.
    part: Callable[[Rows, Rows], Any]
    #: Cells that hardly any model can read, in words; "" if all are numbers.
    unreadable: Callable[[], str] = str
    #: The truth of some rows.
    checks: Checks | None = None
    #: Features that come with all others.
    given: Rows = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


def _not_numbers(X: Any) -> str:
    if sparse.issparse(X):
        return ""
    try:
        cells = np.asarray(X, dtype=np.float64)
    except (ValueError, TypeError):
        return "text or dates"
    return "missing" if np.isnan(cells).any() else ""


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
    seed, wrapped = seed_of(random_state), _wrapper(table.supervision)(model)
    wanted = np.unique(np.maximum(_sizes(sizes, table.n_features), len(table.given)))
    folds = [
        fold
        for repeat in range(n_repeats)
        for fold in KnownFolds(n_splits, random_state=seed + repeat).split_target(table.supervision, table.groups)
    ]
    found: list[dict[str, Any]] = []
    work = joblib.Parallel(n_jobs=min(resolve_threads(n_jobs), len(folds)), return_as="generator")(
        joblib.delayed(_score_fold)(selector, wrapped, table, wanted, train, test, seed + number)
        for number, (train, test) in enumerate(folds)
    )
    for scores in work:
        found.append(scores)
        advance("folds", len(found), len(folds))
    said = [scores.pop("said") for scores in found]
    columns: dict[str, Any] = {name: np.array([scores[name] for scores in found]) for name in found[0]}
    tested = np.unique(np.concatenate([test for _, test in folds]))
    weights: Floats = np.ones(len(tested)) if table.weights is None else table.weights[tested]
    if table.groups is not None:  # equal rows of one group say no more than one
        weights = np.bincount(table.groups[tested], weights=weights).astype(np.float64)
    return SelectionEvaluation(
        sizes=wanted,
        measure=wrapped.measure,
        share_tested=1 / n_splits,
        # so many rows of the same weight say as much: L. Kish (1965), Survey Sampling, section 11.7
        n_tested=float(weights.sum() ** 2 / (weights**2).sum()),
        truth=_against_truth(table, [test for _, test in folds], said),
        **columns,
    )


def _against_truth(table: _Table, tests: list[Rows], said: list[Floats | None]) -> TruthScores | None:
    """The scores of what was said in the folds against the truth of the checked rows."""
    if table.checks is None or said[0] is None:
        return None
    n, n_classes = table.supervision.n_rows, table.supervision.n_classes
    named, scores, times = np.zeros((n, n_classes)), np.zeros(n), np.zeros(n)
    for rows, probabilities in zip(tests, said, strict=True):
        assert probabilities is not None
        named[rows, probabilities.argmax(axis=1)] += 1.0
        scores[rows] += probabilities[:, -1]
        times[rows] += 1.0
    with np.errstate(invalid="ignore"):
        named, scores = named / times[:, None], scores / times
    return truth_scores(table.checks, table.supervision, named, scores, table.weights, table.groups)


def _score_fold(
    selector: Any, model: DoubtModel, table: _Table, sizes: Rows, train: Rows, test: Rows, seed: int
) -> dict[str, Any]:
    """The scores of a model on the rows of one fold, by the name of the field."""
    rng = np.random.default_rng(seed)
    supervision, tested = table.supervision.rows(train).certain(), table.supervision.rows(test)
    of_tested = None if table.weights is None else table.weights[test]
    weights = table.weights[train] if table.weights is not None and weight_argument(model.estimator) else None

    def said_of(features: Rows) -> Floats | None:
        """Probabilities of the classes in the order of the target; None if the truth of no row is known."""
        if table.checks is None or not tested.n_classes:
            return None
        features = np.sort(features)
        fitted = clone(model).fit_target(table.part(train, features), supervision, weights)
        return fitted.probabilities_of(table.part(test, features), tested)

    @cache
    def on_set(features: tuple[int, ...]) -> float:
        chosen = np.array(features, dtype=np.int64)
        try:
            fitted = clone(model).fit_target(table.part(train, chosen), supervision, weights)
            return fitted.score_target(table.part(test, chosen), tested, of_tested)
        except (ValueError, TypeError) as error:
            cells = "" if isinstance(error, InputError) else table.unreadable()
            if not cells:
                raise
            raise InputError(
                "model",
                f"cannot read the table, in which some cells are {cells} ({error})",
                "put an encoder and an imputer before the model, or let the selector read the table as numbers for it: "
                "dubio.pipelines.evaluate_problem(selector, usual_model('logistic'), selector.read_problem(X, y))",
            ) from error

    def on(features: Rows) -> float:
        return on_set(tuple(np.sort(features).tolist()))

    with one_blas_thread():  # hundreds of small models
        chosen = table.fit(selector, train)

        def beside_given(features: Rows) -> Rows:
            return np.concatenate([table.given, features[~np.isin(features, table.given)]])

        order = beside_given(np.argsort(chosen.ranking_, kind="stable"))
        kept = beside_given(np.flatnonzero(chosen.support_))
        # the same random orders for every size: the curve and the headline then say the same of one size
        orders = [beside_given(rng.permutation(len(order))) for _ in range(_RANDOM_DRAWS)]

        def random(size: int) -> float:
            return float(np.mean([on(drawn[:size]) for drawn in orders]))

        return {
            "by_size": [on(order[:size]) for size in sizes],
            "random_by_size": [random(int(size)) for size in sizes],
            "selected": on(kept),
            "said": said_of(kept),
            "all_features": on(order),
            "random": random(len(kept)),
            "n_selected": len(kept) - len(table.given),
            "chance": model.chance(table.supervision, table.weights, train, test),
            **({"given_alone": on(table.given)} if len(table.given) else {}),
        }


def _sizes(sizes: Any, n_features: int) -> NDArray[np.int64]:
    """The sizes asked for, or up to twelve between 1 and all features; of many features, small sizes more densely."""
    if sizes is None:
        spread = np.linspace if n_features <= 2 * _MOST_SIZES else np.geomspace
        return np.unique(spread(1, n_features, min(_MOST_SIZES, n_features)).round().astype(np.int64))
    wanted = np.unique(np.asarray(sizes, dtype=np.int64))
    if not len(wanted) or wanted[0] < 1 or wanted[-1] > n_features:
        raise InputError("sizes", f"={list(sizes)!r}", f"give numbers from 1 to the {n_features} features")
    return wanted


ModelName = Literal["logistic", "forest", "svm"]


def usual_model(
    name: ModelName, target: Literal["classes", "numbers"] = "classes", *, random_state: int = 0
) -> Pipeline:
    """A classifier, or the regressor that matches it, for columns of numbers of which some may be missing.

    Parameters
    ----------
    name : {"logistic", "forest", "svm"}
        Logistic regression, a random forest or a support vector machine with a Gaussian kernel. For numbers: ridge
        regression, a forest or a support vector regression.
    target : {"classes", "numbers"}
        What is predicted.
    random_state : int, default=0
        Seed of the forest.

    Returns
    -------
    Pipeline
        Missing cells are filled with the median of the training rows, and columns are scaled.

    Examples
    --------
    >>> from dubio.pipelines import usual_model
    >>> usual_model("logistic", "numbers")[-1]
    Ridge()
    """
    forest = {"n_estimators": 100, "random_state": random_state}
    models: dict[str, tuple[Any, Any]] = {
        "logistic": (LogisticRegression(max_iter=1000), Ridge()),
        "forest": (RandomForestClassifier(**forest), RandomForestRegressor(**forest)),
        # the margin of the regression is in units of y
        "svm": (SVC(), TransformedTargetRegressor(SVR(), transformer=StandardScaler())),
    }
    if name not in models:
        raise InputError("name", f"={name!r}", "give 'logistic', 'forest' or 'svm'")
    return make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler(), models[name][target == "numbers"]
    )
