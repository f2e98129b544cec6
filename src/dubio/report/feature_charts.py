"""One feature and the target: densities and dots for numbers, bars for categories. One size fits phones too."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dubio.errors import counted
from dubio.report.class_order import colour_at
from dubio.report.svg import PHONE, Scale, chart, fit, is_wide, line, nice_ticks, number, tag, text, tick_name, width_of

Floats = NDArray[np.float64]
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
