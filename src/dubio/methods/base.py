"""The base of every method: an estimator whose ``fit`` reads a problem once, solves it and keeps the answer."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from dubio._sklearn import check_parameters, feature_names
from dubio.counts import resolve_count
from dubio.errors import InputError, counted
from dubio.methods.parameters import CONSTRAINTS, Count, estimator
from dubio.methods.two_lines import TESTED, Lines, draw_lines
from dubio.problem import Problem, read_problem, require_weights
from dubio.ranking import Answer, Ranking, Scored, rank_in_order
from dubio.seeds import seed_of
from dubio.significance.group_units import independent_parts
from dubio.significance.permutation import RelabelNull, permutation_pvalues
from dubio.significance.relevance import Relevance, decide, qvalues_of, relevance_of
from dubio.significance.sufficient import RowLosses, row_losses_of
from dubio.supervision import OfClasses, SeveralTargets
from dubio.supervision.knowledge import kinds_in_words


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
        return super().transform(X)

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


@estimator
class ScoreSelector(Selector):
    """A selector that gives every feature its own score.

    A subclass computes the scores in :meth:`_score`. This class ranks the features and decides how many to keep.
    ``n_features_to_select="auto"`` keeps the features whose score is better than expected by chance (see
    :meth:`_pvalues`). The false-discovery rate is limited to ``alpha`` by Benjamini and Hochberg's rule. These features
    come first in the ranking. If no feature stands out, the one with the smallest p-value is kept, with a warning.

    Attributes
    ----------
    scores_ : array (n_features,)
        Raw scores. A feature without any information has the worst possible score, never NaN.
    ranking_ : array (n_features,)
        1 = best; if scores are equal, the earlier column comes first.
    support_ : array (n_features,) of bool
        The features kept.
    n_features_ : int
        How many were kept.
    explanation_ : str
        Why that many.
    n_relevant_ : int
        With "auto" ("relevant") or "sufficient": how many features stand out. They are the first of the ranking.
    n_sufficient_ : int
        With "sufficient": how many of them predict the target as well as all of them.
    pvalues_, qvalues_ : array (n_features,)
        With "auto": how often chance alone gives a score as good as this, and the same as a false-discovery rate.
    """

    n_features_to_select: Count = None
    alpha: float = 0.05

    #: Whether low scores are good.
    _lower_is_better: ClassVar[bool] = True
    #: Whether the score of a feature is independent of the other features in the table.
    _scores_are_independent: ClassVar[bool] = False
    #: Whether the method's own test keeps rows within their group, if the problem has groups.
    _tests_within_groups: ClassVar[bool] = False
    #: Number of permutations of the labels that "auto" starts with.
    _n_permutations: ClassVar[int] = 1000

    @abstractmethod
    def _score(self, problem: Problem) -> Scored:
        """Score every feature; nothing is stored."""

    def scores_of(self, X: Any, y: Any = None, **more: Any) -> NDArray[np.float64]:
        """Only the scores, without a fit: this is what the function of the same name returns.

        Parameters
        ----------
        X, y, **more
            As in ``fit``.

        Returns
        -------
        scores : array (n_features,)
        """
        return self._score(self._read(X, y, **more)).scores

    def _pvalues(self, problem: Problem, scored: Scored) -> NDArray[np.float64]:
        """How often chance alone scores as well: by shuffling the labels, unless a subclass has a better way."""
        null = RelabelNull(
            self._score,
            problem,
            scored.scores,
            lower_is_better=self._lower_is_better,
            features_are_independent=self._scores_are_independent,
            screen=self._screen(problem, scored),
        )
        return permutation_pvalues(null, alpha=self.alpha, n_permutations=self._n_permutations, random_state=self._seed)

    def _group_pvalues(self, problem: Problem) -> NDArray[np.float64]:
        """p-values if rows belong together: see :func:`~dubio.significance.group_units.independent_parts`."""
        pvalues = np.ones(problem.n_features)
        parts = independent_parts(problem)
        taken = [
            (part, share) for part, share in parts if part.supervision.kind in (problem.supervision.kind, *self._takes)
        ]
        whole = sum(share for _, share in taken)  # means of classes are probabilities, which some methods do not take
        for part, share in taken:
            # a method's own test may move rows to other groups
            test = type(self)._pvalues if part.groups is None or self._tests_within_groups else ScoreSelector._pvalues
            pvalues = np.minimum(pvalues, test(self, part, self._score(part)) * (whole / share))
        return pvalues

    def _target_pvalues(self, problem: Problem) -> dict[str, NDArray[np.float64]]:
        """p-values for each of several targets, by name."""
        known, found = problem.supervision, {}
        assert isinstance(known, SeveralTargets)
        for name, part in zip(known.names, known.parts, strict=True):
            alone = problem.with_supervision(part).labelled
            if alone.groups is not None:
                found[name] = self._group_pvalues(alone)
            else:
                found[name] = self._pvalues(alone, self._score(alone))
        return found

    def _screen(self, problem: Problem, scored: Scored) -> NDArray[np.float64] | None:
        """Quick p-values that show which features surely do not stand out, if the score has closed-form moments."""
        return None

    def _solve(self, problem: Problem) -> Answer:
        wish: Any = self.n_features_to_select
        count, reason = (0, "") if wish in TESTED else resolve_count(wish, problem.n_features)
        scored = self._score(problem)
        order = np.argsort(scored.scores if self._lower_is_better else -scored.scores, kind="stable")
        lines = Lines(order, count, reason)
        columns = dict(scored.columns)
        if wish in TESTED:
            tested = problem.counted
            if problem.groups is not None:
                pvalues = self._group_pvalues(tested)
            else:
                pvalues = self._pvalues(tested, scored if tested is problem else self._score(tested))
            worst = np.inf if self._lower_is_better else -np.inf  # constant features are no hypotheses
            counts = scored.scores != worst
            relevance = decide(pvalues, qvalues_of(pvalues, counts), self.alpha)
            if isinstance(tested.supervision, SeveralTargets):
                relevance = relevance.serving(self._target_pvalues(tested), counts, self.alpha)
            columns = {**relevance.columns(), **columns}
            losses = None
            if wish == "sufficient":
                losses = self._row_losses(problem)
            lines = draw_lines(wish, order, relevance, losses)
        ranking = Ranking(
            problem.feature_names,
            scored.scores,
            self._lower_is_better,
            rank_in_order(lines.order),
            rank_in_order(lines.order) <= lines.count,
            type(self).__name__,
            lines.reason,
            extras=columns,
            n_relevant=lines.n_relevant,
            n_sufficient=lines.n_sufficient,
        )
        return Answer(ranking, scored.attributes)

    def _row_losses(self, problem: Problem) -> RowLosses:
        if problem.supervision.kind == "none":
            raise InputError(
                "n_features_to_select", "='sufficient', but no target is given", "give y, a count, a share or 'auto'"
            )
        return row_losses_of(problem.filled, self._seed, getattr(self, "n_jobs", None))

    def _keep(self, answer: Answer) -> None:
        self.scores_ = answer.ranking.scores
        super()._keep(answer)


@dataclass(frozen=True)
class Searched:
    """What a search of subsets found.

    Attributes
    ----------
    subsets, values : dict
        For each size, the features of its subset as column indices, and the criterion of this subset.
    best_first : array of int
        All features, in the order of the search.
    scores : array (n_features,)
        The value shown as the score of each feature; high is good.
    sufficient : tuple of int and str
        The size of the smallest sufficient subset, and why, if the method has its own.
    row_losses : callable
        The loss of each row for a list of features, if the method has one: it decides how many features suffice.
    columns, attributes : dict
        Further columns of the ranking, and attributes of the fitted estimator.
    """

    subsets: dict[int, NDArray[np.int64]]
    values: dict[int, float]
    best_first: NDArray[np.int64]
    scores: NDArray[np.float64]
    sufficient: tuple[int, str] | None = None
    row_losses: RowLosses | None = None
    columns: dict[str, NDArray[Any]] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)


@estimator
class SearchSelector(Selector):
    """A selector that searches subsets of features.

    A subclass searches in :meth:`_search`. This class ranks the features in the order of the search and keeps the
    subset of the requested size. With ``n_features_to_select="auto"`` or "relevant", features are tested
    (:func:`~dubio.significance.relevance_of`): relevant features come first, each part in the order of the search, and
    all relevant ones are kept. "sufficient" keeps the shortest beginning that predicts the target as well as all.

    Attributes
    ----------
    subsets_ : dict of int to array
        For each size, the features of its subset as column indices.
    values_ : dict of int to float
        The criterion of each subset.
    ranking_ : array (n_features,)
        1 = best, in the order of the search.
    support_, n_features_, explanation_
        The features kept, how many, and why that many.
    n_relevant_, n_sufficient_ : int
        If features were tested: how many are relevant, and how many of these suffice. The ranking begins with them.
    pvalues_, qvalues_ : array (n_features,)
        If features were tested.
    at_the_line_ : array (n_features,) of bool
        Features whose test was so close that other random draws might decide otherwise.
    """

    n_features_to_select: Any = None

    #: Wishes that are decided by tests; a search from sums alone has its own rule for "auto".
    _tested: ClassVar[tuple[str, ...]] = TESTED
    #: The criterion in words, and which direction is good.
    _criterion: ClassVar[str] = "criterion"

    @abstractmethod
    def _search(self, problem: Problem, count: int | None) -> Searched:
        """Search subsets; nothing is stored. ``count`` features will be kept, or as many as are sufficient (None)."""

    def _solve(self, problem: Problem) -> Answer:
        count, reason = self._wished(problem.n_features)
        found = self._search(problem, count)
        relevance = None
        has_target = problem.supervision.kind != "none"  # without a target there is nothing to test
        if self.n_features_to_select in self._tested and has_target and not sparse.issparse(problem.X):
            relevance = relevance_of(
                problem.filled,
                alpha=getattr(self, "alpha", 0.05),
                random_state=self._seed,
                n_jobs=getattr(self, "n_jobs", None),
            )
        return self._answer(found, problem.feature_names, count, reason, relevance)

    def _wished(self, n_features: int) -> tuple[int | None, str]:
        """How many features are wanted, and the reason in words; None for as many as are sufficient."""
        wish: Any = self.n_features_to_select
        return (None, "") if isinstance(wish, str) else resolve_count(wish, n_features)

    def _answer(
        self,
        found: Searched,
        names: NDArray[Any],
        count: int | None,
        reason: str,
        relevance: Relevance | None = None,
    ) -> Answer:
        columns = dict(found.columns)
        attributes = {"subsets_": found.subsets, "values_": found.values, **found.attributes}
        if relevance is not None:
            n_found = None if found.sufficient is None else found.sufficient[0]
            wish = self.n_features_to_select
            lines = draw_lines(wish, found.best_first, relevance, found.row_losses, n_found)
            columns = {**relevance.columns(), **columns}
            attributes["at_the_line_"] = relevance.at_the_line
        else:
            if count is None:
                if self.n_features_to_select in self._tested and self._tested != TESTED:
                    raise InputError(
                        "n_features_to_select",
                        f"={self.n_features_to_select!r} needs the rows of a dense table, to test the features",
                        "give 'auto', a count or a share",
                    )
                assert found.sufficient is not None
                count, reason = found.sufficient
            lines = Lines(self._subset_first(found, count), count, reason)
        ranks = rank_in_order(lines.order)
        ranking = Ranking(
            names,
            found.scores,
            False,
            ranks,
            ranks <= lines.count,
            type(self).__name__,
            lines.reason,
            extras=columns,
            n_relevant=lines.n_relevant,
            n_sufficient=lines.n_sufficient,
        )
        return Answer(ranking, attributes)

    def _subset_first(self, found: Searched, count: int) -> NDArray[np.int64]:
        """The order of the search, with the subset of this size in front. (It is in front if subsets are nested.)"""
        size = max((size for size in found.subsets if size <= count), default=0)
        chosen = np.isin(found.best_first, found.subsets[size] if size else [])
        return np.concatenate([found.best_first[chosen], found.best_first[~chosen]])
