"""The front door: one selector that looks at what is known, chooses the method, and says why."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from dubio.choice import Choice, choose
from dubio.ranking import Ranking, resolve_count
from dubio.scores.redundancy import redundancy_ranking
from dubio.selectors.base import BaseSelector, Count
from dubio.selectors.register import Method, get_method
from dubio.significance.count import NoFeatureStandsOut, keep_significant
from dubio.significance.dependence import relation_pvalues
from dubio.significance.multiple import benjamini_hochberg
from dubio.supervision import SoftLabels, Supervision
from dubio.supervision.class_names import OddClassNames
from dubio.supervision.reader import Target
from dubio.table import Matrix


class FeatureSelector(BaseSelector):
    """Select features with whatever is known of the target, and say what was done and why.

    Parameters
    ----------
    method : str
        "auto" looks at the supervision and the size of the table (``dubio/choice.py`` has the rules); otherwise a name
        in ``dubio.METHODS``.
    n_features_to_select : "auto", int, float or None
        "auto" keeps what stands out: with ``method="auto"`` and a target, the features with a linear or smooth
        relation to it (:func:`~dubio.significance.relation_pvalues`), otherwise those whose score is better than
        chance allows; false discoveries are held at ``alpha``. A search named by hand keeps its smallest sufficient
        subset. Else a count, a share, or None for half.
    alpha : float
        The share of false discoveries to allow.
    redundancy : float, optional
        Weight of the penalty on features like those ranked before (:func:`~dubio.redundancy_ranking`), 1 say. Off by
        default.
    target : {"auto", "classes", "numbers"}
        What a 1-D y holds.
    missing_label : "auto", None or a value
        What means "unlabelled" in classes besides None and NaN.
    method_params : dict, optional
        Further parameters of the method.
    random_state : int, RandomState or None
        For everything that is drawn at random.
    n_jobs : int, optional
        Threads.

    Attributes
    ----------
    method_ : str
        Name of the method used.
    explanation_ : str
        How the labels were understood, which method was chosen and why, how many features were kept and why.
    selector_ : BaseSelector
        The method's own estimator, fitted.
    supervision_ : Supervision
        What is known of the target, as it was understood.
    scores_ : array (n_features,)
        Of the method; ``lower_is_better_`` gives their direction.
    ranking_ : array (n_features,)
        1 = best.
    support_ : array (n_features,) of bool
        The features kept.
    n_features_ : int
    pvalues_, qvalues_ : array (n_features,)
        With "auto", except for searches named by hand.
    sufficient_subset_ : array of int
        Where "auto" chose a search: the smallest subset that predicts the target about as well as any. The features
        kept are all that are related to the target; these are fewer, because one can stand in for another.
    n_missing_values_ : int
        Missing cells of X; they were taken as the median of their column.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dubio import FeatureSelector
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = FeatureSelector(n_features_to_select=2).fit(X, y)
    >>> list(selector.get_feature_names_out())
    ['petal length (cm)', 'petal width (cm)']
    >>> print(selector.explanation_)  # doctest: +ELLIPSIS
    150 rows with one class each (3 classes). Method: ...
    """

    _target = "auto"
    _needs_labels = False
    _takes_nan = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "method": [str],
        "redundancy": [None, Interval(Real, 0, None, closed="left")],
        "method_params": [None, dict],
    }

    def __init__(
        self,
        method: str = "auto",
        *,
        n_features_to_select: Count = "auto",
        alpha: float = 0.05,
        redundancy: float | None = None,
        target: Target = "auto",
        missing_label: Any = "auto",
        method_params: dict[str, Any] | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.method = method
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.redundancy = redundancy
        self.target = target
        self.missing_label = missing_label
        self.method_params = method_params
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, *, must_link: Any = None, cannot_link: Any = None) -> Self:
        """Rank the features of ``X`` and choose among them.

        Parameters
        ----------
        X : array-like (n_rows, n_features)
            The table; missing cells (NaN) are taken as the median of their column.
        y : array-like, optional
            What is known of the target: classes, class probabilities or numbers, some missing; or nothing.
        must_link, cannot_link : array-like (m, 2), optional
            Pairs of rows of the same class, and of different classes.

        Returns
        -------
        self
        """
        return self._fit_once(X, y, must_link=must_link, cannot_link=cannot_link)

    def _fit(self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None) -> None:
        if not isinstance(self.n_features_to_select, str):
            resolve_count(self.n_features_to_select, X.shape[1])
        self._forget("pvalues_", "qvalues_", "sufficient_subset_")
        table, self.n_missing_values_ = _fill_with_medians(X)
        self.supervision_ = supervision = supervision.certain_as_hard()
        seed = self._seed
        choice = self._choose(supervision, X.shape[1])
        method = get_method(choice.method)
        method.require(supervision)
        self.method_ = method.name
        tests_relation = self.n_features_to_select == "auto" and self.method == "auto" and supervision.kind != "none"
        tests_relation &= not supervision.has_pairs
        # a ranker is not to spend time on tests of its own that are not asked for
        count = None if tests_relation and not method.is_search else self.n_features_to_select
        self.selector_ = self._make(method, choice, supervision, seed, count)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OddClassNames)  # said when y was read
            if tests_relation:
                warnings.simplefilter("ignore", NoFeatureStandsOut)  # the tests below decide
            self.selector_.fit(table, _target_of(supervision), **_pairs_of(supervision, method))
        result = self.selector_.to_ranking()
        self.scores_, self.lower_is_better_ = result.scores, result.lower_is_better
        self.ranking_, self.support_, reason = result.ranking, result.support, result.reason
        for name in ("pvalue", "qvalue"):
            if name in result.extras:
                setattr(self, name + "s_", result.extras[name])
        if tests_relation:
            tests = relation_pvalues(table, supervision, alpha=self.alpha, random_state=seed, n_jobs=self.n_jobs)
            self.pvalues_, self.qvalues_ = tests.pvalues, benjamini_hochberg(tests.pvalues)
            self.support_, reason = keep_significant(self.qvalues_, self.ranking_, self.alpha, stacklevel=5)
            if method.is_search:
                self.sufficient_subset_ = np.flatnonzero(result.support)
        if self.redundancy:
            self.ranking_ = redundancy_ranking(table, self.ranking_, weight=self.redundancy)
            if self.n_features_to_select != "auto":
                self.support_ = self.ranking_ <= self.support_.sum()
        self.n_features_ = int(self.support_.sum())
        self.explanation_ = self._explain(supervision, choice, method, reason)

    def _choose(self, supervision: Supervision, n_features: int) -> Choice:
        if self.method != "auto":
            return Choice(self.method, "it was asked for by name")
        if supervision.has_pairs and supervision.kind in ("soft", "numbers"):
            raise ValueError(
                "must_link and cannot_link stand beside class probabilities or numbers in y, and no method takes both: "
                "leave one of them out."
            )
        return choose(supervision, n_features)

    def _make(self, method: Method, choice: Choice, supervision: Supervision, seed: int, count: Count) -> BaseSelector:
        parameters = {
            "n_features_to_select": count,
            "alpha": self.alpha,
            "target": "numbers" if supervision.kind == "numbers" else "classes",
            "missing_label": None,
            "random_state": seed,
            "n_jobs": self.n_jobs,
        }
        selector = method.make(**{**parameters, **choice.parameters})
        if self.method_params:
            unknown = sorted(set(self.method_params) - set(selector.get_params()))
            if unknown:
                raise ValueError(
                    f"method_params: {unknown[0]!r} is no parameter of {type(selector).__name__}; it has "
                    f"{', '.join(selector.get_params())}."
                )
            selector.set_params(**self.method_params)
        return selector

    def _explain(self, supervision: Supervision, choice: Choice, method: Method, reason: str) -> str:
        sentences = [supervision.describe()]
        if self.n_missing_values_:
            sentences.append(
                f"{self.n_missing_values_} missing value(s) of the table were taken as the median of their column"
            )
        parts = choice.parameters.get("methods")
        what = f"mean rank of {' and '.join(parts)}" if parts else method.name
        sentences.append(f"Method: {what} ({method.does}), because {choice.because}")
        if self.redundancy:
            sentences.append(f"Features like those ranked before them were moved down (redundancy={self.redundancy:g})")
        sentences.append(f"Kept {self.n_features_} of {self.n_features_in_}: {reason}")
        if hasattr(self, "sufficient_subset_"):
            names = ", ".join(str(name) for name in self._names()[self.sufficient_subset_])
            sentences.append(
                f"Together, these predict the target about as well as any subset the search found: {names}"
            )
        return ". ".join(sentences) + "."

    def to_ranking(self) -> Ranking:
        """The result as a :class:`~dubio.ranking.Ranking`: names, scores, direction, order, what was kept and why."""
        check_is_fitted(self)
        return Ranking(
            self._names(),
            self.scores_,
            self.lower_is_better_,
            self.ranking_,
            self.support_,
            self.method_,
            self.explanation_,
            extras={name: getattr(self, name + "s_") for name in ("pvalue", "qvalue") if hasattr(self, name + "s_")},
        )


def select_features(
    X: Any, y: Any = None, *, must_link: Any = None, cannot_link: Any = None, **options: Any
) -> Ranking:
    """Rank the features of a table and choose among them, in one call.

    Parameters
    ----------
    X, y, must_link, cannot_link
        As in :meth:`FeatureSelector.fit`.
    **options
        Parameters of :class:`FeatureSelector`.

    Returns
    -------
    Ranking
        ``reason`` says what was done and why; ``support`` marks the features kept.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dubio import select_features
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> ranking = select_features(X, y, n_features_to_select=2)
    >>> sorted(ranking.names[ranking.support])
    ['petal length (cm)', 'petal width (cm)']
    """
    return FeatureSelector(**options).fit(X, y, must_link=must_link, cannot_link=cannot_link).to_ranking()


def _fill_with_medians(X: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """The table without missing cells, and how many it had; a column of nothing else becomes constant."""
    missing = np.isnan(X)
    count = int(missing.sum())
    if not count:
        return X, 0
    filled = X.copy()
    for column in np.flatnonzero(missing.any(axis=0)):
        known = X[~missing[:, column], column]
        filled[missing[:, column], column] = np.median(known) if len(known) else 0.0
    return filled, count


def _target_of(supervision: Supervision) -> Any:
    """y again, in a form that every method reads in the same way."""
    if supervision.kind == "numbers":
        return supervision.values
    if supervision.kind == "hard":
        assert supervision.codes is not None and supervision.classes is not None
        labels = np.full(supervision.n_rows, None, dtype=object)
        labels[supervision.labelled] = supervision.classes[supervision.codes[supervision.labelled]].tolist()
        return labels
    if supervision.kind == "soft":
        assert supervision.memberships is not None and supervision.classes is not None
        memberships = supervision.memberships.copy()
        memberships[~supervision.labelled] = np.nan
        return SoftLabels(memberships, supervision.classes)
    return None


def _pairs_of(supervision: Supervision, method: Method) -> dict[str, Any]:
    if not supervision.has_pairs or "pairs" not in method.takes:
        return {}
    return {"must_link": supervision.must_link, "cannot_link": supervision.cannot_link}
