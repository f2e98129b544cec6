"""Greedy search of subsets, forward and backward, over any criterion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dubio.errors import InputError
from dubio.progress import advance

# The two changes that a search makes to a subset. They are signs, so that a kernel can use
# `squared_distances + change * column` for both.
ADD, REMOVE = 1, -1


class Criterion(Protocol):
    """The value of a subset of features, kept up to date through single changes.

    A criterion has a current subset. The search sets it once, asks for the value of every subset that differs by one
    change, and then makes one of those changes. The criterion decides what to carry over from one subset to the next
    (distances, neighbours, a noise model). The search only compares values.
    """

    larger_is_better: bool

    def start(self, features: NDArray[np.int64]) -> float:
        """Make ``features`` the current subset (it may be empty) and return its value; 0.0 when empty."""

    def evaluate(self, candidates: NDArray[np.int64], change: int) -> NDArray[np.float64]:
        """Value of the current subset after adding (``ADD``) or removing (``REMOVE``) each single candidate.

        The best value must be exact. A candidate that cannot be the best may get a bound instead of its value, if that
        bound is also worse than the best value: a value that cannot win need not be computed.
        """

    def apply(self, feature: int, change: int) -> None:
        """Make this change to the current subset. Not called after the last step of a search."""


Direction = Literal["forward", "backward"]


@dataclass(frozen=True)
class SearchStep:
    """One step: the size and the value after it, the feature moved, and the changes that were tried.

    Their values are exact for the best candidate; a criterion may give bounds for candidates that cannot win.
    """

    size: int
    feature: int
    value: float
    candidates: NDArray[np.int64]
    candidate_values: NDArray[np.float64]


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
    start: ArrayLike = (),
    names: Sequence[object] | None = None,
) -> SearchPath:
    """Go from all features to few (backward) or from none to many (forward), always by the best change.

    Parameters
    ----------
    criterion : Criterion
        Gives the value of a subset. The search knows nothing else about it.
    features : array of int
        The features to search among. Among equal values, the lowest index is moved (but see ``last``).
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
    start : array of int, optional
        Features that every subset holds: a forward search begins with them, a backward search never removes them.
    names : sequence, optional
        Names of the features, by index: if the user stops the search, the error says how far it got.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.neighbors.greedy import greedy_search
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
    fixed = set(np.asarray(start, dtype=np.int64).tolist())
    every = fixed | set(np.asarray(features, dtype=np.int64).tolist())
    if direction == "backward":
        change, inside, stop = REMOVE, every, max(1, len(fixed)) if stop_size is None else stop_size
    elif direction == "forward":
        change, inside, stop = ADD, fixed, len(every) if stop_size is None else stop_size
    else:
        raise InputError("direction", f"={direction!r}", "give 'backward' or 'forward'")
    if not max(1, len(fixed)) <= stop <= len(every):
        raise InputError("stop_size", f"={stop}", f"give a number from 1 to the {len(every)} features searched")

    value = float(criterion.start(np.asarray(sorted(inside), dtype=np.int64)))
    subsets, values, steps = {}, {}, list[SearchStep]()
    if inside:
        subsets[len(inside)], values[len(inside)] = np.asarray(sorted(inside), dtype=np.int64), value
    n_steps = abs(len(inside) - stop)
    sign = 1.0 if criterion.larger_is_better else -1.0
    try:
        while len(inside) != stop:
            if stop_value is not None and sign * value >= sign * stop_value - tie_tolerance:
                break
            movable = inside - fixed if change == REMOVE else every - inside
            candidates = np.asarray(sorted(movable), dtype=np.int64)
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
            steps.append(SearchStep(len(inside), feature, value, candidates, candidate_values))
            advance(f"{direction} search", len(steps), n_steps)
    except KeyboardInterrupt:
        verb = "removed" if change == REMOVE else "added"
        moved = ", ".join(str(step.feature if names is None else names[step.feature]) for step in steps) or "nothing"
        raise KeyboardInterrupt(
            f"The {direction} search was stopped after {len(steps)} of {n_steps} steps; {verb} so far: {moved}. The "
            "selector is not fitted. To go faster, give fewer features or rows, or n_jobs=-1."
        ) from None
    return SearchPath(direction, subsets, values, tuple(steps))


Subsets = dict[int, NDArray[np.int64]]


def best_subsets(paths: Sequence[SearchPath]) -> tuple[Subsets, dict[int, float]]:
    """For each size, the subset of any path with the smallest value, and this value; ties go to the earlier path."""
    sizes = sorted(set().union(*(path.subsets for path in paths)))
    best = {size: min((one for one in paths if size in one.values), key=lambda one: one.values[size]) for size in sizes}
    return {size: best[size].subsets[size] for size in sizes}, {size: best[size].values[size] for size in sizes}


def order_by_presence(subsets: Subsets, n_features: int) -> NDArray[np.int64]:
    """Features by the number of subsets they are in, most first; then by the smallest such subset, then by index.

    For the nested subsets of one greedy search, this is the order of the search itself.
    """
    present = np.zeros(n_features, dtype=np.int64)
    smallest = np.full(n_features, n_features + 1, dtype=np.int64)
    for size, subset in sorted(subsets.items(), reverse=True):
        present[subset] += 1
        smallest[subset] = size
    return np.lexsort((np.arange(n_features), smallest, -present))
