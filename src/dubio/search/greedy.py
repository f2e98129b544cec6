"""Greedy forward and backward search: each step makes the best change of one feature."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dubio.errors import InputError
from dubio.progress import advance, step_of
from dubio.search.criterion import ADD, REMOVE, Criterion

Direction = Literal["forward", "backward"]


@dataclass(frozen=True)
class SearchStep:
    """One step: which changes were tried, the value of each, and which one was made."""

    size: int
    """Number of features after the step."""
    feature: int
    """The feature added or removed."""
    value: float
    """The criterion after the step."""
    candidates: NDArray[np.int64]
    candidate_values: NDArray[np.float64]
    """Exact for the best candidate; a criterion may give bounds for candidates that cannot win."""
    seconds: float


@dataclass(frozen=True)
class SearchPath:
    """Everything a search found: a subset and its value for each size it reached, and the steps between."""

    direction: Direction
    subsets: dict[int, NDArray[np.int64]]
    values: dict[int, float]
    steps: tuple[SearchStep, ...] = field(repr=False)

    def order(self) -> NDArray[np.int64]:
        """The features moved, best first: forward in the order added, backward with the last one removed first."""
        moved = [step.feature for step in self.steps]
        if self.direction == "backward":
            remaining = self.subsets[min(self.subsets)]
            moved = [*remaining.tolist(), *moved[::-1]]
        return np.asarray(moved, dtype=np.int64)


def greedy_search(
    criterion: Criterion,
    features: ArrayLike,
    *,
    direction: Direction = "backward",
    stop_size: int | None = None,
    stop_value: float | None = None,
    tie_tolerance: float = 0.0,
    last: ArrayLike = (),
    on_step: Callable[[SearchStep], None] | None = None,
) -> SearchPath:
    """Go from all features to few (backward) or from none to many (forward), always by the best change.

    Parameters
    ----------
    criterion : Criterion
        Gives the value of a subset. The search knows nothing else about it.
    features : array of int
        The features to search among.
    direction : {"backward", "forward"}, default="backward"
        Backward removes the feature without which the criterion is best; forward adds the best one.
    stop_size : int, optional
        Size to stop at: by default 1 for backward, all features for forward.
    stop_value : float, optional
        Forward: stop as soon as the criterion is as good as this value (before the first step if it already is).
    tie_tolerance : float, default=0
        Values closer than this to the best, or to ``stop_value``, count as equal to it.
    last : array of int, optional
        Features that a forward search adds only if no other one is as good: constant ones.
    on_step : callable, optional
        Called with every step, so that the caller has the steps so far if the search is interrupted.

    Returns
    -------
    SearchPath
        Each subset lists its features in increasing order. Among equal values, the lowest index is moved
        (but see ``last``).

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.search import greedy_search
    >>> class SumOfWeights:
    ...     larger_is_better = True
    ...     weights = np.array([3.0, 1.0, 2.0])
    ...     def start(self, features):
    ...         self.total = self.weights[features].sum()
    ...         return self.total
    ...     def evaluate(self, candidates, change):
    ...         return self.total + change * self.weights[candidates]
    ...     def apply(self, feature, change):
    ...         self.total += change * self.weights[feature]
    >>> path = greedy_search(SumOfWeights(), [0, 1, 2])
    >>> path.subsets[2], path.values[1], path.order()
    (array([0, 2]), 3.0, array([0, 2, 1]))
    """
    features = np.unique(np.asarray(features, dtype=np.int64))
    if direction == "backward":
        change, inside, stop = REMOVE, set(features.tolist()), 1 if stop_size is None else stop_size
    elif direction == "forward":
        change, inside, stop = ADD, set(), len(features) if stop_size is None else stop_size
    else:
        raise InputError("direction", f"={direction!r}", "give 'backward' or 'forward'")
    if not 1 <= stop <= len(features):
        raise InputError("stop_size", f"={stop}", f"give a number from 1 to the {len(features)} features searched")

    start = np.asarray(sorted(inside), dtype=np.int64)
    value = float(criterion.start(start))
    subsets, values, steps = {}, {}, []
    if inside:
        subsets[len(start)], values[len(start)] = start, value
    n_steps = abs(len(start) - stop)
    work, tried, may_end_early = f"{direction} search", 0, stop_value is not None  # then only each step is foretold
    to_try = sum(range(len(features) - n_steps + 1, len(features) + 1))  # every step has one candidate less
    sign = 1.0 if criterion.larger_is_better else -1.0
    while len(inside) != stop:
        if stop_value is not None and sign * value >= sign * stop_value - tie_tolerance:
            break
        began = time.perf_counter()
        movable = inside if change == REMOVE else set(features.tolist()) - inside
        candidates = np.asarray(sorted(movable), dtype=np.int64)
        share = (tried / to_try, len(candidates) / to_try)
        with nullcontext() if may_end_early else step_of(work, *share):
            candidate_values = criterion.evaluate(candidates, change)
        signed = sign * candidate_values
        equal = np.flatnonzero(signed >= signed.max() - tie_tolerance)
        best = int(equal[np.argmin(np.isin(candidates[equal], last))])
        feature, value = int(candidates[best]), float(candidate_values[best])
        inside = inside - {feature} if change == REMOVE else inside | {feature}
        if len(inside) != stop:
            criterion.apply(feature, change)
        subsets[len(inside)] = np.asarray(sorted(inside), dtype=np.int64)
        values[len(inside)] = value
        step = SearchStep(len(inside), feature, value, candidates, candidate_values, time.perf_counter() - began)
        steps.append(step)
        with step_of(work, *(0.0, 0.0) if may_end_early else share):
            advance(work, len(steps), n_steps)
        tried += len(candidates)
        if on_step is not None:
            on_step(step)
    return SearchPath(direction, subsets, values, tuple(steps))
