"""The charts of the report: each turns plain arrays into one piece of SVG."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dubio.errors import counted
from dubio.report.svg import Scale, chart, escape, figures, is_wide, line, nice_ticks, number, shorten, tag, text

Floats = NDArray[np.float64]
_NAME = 228.0  # room for names on the left
_ROW = 22.0
_CELL = 26.0  # width of a column of a heat map


def ranking_bars(
    names: Sequence[str],
    merits: Floats,
    labels: Sequence[str],
    kept: NDArray[np.bool_],
    intervals: tuple[Floats, Floats, Floats] | None,
    n_features: int,
) -> str:
    """Bars of the scores, best first; next to them the interval and the median of the rank in resamples."""
    top, bar_end = 34.0, 560.0 if intervals is not None else 780.0
    height = top + _ROW * len(names) + 12
    bars = Scale(0, 1, _NAME + 10, bar_end - 70)
    parts = [text(_NAME + 10, 14, "score", class_="axis-name")]
    ranks = None
    if intervals is not None:
        worst = max(float(np.max(intervals[2])), 2.0)
        ranks = Scale(1, worst, bar_end + 20, 870)
        parts.append(text(bar_end + 20, 14, "rank when resampled (median, interval)", class_="axis-name"))
        for tick in np.unique(np.round([1, *nice_ticks(1, worst, 4)])):
            if tick <= worst:
                parts.append(line([(ranks(tick), top - 4), (ranks(tick), height - 10)], class_="grid"))
                parts.append(text(ranks(tick), top - 8, f"{tick:g}", class_="tick", text_anchor="middle"))
    for i, name in enumerate(names):
        y = top + _ROW * i
        state = "kept" if kept[i] else "left"
        label = text(_NAME, y + 14, shorten(name, 30), class_=f"name {state}", text_anchor="end")
        bar = tag(
            "rect",
            x=bars(0),
            y=y + 4,
            width=max(bars(float(merits[i])) - bars(0), 1.5),
            height=13.0,
            rx=2,
            class_=state,
        )
        value = text(max(bars(float(merits[i])), bars(0)) + 6, y + 14, labels[i], class_="value")
        title = f"<title>{escape(name)}: {escape(labels[i])}{', kept' if kept[i] else ''}</title>"
        parts.append(tag("g", title + label + bar + value))
        if intervals is not None and ranks is not None:
            low, median, high = (float(part[i]) for part in intervals)
            parts.append(line([(ranks(low), y + 10), (ranks(high), y + 10)], class_="whisker"))
            parts.append(
                tag(
                    "circle",
                    f"<title>{escape(name)}: rank {low:g} to {high:g}, median {median:g}</title>",
                    cx=ranks(median),
                    cy=y + 10,
                    r=4.0,
                    class_=state,
                )
            )
    what = f"The best {len(names)} of {n_features} features" if len(names) < n_features else "All features"
    return chart(900, height, f"{what}, best first", parts, "Bars show the score; kept features are drawn darker.")


def size_chart(
    sizes: NDArray[np.int64],
    values: Floats,
    chosen: int,
    words: str,
    label: str,
    threshold: float | None,
    logarithmic: bool,
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
    left, right, top, bottom = 70.0, 880.0, 26.0, 260.0
    last = max(int(sizes[-1]), 2)
    x = Scale(1, last, left, right)
    y = Scale(low, high, bottom, top)
    ticks = np.arange(low, high + 0.5, max(1.0, np.ceil((high - low) / 6))) if logarithmic else nice_ticks(low, high)
    parts = [text(left, 12, label, class_="axis-name")]
    for tick in ticks:
        parts.append(line([(left, y(tick)), (right, y(tick))], class_="grid"))
        height = _power_of_ten(tick) if logarithmic else f"{tick:.4g}"
        parts.append(text(left - 6, y(tick) + 4, height, class_="tick", text_anchor="end"))
    for tick in np.unique(np.round([1, *nice_ticks(1, last, 8)])):
        parts.append(text(x(tick), bottom + 18, f"{tick:g}", class_="tick", text_anchor="middle"))
    parts.append(text((left + right) / 2, bottom + 38, "number of features", class_="axis-name", text_anchor="middle"))
    if level is not None:
        parts.append(line([(left, y(level)), (right, y(level))], class_="threshold"))
        parts.append(text(right, y(level) - 6, f"{threshold:g}", class_="threshold-name", text_anchor="end"))
    keep = np.unique(np.linspace(0, len(sizes) - 1, min(len(sizes), 600)).astype(int))
    points = [(x(float(sizes[i])), y(float(drawn[i]))) for i in keep]
    parts.append(line(points, class_="curve"))
    if len(points) <= 40:
        parts += [tag("circle", cx=a, cy=b, r=2.5, class_="curve-point") for a, b in points]
    at = min(max(chosen, 1), last)
    parts.append(line([(x(at), top), (x(at), bottom)], class_="chosen"))
    anchor = "end" if at > last / 2 else "start"
    parts.append(
        text(x(at) + (-6 if anchor == "end" else 6), top + 26, words, class_="chosen-name", text_anchor=anchor)
    )
    return chart(900, 305, f"{label} by number of features; {words}", parts)


def feature_by_class(
    name: str, values: Floats, memberships: Floats, classes: Sequence[str], order: NDArray[np.int64]
) -> str:
    """One feature, by class: points if a class has few rows, a density if it has many."""
    known = np.isfinite(values)
    values, memberships = values[known], memberships[known]
    shown = order[:8]
    left, right, top, lane = 96.0, 416.0, 10.0, 34.0
    height = top + lane * len(shown) + 34
    low, high = _span(values)
    x = Scale(low, high, left, right)
    parts = [text(x(t), height - 12, f"{t:.4g}", class_="tick", text_anchor="middle") for t in nice_ticks(low, high, 4)]
    for position, k in enumerate(shown.tolist()):
        base = top + lane * (position + 1)
        weights = memberships[:, k]
        parts.append(line([(left, base), (right, base)], class_="grid"))
        parts.append(text(left - 8, base - 8, shorten(classes[k], 13), class_="name", text_anchor="end"))
        shape = f"c{position % 8}"
        if (weights > 0).sum() <= 80:
            rows = np.flatnonzero(weights > 0)
            jitter = (np.arange(len(rows)) * 0.618034) % 1.0  # evenly spread, and the same every time
            parts += [
                tag(
                    "circle",
                    cx=x(float(np.clip(values[i], low, high))),
                    cy=base - 5 - 20 * float(jitter[n]),
                    r=2.6,
                    class_=shape,
                    fill_opacity=f"{0.15 + 0.6 * float(weights[i]):.2f}",
                )
                for n, i in enumerate(rows)
            ]
        else:
            grid, density = _density(values, weights, low, high)
            peak = max(float(density.max()), 1e-300)
            points = [(x(g), base - 26 * float(v) / peak) for g, v in zip(grid.tolist(), density, strict=True)]
            edge = " ".join(f"{number(a)},{number(b)}" for a, b in [(left, base), *points, (right, base)])
            parts.append(tag("polygon", points=edge, class_=f"{shape} density"))
        if weights.sum() > 0:
            middle = _weighted_median(values, weights)
            middle = min(max(middle, low), high)
            mark = [(x(middle), base - 28), (x(middle), base)]
            parts.append(line(mark, class_="median"))
    hidden = len(order) - len(shown)
    note = f", {counted(hidden, 'smaller class', 'smaller classes')} not shown" if hidden > 0 else ""
    return chart(430, height, f"{name} by class{note}", parts)


def feature_by_number(name: str, values: Floats, target: Floats, target_name: str) -> str:
    """One feature against a numeric target, with the running mean."""
    known = np.isfinite(values) & np.isfinite(target)
    values, target = values[known], target[known]
    if len(values) == 0:
        return ""
    left, right, top, bottom = 62.0, 416.0, 10.0, 210.0
    x, y = Scale(*_span(values), left, right), Scale(*_span(target), bottom, top)
    parts = []
    for tick in nice_ticks(y.low, y.high, 4):
        parts.append(line([(left, y(tick)), (right, y(tick))], class_="grid"))
        parts.append(text(left - 6, y(tick) + 4, f"{tick:.3g}", class_="tick", text_anchor="end"))
    for tick in nice_ticks(x.low, x.high, 4):
        parts.append(text(x(tick), bottom + 16, f"{tick:.3g}", class_="tick", text_anchor="middle"))
    parts.append(
        text(left, bottom + 33, f"{shorten(target_name, 30)} (vertical) by {shorten(name, 30)}", class_="axis-name")
    )
    inside = (values >= x.low) & (values <= x.high)
    chosen = np.flatnonzero(inside)
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
    return chart(430, bottom + 42, f"{target_name} by {name}, with the running mean", parts)


def rank_heat(names: Sequence[str], shares: Floats, columns: Sequence[str]) -> str:
    """How often each feature had each rank: one row per feature, one column per rank."""
    top = 30.0
    parts = [text(_NAME + 10, 12, "rank in the resamples; darker means more often", class_="axis-name")]
    for j, label in enumerate(columns):
        parts.append(text(_NAME + 10 + _CELL * (j + 0.5), top - 4, label, class_="tick", text_anchor="middle"))
    for i, name in enumerate(names):
        y = top + _ROW * i
        parts.append(text(_NAME, y + 15, shorten(name, 30), class_="name", text_anchor="end"))
        for j in range(len(columns)):
            share = float(shares[i, j])
            title = f"{escape(name)}: rank {columns[j]} in {100 * share:.0f} % of the resamples"
            parts.append(_heat_cell(j, y, title, "heat", max(share, 0.0) ** 0.5))
    width = _NAME + 20 + _CELL * len(columns)
    return chart(max(width, 460), top + _ROW * len(names) + 8, "Rank of the top features in the resamples", parts)


def correlation_heat(names: Sequence[str], correlations: Floats) -> str:
    """Correlations between features; one colour per sign."""
    top = 22.0
    parts = [
        tag("rect", x=_NAME + 10, y=2.0, width=12.0, height=12.0, class_="plus"),
        text(_NAME + 27, 12, "rise together", class_="axis-name"),
        tag("rect", x=_NAME + 120, y=2.0, width=12.0, height=12.0, class_="minus"),
        text(_NAME + 137, 12, "one falls as the other rises", class_="axis-name"),
    ]
    size = len(names)
    for i, name in enumerate(names):
        y = top + _ROW * i
        parts.append(text(_NAME, y + 15, f"{i + 1}. {shorten(name, 27)}", class_="name", text_anchor="end"))
        for j in range(size):
            value = float(correlations[i, j])
            title = f"{escape(name)} and {escape(names[j])}: {figures(value)}"
            strength = min(abs(value), 1.0) if np.isfinite(value) else 0.0
            parts.append(_heat_cell(j, y, title, "plus" if value >= 0 else "minus", strength))
    for j in range(size):
        parts.append(
            text(_NAME + 10 + _CELL * (j + 0.5), top + _ROW * size + 14, j + 1, class_="tick", text_anchor="middle")
        )
    return chart(max(_NAME + 20 + _CELL * size, 540), top + _ROW * size + 22, "Correlation of the top features", parts)


def _heat_cell(column: int, y: float, title: str, kind: str, strength: float) -> str:
    """One rectangle of a heat map, in the row at ``y``; ``title`` is already escaped."""
    return tag(
        "rect",
        f"<title>{title}</title>",
        x=_NAME + 10 + _CELL * column,
        y=y + 1,
        width=_CELL - 2,
        height=_ROW - 2,
        class_=kind,
        fill_opacity=f"{strength:.3f}",
    )


def share_bars(names: Sequence[str], shares: Floats, labels: Sequence[str], title: str) -> str:
    """Plain bars from 0 to the largest share."""
    largest = max(float(np.nanmax(shares)) if len(shares) else 0.0, 1e-9)
    bars = Scale(0, largest, _NAME + 10, 740)
    parts = []
    for i, name in enumerate(names):
        y = _ROW * i
        parts.append(text(_NAME, y + 15, shorten(name, 30), class_="name", text_anchor="end"))
        width = max(bars(float(shares[i])) - bars(0), 1.0)
        parts.append(tag("rect", x=bars(0), y=y + 4, width=width, height=14.0, rx=2, class_="kept"))
        parts.append(text(bars(0) + width + 6, y + 15, labels[i], class_="value"))
    return chart(900, _ROW * len(names) + 6, title, parts)


def _power_of_ten(exponent: float) -> str:
    if -3 <= exponent <= 3:
        return f"{10.0**exponent:g}"
    return "10" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


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


def _density(values: Floats, weights: Floats, low: float, high: float) -> tuple[Floats, Floats]:
    """A smoothed histogram over 64 bins."""
    counts, edges = np.histogram(np.clip(values, low, high), bins=64, range=(low, high), weights=weights)
    offsets = np.arange(-6, 7)
    kernel = np.exp(-0.5 * (offsets / 2.0) ** 2)
    return (edges[:-1] + edges[1:]) / 2, np.convolve(counts, kernel / kernel.sum(), mode="same")


def _weighted_median(values: Floats, weights: Floats) -> float:
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(total, total[-1] / 2)])


def interval_bars(
    names: Sequence[str], values: Floats, lows: Floats, highs: Floats, words: Sequence[str], label: str, title: str
) -> str:
    """A bar per name from 0 to its share, with a line from ``lows`` to ``highs``, and words beside it."""
    top, end = 34.0, 560.0
    height = top + _ROW * len(names) + 12
    most = min(1.0, 0.05 + float(np.nanmax([*highs, 0.1])))
    scale = Scale(0, most, _NAME + 10, end)
    parts = [text(_NAME + 10, 14, label, class_="axis-name")]
    for tick in nice_ticks(0, most, 5):
        parts.append(line([(scale(tick), top - 4), (scale(tick), height - 10)], class_="grid"))
        parts.append(text(scale(tick), top - 8, f"{100 * tick:g} %", class_="tick", text_anchor="middle"))
    for i, name in enumerate(names):
        y = top + _ROW * i
        pieces = [f"<title>{escape(name)}: {escape(words[i])}</title>"]
        pieces.append(text(_NAME, y + 14, shorten(name, 30), class_="name", text_anchor="end"))
        if np.isfinite(values[i]):
            width = max(scale(float(values[i])) - scale(0), 1.5)
            pieces.append(tag("rect", x=scale(0), y=y + 4, width=width, height=13.0, rx=2, class_="kept"))
            pieces.append(
                line([(scale(float(lows[i])), y + 10.5), (scale(float(highs[i])), y + 10.5)], class_="whisker")
            )
        pieces.append(text(end + 14, y + 14, words[i], class_="value"))
        parts.append(tag("g", "".join(pieces)))
    return chart(900, height, title, parts)
