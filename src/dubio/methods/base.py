"""The bases of all methods: ``fit`` reads a problem once, scores features or searches subsets, and keeps the answer."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_array, check_is_fitted

from dubio._sklearn import wants_pandas
from dubio.checks import check_parameters, seed_of
from dubio.errors import InputError
from dubio.methods.parameters import CONSTRAINTS, Count, estimator
from dubio.problem import Problem, read_problem, require_weights
from dubio.progress import lines_of, listening
from dubio.ranking import Answer, Ranking, Scored, rank_in_order, resolve_count
from dubio.table.matrix import column_names, is_dask, refuse_mixed_names
from dubio.words import Note, capital, say

if TYPE_CHECKING:  # the tests are imported when features are tested: a plain score does without them
    from dubio.evidence.relevance import Relevance, RowLosses

Floats = NDArray[np.float64]
#: How many features are wanted, if this is known already, and the reason in words.
Wished = tuple[int | None, str]
#: Values of ``n_features_to_select`` that need tests: the second line of the answer (two names), and the first line.
TESTED = ("auto", "relevant", "sufficient")


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
    _takes_sparse: ClassVar[bool] = False
    _takes_nan: ClassVar[bool] = False
    #: Whether the method compares rows only with rows of other groups, if rows belong together.
    _keeps_groups_apart: ClassVar[bool] = False
    #: Whether its tests hold if the weights of rows depend on a column.
    _tests_any_weights: ClassVar[bool] = False
    #: Whether the method takes weights of rows.
    _takes_weights: ClassVar[bool] = False
    #: Whether the method can begin with given columns.
    _takes_given: ClassVar[bool] = False
    #: Whether the computation itself checks for NaN and infinities.
    _checks_values_itself: ClassVar[bool] = False
    #: Whether low scores are good, and whether they only say where a search found the features.
    _lower_is_better: ClassVar[bool] = True
    _scores_are_places: ClassVar[bool] = False
    #: Valid values of the method's own parameters; shared ones are in ``methods/parameters.py``.
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}
    #: Parameters of the printed form, if it differs from the default; it has a name of its own in ``dubio.METHODS``.
    _as_published: ClassVar[dict[str, Any]] = {}

    n_features_to_select: Any

    def fit(self, X: Any, y: Any = None) -> Self:
        """Rank the features of ``X`` and choose among them.

        Parameters
        ----------
        X : array-like (n_rows, n_features)
            The table.
        y : array-like, optional
            What is known of the target.
        """
        return self._fit(X, y)

    def fit_problem(self, problem: Problem) -> Self:
        """Rank the features of a problem that was read before, as :meth:`read_problem` gives it."""
        self._check_parameters()
        self._require(problem)
        self._assign(problem, self._solve(problem))
        return self

    def read_problem(self, X: Any, y: Any = None, **more: Any) -> Problem:
        """Read a table and a target in the same way as ``fit``; ``more`` are weights and pairs, if it takes them."""
        if self._target == "none":
            y = None
        checks = {"allow_nan": self._takes_nan, "check_values": not self._checks_values_itself}
        problem = read_problem(X, y, **{**self._reading, "accept_sparse": self._takes_sparse, **checks, **more})
        refuse_mixed_names(X)
        if self._reading["target"] == "ordered":
            return problem
        return problem.with_supervision(problem.supervision.taken_by(self._takes))

    def _fit(self, X: Any, y: Any, **more: Any) -> Self:
        return self._fit_dask(X, y, **more) if is_dask(X) else self._fit_rows(X, y, **more)

    def _fit_rows(self, X: Any, y: Any, **more: Any) -> Self:
        problem = self._read(X, y, **more)
        self._assign(problem, self._solve(problem))
        return self

    _fit_dask = _fit_rows

    def _read(self, X: Any, y: Any, **more: Any) -> Problem:
        """Read the problem and check that this method can use it."""
        self._check_parameters()
        problem = self.read_problem(X, y, **more)
        self._require(problem)
        return problem

    @abstractmethod
    def _solve(self, problem: Problem) -> Answer:
        """Solve a problem; nothing is stored."""

    @property
    def _reading(self) -> dict[str, Any]:
        """How ``y`` is read: see :func:`~dubio.problem.read_problem`."""
        target = getattr(self, "target", self._target)
        missing_label = getattr(self, "missing_label", "auto")
        return {"target": "classes" if target == "none" else target, "missing_label": missing_label}

    @property
    def _seed(self) -> int:
        """A whole number as the seed, from ``random_state`` if the method has this parameter."""
        return seed_of(getattr(self, "random_state", 0))

    def _check_parameters(self) -> None:
        constraints = dict(CONSTRAINTS)
        for cls in reversed(type(self).__mro__):  # the rule of a subclass replaces that of its base
            constraints.update(vars(cls).get("_parameter_constraints", {}))
        check_parameters(constraints, self.get_params(deep=False))

    def _require(self, problem: Problem) -> None:
        """Raise unless the method can use what is known of the target."""
        supervision, name = problem.supervision, type(self).__name__
        if supervision.has_pairs and "pairs" not in self._takes:
            raise InputError("must_link", f"and cannot_link cannot be used: {name} takes no pairs", "leave them out")
        if problem.given is not None and not self._takes_given:
            raise InputError("given", f"cannot be used by {name}", "leave it out")
        if self._target == "none":
            return
        supervision.require_taken_by(self._takes, name, needed=self._needs_labels)
        if self._needs_labels:
            supervision.require_enough()
            require_weights(problem)

    def _assign(self, problem: Problem, answer: Answer) -> None:
        """Store the result of a fit; this is the only place that does. Results of an earlier fit are removed."""
        columns = problem.columns
        if columns is None or not columns.inputs:
            self._assign_shape(problem.names, problem.n_features)
            self._inputs = None
        else:  # the table has its own columns, and a feature may be several of them
            self._assign_shape(columns.input_names, len(columns.read))
            self._inputs = columns.inputs
        target = problem.supervision
        counts = {"n_labelled_": target.n_labelled, "n_unlabelled_": target.n_unlabelled}
        self._keep(answer, {**counts, **target.attributes_of(target.column_names())})

    def _assign_shape(self, names: list[Any] | None, n_features: int) -> None:
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)
        self.n_features_in_ = n_features
        if names is not None and all(isinstance(name, str) for name in names):
            self.feature_names_in_ = np.asarray(names, dtype=object)

    def _keep(self, answer: Answer, of_target: dict[str, Any]) -> None:
        self._ranking = ranking = answer.ranking
        if answer.notes is not None:
            self._notes = answer.notes
            self.notes_ = tuple(map(capital, answer.notes))
        self.ranking_, self.support_ = ranking.ranking, ranking.support
        self.n_features_ = int(ranking.support.sum())
        self.explanation_ = ranking.reason
        lines: dict[str, Any] = {"n_relevant_": ranking.n_relevant, "n_sufficient_": ranking.n_sufficient}
        lines |= {f"{name}s_": ranking.extras.get(name) for name in ("pvalue", "qvalue")}
        lines = {name: value for name, value in lines.items() if value is not None}
        for name, value in {**of_target, **lines, **answer.attributes}.items():
            setattr(self, name, value)

    def _wished(self, n_features: int) -> Wished:
        """How many features are wanted, and the reason in words; None if this is still to be found out."""
        wish = self.n_features_to_select
        return (None, "") if isinstance(wish, str) else resolve_count(wish, n_features)

    def _ranked(
        self,
        names: NDArray[Any],
        scores: Floats,
        best_first: NDArray[np.int64],
        wished: Wished,
        relevance: Relevance | None = None,
        losses: Sequence[RowLosses] = (),
        n_sufficient: int | None = None,
        columns: Mapping[str, NDArray[Any]] = MappingProxyType({}),
        n_given: int = 0,
    ) -> Ranking:
        """The ranking of all features, of which the wished number is kept besides the first ``n_given``.

        If features were tested, relevant ones come first, each part in the order of the method, and the two lines are
        drawn. The first line comes from ``losses`` of several kinds of models, or from a number of features that the
        method found sufficient.
        """
        (count, reason), n_relevant, curve = wished, None, None
        given, judged = np.split(best_first, [n_given])
        if relevance is not None:
            copies_last = self._scores_are_places and len(losses) > 0
            judged = relevance.relevant_first(judged, copies_last=copies_last)
            columns = {**relevance.columns(given), **relevance.family_columns(names, judged), **columns}
            count = n_relevant = int(relevance.relevant.sum())
            reason = relevance.reason
            n_sufficient = None if n_sufficient is None else min(n_sufficient, n_relevant)
            if losses:
                from dubio.evidence.relevance import sufficient_size

                judges = [lambda some, one=one: one(np.concatenate([given, some])) for one in losses]
                n_needed = relevance.n_needed(judged[:n_relevant], copies_last=copies_last)
                n_sufficient, curve = sufficient_size(judged, n_needed, *judges)
            if self.n_features_to_select == "sufficient":
                count = n_sufficient
                reason = say("enough of them", reason=reason, n=count) if n_relevant else reason
        assert count is not None
        about_truth = None if relevance is None else relevance.about_truth
        ranks, by, low = rank_in_order(np.concatenate([given, judged])), type(self).__name__, self._lower_is_better
        kept = ranks <= n_given + max(1, count)
        return Ranking(
            *(names, scores, low, ranks, kept, by, reason, dict(columns), n_relevant, n_sufficient),
            about_truth=about_truth,
            given=tuple(map(str, names[given])),
            about="" if self._target == "none" else "the target",
            scores_are_places=self._scores_are_places,
            losses=curve,
            most_by_chance=None if relevance is None else relevance.most_by_chance,
        )

    def to_ranking(self) -> Ranking:
        """The result as a :class:`~dubio.ranking.Ranking`: names, scores, direction, order, features kept and why."""
        check_is_fitted(self)
        return self._ranking

    def transform(self, X: Any) -> Any:
        """Return the chosen columns of ``X``.

        An array needs the columns of ``fit``. A data frame needs only those that are kept: they are found by their
        names. (One with all columns of ``fit`` must have them in the same order, as everywhere in scikit-learn.)
        """
        check_is_fitted(self)  # before scikit-learn compares column names, which do not exist without a fit
        if any(getattr(dtype, "is_temporal", bool)() for dtype in getattr(X, "dtypes", ())):
            X = X.to_pandas()  # polars writes dates beside numbers into an array as numbers
        try:
            return self._chosen_columns(X)
        except np.exceptions.DTypePromotionError:  # dates beside numbers: only an array of objects can hold both
            return self._chosen_columns(X.astype(object))

    def _chosen_columns(self, X: Any) -> Any:
        names, fitted = column_names(X), getattr(self, "feature_names_in_", np.empty(0))
        kept = fitted[self.get_support()].tolist() if len(fitted) else []
        if not kept or names is None or set(names) == set(fitted) or not set(kept) <= set(names):
            return super().transform(X)
        if wants_pandas(self) and hasattr(X, "iloc"):
            return X[kept]
        return check_array(X[kept], dtype=None, ensure_all_finite="allow-nan" if self._takes_nan else True)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        """The chosen columns of the table."""
        check_is_fitted(self)
        inputs = getattr(self, "_inputs", None)
        if inputs is None:
            return self.support_
        kept = [column for feature in np.flatnonzero(self.support_) for column in inputs[feature]]
        return np.isin(np.arange(self.n_features_in_), kept)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._needs_labels and self._target != "none"
        tags.target_tags.two_d_labels = False
        tags.input_tags.sparse = self._takes_sparse
        tags.input_tags.allow_nan = self._takes_nan
        return tags


class TakesWeights(Selector):
    """A selector whose ``fit`` takes a weight for each row."""

    _takes_weights = True

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Rank the features of ``X`` and choose among them.

        Parameters
        ----------
        X, y
            As in :meth:`Selector.fit`; a Dask array or dataframe if the selector has ``partial_fit``.
        sample_weight : array-like (n_rows,), optional
            The weight of each row; a row with weight 2 counts twice in the score.
        """
        return self._fit(X, y, sample_weight=sample_weight)


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
    support_, n_features_, explanation_
        The features kept, how many, and why that many.
    n_relevant_, n_sufficient_ : int
        With "auto" ("relevant") or "sufficient": how many features stand out, which are the first of the ranking. With
        "sufficient": how many of them predict the target as well as all of them.
    pvalues_, qvalues_ : array (n_features,)
        With "auto": how often chance alone gives a score as good as this, and the same as a false-discovery rate.
    """

    n_features_to_select: Count = None
    alpha: float = 0.05

    _attributes: ClassVar[tuple[str, ...]] = ("scores", "labelled")
    #: Whether the score of a feature is independent of the other features in the table.
    _scores_are_independent: ClassVar[bool] = False
    #: Whether the method's own test keeps rows within their group, if the problem has groups.
    _tests_within_groups: ClassVar[bool] = False
    #: Number of permutations of the labels that "auto" starts with.
    _n_permutations: ClassVar[int] = 1000

    @abstractmethod
    def _score(self, problem: Problem) -> Scored:
        """Score every feature; nothing is stored."""

    def scores_of(self, X: Any, y: Any = None, **more: Any) -> Floats:
        """Only the scores, without a fit: this is what the function of the same name returns."""
        return self._score(self._read(X, y, **more)).scores

    @classmethod
    def _scores_for(cls, X: Any, *, y: Any = None, P: Any = None, **arguments: Any) -> Floats:
        """The scores for the arguments of the function of the same name: parameters, and what else ``fit`` takes."""
        parameters = {name: value for name, value in arguments.items() if name in cls._get_param_names()}
        more = {name: value for name, value in arguments.items() if name not in parameters}
        return cls(**parameters).scores_of(X, y if P is None else P, **more)

    def _pvalues(self, problem: Problem, scored: Scored) -> Floats:
        """How often chance alone scores as well: by shuffling the labels, unless a subclass has a better way."""
        from dubio.evidence.permutation import permutation_pvalues, relabel_null

        null = relabel_null(
            self._score,
            problem,
            scores=scored.scores,
            lower_is_better=self._lower_is_better,
            features_are_independent=self._scores_are_independent,
            screen=lambda: self._screen(problem, scored),
        )
        return permutation_pvalues(null, alpha=self.alpha, n_permutations=self._n_permutations, random_state=self._seed)

    def _screen(self, problem: Problem, scored: Scored) -> Floats | None:
        """Quick p-values that show which features surely do not stand out, if the score has closed-form moments."""
        return None

    def _pvalues_of_parts(self, problem: Problem, scored: Scored | None = None) -> Floats:
        """p-values; if rows belong together, those of :func:`~dubio.evidence.evidence.independent_parts`."""
        from dubio.evidence.evidence import independent_parts

        parts = independent_parts(problem)
        if problem.groups is not None and self._target != "none":
            # means of classes are probabilities, which some methods do not take
            parts = [(part, share) for part, share in parts if part.supervision.is_taken_by(self._takes)]
        pvalues, whole = np.ones(problem.n_features), sum(share for _, share in parts)
        for part, share in parts:
            # a method's own test may move rows to other groups
            test = type(self)._pvalues if part.groups is None or self._tests_within_groups else ScoreSelector._pvalues
            of_part = self._score(part) if scored is None or part is not problem else scored
            pvalues = np.minimum(pvalues, test(self, part, of_part) * (whole / share))
        return pvalues

    def _relevance(self, problem: Problem, scored: Scored) -> Relevance:
        """Which features stand out; if there are several targets, also those that each feature serves."""
        from dubio.evidence.relevance import decide, qvalues_of

        worst = np.inf if self._lower_is_better else -np.inf
        counts = scored.scores != worst  # constant features are no hypotheses
        tested = problem.counted
        pvalues = self._pvalues_of_parts(tested, scored if tested is problem else None)
        decided = decide(pvalues, qvalues_of(pvalues, counts), self.alpha, warns=problem.checks is None)
        relevance = decided.beside_truth(problem, self.alpha)
        targets = tested.supervision.targets
        if targets:
            alone = {name: tested.with_supervision(one).labelled for name, one in targets.items()}
            by_target = {name: self._pvalues_of_parts(one) for name, one in alone.items()}
            relevance = relevance.serving(by_target, counts, self.alpha)
        return relevance.with_families(problem, counts, self.alpha)

    def _solve(self, problem: Problem) -> Answer:
        wish, wished = self.n_features_to_select, self._wished(problem.n_features)
        scored = self._score(problem)
        relevance = self._relevance(problem, scored) if wish in TESTED else None
        losses: Sequence[RowLosses] = ()
        if wish == "sufficient":
            from dubio.evidence.relevance import row_losses_of

            if not problem.supervision.has_target:
                remedy = "give y, a count, a share or 'auto'"
                raise InputError("n_features_to_select", "='sufficient', but no target is given", remedy)
            n_jobs = getattr(self, "n_jobs", None)
            losses = _judges(problem, row_losses_of(problem.filled, self._seed, n_jobs), n_jobs)
        return self._answer(scored, problem.feature_names, wished, relevance=relevance, losses=losses)

    def _answer(self, scored: Scored, names: NDArray[Any], wished: Wished, **tests: Any) -> Answer:
        best_first = np.argsort(scored.scores if self._lower_is_better else -scored.scores, kind="stable")
        ranking = self._ranked(names, scored.scores, best_first, wished, columns=scored.columns, **tests)
        return Answer(ranking, {"scores_": scored.scores, **scored.attributes})


def _judges(problem: Problem, losses: RowLosses, n_jobs: int | None) -> Sequence[RowLosses]:
    """What judges lists of features: the losses of the method, and three usual kinds of models."""
    from dubio.doubt.random_trees import tree_errors_of
    from dubio.evidence.relevance import line_errors_of, neighbor_errors_of

    problem = problem.filled
    return losses, line_errors_of(problem), neighbor_errors_of(problem), tree_errors_of(problem, n_jobs)


@dataclass(frozen=True)
class Searched:
    """The result of a search of subsets.

    For each size, ``subsets`` and ``values`` hold the features of its subset as column indices, and the criterion of
    this subset. ``best_first`` are all features in the order of the search, ``scores`` what is shown as their scores
    (high is good). If the method has its own: ``sufficient`` is the size of the smallest sufficient subset, and why;
    ``row_losses`` gives the loss of each row for a list of features, which decides how many features suffice.
    """

    subsets: dict[int, NDArray[np.int64]]
    values: dict[int, float]
    best_first: NDArray[np.int64]
    scores: Floats
    sufficient: tuple[int, str] | None = None
    row_losses: RowLosses | None = None
    attributes: dict[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] | None = None

    def first(self, count: int) -> NDArray[np.int64]:
        """The order of the search, with the subset of this size in front. (It is in front if subsets are nested.)"""
        size = max((size for size in self.subsets if size <= count), default=0)
        chosen = np.isin(self.best_first, self.subsets[size] if size else [])
        return np.concatenate([self.best_first[chosen], self.best_first[~chosen]])


@estimator
class SearchSelector(Selector):
    """A selector that searches subsets of features.

    A subclass searches in :meth:`_search`. This class ranks the features in the order of the search and keeps the
    subset of the requested size. With ``n_features_to_select="auto"`` or "relevant", features are tested
    (:func:`~dubio.evidence.relevance.relevance_of`): relevant features come first, each part in the order of the
    search, and all relevant ones are kept. "sufficient" keeps the shortest beginning that predicts the target as well
    as all.

    Attributes
    ----------
    subsets_ : dict of int to array
        For each size, the features of its subset as column indices. Constant features are in no subset.
    values_ : dict of int to float
        The criterion of each subset.
    ranking_, support_, n_features_, explanation_, n_relevant_, n_sufficient_, pvalues_, qvalues_
        See :class:`ScoreSelector`. The ranking is in the order of the search; constant features come last.
    at_the_line_ : array (n_features,) of bool
        Features whose test was so close that other random draws might decide otherwise.
    """

    n_features_to_select: Any = None

    _attributes: ClassVar[tuple[str, ...]] = ("subsets", "labelled")
    _tests_any_weights = True
    _lower_is_better = False
    _scores_are_places = True
    #: Wishes that are decided by tests; a search from sums alone has its own rule for "auto".
    _tested: ClassVar[tuple[str, ...]] = TESTED
    #: The criterion in words, and which direction is good.
    _criterion: ClassVar[str] = "criterion"

    @abstractmethod
    def _search(self, problem: Problem, count: int | None) -> Searched:
        """Search subsets; nothing is stored. ``count`` features will be kept, or as many as are sufficient (None)."""

    def _solve(self, problem: Problem) -> Answer:
        wished = self._wished(int(problem.is_judged.sum()))
        with listening(lines_of(type(self).__name__) if getattr(self, "verbose", 0) else None):
            found = self._search(problem, wished[0])
        wants_tests = self.n_features_to_select in self._tested and not sparse.issparse(problem.X)
        relevance = None
        if wants_tests and problem.supervision.has_target:  # without a target there is nothing to test
            from dubio.evidence.relevance import relevance_of

            alpha, n_jobs = getattr(self, "alpha", 0.05), getattr(self, "n_jobs", None)
            relevance = relevance_of(problem.filled, alpha=alpha, random_state=self._seed, n_jobs=n_jobs)
            if relevance.truth is not None and found.row_losses is None:  # the order is not that of the search alone
                from dubio.evidence.relevance import row_losses_of

                found = replace(found, row_losses=row_losses_of(problem.filled, self._seed, n_jobs))
        losses: Sequence[RowLosses] = ()
        if relevance is not None and found.row_losses is not None:
            losses = _judges(problem, found.row_losses, getattr(self, "n_jobs", None))
        return self._answer(found, problem.feature_names, wished, relevance, len(problem.given_features), losses)

    def _answer(
        self,
        found: Searched,
        names: NDArray[Any],
        wished: Wished,
        relevance: Relevance | None = None,
        n_given: int = 0,
        losses: Sequence[RowLosses] = (),
    ) -> Answer:
        attributes = {"subsets_": found.subsets, "values_": found.values, **found.attributes}
        if relevance is not None:
            attributes["at_the_line_"] = relevance.at_the_line
            tests = relevance, losses, found.sufficient and max(1, found.sufficient[0] - n_given)
            ranking = self._ranked(names, found.scores, found.best_first, wished, *tests, n_given=n_given)
            return Answer(ranking, attributes, found.notes)
        count = wished[0]
        if count is None:
            if self.n_features_to_select in self._tested and self._tested != TESTED:
                wrong = f"={self.n_features_to_select!r} needs the rows of a dense table, to test the features"
                raise InputError("n_features_to_select", wrong, "give 'auto', a count or a share")
            assert found.sufficient is not None
            count, _ = wished = found.sufficient
            count, _ = wished = max(1, count - n_given), wished[1]
        ranking = self._ranked(names, found.scores, found.first(n_given + count), wished, n_given=n_given)
        return Answer(ranking, attributes, found.notes)
