"""The charts of the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from dubio.errors import counted
from dubio.pipelines.evaluation import SelectionEvaluation
from dubio.target.classes import OfClasses
from dubio.target.knowledge import Supervision
from dubio.target.ordered import OrderedClasses, OrderedMemberships
from dubio_app.report.svg import (
    PHONE,
    Scale,
    chart,
    escape,
    figures,
    fit,
    is_wide,
    legend,
    line,
    nice_ticks,
    number,
    tag,
    text,
    tick_name,
    width_of,
)

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


_COLOURS = 8


def class_order(known: OfClasses) -> NDArray[np.int64]:
    """Places of the classes as they are drawn: in their own order if they have one, otherwise the largest first."""
    if isinstance(known, OrderedClasses | OrderedMemberships):
        return np.arange(known.n_classes)
    return np.argsort(-known.memberships.sum(axis=0), kind="stable")


def colour_at(place: int) -> int:
    """The colour of the class that is drawn at this place."""
    return place % _COLOURS


def colours_of(names: Sequence[str], known: Supervision) -> list[int]:
    """The colour of each named class; classes that the target does not have are counted on."""
    drawn = [str(known.classes.tolist()[k]) for k in class_order(known)] if isinstance(known, OfClasses) else []
    drawn += [name for name in names if name not in drawn]
    return [colour_at(drawn.index(name)) for name in names]


#: Most classes, and most categories, in one drawing.
_CLASSES, _BARRED_CLASSES, _LEVELS = 8, 4, 6
#: Classes with at most so many rows show each of them; a density needs at least so many.
_DOTS, _FEWEST = 80, 5
_LEFT, _RIGHT = 84.0, PHONE - 12


def numbers_by_class(
    name: str, values: Floats, memberships: Floats, classes: Sequence[str], order: NDArray[np.int64]
) -> str:
    """A feature of numbers, by class: its density, and a dot per row if a class has few."""
    known = np.isfinite(values)
    values, memberships = values[known], memberships[known]
    shown = order[:_CLASSES]
    top, lane = 10.0, 34.0
    height = top + lane * len(shown) + 34
    low, high = _span(values)
    x = Scale(low, high, _LEFT, _RIGHT)
    parts = _ticks(x, height - 12)
    for position, k in enumerate(shown.tolist()):
        base = top + lane * (position + 1)
        weights = memberships[:, k]
        parts.append(line([(_LEFT, base), (_RIGHT, base)], class_="grid"))
        parts.append(text(_LEFT - 8, base - 8, fit(classes[k], _LEFT - 12), class_="name", text_anchor="end"))
        shape = f"c{colour_at(position)}"
        rows = np.flatnonzero(weights > 0)
        if len(rows) >= _FEWEST:
            parts.append(_density(x, values, weights, base, shape))
        if len(rows) <= _DOTS:
            jitter = (np.arange(len(rows)) * 0.618034) % 1.0  # evenly spread, and the same every time
            parts += [
                tag(
                    "circle",
                    cx=x(float(np.clip(values[i], low, high))),
                    cy=base - 5 - 20 * float(jitter[n]),
                    r=2.4,
                    class_=shape,
                    fill_opacity=f"{0.15 + 0.6 * float(weights[i]):.2f}",
                )
                for n, i in enumerate(rows)
            ]
        if weights.sum() > 0:
            middle = min(max(_weighted_median(values, weights), low), high)
            parts.append(line([(x(middle), base - 28), (x(middle), base)], class_="median"))
    return chart(PHONE, height, f"{name} by class{_not_shown(len(order) - len(shown), 'smaller class')}", parts)


def categories_by_class(
    name: str,
    codes: Floats,
    levels: Sequence[str],
    memberships: Floats,
    classes: Sequence[str],
    order: NDArray[np.int64],
) -> str:
    """A feature of categories: for each category a bar per class, the share of the rows of that class which have it."""
    shares = _shares(codes, len(levels), memberships)
    often = _most_frequent(codes, len(levels))
    shown = order[:_BARRED_CLASSES]
    parts, y = _class_names(classes, shown) if len(classes) > 1 else ([], 6.0)
    bars = Scale(0.0, 1.0, 2.0, PHONE - 52)
    for level in often.tolist():
        parts.append(text(2, y + 13, fit(levels[level], PHONE - 6), class_="name"))
        y += 18
        for position, k in enumerate(shown.tolist()):
            share = float(shares[k, level])
            if share > 0:
                width = bars(share) - bars(0)
                parts.append(
                    tag("rect", x=bars(0), y=y, width=max(width, 1.5), height=10.0, class_=f"c{colour_at(position)}")
                )
            parts.append(text(bars(share) + 5, y + 9.5, f"{100 * share:.0f} %", class_="value"))
            y += 13
        y += 6
    hidden = _not_shown(len(levels) - len(often), "rarer category", "rarer categories")
    hidden += _not_shown(len(order) - len(shown), "smaller class")
    return chart(PHONE, y + 4, f"{name}: share of each category by class{hidden}", parts)


def number_by_number(name: str, values: Floats, target: Floats, target_name: str) -> str:
    """A feature of numbers against a numeric target, with the running mean."""
    known = np.isfinite(values) & np.isfinite(target)
    values, target = values[known], target[known]
    if len(values) == 0:
        return ""
    left, top, bottom = 58.0, 24.0, 210.0
    x, y = Scale(*_span(values), left, _RIGHT), Scale(*_span(target), bottom, top)
    parts = [text(2, 12, fit(target_name, PHONE - 6, 12), class_="axis-name")]
    for tick in nice_ticks(y.low, y.high, 4):
        parts.append(line([(left, y(tick)), (_RIGHT, y(tick))], class_="grid"))
        parts.append(text(left - 6, y(tick) + 4, tick_name(tick), class_="tick", text_anchor="end"))
    parts += _ticks(x, bottom + 16)
    parts.append(text(PHONE / 2, bottom + 34, fit(name, PHONE - 6, 12), class_="axis-name", text_anchor="middle"))
    chosen = np.flatnonzero((values >= x.low) & (values <= x.high))
    chosen = chosen[np.unique(np.linspace(0, len(chosen) - 1, min(len(chosen), 400)).astype(int))]
    parts += [
        tag("circle", cx=x(float(values[i])), cy=y(float(np.clip(target[i], y.low, y.high))), r=2.4, class_="c0 point")
        for i in chosen
    ]
    order = np.argsort(values, kind="stable")
    groups = np.array_split(order, min(20, max(2, len(order) // 10)))
    means = [
        (x(float(np.clip(values[g].mean(), x.low, x.high))), y(float(np.clip(target[g].mean(), y.low, y.high))))
        for g in groups
        if len(g)
    ]
    parts.append(line(means, class_="curve"))
    return chart(PHONE, bottom + 42, f"{target_name} by {name}, with the running mean", parts)


def number_by_category(name: str, codes: Floats, levels: Sequence[str], target: Floats, target_name: str) -> str:
    """A numeric target in each category of a feature: a bar from its first to its third quartile, and its median."""
    known = np.isfinite(codes) & np.isfinite(target)
    codes, target = codes[known], target[known]
    if len(codes) == 0:
        return ""
    often = _most_frequent(codes, len(levels))
    x = Scale(*_span(target), 8.0, PHONE - 12)
    parts, y = [text(2, 12, fit(target_name, PHONE - 6, 12), class_="axis-name")], 20.0
    for level in often.tolist():
        own = target[codes == level]
        low, middle, high = (x(float(np.clip(q, x.low, x.high))) for q in np.quantile(own, [0.25, 0.5, 0.75]))
        parts.append(text(2, y + 13, fit(f"{levels[level]} ({counted(len(own), 'row')})", PHONE - 6), class_="name"))
        parts.append(tag("rect", x=low, y=y + 18, width=max(high - low, 1.5), height=12.0, class_="c0 density"))
        parts.append(line([(middle, y + 16), (middle, y + 32)], class_="median"))
        y += 38
    parts += _ticks(x, y + 12)
    hidden = _not_shown(len(levels) - len(often), "rarer category", "rarer categories")
    return chart(PHONE, y + 20, f"{target_name} in each category of {name}{hidden}", parts)


def _class_names(classes: Sequence[str], shown: NDArray[np.int64]) -> tuple[list[str], float]:
    """The colour of each class, two on a line, and where the drawing goes on."""
    parts = []
    for position, k in enumerate(shown.tolist()):
        x, y = 2 + (position % 2) * PHONE / 2, 4 + 18.0 * (position // 2)
        parts.append(tag("rect", x=float(x), y=y, width=12.0, height=12.0, class_=f"c{colour_at(position)}"))
        parts.append(text(x + 17, y + 11, fit(classes[k], PHONE / 2 - 22, 12), class_="axis-name"))
    return parts, 8 + 18.0 * ((len(shown) + 1) // 2)


def _shares(codes: Floats, n_levels: int, memberships: Floats) -> Floats:
    """Share of each category (columns) in each class (rows); rows without a value do not count."""
    known = np.isfinite(codes)
    found = np.zeros((memberships.shape[1], n_levels))
    np.add.at(found.T, codes[known].astype(int), memberships[known])
    totals = found.sum(axis=1, keepdims=True)
    return np.divide(found, totals, out=np.zeros_like(found), where=totals > 0)


def _most_frequent(codes: Floats, n_levels: int) -> NDArray[np.int64]:
    counts = np.bincount(codes[np.isfinite(codes)].astype(int), minlength=n_levels)
    order = np.argsort(-counts, kind="stable")[:_LEVELS]
    return order[counts[order] > 0]


def _ticks(x: Scale, y: float) -> list[str]:
    """Numbers along an axis; those at its ends stay inside the drawing."""
    parts = []
    for tick in nice_ticks(x.low, x.high, 3):
        name = tick_name(tick)
        half = width_of(name) / 2
        at = min(max(x(tick), half), PHONE - half)
        parts.append(text(at, y, name, class_="tick", text_anchor="middle"))
    return parts


def _not_shown(hidden: int, one: str, many: str | None = None) -> str:
    return f", {counted(hidden, one, many or f'{one}es')} not shown" if hidden > 0 else ""


def _span(values: Floats) -> tuple[float, float]:
    """The lowest and the highest value, without far outliers."""
    if len(values) == 0:
        return 0.0, 1.0
    low, q1, q3, high = (float(v) for v in np.quantile(values, [0, 0.25, 0.75, 1]))
    reach = 4 * (q3 - q1)
    if reach > 0:
        low, high = max(low, q1 - reach), min(high, q3 + reach)
    if not is_wide(low, high):
        half = max(0.5, 5e-4 * abs(low))
        return low - half, low + half
    return low, high


def _density(x: Scale, values: Floats, weights: Floats, base: float, kind: str) -> str:
    """A smoothed histogram over 64 bins, as a filled curve over the line at ``base``."""
    counts, edges = np.histogram(np.clip(values, x.low, x.high), bins=64, range=(x.low, x.high), weights=weights)
    offsets = np.arange(-6, 7)
    kernel = np.exp(-0.5 * (offsets / 2.0) ** 2)
    density = np.convolve(counts, kernel / kernel.sum(), mode="same")
    peak = max(float(density.max()), 1e-300)
    middles = (edges[:-1] + edges[1:]) / 2
    points = [(x(m), base - 26 * float(v) / peak) for m, v in zip(middles.tolist(), density, strict=True)]
    edge = " ".join(f"{number(a)},{number(b)}" for a, b in [(x.start, base), *points, (x.end, base)])
    return tag("polygon", points=edge, class_=f"{kind} density")


def _weighted_median(values: Floats, weights: Floats) -> float:
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(total, total[-1] / 2)])


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


#: Most points of a curve.
_POINTS = 600
#: More features than this have an axis of powers of ten.
_MANY = 40
#: Smaller p-values are drawn as this one.
_SMALLEST = 1e-16


@dataclass(frozen=True)
class _Place:
    """Where the axes stand."""

    narrow: bool
    top: float = 26.0

    @property
    def width(self) -> float:
        return PHONE if self.narrow else 900.0

    @property
    def left(self) -> float:
        return 56.0 if self.narrow else 70.0

    @property
    def right(self) -> float:
        return self.width - (12 if self.narrow else 20)

    @property
    def bottom(self) -> float:
        return self.top + (190.0 if self.narrow else 234.0)

    @property
    def height(self) -> float:
        return self.bottom + 45

    def grid(self, y: Scale, ticks: Floats, names: list[str]) -> list[str]:
        """Lines across, and their values on the left."""
        parts = []
        for tick, name in zip(ticks, names, strict=True):
            parts.append(line([(self.left, y(tick)), (self.right, y(tick))], class_="grid"))
            parts.append(text(self.left - 6, y(tick) + 4, name, class_="tick", text_anchor="end"))
        return parts

    def across(self, last: int, logarithmic: bool, words: str) -> tuple[Scale, list[str]]:
        """The axis of whole numbers from 1 to ``last`` (of their logarithms, if there are many), drawn."""
        if logarithmic:
            x = Scale(0.0, float(np.log10(last)), self.left, self.right)
            powers = np.arange(0, np.log10(last) + 1e-9)
            ticks = np.unique(10.0**powers)
        else:
            x = Scale(1, last, self.left, self.right)
            ticks = np.unique(np.round([1, *nice_ticks(1, last, 4 if self.narrow else 8)]))
        parts = []
        for tick in ticks[ticks <= last]:
            at = x(float(np.log10(tick)) if logarithmic else tick)
            parts.append(text(at, self.bottom + 18, f"{tick:,.0f}", class_="tick", text_anchor="middle"))
        middle = (self.left + self.right) / 2
        parts.append(text(middle, self.bottom + 38, words, class_="axis-name", text_anchor="middle"))
        return x, parts


def size_chart(
    sizes: NDArray[np.int64],
    values: Floats,
    chosen: int,
    words: str,
    label: str,
    threshold: float | None,
    logarithmic: bool,
    *,
    narrow: bool = False,
) -> str:
    """Value against number of features, with the chosen number and the threshold."""
    finite = np.isfinite(values)
    sizes, values = sizes[finite], values[finite]
    if len(sizes) == 0:
        return ""
    drawn = np.log10(np.maximum(values, 1e-12)) if logarithmic else values
    level = None if threshold is None else (np.log10(threshold) if logarithmic else threshold)
    low, high = float(drawn.min()), float(drawn.max())
    if level is not None:
        low, high = min(low, level), max(high, level)
    if logarithmic:
        low, high = np.floor(low), max(np.ceil(high), np.floor(low) + 1)
    place, last = _Place(narrow, top=50.0), max(int(sizes[-1]), 2)
    y = Scale(low, high, place.bottom, place.top)
    ticks = np.arange(low, high + 0.5, max(1.0, np.ceil((high - low) / 6))) if logarithmic else nice_ticks(low, high)
    names = [_power_of_ten(tick) if logarithmic else tick_name(tick) for tick in ticks]
    x, axis = place.across(last, False, "number of features")
    parts = [text(2 if narrow else place.left, 12, label, class_="axis-name"), *place.grid(y, ticks, names), *axis]
    if level is not None:
        parts.append(line([(place.left, y(level)), (place.right, y(level))], class_="threshold"))
        parts.append(text(place.left + 6, y(level) - 6, f"{threshold:g}", class_="threshold-name"))
    keep = np.unique(np.linspace(0, len(sizes) - 1, min(len(sizes), _POINTS)).astype(int))
    points = [(x(float(sizes[i])), y(float(drawn[i]))) for i in keep]
    parts.append(line(points, class_="curve"))
    if len(points) <= 40:
        parts += [tag("circle", cx=a, cy=b, r=2.5, class_="curve-point") for a, b in points]
    parts += _mark(place, x(min(max(chosen, 1), last)), words, line_too=chosen > 0)
    return chart(place.width, place.height, f"{label} by number of features; {words}", parts)


def chance_chart(pvalues: Floats, kept: NDArray[np.bool_], *, narrow: bool = False) -> str:
    """The p-values, smallest first, and where they would lie if no feature were related.

    The i-th smallest of d independent uniform numbers has the distribution Beta(i, d + 1 - i): the band holds the
    middle 95 % of it.
    """
    finite = np.isfinite(pvalues)
    pvalues, kept = pvalues[finite], kept[finite]
    d = len(pvalues)
    if d < 2:
        return ""
    order = np.argsort(pvalues, kind="stable")
    spread = np.linspace(0, d - 1, min(d, _POINTS)) if d <= _MANY else np.geomspace(1, d, min(d, _POINTS)) - 1
    shown = np.unique(spread.round().astype(int))
    ranks = shown + 1.0
    drawn = -np.log10(np.maximum(pvalues[order[shown]], _SMALLEST))
    expected = -np.log10(ranks / (d + 1))
    low, high = (-np.log10(beta.ppf(share, ranks, d + 1 - ranks)) for share in (0.975, 0.025))
    place, many = _Place(narrow, top=44.0 if narrow else 30.0), d > _MANY
    top = float(max(drawn.max(), high.max(), 2.0))
    y = Scale(0.0, top, place.bottom, place.top)
    ticks = np.arange(0.0, top + 1e-9, max(1.0, np.ceil(top / 6)))
    x, axis = place.across(d, many, "features, smallest p-value first")
    at = [x(float(np.log10(rank)) if many else rank) for rank in ranks.tolist()]
    parts = [*place.grid(y, ticks, [_power_of_ten(-tick) for tick in ticks]), *axis]
    edge = [*zip(at, map(y, high), strict=True), *reversed(list(zip(at, map(y, low), strict=True)))]
    parts.append(tag("polygon", points=" ".join(f"{number(a)},{number(b)}" for a, b in edge), class_="band"))
    parts.append(line(list(zip(at, map(y, expected), strict=True)), class_="by-chance"))
    parts += [
        tag("circle", cx=a, cy=y(b), r=3.0, class_="kept" if kept[order[i]] else "unkept")
        for a, b, i in zip(at, drawn.tolist(), shown.tolist(), strict=True)
    ]
    parts.append(text(2 if narrow else place.left, 12, "p-value", class_="axis-name"))
    start, level = (2.0, 28.0) if narrow else (160.0, 12.0)
    parts.append(legend(start, level, "by-chance", "what chance would give, and its range")[0])
    return chart(place.width, place.height, "p-values of the features, and what chance would give", parts)


def evaluation_chart(found: SelectionEvaluation, *, narrow: bool = False) -> str:
    """Score of a model by number of features, with its interval; with random features, with all of them, by chance."""
    rows, random = found.record()["by_size"], found.random_by_size.mean(axis=0)
    means, lows, highs = (np.array([row[name] for row in rows]) for name in ("mean", "low", "high"))
    everything, chance = float(found.all_features.mean()), float(found.chance.mean())
    bottom = float(min(lows.min(), random.min(), chance))
    lowest = max(0.0, bottom) if found.measure == "accuracy" else max(-1.0, bottom)
    highest = float(max(highs.max(), means.max(), everything, chance))
    last = max(int(found.sizes[-1]), 2)
    place, many = _Place(narrow, top=62.0 if narrow else 44.0), last > _MANY
    y = Scale(lowest, highest, place.bottom, place.top)
    x, axis = place.across(last, many, "number of features")
    at = [x(float(np.log10(size)) if many else float(size)) for size in found.sizes.tolist()]

    def height(value: float) -> float:
        return y(min(max(value, y.low), y.high))

    ticks = nice_ticks(y.low, y.high)
    parts = [*place.grid(y, ticks, [tick_name(tick) for tick in ticks]), *axis]
    edge = [*zip(at, map(height, highs), strict=True), *reversed(list(zip(at, map(height, lows), strict=True)))]
    parts.append(tag("polygon", points=" ".join(f"{number(a)},{number(b)}" for a, b in edge), class_="band"))
    for value, kind in ((everything, "whisker"), (chance, "threshold")):
        parts.append(line([(place.left, height(value)), (place.right, height(value))], class_=kind))
    parts.append(line(list(zip(at, map(height, random.tolist()), strict=True)), class_="by-chance"))
    parts.append(line(list(zip(at, map(height, means.tolist()), strict=True)), class_="curve"))
    parts += [tag("circle", cx=a, cy=height(b), r=2.5, class_="curve-point") for a, b in zip(at, means, strict=True)]
    kinds = {"curve": "ranked first", "by-chance": "random ones", "whisker": "all features", "threshold": "by chance"}
    parts.append(text(2 if narrow else place.left, 12, found.measure, class_="axis-name"))
    start, level = 2.0 if narrow else place.left, 30.0
    for number_, (kind, words) in enumerate(kinds.items()):
        if narrow and number_ == 2:
            start, level = 2.0, 46.0
        drawn, start = legend(start, level, kind, words)
        parts.append(drawn)
    return chart(place.width, place.height, f"{found.measure} by number of features", parts)


def _mark(place: _Place, at: float, words: str, *, line_too: bool) -> list[str]:
    """A line at the chosen number, with its name above the drawing, where no other line crosses it."""
    half = width_of(words, 14.0) / 2
    middle = min(max(at, place.left + half), place.right - half)
    name = text(middle, place.top - 18, words, class_="chosen-name", text_anchor="middle")
    return [line([(at, place.top - 12), (at, place.bottom)], class_="chosen"), name] if line_too else [name]


def _power_of_ten(exponent: float) -> str:
    if -3 <= exponent <= 3:
        return f"{10.0**exponent:g}"
    return "10" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
