"""Charts with one bar per name. On phones the name stands above its bar, on wide pages beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dubio.report.svg import PHONE, Scale, chart, escape, fit, line, nice_ticks, tag, text, tick_name

Floats = NDArray[np.float64]
_BAR = 13.0
#: Where the title of an axis and its numbers stand, and where the first row begins.
_TITLE, _TICKS, _TOP = 12.0, 32.0, 40.0
#: The end of an axis of shares is never less: bars of tiny shares stay short.
_LEAST_END = 0.05


@dataclass(frozen=True)
class Rows:
    """Where names and bars stand."""

    narrow: bool
    lines: int = 0  # lines of text under a bar on phones

    @property
    def width(self) -> float:
        return PHONE if self.narrow else 900.0

    @property
    def left(self) -> float:
        """Where bars begin."""
        return 2.0 if self.narrow else 238.0

    @property
    def step(self) -> float:
        """Height of one row."""
        return 38.0 + 16.0 * self.lines if self.narrow else 22.0

    def name(self, y: float, name: str, kind: str = "name") -> str:
        """A name at the row that begins at ``y``."""
        if self.narrow:
            return text(self.left, y + 13, fit(name, self.width - 6), class_=kind)
        return text(228, y + 14, fit(name, 224), class_=kind, text_anchor="end")

    def bar(self, y: float) -> float:
        """Top of the bar of the row that begins at ``y``."""
        return y + 18 if self.narrow else y + 4


def ranking_bars(
    names: Sequence[str],
    merits: Floats,
    labels: Sequence[str],
    kept: NDArray[np.bool_],
    intervals: tuple[Floats, Floats, Floats] | None,
    n_features: int,
    *,
    narrow: bool = False,
) -> str:
    """Bars of the scores, in the order of the ranks; beside them the interval and the median of the rank."""
    rows, top = Rows(narrow), _TOP
    bar_end = (166.0 if narrow else 560.0) if intervals is not None else (rows.width if narrow else 780.0)
    height = top + rows.step * len(names) + 12
    bars = Scale(0, 1, rows.left, bar_end - 70)
    parts = [text(rows.left, _TITLE, "score", class_="axis-name")]
    ranks = None
    if intervals is not None:
        worst = max(float(np.max(intervals[2])), 2.0)
        ranks = Scale(1, worst, bar_end + (30 if narrow else 20), rows.width - (16 if narrow else 30))
        words = "rank, resampled" if narrow else "rank when resampled (median, interval)"
        parts.append(text(ranks.start, _TITLE, words, class_="axis-name"))
        for tick in np.unique(np.round([1, *nice_ticks(1, worst, 2 if narrow else 4)])):
            if tick <= worst:
                parts.append(line([(ranks(tick), top - 4), (ranks(tick), height - 10)], class_="grid"))
                parts.append(text(ranks(tick), _TICKS, tick_name(tick), class_="tick", text_anchor="middle"))
    for i, name in enumerate(names):
        y = top + rows.step * i
        middle = rows.bar(y) + _BAR / 2
        state = "kept" if kept[i] else "left"
        end = bars(float(merits[i]))
        bar = _bar(bars(0), end, rows.bar(y), state)
        value = text(end + 6, middle + 4, labels[i], class_="value")
        title = f"<title>{escape(name)}: {escape(labels[i])}{', kept' if kept[i] else ''}</title>"
        parts.append(tag("g", title + rows.name(y, name, f"name {state}") + bar + value))
        if intervals is not None and ranks is not None:
            low, median, high = (float(part[i]) for part in intervals)
            parts.append(line([(ranks(low), middle), (ranks(high), middle)], class_="whisker"))
            found = f"<title>{escape(name)}: rank {low:g} to {high:g}, median {median:g}</title>"
            parts.append(tag("circle", found, cx=ranks(median), cy=middle, r=4.0, class_=state))
    what = f"The best {len(names)} of {n_features} features" if len(names) < n_features else "All features"
    said = "Bars show the score; kept features are drawn darker."
    return chart(rows.width, height, f"{what}, in the order of their ranks", parts, said)


def share_bars(names: Sequence[str], shares: Floats, labels: Sequence[str], title: str, *, narrow: bool = False) -> str:
    """Plain bars from 0 to the largest share, or to 5 % if all are smaller; a share of 0 has none."""
    rows = Rows(narrow)
    largest = max([*shares.tolist(), _LEAST_END])
    bars = Scale(0, largest, rows.left, rows.width - (80 if narrow else 160))
    parts = []
    for i, name in enumerate(names):
        y = rows.step * i
        end = bars(float(shares[i]))
        parts.append(rows.name(y, name))
        parts.append(_bar(bars(0), end, rows.bar(y), "kept"))
        parts.append(text(end + 6, rows.bar(y) + 11, labels[i], class_="value"))
    return chart(rows.width, rows.step * len(names) + 6, title, parts)


def interval_bars(
    names: Sequence[str],
    values: Floats,
    lows: Floats,
    highs: Floats,
    words: Sequence[str],
    label: str,
    title: str,
    *,
    narrow: bool = False,
) -> str:
    """A bar per name from 0 to its share, with a line from ``lows`` to ``highs``, and words beside or under it."""
    rows, top = Rows(narrow, lines=2 if any(words) else 0), _TOP
    end = rows.width - 24 if narrow else 540.0
    height = top + rows.step * len(names) + 12
    most = min(1.0, 0.05 + float(np.nanmax([*highs, 0.1])))
    scale = Scale(0, most, rows.left, end)
    parts = [text(rows.left, _TITLE, label, class_="axis-name")]
    for tick in nice_ticks(0, most, 3 if narrow else 5):
        side = {} if narrow and tick == 0 else {"text_anchor": "middle"}
        parts.append(line([(scale(tick), top - 4), (scale(tick), height - 10)], class_="grid"))
        parts.append(text(scale(tick), _TICKS, f"{100 * tick:g} %", class_="tick", **side))
    for i, name in enumerate(names):
        y = top + rows.step * i
        told = words[i] or (f"{100 * values[i]:.2g} %" if np.isfinite(values[i]) else "not known")
        pieces = [f"<title>{escape(name)}: {escape(told)}</title>", rows.name(y, name)]
        if np.isfinite(values[i]):
            middle = rows.bar(y) + _BAR / 2
            pieces.append(_bar(scale(0), scale(float(values[i])), rows.bar(y), "kept"))
            pieces.append(line([(scale(float(lows[i])), middle), (scale(float(highs[i])), middle)], class_="whisker"))
        x, under = (rows.left, rows.bar(y) + 28) if narrow else (end + 14, y + 14)
        for place, part in enumerate(_lines(words[i], 2) if narrow else [words[i]]):
            if part:
                pieces.append(text(x, under + 15 * place, fit(part, rows.width - x, 12), class_="value"))
        parts.append(tag("g", "".join(pieces)))
    return chart(rows.width, height, title, parts)


def _bar(start: float, end: float, y: float, kind: str) -> str:
    """A bar; nothing at all if it would have no length, and a sliver if it would be too short to see."""
    if not end > start:
        return ""
    return tag("rect", x=start, y=y, width=max(end - start, 1.5), height=_BAR, rx=2, class_=kind)


def _lines(words: str, most: int) -> list[str]:
    """The words on at most so many lines of a phone."""
    found = [""]
    for word in words.split():
        if len(found[-1]) + len(word) > 36 and len(found) < most:
            found.append("")
        found[-1] = f"{found[-1]} {word}".strip()
    return found
