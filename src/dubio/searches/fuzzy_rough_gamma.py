"""Fuzzy-rough dependency: similarities, connectives, and its exact computation without all pairs of rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputError
from dubio.kernels.fuzzy_rough import build_box_tree, scan_rows, search_candidates
from dubio.kernels.threads import chunks, run_chunks
from dubio.neighbors.greedy import ADD
from dubio.progress import parts_of
from dubio.target.knowledge import Supervision

Similarity = Literal["std", "range", "gaussian"]
#: The kernels know connectives by their places in these lists.
TNorm = Literal["lukasiewicz", "minimum", "product"]
Implicator = Literal["lukasiewicz", "kleene-dienes", "reichenbach", "goedel", "goguen"]

# The S-implicators. With them, the positive region of a crisp class is the distance to the nearest enemy, as in
# equation (10) of the paper, for every t-norm.
MATCHING_IMPLICATOR = {"lukasiewicz": "lukasiewicz", "minimum": "kleene-dienes", "product": "reichenbach"}

#: Truths closer than this are equal: sums of the same distances in another order differ by about 1e-16.
TRUTH_TOLERANCE = 1e-12
#: Rows that a kernel handles at a time.
_ROWS_A_CHUNK = 128
#: With fewer rows, starting threads costs more time than it saves.
_SERIAL_ROWS = 400
#: Rows of a leaf of the tree, at most.
_LEAF_ROWS = 32
Floats = NDArray[np.float64]
Places = NDArray[np.int64]
Claims = tuple[Places, Places, NDArray[np.bool_], Floats]
#: Dependencies closer than this count as equal: they are means of sums that were added in different orders.
GAMMA_TOLERANCE = 1e-9


class DependencyCriterion(ABC):
    """gamma of the chosen features (``value``), of all features (``value_all``), and with each candidate added.

    A :class:`~dubio.neighbors.greedy.Criterion` for forward searches: gamma never falls, and a finished claim stays
    finished. But gamma is not submodular: a feature that gains nothing now may gain something later together with
    another one. So a search evaluates every candidate again in every round, and adds a feature even in a round in which
    none gains.
    """

    larger_is_better = True

    def __init__(self, coordinates: Floats, decision: Decision, weights: Floats, n_threads: int = 1) -> None:
        self.coordinates, self.decision, self.weights = coordinates, decision, weights
        self._total_weight = weights.sum()
        self.n_rows, self.n_features = coordinates.shape
        self.n_threads = n_threads if self.n_rows >= _SERIAL_ROWS else 1
        self.chosen: list[int] = []
        self.candidates = everything = np.arange(self.n_features)
        self._row_of_claim = np.repeat(np.arange(self.n_rows), np.diff(decision.starts))
        self._live = np.ones(len(decision.caps), dtype=bool)
        self._ceilings = decision.caps
        self._ceilings = self.truth_under(everything)
        self._truth = self.truth_under(everything[:0])
        self._floors = np.zeros(self.n_rows)
        self._settle()
        self.region_all = self._region(self._ceilings)
        self.value = float((weights * self._floors).sum() / self._total_weight)
        self.value_all = float((weights * self.region_all).sum() / self._total_weight)

    def _region(self, truth: Floats) -> Floats:
        """Positive region of each row: the largest truth among its claims."""
        return np.maximum.reduceat(truth, self.decision.starts[:-1])

    def start(self, features: Places) -> float:
        """Start a search. It must start without features, because a finished claim cannot become live again."""
        if len(features) or self.chosen:
            raise ValueError("the dependency can only be searched forward, once, starting with no features")
        return self.value

    def evaluate(self, candidates: Places, change: int) -> Floats:
        """gamma of the chosen features with each candidate added (candidates: all features not chosen, ascending)."""
        assert change == ADD
        live_rows = np.zeros(self.n_rows, dtype=bool)
        live_rows[self._row_of_claim[self._live]] = True
        settled = (self.weights[~live_rows] * self._floors[~live_rows]).sum()
        sums = self._candidate_sums(live_rows) if live_rows.any() else np.zeros(len(candidates))
        values = np.minimum((settled + sums) / self._total_weight, self.value_all)
        self._values = dict(zip(candidates.tolist(), values.tolist(), strict=True))
        return values

    def apply(self, feature: int, change: int) -> None:
        """Add a candidate to the chosen features."""
        assert change == ADD
        self.chosen.append(feature)
        self.candidates = self.candidates[self.candidates != feature]
        self.value = self._values[feature]

    def truth_under(self, features: Places) -> Floats:
        """Truth of every live claim under a set of features."""
        truth = self._ceilings.copy()
        self._scan(np.ones(self.n_rows, dtype=bool), features, self.candidates[:0], np.zeros(self.n_rows), truth)
        return truth

    def value_of(self, features: Places) -> float:
        """gamma of a subset; to be called before a search, while all claims are live."""
        region = np.maximum(self._floors, self._region(self.truth_under(features)))
        return float((self.weights * region).sum() / self._total_weight)

    def _candidate_sums(self, live_rows: NDArray[np.bool_]) -> Floats:
        """Weighted sum of the positive region of the live rows, with each candidate added."""
        chosen = np.array(self.chosen, dtype=np.int64)
        sums = self._scan(live_rows, chosen, self.candidates, self._floors, self._truth)
        self._settle()
        return sums

    @abstractmethod
    def _scan(
        self, rows: NDArray[np.bool_], chosen: Places, candidates: Places, floors: Floats, truth: Floats
    ) -> Floats:
        """Weighted sum of the positive region of some rows, with each candidate added to the chosen features.

        Sets the truth of their live claims to its value with only the chosen features.
        """

    @property
    def _claims(self) -> Claims:
        return self.decision.starts, self.decision.labels, self._live, self._ceilings

    def _settle(self) -> None:
        """Raise the floors to the known truths, and retire the claims that can no longer matter."""
        np.maximum(self._floors, self._region(self._truth), out=self._floors)
        self._live = self._live & (self._ceilings > self._floors[self._row_of_claim] + TRUTH_TOLERANCE)

    def _in_chunks(self, n: int, work: Callable[[int, int], Any], size: int = _ROWS_A_CHUNK) -> list[Any]:
        on_done = parts_of(f"step {len(self.chosen) + 1}")
        return run_chunks(work, chunks(n, size), self.n_threads, on_done)


class ConnectiveCriterion(DependencyCriterion):
    """Any t-norm, implicator and similarity: visits all pairs of rows each time, but never stores them."""

    def __init__(
        self, *given: Any, nominal: NDArray[np.bool_], t_norm: TNorm, implicator: Implicator, gaussian: bool
    ) -> None:
        self._nominal = nominal
        self._relation = (get_args(TNorm).index(t_norm), get_args(Implicator).index(implicator), gaussian)
        super().__init__(*given)

    def _scan(self, rows: NDArray[np.bool_], *others: Any) -> Floats:
        decision = (self.decision.columns, self.decision.on_a_line, self.decision.crisp)
        table = self._claims, self._relation, self.coordinates, self._nominal, decision
        chosen, candidates, floors, truth = others
        places = np.flatnonzero(rows)

        def scan(start: int, stop: int) -> Any:
            return scan_rows(start, stop, places, *table, chosen, candidates, floors, self.weights, truth)

        return np.sum(self._in_chunks(len(places), scan), axis=0)


class LukasiewiczCriterion(DependencyCriterion):
    """Lukasiewicz connectives and similarities linear in the difference: exact, with searches in trees of boxes.

    For the first feature: a nearest-enemy search in each column. For further features: one search for each live claim,
    in a tree of the chosen features, which ends at the best row of the worst candidate. (A list of the pairs below the
    ceilings made a whole search at most 1.3 times as fast, and often slower.)
    """

    def truth_under(self, features: Places) -> Floats:
        truth, space = self._ceilings.copy(), self._space(features)
        self._in_chunks(self.n_rows, lambda start, stop: self._nearest(start, stop, space, truth))
        return truth

    def _candidate_sums(self, live_rows: NDArray[np.bool_]) -> Floats:
        return super()._candidate_sums(live_rows) if self.chosen else self._single_sums(live_rows)

    def _scan(self, rows: NDArray[np.bool_], *others: Any) -> Floats:
        chosen, candidates, floors, truth = others
        space = self._space(chosen)
        positions, added = np.flatnonzero(rows[space[0]]), self.coordinates[np.ix_(space[0], candidates)]

        def search(start: int, stop: int) -> Any:
            return search_candidates(start, stop, positions, self._claims, space, floors, self.weights, added, truth)

        return np.sum(self._in_chunks(len(positions), search), axis=0)

    def _nearest(self, start: int, stop: int, space: tuple[Any, ...], truth: Floats) -> None:
        rows, weights, nothing = np.arange(self.n_rows), self.weights, np.empty((self.n_rows, 0))
        search_candidates(start, stop, rows, self._claims, space, weights, weights, nothing, truth)

    def _space(self, features: Places) -> tuple[Any, ...]:
        points = np.hstack([self.coordinates[:, features], self.decision.columns])
        rows, node_starts, low, high = build_box_tree(points, _LEAF_ROWS)
        return rows, points[rows], len(features), self.decision.on_a_line, node_starts, low, high

    def _single_sums(self, live_rows: NDArray[np.bool_]) -> Floats:
        def sum_of(start: int, stop: int) -> float:
            truth = self._ceilings.copy()
            self._nearest(0, self.n_rows, self._space(self.candidates[start:stop]), truth)
            return float((self.weights[live_rows] * self._region(truth)[live_rows]).sum())

        return np.array(self._in_chunks(len(self.candidates), sum_of, size=1))


def similarity_coordinates(X: Floats, nominal: NDArray[np.bool_], similarity: str) -> Floats:
    """Rescale columns so that the plain difference ``t`` of two coordinates measures how different two rows are.

    ``"std"`` and ``"range"`` divide by the sample standard deviation or the range, and the similarity is
    ``max(0, 1 - |t|)`` (equation 9 of Jensen and Shen's fuzzy-rough selection; with the standard deviation it
    reproduces the paper's Table 1). ``"gaussian"`` also divides by the standard deviation, and the similarity is
    ``exp(-t**2 / 2)``. Nominal columns become whole numbers, one for each category: two categories differ by at
    least 1, so they are not similar at all. NaN is kept: a missing value is similar to everything. A constant column
    becomes all zeros.

    >>> import numpy as np
    >>> similarity_coordinates(np.array([[0.0, 5], [2, 7], [4, 5]]), np.array([False, True]), "range")
    array([[-0.5,  0. ],
           [ 0. ,  1. ],
           [ 0.5,  0. ]])
    """
    coordinates = np.array(X, dtype=np.float64, order="C")
    for j in range(X.shape[1]):
        column = coordinates[:, j]
        if nominal[j]:
            known = ~np.isnan(column)
            column[known] = np.unique(column[known], return_inverse=True)[1]
        else:
            column[:] = scale_numbers(column, similarity)
    return coordinates


def scale_numbers(column: Floats, similarity: str) -> Floats:
    """One numeric column, centred and divided by its standard deviation or range (NaN is ignored and kept)."""
    values = column[~np.isnan(column)]
    if len(values) < 2 or values.min() == values.max():
        return np.where(np.isnan(column), np.nan, 0.0)
    # Divide by the largest magnitude first: squares of very large or very small numbers overflow or underflow.
    centred = column - (values.min() / 2 + values.max() / 2)
    with np.errstate(over="ignore"):  # NumPy 1 warns of overflow here if all numbers are denormal; the result is right
        centred = centred / np.nanmax(np.abs(centred))
    known = centred[~np.isnan(centred)]
    spread = np.ptp(known) if similarity == "range" else np.std(known, ddof=1)
    return centred / spread


@dataclass(frozen=True)
class Decision:
    """The decision columns, and the claims in the order of the rows.

    ``columns`` is (n, classes) memberships, zero where unlabelled. If ``on_a_line``, it is instead one column of
    coordinates, NaN where unlabelled: the closer two coordinates, the more the rows belong to the same class
    (``crisp``: only if they are equal). The claims of row ``x`` are ``starts[x]:starts[x + 1]``; ``labels`` holds their
    classes, -1 for "a class of its own"; ``caps`` is the largest truth that the row itself allows: its own membership.
    """

    columns: Floats
    on_a_line: bool
    crisp: bool
    starts: Places
    labels: Places
    caps: Floats


def read_decision(target: Supervision, similarity: str, unlabelled_enmity: float = 1.0) -> Decision:
    """The decision for what is known of the target.

    Classes are whole numbers on a line, so that different ones are at least 1 apart. Numbers are compared in the same
    way as those of a feature. A row without a label is like no other row (Theorem 1), or with an ``unlabelled_enmity``
    below 1 a weaker enemy of rows with one: it may belong to each class to the degree of 1 less this.
    """
    numbers, sure = target.row_numbers, target.given_codes is not None
    weaker = unlabelled_enmity < 1 and target.n_labelled > 0
    if weaker and numbers is not None and not sure:
        raise InputError("unlabelled_enmity", "below 1 needs classes, but the target is numeric", "leave it out")
    if weaker:
        decision = soft_decision(target.memberships)
        columns = np.where(target.labelled[:, None], decision.columns, 1.0 - unlabelled_enmity)
        return replace(decision, columns=columns)
    if numbers is None and target.n_labelled:
        return soft_decision(target.memberships)
    column = np.full(target.n_rows, np.nan) if numbers is None else np.where(target.labelled, numbers, np.nan)
    return line_decision(column if sure else scale_numbers(column, similarity), crisp=sure)


def soft_decision(memberships: Floats) -> Decision:
    """Fuzzy classes; a row without any membership is unlabelled and forms a class of its own (Theorem 1).

    A row has one claim for each class in which it has some membership. In any other class it would contradict
    itself, and the positive region is the union (maximum) over the classes.
    """
    rows, classes = np.nonzero(memberships > 0)
    unlabelled = np.setdiff1d(np.arange(len(memberships)), rows)
    claimants = np.concatenate([rows, unlabelled])
    order = np.argsort(claimants, kind="stable")
    labels = np.concatenate([classes, np.full(len(unlabelled), -1)])[order]
    caps = np.concatenate([np.minimum(memberships[rows, classes], 1.0), np.ones(len(unlabelled))])[order]
    starts = np.searchsorted(claimants[order], np.arange(len(memberships) + 1))
    return Decision(np.ascontiguousarray(memberships), False, False, starts, labels, caps)


def line_decision(column: Floats, *, crisp: bool) -> Decision:
    """One coordinate per row; see :class:`Decision`."""
    n, columns = len(column), column[:, None]
    return Decision(columns, True, crisp, np.arange(n + 1, dtype=np.int64), np.zeros(n, dtype=np.int64), np.ones(n))
