"""What is a selection worth? Nested cross-validation of a model on the selected features, on all and on random ones."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any, Literal

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline

from dubio._sklearn import number_of_rows, safe_indexing
from dubio.errors import InputError
from dubio.pipelines.doubt_models import DoubtClassifier, DoubtRegressor
from dubio.pipelines.known_folds import KnownFolds
from dubio.pipelines.scoring import expected_accuracy, known_r2
from dubio.progress import advance
from dubio.seeds import seed_of
from dubio.supervision import Numbers, read_supervision

Floats = NDArray[np.float64]
Measure = Literal["accuracy", "R2"]
#: Largest number of sizes at which the model is evaluated.
_MOST_SIZES = 12
#: Random subsets of each size per fold.
_RANDOM_DRAWS = 3


@dataclass(frozen=True)
class Estimate:
    """A mean over folds, with its confidence interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} ({self.low:.3f} to {self.high:.3f})"


@dataclass(frozen=True)
class SelectionEvaluation:
    """The result of :func:`evaluate_selection`. Every score is of rows that neither selection nor model has seen.

    Attributes
    ----------
    sizes : array (n_sizes,)
        Numbers of features.
    by_size, random_by_size : array (n_folds, n_sizes)
        Score of the model on the first features of the ranking, and on as many random ones.
    selected, all_features, random : array (n_folds,)
        Score of the model on the features that the selector keeps, on all features, and on as many random ones.
    n_selected : array (n_folds,)
        Number of features kept in each fold.
    chance : array (n_folds,)
        Score of always saying the most frequent class, or the mean.
    measure : str
        "accuracy" (with probabilities, the expected one) or "R2".
    share_tested : float
        Share of the known rows in a test fold.
    confidence : float
    """

    sizes: NDArray[np.int64]
    by_size: Floats
    random_by_size: Floats
    selected: Floats
    all_features: Floats
    random: Floats
    n_selected: NDArray[np.int64]
    chance: Floats
    measure: Measure
    share_tested: float
    confidence: float = 0.95

    def estimate(self, scores: Floats, most: float = np.inf) -> Estimate:
        r"""Mean of the scores of the folds, with an interval that ends at ``most``.

        Folds share most of their training rows, so their plain standard error is too small. The variance is
        :math:`\sigma^2 (1/m + n_{test} / n_{train})` for :math:`m` folds [1]_.

        .. [1] C. Nadeau and Y. Bengio (2003). Inference for the generalization error. Machine Learning 52, 239-281.
        """
        m = len(scores)
        spread = float(np.std(scores, ddof=1)) * np.sqrt(1 / m + self.share_tested / (1 - self.share_tested))
        half = float(student.ppf(0.5 + self.confidence / 2, m - 1)) * spread
        mean = float(scores.mean())
        return Estimate(mean, mean - half, min(mean + half, most))

    @property
    def gain(self) -> Estimate:
        """Score on the selected features minus the score on all features, fold by fold."""
        return self.estimate(self.selected - self.all_features)

    @property
    def gain_over_random(self) -> Estimate:
        """Score on the selected features minus the score on as many random ones, fold by fold."""
        return self.estimate(self.selected - self.random)

    def headline(self) -> str:
        """What the selection is worth, in two sentences."""
        kept, measure = f"{np.median(self.n_selected):g}", "R2" if self.measure == "R2" else "Accuracy"
        said = (
            f"{measure} with the selected features ({kept}): {self.estimate(self.selected, 1.0)}; "
            f"with all features: {self.estimate(self.all_features, 1.0)}; with {kept} random ones: "
            f"{self.estimate(self.random, 1.0)}. "
        )
        above = self.estimate(self.selected - self.chance)
        if above.low <= 0:
            return said + "Selection does not help: the model is not better than chance."
        if self.gain.low > 0:
            return said + "Selection helps: the model is better than with all features."
        if self.gain.high < 0:
            return said + "Selection costs: the model is better with all features."
        if self.gain_over_random.low > 0:
            return said + "The selected features do as well as all of them, and better than random ones."
        return said + "It cannot be told whether they are better than as many random ones."

    def to_frame(self) -> Any:
        """One row per number of features: mean score with its interval, and that of random features (needs pandas)."""
        import pandas as pd

        rows = []
        for place, size in enumerate(self.sizes):
            found = self.estimate(self.by_size[:, place], 1.0)
            rows.append((int(size), found.mean, found.low, found.high, float(self.random_by_size[:, place].mean())))
        return pd.DataFrame(rows, columns=["n_features", self.measure, "low", "high", "random"])

    def __repr__(self) -> str:
        return self.headline()

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.headline())}</p>{self.to_frame().round(3).to_html(index=False, border=0)}"


def evaluate_selection(
    selector: Any,
    model: Any,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
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
        Rows that belong together: they are never divided between training and test.
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
    if n_repeats < 1:
        raise InputError("n_repeats", f"={n_repeats}", "give at least 1")
    n_rows = number_of_rows(X)
    known = read_supervision(y, n_rows, target=target, missing_label=missing_label).certain()
    is_numeric = isinstance(known, Numbers)
    if is_numeric and is_classifier(_last(model)):
        raise InputError("model", f"is a classifier, but {known.given}", "give a regressor, or target='classes'")
    kind: Literal["classes", "numbers"] = "numbers" if is_numeric else "classes"
    seed = seed_of(random_state)
    n_features = X.shape[1]
    wanted = _sizes(sizes, n_features)
    folds = [
        fold
        for repeat in range(n_repeats)
        for fold in KnownFolds(n_splits, target=kind, missing_label=missing_label, random_state=seed + repeat).split(
            X, y, groups
        )
    ]
    wrap: Any = DoubtRegressor if is_numeric else DoubtClassifier
    judge = _Judge(selector, wrap(model, missing_label=missing_label), X, y, groups, wanted, is_numeric, missing_label)
    found = []
    work = joblib.Parallel(n_jobs=n_jobs, return_as="generator")(
        joblib.delayed(judge.fold)(train, test, seed + number) for number, (train, test) in enumerate(folds)
    )
    for scores in work:
        found.append(scores)
        advance("folds", len(found), len(folds))
    columns: dict[str, Any] = {name: np.array([scores[name] for scores in found]) for name in found[0]}
    return SelectionEvaluation(
        sizes=wanted,
        measure="R2" if is_numeric else "accuracy",
        share_tested=1 / n_splits,
        n_selected=columns.pop("n_selected").astype(np.int64),
        **columns,
    )


@dataclass(frozen=True)
class _Judge:
    """Scores one fold."""

    selector: Any
    model: Any
    X: Any
    y: Any
    groups: Any
    sizes: NDArray[np.int64]
    is_numeric: bool
    missing_label: Any

    def fold(self, train: NDArray[np.int64], test: NDArray[np.int64], seed: int) -> dict[str, Any]:
        rng = np.random.default_rng(seed)
        X, y = safe_indexing(self.X, train), safe_indexing(self.y, train)
        X_test, y_test = safe_indexing(self.X, test), safe_indexing(self.y, test)
        selector = clone(self.selector)
        options = {} if self.groups is None else {"groups": np.asarray(self.groups)[train]}
        selector.fit(X, y, **options)
        order = np.argsort(selector.ranking_, kind="stable")
        n_features = len(order)
        score = expected_accuracy if not self.is_numeric else known_r2

        def on(features: NDArray[np.int64]) -> float:
            features = np.sort(features)
            fitted = clone(self.model).fit(safe_indexing(X, features, axis=1), y)
            return score(fitted, safe_indexing(X_test, features, axis=1), y_test, missing_label=self.missing_label)

        def random(size: int) -> float:
            if size == n_features:
                return everything
            return float(np.mean([on(rng.permutation(n_features)[:size]) for _ in range(_RANDOM_DRAWS)]))

        everything = on(order)
        kept = np.flatnonzero(selector.support_)
        return {
            "by_size": [everything if size == n_features else on(order[:size]) for size in self.sizes],
            "random_by_size": [random(int(size)) for size in self.sizes],
            "selected": on(kept),
            "all_features": everything,
            "random": random(len(kept)),
            "n_selected": len(kept),
            "chance": self._chance(y, y_test),
        }

    def _chance(self, y: Any, y_test: Any) -> float:
        """What a constant prediction scores."""
        if self.is_numeric:
            return 0.0
        options = {"target": "classes", "missing_label": self.missing_label}
        known: Any = read_supervision(y, number_of_rows(y), **options)
        tested: Any = read_supervision(y_test, number_of_rows(y_test), **options)
        likeliest = known.classes.tolist()[int(known.memberships.sum(axis=0).argmax())]
        names = tested.classes.tolist()
        if likeliest not in names:
            return 0.0
        return float(tested.memberships[tested.labelled, names.index(likeliest)].mean())


def _sizes(sizes: Any, n_features: int) -> NDArray[np.int64]:
    """The sizes asked for, or up to twelve between 1 and all features; of many features, small sizes more densely."""
    if sizes is None:
        spread = np.linspace if n_features <= 2 * _MOST_SIZES else np.geomspace
        return np.unique(spread(1, n_features, min(_MOST_SIZES, n_features)).round().astype(np.int64))
    wanted = np.unique(np.asarray(sizes, dtype=np.int64))
    if not len(wanted) or wanted[0] < 1 or wanted[-1] > n_features:
        raise InputError("sizes", f"={list(sizes)!r}", f"give numbers from 1 to the {n_features} features")
    return wanted


def _last(model: Any) -> Any:
    return model.steps[-1][1] if isinstance(model, Pipeline) else model
