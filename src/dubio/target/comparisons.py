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
class Lines:
    """(columns, rows): the values of some columns, with the places of the rows in the order of each."""

    values: Floats
    order: Rows
    #: For each row: how many rows have a smaller value, and how many one that is not larger.
    smaller: Rows
    upto: Rows

    @classmethod
    def of(cls, values: Floats) -> Lines:
        order, n = stable_orders(values), values.shape[1]
        ordered = np.take_along_axis(values, order, axis=1)
        is_first, is_last = np.ones((2, *values.shape), dtype=bool)
        is_first[:, 1:] = is_last[:, :-1] = ordered[:, 1:] != ordered[:, :-1]
        places = np.arange(n)
        starts = np.maximum.accumulate(np.where(is_first, places, 0), axis=1)
        ends = np.minimum.accumulate(np.where(is_last, places + 1, n)[:, ::-1], axis=1)[:, ::-1]
        smaller, upto = np.empty((2, *values.shape), dtype=np.int64)
        np.put_along_axis(smaller, order, starts, axis=1)
        np.put_along_axis(upto, order, ends, axis=1)
        return cls(values, order, smaller, upto)

    def only(self, columns: Rows) -> Lines:
        """Some of the columns."""
        return Lines(*(part[columns] for part in vars(self).values()))

    def balance(self, numbers: Floats) -> Floats:
        """(columns, rows, numbers): the sums of some numbers (rows, numbers) over rows with a smaller value, minus
        those with a larger one."""
        columns = np.arange(len(self.values))[:, None]
        sums = np.zeros((len(self.values), len(numbers) + 1, numbers.shape[1]))
        np.cumsum(numbers[self.order], axis=1, out=sums[:, 1:])
        return np.asarray(sums[columns, self.smaller] + sums[columns, self.upto] - sums[:, -1:])

    def medians(self, weights: Floats) -> Floats:
        """(columns,): the median of the values of each column, with its own weights (columns, rows)."""
        columns, last = np.arange(len(self.values)), self.values.shape[1] - 1
        sums = np.cumsum(np.take_along_axis(weights, self.order, axis=1), axis=1)
        half = 0.5 * sums[:, -1:]
        low = np.minimum((sums < half * (1 - 1e-9)).sum(axis=1), last)
        high = np.minimum((sums <= half * (1 + 1e-9)).sum(axis=1), last)
        ends = (self.values[columns, self.order[columns, places]] for places in (low, high))
        return np.asarray(0.5 * sum(ends))


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
    def agreeing(self, lines: Lines) -> Floats:
        """(columns, rows, names): the weights of rows that agree with a row in which of the two is higher, minus those
        of the others."""

    @cached_property
    @abstractmethod
    def comparable(self) -> Floats:
        """(rows, names): the weights of the rows that can be compared with a row."""

    @abstractmethod
    def differences(self, lines: Lines, names: Rows, of_two: NDArray[np.bool_]) -> Floats:
        """(columns,): the effect in the unit of each column, of what is in these places of the names.

        ``of_two``: the columns of two values, also if only what given columns leave of them is here.
        """


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

    def agreeing(self, lines: Lines) -> Floats:
        P, weights = self.memberships, self.weights[:, None]
        return np.asarray(P * lines.balance(weights) - lines.balance(weights * P))

    @cached_property
    def comparable(self) -> Floats:
        P, weights = self.memberships, self.weights[:, None]
        ours, everything = (weights * P).sum(axis=0), weights.sum()
        return np.asarray(P * (everything - ours) + (1 - P) * ours - 2 * weights * P * (1 - P))

    def differences(self, lines: Lines, names: Rows, of_two: NDArray[np.bool_]) -> Floats:
        """Of medians; of shares for a column of two values."""
        ours = (self.weights * self.memberships.T)[names]
        rest = self.weights - ours
        shares = ((lines.values * one).sum(axis=1) / one.sum(axis=1) for one in (ours, rest))
        return np.where(of_two, np.subtract(*shares), lines.medians(ours) - lines.medians(rest))


@dataclass(frozen=True, eq=False)
class InOrder(Comparison):
    """Classes with an order, by memberships: a pair counts by the probability that one of its rows is higher."""

    memberships: Floats = field(repr=False)

    def only(self, chosen: NDArray[Any]) -> Self:
        return type(self)(self.rows[chosen], self.weights[chosen], self.memberships[chosen])

    def agreeing(self, lines: Lines) -> Floats:
        upto = np.cumsum(self.memberships, axis=1)
        higher = 1.0 + self.memberships - 2.0 * upto  # P(above each class) - P(below it)
        sums = lines.balance(self.weights[:, None] * self.memberships)
        return np.asarray((higher * sums).sum(axis=2, keepdims=True))

    @cached_property
    def comparable(self) -> Floats:
        P, weights = self.memberships, self.weights[:, None]
        others = weights.sum() - (weights * P).sum(axis=0)
        lonely = self.weights * (1.0 - (P**2).sum(axis=1))
        return np.asarray(((P * others).sum(axis=1) - lonely)[:, None])

    def differences(self, lines: Lines, names: Rows, of_two: NDArray[np.bool_]) -> Floats:
        """By how much the column rises from one class to the next."""
        steps = self.memberships @ np.arange(self.memberships.shape[1])
        return np.array([_slope(steps, values, self.weights) for values in lines.values])


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

    def agreeing(self, lines: Lines) -> Floats:
        sums, tree = np.zeros((len(lines.values), 2, len(self.rows))), np.empty(len(self.rows) + 1)
        for smaller, upto, both in zip(lines.smaller, lines.upto, sums, strict=True):
            for (rows, others, counts), out in zip(self._others, both, strict=True):
                agreeing_pairs(rows, others, counts, smaller, upto, self.weights, tree, out)
        return np.asarray((sums[:, 0] - sums[:, 1])[:, :, None])

    @cached_property
    def comparable(self) -> Floats:
        total = np.zeros(len(self.rows))
        for rows, others, counts in self._others:
            total[rows] += np.append(0.0, np.cumsum(self.weights[others]))[counts]
        return total[:, None]

    def differences(self, lines: Lines, names: Rows, of_two: NDArray[np.bool_]) -> Floats:
        """Of known numbers, their slope per unit of the column; of censored ones, the ratio of hazards per standard
        deviation of the column; NaN for other limits."""
        return np.array([self._difference(values) for values in lines.values])

    def _difference(self, values: Floats) -> float:
        known, censored = self.low == self.high, np.isposinf(self.high)
        if known.all():
            return _slope(values, self.low, self.weights)
        if not (known | censored).all():
            return np.nan
        middle = np.average(values, weights=self.weights)
        spread = np.sqrt(np.average((values - middle) ** 2, weights=self.weights))
        return _hazard_ratio(values / spread, self.low, known, self.weights) if spread > 0 else np.nan


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
