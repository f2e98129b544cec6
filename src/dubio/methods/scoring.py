"""The base of methods that score every feature, and test it against chance."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dubio.checks import resolve_count
from dubio.errors import InputError
from dubio.evidence.groups import independent_parts
from dubio.evidence.permutation import RelabelNull, permutation_pvalues
from dubio.evidence.relevance import Relevance, decide, qvalues_of
from dubio.evidence.sufficient import RowLosses, row_losses_of, sufficient_size
from dubio.methods.base import Selector
from dubio.methods.parameters import Count, estimator
from dubio.problem import Problem
from dubio.ranking import Answer, Ranking, Scored, rank_in_order
from dubio.target.several import SeveralTargets

#: Values of ``n_features_to_select`` that need tests: the second line of the answer (two names), and the first line.
TESTED = ("auto", "relevant", "sufficient")


@dataclass(frozen=True)
class Lines:
    """One order of all features, how many of its beginning to keep and why, and the two lines if they were drawn."""

    order: NDArray[np.int64]
    count: int
    reason: str
    n_relevant: int | None = None
    n_sufficient: int | None = None


def draw_lines(
    wish: str,
    best_first: NDArray[np.int64],
    relevance: Relevance,
    losses: RowLosses | None,
    n_found: int | None = None,
) -> Lines:
    """Relevant features first, each part in the order of the method, and the two lines.

    The first line comes from ``losses``, or from a number of features that the method found sufficient (``n_found``).
    """
    order = relevance.relevant_first(best_first)
    n_relevant = int(relevance.relevant.sum())
    n_sufficient = None if n_found is None else min(n_found, n_relevant)
    if losses is not None:
        n_sufficient = sufficient_size(order, n_relevant, losses)
    reason = relevance.reason
    count = max(1, n_relevant)
    if wish == "sufficient":
        assert n_sufficient is not None
        count = max(1, n_sufficient)
        reason = f"{reason}; {n_sufficient} of them predict it as well as all" if n_relevant else reason
    return Lines(order, count, reason, n_relevant, n_sufficient)


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
        """p-values if rows belong together: see :func:`~dubio.evidence.groups.independent_parts`."""
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
