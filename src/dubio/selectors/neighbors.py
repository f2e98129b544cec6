"""Search for the features in which a row's nearest rows tell its class, or its number."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from dubio._kernels.threads import resolve_threads
from dubio.information.neighbor_loss import NeighborCrossEntropy, NeighborSquaredError
from dubio.noise.audit import Engine
from dubio.noise.audit_record import LabelAudit
from dubio.noise.cleaning import clean_labels
from dubio.ranking import Ranking, rank_in_order, resolve_count
from dubio.search import (
    MAX_ROWS,
    SearchPath,
    SearchStep,
    SubsetDistances,
    best_subsets,
    check_row_limit,
    greedy_search,
    order_by_presence,
)
from dubio.selectors.base import AT_LEAST_ONE, BaseSelector, Count
from dubio.significance.subsets import smallest_sufficient_size
from dubio.supervision import Supervision
from dubio.table import Matrix, standardize, varying_columns


class NeighborSearch(BaseSelector):
    """Greedy search on the leave-one-out k-NN cross-entropy of the classes, with doubtful labels cleaned first.

    A subset of features is good if the nearest other rows in it predict a row's class (a number: if their mean
    predicts it). Hard labels are audited before the search (:func:`dubio.audit_labels`), so that wrong ones do not
    lead it astray; soft labels say their doubt themselves and are taken as they are. Rows without a label are left out
    of the search.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None
        A count, a share, or None for half. "auto": the smallest subset whose criterion is not significantly worse than
        the best (:func:`~dubio.significance.smallest_sufficient_size`); one feature, with a warning, if no subset is
        better than none.
    alpha : float, default=0.05
        With "auto": level of that test.
    direction : {"both", "forward", "backward"}, default="both"
        ``"both"`` searches forward and backward and keeps, for each size, the subset with the better value.
    n_neighbors : int, default=15
        Neighbours that predict a row; at most all other rows.
    clean : {"confident", "pooled", "lnt"} or None, default="confident"
        What to do about wrong labels: leave out rows whose label confident learning doubts; weigh every class by its
        posterior under a uniform flip rate, or by that of the LNT noise model; or trust the labels.
    target : {"auto", "classes", "numbers"}, default="auto"
        What a 1-D ``y`` holds; "auto" takes whole numbers with few distinct values as classes.
    experts : classifier, list or dict of classifiers, optional
        For the audit; see :func:`dubio.audit_labels`.
    n_folds : int, default=5
        Folds of the audit.
    standardize : bool, default=True
        Scale every column to unit variance before distances are taken; the columns handed back are the original.
    missing_label : "auto", None or a value
        What means "unlabelled" besides None and NaN.
    max_rows : int, default=20_000
        More labelled rows are refused: the search keeps the distances of all pairs, 8 bytes each.
    random_state : int or None, default=0
        Seed of the audit, and of the order in which equally distant rows are taken. The order of the rows of the
        table does not matter.
    n_jobs : int, optional
        Threads. The result does not depend on it.
    verbose : int, default=0
        1 prints a line after each fold of the audit and each step of the search.

    Attributes
    ----------
    subsets_ : dict of int to array
        The features of the best subset of each size, as column indices. With ``direction="both"`` they need not be
        nested. Constant features are in none.
    values_ : dict of int to float
        The criterion of each: class-balanced cross-entropy in nats, or mean squared error. Low is good.
    ranking_ : array (n_features,)
        1 = best: by the number of the subsets a feature is in. With one direction it is the order of the search.
    support_, n_features_
        ``subsets_[n_features_]``, and its size.
    audit_ : LabelAudit or None
        What was thought of the labels.
    used_rows_ : array of int
        The rows the search used.
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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "direction": [StrOptions({"both", "forward", "backward"})],
        "n_neighbors": AT_LEAST_ONE,
        "clean": [StrOptions({"confident", "pooled", "lnt"}), None],
        "target": [StrOptions({"auto", "classes", "numbers"})],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "max_rows": AT_LEAST_ONE,
        "random_state": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        n_features_to_select: Count = None,
        alpha: float = 0.05,
        direction: Literal["both", "forward", "backward"] = "both",
        n_neighbors: int = 15,
        clean: Engine | None = "confident",
        target: Literal["auto", "classes", "numbers"] = "auto",
        experts: Any = None,
        n_folds: int = 5,
        standardize: bool = True,
        missing_label: Any = "auto",
        max_rows: int = MAX_ROWS,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.direction = direction
        self.n_neighbors = n_neighbors
        self.clean = clean
        self.target = target
        self.experts = experts
        self.n_folds = n_folds
        self.standardize = standardize
        self.missing_label = missing_label
        self.max_rows = max_rows
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def _target(self) -> Literal["auto", "classes", "numbers"]:  # type: ignore[override]
        return self.target

    def _fit(self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None) -> None:
        automatic = isinstance(self.n_features_to_select, str)
        if not automatic:
            count, self.explanation_ = resolve_count(self.n_features_to_select, X.shape[1])
        check_row_limit(supervision.n_labelled, self.max_rows)
        table = np.asarray(X, dtype=np.float64)
        varying_columns(table, supervision.labelled)  # before the labels are cleaned, which may take long
        self.audit_, rows, goal = self._clean(table, supervision)
        varying = varying_columns(table, rows)
        space = standardize(table) if self.standardize else table
        space, goal = space[np.ix_(rows, varying)], goal[rows]
        # Equally distant rows are taken in row order; neither the user's order nor a sorted one must decide.
        order = np.lexsort((*np.atleast_2d(goal.T), *space.T))
        order = order[np.random.RandomState(self.random_state).permutation(len(order))]
        self.used_rows_ = rows
        distances = SubsetDistances(space[order], n_threads=resolve_threads(self.n_jobs), max_rows=self.max_rows)
        criterion: NeighborCrossEntropy | NeighborSquaredError
        if supervision.kind == "numbers":
            criterion = NeighborSquaredError(distances, goal[order], n_neighbors=self.n_neighbors)
        else:
            criterion = NeighborCrossEntropy(distances, goal[order], n_neighbors=self.n_neighbors)
        directions: tuple[Literal["forward", "backward"], ...]
        directions = ("forward", "backward") if self.direction == "both" else (self.direction,)
        self.paths_: dict[str, SearchPath] = {
            direction: greedy_search(criterion, np.arange(len(varying)), direction=direction, on_step=self._on_step)
            for direction in directions
        }
        subsets, self.values_ = best_subsets(list(self.paths_.values()), larger_is_better=False)
        self.subsets_ = {size: varying[subset] for size, subset in subsets.items()}
        if automatic:
            count, self.explanation_ = smallest_sufficient_size(
                subsets,
                self.values_,
                criterion.row_values,
                larger_is_better=False,
                alpha=self.alpha,
                value_of_nothing=criterion.value_of_nothing,
            )
        constant = np.setdiff1d(np.arange(X.shape[1]), varying)
        best_first = np.concatenate([varying[order_by_presence(subsets, len(varying))], constant])
        self.ranking_ = rank_in_order(best_first)
        self.support_ = np.zeros(X.shape[1], dtype=bool)
        self.support_[self.subsets_[min(count, len(varying))]] = True
        self.support_[constant[: max(0, count - len(varying))]] = True
        self.n_features_ = count

    def _clean(
        self, table: NDArray[np.float64], supervision: Supervision
    ) -> tuple[LabelAudit | None, NDArray[np.int64], NDArray[np.float64]]:
        """The audit, the rows to search on, and the target of every row."""
        if supervision.kind == "numbers":
            assert supervision.values is not None
            return None, np.flatnonzero(supervision.labelled), supervision.values
        assert supervision.memberships is not None
        if supervision.kind == "soft" or self.clean is None:
            return None, np.flatnonzero(supervision.labelled), supervision.memberships
        cleaned = clean_labels(
            table,
            supervision,
            self.clean,
            experts=self.experts,
            n_folds=self.n_folds,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            progress=bool(self.verbose),
        )
        if self.clean == "confident":
            return cleaned.audit, np.flatnonzero(cleaned.trusted), supervision.memberships
        return cleaned.audit, np.flatnonzero(supervision.labelled), cleaned.memberships

    def _on_step(self, step: SearchStep, n_steps: int) -> None:
        if self.verbose:
            print(
                f"[NeighborSearch] {step.size} feature(s), criterion {step.value:.4f}, {step.seconds:.2f} s", flush=True
            )

    def to_ranking(self) -> Ranking:
        """The result as a :class:`~dubio.ranking.Ranking`; a feature's score is the share of the subsets it is in."""
        check_is_fitted(self)
        present = np.zeros(self.n_features_in_)
        for subset in self.subsets_.values():
            present[subset] += 1.0 / len(self.subsets_)
        return Ranking(
            self._names(), present, False, self.ranking_, self.support_, type(self).__name__, self.explanation_
        )
