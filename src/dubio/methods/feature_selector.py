"""The main entry: one selector that looks at what is known, chooses the method, and explains why."""

from __future__ import annotations

import warnings
from dataclasses import field, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy.stats import false_discovery_control

from dubio.counts import NeighborsCut, resolve_count
from dubio.errors import InputError, counted
from dubio.methods.base import Selector
from dubio.methods.choice import Choice, choose
from dubio.methods.parameters import NOT_NEGATIVE, Count, estimator
from dubio.methods.redundancy import rank_without_repeats
from dubio.methods.register import Method, get_method
from dubio.methods.relation import relation_pvalues
from dubio.problem import Problem
from dubio.ranking import Answer, Ranking
from dubio.significance.count import NoFeatureStandsOut, keep_significant
from dubio.supervision import Supervision
from dubio.supervision.reader import Target
from dubio.tables.matrix import check_squares


@estimator
class FeatureSelector(Selector):
    """Select features with what is known of the target, and explain what was done and why.

    Parameters
    ----------
    method : str
        "auto" chooses by the supervision and the size of the table (``dubio/methods/choice.py`` has the rules).
        Otherwise a name in ``dubio.METHODS``.
    n_features_to_select : "auto", int, float or None
        "auto" keeps the features that stand out. With ``method="auto"`` and a target, these are the features with a
        linear or smooth relation to it (:func:`~dubio.methods.relation.relation_pvalues`); otherwise, those whose score
        is better than expected by chance. The false-discovery rate is limited to ``alpha``. A search requested by name
        keeps its smallest sufficient subset. Instead of "auto": a count, a share, or None for half of the features.
    {alpha}
    redundancy : float, optional
        Weight of the penalty on features that resemble better-ranked ones (:func:`~dubio.redundancy_ranking`), for
        example 1. Off by default.
    {target}
    {missing_label}
    method_params : dict, optional
        Further parameters of the method.
    {random_state}
    {n_jobs}

    Attributes
    ----------
    method_ : str
        Name of the method used.
    explanation_ : str
        How the labels were read, which method was chosen and why, and how many features were kept and why.
    selector_ : Selector
        The method's own estimator, fitted.
    supervision_ : Supervision
        What is known of the target, as it was read.
    scores_ : array (n_features,)
        The scores of the method; ``lower_is_better_`` gives their direction.
    ranking_ : array (n_features,)
        1 = best.
    support_ : array (n_features,) of bool
        The features kept.
    n_features_ : int
    pvalues_, qvalues_ : array (n_features,)
        With "auto", except for searches requested by name.
    sufficient_subset_ : array of int
        If "auto" chose a search: the smallest subset that predicts the target about as well as any. The features kept
        are all features related to the target; this subset is smaller, because one feature can replace another.
    n_missing_values_ : int
        Number of missing cells of X; they were filled with the median of their column.

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
        "redundancy": [None, *NOT_NEGATIVE],
        "method_params": [None, dict],
    }

    method: str = field(default="auto", kw_only=False)
    n_features_to_select: Count = "auto"
    alpha: float = 0.05
    redundancy: float | None = None
    target: Target = "auto"
    missing_label: Any = "auto"
    method_params: dict[str, Any] | None = None
    random_state: Any = 0
    n_jobs: int | None = None

    def fit(self, X: Any, y: Any = None, *, must_link: Any = None, cannot_link: Any = None) -> Self:
        """Rank the features of ``X`` and choose among them.

        Parameters
        ----------
        X : array-like (n_rows, n_features)
            The table; missing cells (NaN) are filled with the median of their column.
        y : array-like, optional
            What is known of the target: classes, class probabilities or numbers. Some or all may be missing.
        must_link, cannot_link : array-like (m, 2), optional
            Pairs of rows of the same class, and of different classes.

        Returns
        -------
        self
        """
        return self._fit(X, y, must_link=must_link, cannot_link=cannot_link)

    def read_problem(self, X: Any, y: Any = None, **more: Any) -> Problem:
        """Read a table and a target as ``fit`` does; ``method_params`` may say how y is read."""
        own = {name: value for name, value in (self.method_params or {}).items() if name in ("target", "missing_label")}
        return super().read_problem(X, y, **{**own, **more})

    def _require(self, problem: Problem) -> None:
        """Check nothing here: the chosen method checks what it can use."""

    def _solve(self, problem: Problem) -> Answer:
        wish = self.n_features_to_select
        if wish != "auto":
            resolve_count(wish, problem.n_features)
        n_missing = problem.n_missing
        problem = problem.filled
        problem = problem.with_supervision(problem.supervision.certain())
        supervision, seed = problem.supervision, self._seed
        choice = self._choose(supervision, problem.n_features)
        method = get_method(choice.method)
        method.require(supervision)
        if not method.estimator._takes_nan:  # the same check as when that method reads a table
            check_squares(problem.X, names=problem.names)
        tests_relation = wish == "auto" and self.method == "auto"
        tests_relation &= supervision.kind != "none" and not supervision.has_pairs
        # a score must not spend time on its own tests if they are not needed
        selector = self._make(method, choice, seed, None if tests_relation and not method.is_search else wish)
        with warnings.catch_warnings():
            if tests_relation:
                warnings.simplefilter("ignore", NoFeatureStandsOut)  # the tests below decide
            if not self.method_params:
                warnings.simplefilter("ignore", NeighborsCut)  # the user did not choose a number of neighbours
            selector.fit_problem(problem)
        ranking: Ranking = selector.to_ranking()
        attributes = {
            "method_": method.name,
            "selector_": selector,
            "supervision_": supervision,
            "scores_": ranking.scores,
            "lower_is_better_": ranking.lower_is_better,
            "n_missing_values_": n_missing,
        }
        if tests_relation:
            if method.is_search:
                attributes["sufficient_subset_"] = np.flatnonzero(ranking.support)
            ranking = self._tested(problem, ranking, seed)
        if self.redundancy:
            ranks = rank_without_repeats(problem, ranking.ranking, weight=self.redundancy)
            support = ranking.support if wish == "auto" else ranks <= ranking.support.sum()
            ranking = replace(ranking, ranking=ranks, support=support)
        sufficient = attributes.get("sufficient_subset_")
        explanation = self._explain(supervision, n_missing, choice, method, ranking, sufficient)
        return Answer(replace(ranking, method=method.name, reason=explanation), attributes)

    def _tested(self, problem: Problem, ranking: Ranking, seed: int) -> Ranking:
        """The same order, but the tests of each feature decide which features are kept."""
        tests = relation_pvalues(problem, alpha=self.alpha, random_state=seed, n_jobs=self.n_jobs)
        qvalues = false_discovery_control(tests.pvalues)
        support, reason = keep_significant(qvalues, ranking.ranking, self.alpha)
        columns = {"pvalue": tests.pvalues, "qvalue": qvalues, **ranking.extras}
        return replace(ranking, support=support, reason=reason, extras=columns)

    def _choose(self, supervision: Supervision, n_features: int) -> Choice:
        if self.method != "auto":
            return Choice(self.method, "it was requested by name")
        if supervision.has_pairs and supervision.kind not in ("none", "hard"):
            raise InputError(
                "must_link" if len(supervision.pairs.must_link) else "cannot_link",
                f"cannot be used here: {supervision.given}, and no method takes both",
                "leave one of them out",
            )
        return choose(supervision, n_features)

    def _make(self, method: Method, choice: Choice, seed: int, count: Count) -> Selector:
        parameters = {"n_features_to_select": count, "alpha": self.alpha, "random_state": seed, "n_jobs": self.n_jobs}
        selector: Selector = method.make(**{**parameters, **choice.parameters})
        if self.method_params:
            unknown = sorted(set(self.method_params) - set(selector.get_params()))
            if unknown:
                raise InputError(
                    "method_params",
                    f"holds {unknown[0]!r}, which is not a parameter of {type(selector).__name__}",
                    f"its parameters are {', '.join(selector.get_params())}",
                )
            selector.set_params(**self.method_params)
        return selector

    def _explain(
        self,
        supervision: Supervision,
        n_missing: int,
        choice: Choice,
        method: Method,
        ranking: Ranking,
        sufficient: Any,
    ) -> str:
        sentences = [supervision.describe()]
        if n_missing:
            were = "was" if n_missing == 1 else "were"
            sentences.append(f"{counted(n_missing, 'missing value')} in the table {were} filled with column medians")
        parts = choice.parameters.get("methods")
        what = f"mean rank of {' and '.join(parts)}" if parts else method.name
        sentences.append(f"Method: {what} ({method.does}), because {choice.because}")
        if self.redundancy:
            sentences.append(
                f"Features that resemble better ones were moved down (redundancy weight {self.redundancy:g})"
            )
        kept, total = int(ranking.support.sum()), len(ranking.names)
        sentences.append(f"Kept {kept} of {total}: {ranking.reason}")
        if sufficient is not None:
            names = ", ".join(str(name) for name in ranking.names[sufficient])
            sentences.append(
                f"Together, these predict the target about as well as any subset the search found: {names}"
            )
        return ". ".join(sentences) + "."


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
        ``reason`` explains what was done and why; ``support`` marks the features kept.

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
