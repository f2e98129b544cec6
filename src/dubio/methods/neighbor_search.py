"""Search for the features in which the nearest rows of a row predict its class or its number."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from dubio._kernels.threads import resolve_threads
from dubio._sklearn import StrOptions
from dubio.counts import clip_neighbors
from dubio.information.neighbor_loss import NeighborCrossEntropy, NeighborSquaredError
from dubio.methods.base import Searched, SearchSelector
from dubio.methods.parameters import estimator
from dubio.noise.audit import Engine
from dubio.noise.audit_record import LabelAudit
from dubio.noise.cleaning import clean_labels
from dubio.problem import Problem
from dubio.progress import lines_of, listening
from dubio.search import MAX_ROWS, SearchPath, SubsetDistances, best_subsets, check_row_limit, greedy_search
from dubio.search.combine import order_by_presence
from dubio.significance.subsets import smallest_sufficient_size
from dubio.supervision import Classes, Numbers, OfClasses
from dubio.tables.scaling import varying_columns


@estimator
class NeighborSearch(SearchSelector):
    """Greedy search on the leave-one-out k-NN cross-entropy of the classes, with doubtful labels cleaned first.

    A subset of features is good if the nearest other rows predict the class of a row (for a number: if their mean
    predicts it). Hard labels are audited before the search (:func:`dubio.audit_labels`), so that wrong labels do not
    mislead it. Soft labels already express uncertainty and are used as they are. Rows without a label are left out of
    the search.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None
        A count, a share, or None for half. "auto": the smallest subset whose criterion is not significantly worse than
        the best (:func:`~dubio.significance.smallest_sufficient_size`). If no subset is better than no features at all,
        one feature is kept, with a warning.
    alpha : float, default=0.05
        With "auto": level of this test.
    direction : {"both", "forward", "backward"}, default="both"
        ``"both"`` searches forward and backward and keeps, for each size, the subset with the better value.
    n_neighbors : int, default=15
        Number of neighbours that predict a row.
    clean : {"confident", "pooled", "lnt"} or None, default="confident"
        What to do about wrong labels. "confident": leave out rows whose label confident learning doubts. "pooled":
        weight every class by its posterior under a uniform flip rate. "lnt": weight every class by its posterior under
        the LNT noise model. None: trust the labels.
    {target}
    {experts}
    {n_folds}
    {standardize}
    {missing_label}
    {max_rows}
    random_state : int or None, default=0
        Seed for the audit, and for the order in which equally distant rows are used. The order of the rows in the
        table does not matter.
    {n_jobs}
    verbose : int, default=0
        1 prints a line after each fold of the audit and each step of the search.

    Attributes
    ----------
    subsets_ : dict of int to array
        For each size, the features of the best subset as column indices. With ``direction="both"`` the subsets are not
        necessarily nested. Constant features are in no subset.
    values_ : dict of int to float
        The criterion of each subset: class-balanced cross-entropy in nats, or mean squared error. Low is good.
    ranking_ : array (n_features,)
        1 = best, by the number of subsets that contain the feature. With one direction it is the order of the search.
    support_, n_features_
        ``subsets_[n_features_]``, and its size.
    audit_ : LabelAudit or None
        The result of the audit of the labels.
    used_rows_ : array of int
        The rows that the search used.
    paths_ : dict of str to SearchPath
        The searches themselves, by direction.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from dubio import NeighborSearch
    >>> from dubio.supervision import flip_labels
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> noisy = flip_labels(y, 0.2, random_state=0)
    >>> search = NeighborSearch(n_features_to_select=3).fit(X, noisy)
    >>> sorted(search.get_feature_names_out())
    ['color_intensity', 'flavanoids', 'od280/od315_of_diluted_wines']
    >>> int((search.audit_.suggested == y).sum()) > int((noisy == y).sum())
    True
    """

    _name = "neighbor_search"
    _does = "subsets in which near rows predict the target; cleans wrong labels"
    _takes = ("hard", "soft", "numbers")
    _criterion = "loss of the nearest neighbours (low is good)"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "direction": [StrOptions({"both", "forward", "backward"})],
        "clean": [StrOptions({"confident", "pooled", "lnt"}), None],
        "random_state": [Integral, None],
    }

    alpha: float = 0.05
    direction: Literal["both", "forward", "backward"] = "both"
    n_neighbors: int = 15
    clean: Engine | None = "confident"
    target: Literal["auto", "classes", "numbers"] = "auto"
    experts: Any = None
    n_folds: int = 5
    standardize: bool = True
    missing_label: Any = "auto"
    max_rows: int = MAX_ROWS
    random_state: int | None = 0
    n_jobs: int | None = None
    verbose: int = 0

    def _search(self, problem: Problem, count: int | None) -> Searched:
        supervision = problem.supervision
        check_row_limit(supervision.n_labelled, self.max_rows)
        varying_columns(problem.table, supervision.labelled)  # check before cleaning the labels, which may take long
        with listening(lines_of(type(self).__name__) if self.verbose else None):
            audit, rows, goal = self._clean(problem)
            varying = varying_columns(problem.table, rows)
            space, goal = problem.space(self.standardize)[np.ix_(rows, varying)], goal[rows]
            # Ties in distance are broken by row order. So rows are sorted, then shuffled: neither order must decide.
            order = np.lexsort((*np.atleast_2d(goal.T), *space.T))
            order = order[np.random.RandomState(self.random_state).permutation(len(order))]
            distances = SubsetDistances(space[order], n_threads=resolve_threads(self.n_jobs), max_rows=self.max_rows)
            loss = NeighborSquaredError if isinstance(supervision, Numbers) else NeighborCrossEntropy
            k = clip_neighbors(self.n_neighbors, max(1, len(rows) - 1))
            criterion = loss(distances, goal[order], n_neighbors=k)
            paths = self._walk(criterion, len(varying))
        subsets, values = best_subsets(list(paths.values()), larger_is_better=False)
        sufficient = None
        if count is None:
            sufficient = smallest_sufficient_size(
                subsets,
                values,
                criterion.row_values,
                larger_is_better=False,
                alpha=self.alpha,
                value_of_nothing=criterion.value_of_nothing,
            )
        constant = np.setdiff1d(np.arange(problem.n_features), varying)
        present = np.zeros(problem.n_features)
        for subset in subsets.values():
            present[varying[subset]] += 1.0 / len(subsets)
        return Searched(
            {size: varying[subset] for size, subset in subsets.items()},
            values,
            np.concatenate([varying[order_by_presence(subsets, len(varying))], constant]),
            present,
            sufficient,
            attributes={"audit_": audit, "used_rows_": rows, "paths_": paths},
        )

    def _walk(self, criterion: NeighborCrossEntropy | NeighborSquaredError, n_features: int) -> dict[str, SearchPath]:
        directions: tuple[Literal["forward", "backward"], ...]
        directions = ("forward", "backward") if self.direction == "both" else (self.direction,)
        return {
            direction: greedy_search(criterion, np.arange(n_features), direction=direction) for direction in directions
        }

    def _clean(self, problem: Problem) -> tuple[LabelAudit | None, NDArray[np.int64], NDArray[np.float64]]:
        """The audit, the rows to search on, and the target of every row."""
        supervision = problem.supervision
        known = np.flatnonzero(supervision.labelled)
        if isinstance(supervision, Numbers):
            return None, known, supervision.values
        assert isinstance(supervision, OfClasses)
        if not isinstance(supervision, Classes) or self.clean is None:
            return None, known, supervision.memberships
        cleaned = clean_labels(
            problem,
            self.clean,
            experts=self.experts,
            n_folds=self.n_folds,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        if self.clean == "confident":
            return cleaned.audit, np.flatnonzero(cleaned.trusted), supervision.memberships
        return cleaned.audit, known, cleaned.memberships
