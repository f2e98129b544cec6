"""Charts by number of features: how many are kept, what chance would give, what they are worth to a model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from dubio.pipelines import SelectionEvaluation
from dubio.report.svg import PHONE, Scale, chart, legend, line, nice_ticks, number, tag, text, tick_name, width_of

Floats = NDArray[np.float64]
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
