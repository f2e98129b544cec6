"""Charts with one row per feature and one cell per column: ranks in resamples, correlations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dubio.report.svg import PHONE, chart, escape, figures, fit, tag, text, width_of

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class _Grid:
    """Where the cells stand: beside the names, or on phones under them."""

    columns: int
    narrow: bool

    @property
    def left(self) -> float:
        return 2.0 if self.narrow else 238.0

    @property
    def cell(self) -> float:
        return min(26.0, (PHONE - 4) / self.columns) if self.narrow else 26.0

    @property
    def step(self) -> float:
        return 38.0 if self.narrow else 22.0

    @property
    def width(self) -> float:
        return PHONE if self.narrow else max(self.left + 10 + self.cell * self.columns, 540.0)

    def name(self, y: float, name: str) -> str:
        if self.narrow:
            return text(self.left, y + 14, fit(name, PHONE - 6), class_="name")
        return text(228, y + 15, fit(name, 224), class_="name", text_anchor="end")

    def middle(self, column: int) -> float:
        return self.left + self.cell * (column + 0.5)

    def square(self, column: int, y: float, title: str, kind: str, strength: float) -> str:
        """One cell of the row at ``y``; ``title`` is already escaped."""
        return tag(
            "rect",
            f"<title>{title}</title>",
            x=self.left + self.cell * column,
            y=y + (19.0 if self.narrow else 1.0),
            width=self.cell - (1.0 if self.narrow else 2.0),
            height=17.0 if self.narrow else 20.0,
            class_=kind,
            fill_opacity=f"{strength:.3f}",
        )

    def heads(self, y: float, names: Sequence[str]) -> list[str]:
        """Names of columns; if there is no room for all, the first, every fifth and the last."""
        few = self.cell < 20 and len(names) > 10
        shown = [j for j in range(len(names)) if not few or j in (0, len(names) - 1) or (j + 1) % 5 == 0]
        if few and len(shown) > 1 and shown[-1] - shown[-2] < 2:
            del shown[-2]
        sides = {0: "start", len(names) - 1: "end"} if few else {}  # names at the ends stay inside
        shift = {"start": -self.cell / 2, "end": self.cell / 2, "middle": 0.0}
        parts = []
        for j in shown:
            side = sides.get(j, "middle")
            parts.append(text(self.middle(j) + shift[side], y, names[j], class_="tick", text_anchor=side))
        return parts


def rank_heat(names: Sequence[str], shares: Floats, columns: Sequence[str], *, narrow: bool = False) -> str:
    """How often each feature had each rank: one row per feature, one column per rank."""
    grid, top = _Grid(len(columns), narrow), 36.0
    parts = [text(grid.left, 12, "rank in the resamples; darker means more often", class_="axis-name")]
    parts += grid.heads(top - 4, columns)
    for i, name in enumerate(names):
        y = top + grid.step * i
        parts.append(grid.name(y, name))
        for j in range(len(columns)):
            share = float(shares[i, j])
            title = f"{escape(name)}: rank {columns[j]} in {100 * share:.0f} % of the resamples"
            parts.append(grid.square(j, y, title, "heat", max(share, 0.0) ** 0.5))
    height = top + grid.step * len(names) + 8
    return chart(grid.width, height, "Rank of the top features in the resamples", parts)


def correlation_heat(
    names: Sequence[str], correlations: Floats, has_sign: NDArray[np.bool_], *, narrow: bool = False
) -> str:
    """Correlations between features; one colour per sign, and one for pairs without a sign (categories, groups)."""
    size = len(names)
    grid, top = _Grid(size, narrow), 22.0
    second = 108.0
    parts = [
        tag("rect", x=grid.left, y=2.0, width=12.0, height=12.0, class_="plus"),
        text(grid.left + 17, 12, "rise together", class_="axis-name"),
        tag("rect", x=grid.left + second, y=2.0, width=12.0, height=12.0, class_="minus"),
        text(grid.left + second + 17, 12, "one falls as the other rises", class_="axis-name"),
    ]
    if not has_sign.all():
        words, third, line = "no direction", 310.0, 0.0
        if grid.left + third + 17 + width_of(words) > grid.width:
            third, line = 0.0, 19.0  # on a line of its own
        top += line
        parts.append(tag("rect", x=grid.left + third, y=2.0 + line, width=12.0, height=12.0, class_="undirected"))
        parts.append(text(grid.left + third + 17, 12 + line, words, class_="axis-name"))
    for i, name in enumerate(names):
        y = top + grid.step * i
        parts.append(grid.name(y, f"{i + 1}. {name}"))
        for j in range(size):
            value = float(correlations[i, j])
            kind = ("plus" if value >= 0 else "minus") if has_sign[i, j] else "undirected"
            shown = figures(value) if has_sign[i, j] else f"{figures(abs(value))}, without a direction"
            title = f"{escape(name)} and {escape(names[j])}: {shown}"
            strength = min(abs(value), 1.0) if np.isfinite(value) else 0.0
            parts.append(grid.square(j, y, title, kind, strength))
    bottom = top + grid.step * size
    parts += grid.heads(bottom + 14, [str(j + 1) for j in range(size)])
    return chart(grid.width, bottom + 22, "Correlation of the top features", parts)
