"""Which of two rows is higher in the target: what effects of columns are measured against."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dubio.kernels.concordance import agreeing_pairs
from dubio.table.rows import stable_orders

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
#: Steps of Newton's method for a hazard ratio, and the largest one.
_STEPS, _LARGEST_STEP = 25, 2.0


@dataclass(frozen=True, eq=False)
class Line:
    """The values of one column, with the places of the rows in its order."""

    values: Floats
    order: Rows
    #: For each row: how many rows have a smaller value, and how many one that is not larger.
    smaller: Rows
    upto: Rows
    n_different: int

    @classmethod
    def of(cls, values: Floats) -> Line:
        order, n = stable_orders(values), len(values)
        ordered = values[order]
        starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])) if n else order
        sizes = np.diff(starts, append=n)
        smaller, upto = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
        smaller[order], upto[order] = np.repeat(starts, sizes), np.repeat(starts + sizes, sizes)
        return cls(values, order, smaller, upto, len(starts))

    def balance(self, numbers: Floats) -> Floats:
        """For each row: the sums of some numbers over rows with a smaller value, minus those with a larger one."""
        sums = np.zeros((len(numbers) + 1, *numbers.shape[1:]))
        np.cumsum(numbers[self.order], axis=0, out=sums[1:])
        return np.asarray(sums[self.smaller] + sums[self.upto] - sums[-1])

    def medians(self, weights: Floats) -> Floats:
        """The median of the values for each column of weights (rows, columns)."""
        ordered = self.values[self.order]
        sums = np.cumsum(weights[self.order], axis=0)
        half, last = 0.5 * sums[-1], len(ordered) - 1
        low = np.minimum((sums < half * (1 - 1e-9)).sum(axis=0), last)
        high = np.minimum((sums <= half * (1 + 1e-9)).sum(axis=0), last)
        return 0.5 * (ordered[low] + ordered[high])


@dataclass(frozen=True, eq=False)
class Comparison(ABC):
    """A target as pairs of rows of which one is higher. Rows without a label take no part."""

    #: The rows of the problem that take part.
    rows: Rows = field(repr=False)
    weights: Floats = field(repr=False)

    @property
    def names(self) -> list[str]:
        """What is compared: one name for each effect; "" if there is only one."""
        return [""]

    @abstractmethod
    def only(self, chosen: NDArray[Any]) -> Self:
        """The same comparison of some of its rows."""

    @abstractmethod
    def agreeing(self, line: Line) -> Floats:
        """(rows, names): the weights of rows that agree with a row in which of the two is higher, minus the others."""

    @cached_property
    @abstractmethod
    def comparable(self) -> Floats:
        """(rows, names): the weights of the rows that can be compared with a row."""

    @abstractmethod
    def differences(self, line: Line) -> Floats:
        """(names,): the effect in the unit of the column."""


@dataclass(frozen=True, eq=False)
class OneAgainstRest(Comparison):
    """Each class against the others, by memberships; of two classes, the second against the first."""

    memberships: Floats = field(repr=False)
    classes: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        return list(self.classes)

    def only(self, chosen: NDArray[Any]) -> Self:
        return type(self)(self.rows[chosen], self.weights[chosen], self.memberships[chosen], self.classes)

    def agreeing(self, line: Line) -> Floats:
        P, weights = self.memberships, self.weights[:, None]
        ours = line.balance(weights * P)
        return np.asarray(P * line.balance(weights) - ours)

    @cached_property
    def comparable(self) -> Floats:
        P, weights = self.memberships, self.weights[:, None]
        ours, everything = (weights * P).sum(axis=0), weights.sum()
        return np.asarray(P * (everything - ours) + (1 - P) * ours - 2 * weights * P * (1 - P))

    def differences(self, line: Line) -> Floats:
        """Of medians; of shares for a column of two values."""
        ours = self.weights[:, None] * self.memberships
        rest = self.weights[:, None] - ours
        if line.n_different > 2:
            return line.medians(ours) - line.medians(rest)
        return np.asarray(line.values @ ours / ours.sum(axis=0) - line.values @ rest / rest.sum(axis=0))


@dataclass(frozen=True, eq=False)
class InOrder(Comparison):
    """Classes with an order, by memberships: a pair counts by the probability that one of its rows is higher."""

    memberships: Floats = field(repr=False)

    def only(self, chosen: NDArray[Any]) -> Self:
        return type(self)(self.rows[chosen], self.weights[chosen], self.memberships[chosen])

    def agreeing(self, line: Line) -> Floats:
        upto = np.cumsum(self.memberships, axis=1)
        higher = 1.0 + self.memberships - 2.0 * upto  # P(above each class) - P(below it)
        sums = line.balance(self.weights[:, None] * self.memberships)
        return np.asarray((higher * sums).sum(axis=1, keepdims=True))

    @cached_property
    def comparable(self) -> Floats:
        P, weights = self.memberships, self.weights[:, None]
        others = weights.sum() - (weights * P).sum(axis=0)
        lonely = self.weights * (1.0 - (P**2).sum(axis=1))
        return np.asarray(((P * others).sum(axis=1) - lonely)[:, None])

    def differences(self, line: Line) -> Floats:
        """By how much the column rises from one class to the next."""
        steps = self.memberships @ np.arange(self.memberships.shape[1])
        return np.array([_slope(steps, line.values, self.weights)])


@dataclass(frozen=True, eq=False)
class Limits(Comparison):
    """Numbers, known or between limits: a pair counts if one of its rows is surely higher.

    A number lies above its lower limit and below its upper one: one censored at 5 is higher than a known 5.
    """

    low: Floats = field(repr=False)
    high: Floats = field(repr=False)

    def only(self, chosen: NDArray[Any]) -> Self:
        return type(self)(self.rows[chosen], self.weights[chosen], self.low[chosen], self.high[chosen])

    @cached_property
    def _others(self) -> list[tuple[Rows, Rows, Rows]]:
        """Rows, the rows to compare them with, and how many of these are surely lower; the same for surely higher."""
        low, high = self._places
        both = []
        for one, other in ((low, high), (-high, -low)):
            rows, others = np.argsort(one, kind="stable"), np.argsort(other, kind="stable")
            both.append((rows, others, np.searchsorted(other[others], one[rows], side="left")))
        return both

    @cached_property
    def _places(self) -> tuple[Rows, Rows]:
        """Whole numbers in the order of the limits: a row is surely lower if its high one is below the other's low."""
        ends = np.concatenate([self.low, self.high])
        low, high = 3 * np.unique(ends, return_inverse=True)[1].reshape(2, -1)
        known = self.low == self.high
        return low + ~known, high - ~known

    def agreeing(self, line: Line) -> Floats:
        sums = np.zeros((2, len(self.rows)))
        tree = np.empty(len(self.rows) + 1)
        for (rows, others, counts), out in zip(self._others, sums, strict=True):
            agreeing_pairs(rows, others, counts, line.smaller, line.upto, self.weights, tree, out)
        return np.asarray((sums[0] - sums[1])[:, None])

    @cached_property
    def comparable(self) -> Floats:
        total = np.zeros(len(self.rows))
        for rows, others, counts in self._others:
            total[rows] += np.append(0.0, np.cumsum(self.weights[others]))[counts]
        return total[:, None]

    def differences(self, line: Line) -> Floats:
        """Of known numbers, their slope per unit of the column; of censored ones, the ratio of hazards per standard
        deviation of the column; NaN for other limits."""
        known, censored = self.low == self.high, np.isposinf(self.high)
        if known.all():
            return np.array([_slope(line.values, self.low, self.weights)])
        if not (known | censored).all():
            return np.array([np.nan])
        spread = np.sqrt(np.average((line.values - np.average(line.values, weights=self.weights)) ** 2,
                                    weights=self.weights))  # fmt: skip
        return np.array([_hazard_ratio(line.values / spread, self.low, known, self.weights) if spread > 0 else np.nan])


def _slope(x: Floats, y: Floats, weights: Floats) -> float:
    """The slope of a weighted regression of y on x; 0 if x does not vary."""
    x = x - np.average(x, weights=weights)
    below, unit = float(weights @ x**2), float(np.abs(y).max(initial=0.0)) or 1.0  # y may be huge
    return float(weights @ (x * (y / unit - y[0] / unit))) / below * unit if below > 0 else 0.0


def _hazard_ratio(x: Floats, times: Floats, known: NDArray[np.bool_], weights: Floats) -> float:
    """exp(b) of Cox's model with one column, by Newton's method on Breslow's partial likelihood."""
    order = np.argsort(-times, kind="stable")
    x, times, known, weights = x[order] - np.average(x, weights=weights), times[order], known[order], weights[order]
    last = np.searchsorted(-times, -times, side="right") - 1  # all rows with this time or a longer one are at risk
    b = 0.0
    for _ in range(_STEPS):
        risk = weights * np.exp(np.clip(b * x, -50, 50))
        sums = [np.cumsum(risk * x**power)[last] for power in (0, 1, 2)]
        mean = sums[1] / sums[0]
        slope = float((weights * known) @ (x - mean))
        bend = float((weights * known) @ (sums[2] / sums[0] - mean**2))
        if not bend > 0:
            return float("nan")
        step = float(np.clip(slope / bend, -_LARGEST_STEP, _LARGEST_STEP))
        b += step
        if abs(step) < 1e-9:
            break
    return float(np.exp(np.clip(b, -50, 50)))
