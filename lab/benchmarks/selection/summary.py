"""What the page says of a regime: a few numbers for each selector, small enough to be kept in the repository."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from operator import add
from typing import Any

import numpy as np

from benchmarks.selection.regimes import REGIMES, Regime
from benchmarks.selection.selectors import AUTO, selectors


@dataclass(frozen=True)
class Difference:
    """A paired difference: mean over tables of the means over draws, its standard error over tables, and counts.

    There is no error with one table only. ``better`` and ``worse`` are None where nobody knows them any more.
    """

    mean: float
    error: float | None
    better: int | None
    worse: int | None
    tables: int

    @property
    def clear(self) -> bool:
        return self.error is not None and abs(self.mean) > 2 * self.error

    def joined(self, other: Difference) -> Difference:
        """The difference over the tables of both, which are other ones, as if all had been measured at once."""
        n = self.tables + other.tables
        mean = (self.tables * self.mean + other.tables * other.mean) / n
        within = sum(d.tables * (d.tables - 1) * (d.error or 0.0) ** 2 for d in (self, other))
        between = sum(d.tables * (d.mean - mean) ** 2 for d in (self, other))
        error = math.sqrt((within + between) / (n * (n - 1)))
        better, worse = (_if_both(*pair, add) for pair in ((self.better, other.better), (self.worse, other.worse)))
        return Difference(short(mean), short(error), better, worse, n)

    def __str__(self) -> str:
        return f"{self.mean:+.2f}" if self.error is None else f"{self.mean:+.2f} ± {self.error:.2f}"


@dataclass(frozen=True)
class Gap:
    """The table on which a selector is farthest ahead of ``auto``, and by how many points."""

    table: str
    points: float


@dataclass(frozen=True)
class Culprit:
    """The irrelevant column: its mean rank, the share of draws with it in the first five (%), the mean columns."""

    rank: float
    share: float
    columns: float | None

    def joined(self, other: Culprit, draws: tuple[float, float]) -> Culprit:
        """The same over the draws of both."""
        columns = _if_both(self.columns, other.columns, lambda one, two: _mean((one, two), draws))
        return Culprit(_mean((self.rank, other.rank), draws), _mean((self.share, other.share), draws), columns)


@dataclass(frozen=True)
class Measured:
    """What was measured of one selector in one regime. None is what does not apply, or what nobody knows any more."""

    draws: float  # of a table, on average
    tables: int
    area: float
    difference: Difference | None  # to auto, as are the next three; auto itself has none
    balanced: Difference | None  # not for numbers
    judges: dict[str, Difference] | None
    gap: Gap | None
    culprit: Culprit | None
    seconds: float
    sources: tuple[str, ...] | None  # versions of dubio's code; peers have none

    def joined(self, other: Measured) -> Measured:
        """What was measured on the tables of both, which are other ones."""
        tables = self.tables, other.tables
        draws = self.draws * self.tables, other.draws * other.tables

        def by_judge(mine: dict[str, Difference], others: dict[str, Difference]) -> dict[str, Difference]:
            return {name: mine[name].joined(others[name]) for name in mine if name in others}

        return Measured(
            draws=_mean((self.draws, other.draws), tables),
            tables=sum(tables),
            area=_mean((self.area, other.area), tables),
            difference=_if_both(self.difference, other.difference, Difference.joined),
            balanced=_if_both(self.balanced, other.balanced, Difference.joined),
            judges=_if_both(self.judges, other.judges, by_judge),
            gap=_if_both(self.gap, other.gap, lambda one, two: max(one, two, key=lambda gap: gap.points)),
            culprit=_if_both(self.culprit, other.culprit, lambda one, two: one.joined(two, draws)),
            seconds=_mean((self.seconds, other.seconds), tables),
            sources=_if_both(self.sources, other.sources, lambda one, two: tuple(sorted({*one, *two}))),
        )


@dataclass(frozen=True)
class Summary:
    """One regime: its tables (kind/name), its selectors with the best first, and where selectors were left out."""

    name: str
    tables: tuple[str, ...]
    selectors: dict[str, Measured]
    slow: dict[str, dict[str, float]]  # by selector: tables and time limits
    failed: dict[str, dict[str, str]]  # by selector: tables and reasons

    @property
    def regime(self) -> Regime:
        return REGIMES[self.name]

    @property
    def auto(self) -> Measured:
        return self.selectors[AUTO]

    def difference(self, name: str) -> Difference | None:
        return self.selectors[name].difference if name in self.selectors else None

    def ordered(self, family: str | None = None) -> list[tuple[str, Difference]]:
        """Selectors with their differences to ``auto``, the best first."""
        known = selectors()
        return [
            (name, measured.difference)
            for name, measured in self.selectors.items()
            if measured.difference is not None and family in (None, known[name].family)
        ]

    def best_peer(self) -> tuple[str, Difference] | None:
        """The peer with the best difference among those that ran on at least half of the tables."""
        return next((pair for pair in self.ordered("peer") if 2 * pair[1].tables >= self.auto.tables), None)


def best_first(found: dict[str, Measured]) -> dict[str, Measured]:
    """Selectors by falling difference, ``auto`` after those that are level with it; others keep their order."""

    def place(pair: tuple[str, Measured]) -> tuple[float, bool]:
        difference = pair[1].difference
        return (-difference.mean if difference else 0.0, pair[0] == AUTO)

    return dict(sorted(found.items(), key=place))


def short(value: float | np.floating) -> float:
    """Ten digits: so many that the page shows the same, and what is left of sums in floats is gone."""
    return float(f"{value:.10g}")


def _mean(values: tuple[float, float], weights: tuple[float, float]) -> float:
    return short(sum(v * w for v, w in zip(values, weights, strict=True)) / sum(weights))


def _if_both(one: Any, other: Any, join: Callable[[Any, Any], Any]) -> Any:
    """Two things joined; None if one of them is unknown."""
    return None if one is None or other is None else join(one, other)
