"""The base of methods that search for a subset of features."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dubio.checks import resolve_count
from dubio.errors import InputError
from dubio.evidence.relevance import Relevance, relevance_of
from dubio.evidence.sufficient import RowLosses
from dubio.methods.base import Selector
from dubio.methods.parameters import estimator
from dubio.methods.scoring import TESTED, Lines, draw_lines
from dubio.problem import Problem
from dubio.progress import lines_of, listening
from dubio.ranking import Answer, Ranking, rank_in_order


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
    (:func:`~dubio.evidence.relevance.relevance_of`): relevant features come first, each part in the order of the
    search, and all relevant ones are kept. "sufficient" keeps the shortest beginning that predicts the target as well
    as all.

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
        with listening(lines_of(type(self).__name__) if getattr(self, "verbose", 0) else None):
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
