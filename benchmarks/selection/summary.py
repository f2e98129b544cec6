"""What the page says of a regime: a few numbers for each selector, small enough to be kept in the repository."""

from __future__ import annotations

from dataclasses import dataclass

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
