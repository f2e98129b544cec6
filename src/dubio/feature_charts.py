"""Charts of one feature against the target: numbers or categories, by class or against a number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dubio.charts import Axis, Chart, Floats, Integers, Marks, Panel, bars, is_wide, shares_of, spread
from dubio.errors import counted

_DOTS = 400  # of two numbers, at most
#: Most classes with a lane, most classes with bars, and most categories in one chart.
_CLASSES, _BARRED_CLASSES, _LEVELS = 8, 4, 6
_DOTTED, _FEWEST = 80, 5  # classes with at most so many rows show each of them; a density needs at least so many
_COLOURS = 8
#: What is not shown: one of it, and many.
_RARER, _SMALLER = ("rarer category", "rarer categories"), ("smaller class", "smaller classes")


def colour_of(place: int) -> int:
    """The colour of the class that is drawn at this place."""
    return place % _COLOURS


def numbers_by_class(name: str, values: Floats, memberships: Floats, classes: Sequence[str], order: Integers) -> Chart:
    """A feature of numbers, by class: its density, and a dot per row if a class has few."""
    known = np.isfinite(values)
    values, memberships = values[known], memberships[known]
    shown, across, in_order = order[:_CLASSES], _span(values), np.argsort(values, kind="stable")
    marks: list[Marks] = []
    for place, k in enumerate(shown.tolist()):
        base, weights, role = place + 0.49, memberships[:, k], f"c{colour_of(place)}"
        marks.append(Marks("line", np.array([across.low, across.high]), np.array([base, base]), "grid"))
        rows = np.flatnonzero(weights > 0)
        if len(rows) >= _FEWEST:
            x, heights = _density(across, values, weights)
            marks.append(Marks("area", x, np.full(len(x), base), role, base - 0.93 * heights))
        if len(rows) <= _DOTTED:
            own = _within(across, values[rows])
            jitter = (np.arange(len(rows)) * 0.618034) % 1.0  # evenly spread, and the same every time
            strength = 0.15 + 0.6 * weights[rows]
            marks.append(Marks("dot", own, np.asarray(base - 0.18 - 0.71 * jitter), role, size=2.4, strength=strength))
        if weights.sum() > 0:
            totals = np.cumsum(weights[in_order])
            median = values[in_order][np.searchsorted(totals, totals[-1] / 2)]
            marks.append(_ticks(_within(across, [median]), [place]))
    title = f"{name} by class{_not_shown(len(order) - len(shown), *_SMALLER)}"
    return Chart(title, [Panel(across, marks)], rows=[classes[k] for k in shown], row_height=28.0, small=True)


def categories_by_class(
    name: str, codes: Floats, levels: Sequence[str], memberships: Floats, classes: Sequence[str], order: Integers
) -> Chart:
    """A feature of categories: for each category a bar per class, the share of the rows of that class which have it."""
    often, shown = _most_frequent(codes, len(levels)), order[:_BARRED_CLASSES]
    ends = _shares(codes, len(levels), memberships)[np.ix_(shown, often)].T
    rows = np.arange(len(often))[:, None] + (np.arange(len(shown)) + 0.5) / len(shown) - 0.5
    roles, labels = [f"c{colour_of(k)}" for k in range(len(shown))], [f"{100 * end:.0f} %" for end in ends.ravel()]
    marks = bars(rows.ravel(), ends.ravel(), roles * len(often), labels=labels, size=0.77 / len(shown))
    hidden = _not_shown(len(levels) - len(often), *_RARER) + _not_shown(len(order) - len(shown), *_SMALLER)
    title, panel = f"{name}: share of each category by class{hidden}", Panel(Axis(0.0, 1.0, numbers="none"), [marks])
    legend = [(role, classes[k]) for role, k in zip(roles, shown, strict=True)] if len(classes) > 1 else ()
    names, height = [levels[level] for level in often], 13.0 * len(shown)
    return Chart(title, [panel], rows=names, row_height=height, legend=legend, small=True)


def number_by_number(name: str, values: Floats, target: Floats, target_name: str) -> Chart:
    """A feature of numbers against a numeric target, with the running mean."""
    known = np.isfinite(values) & np.isfinite(target)
    values, target = values[known], target[known]
    across, up = _span(values, name), _span(target, target_name)
    near = np.flatnonzero((values >= across.low) & (values <= across.high))
    near, order = near[spread(len(near), _DOTS)], np.argsort(values, kind="stable")
    parts = [part for part in np.array_split(order, min(20, max(2, len(order) // 10))) if len(part)]
    x, y = (_within(axis, [own[part].mean() for part in parts]) for own, axis in ((values, across), (target, up)))
    strength = np.full(len(near), 0.45)
    dots = Marks("dot", values[near], _within(up, target[near]), "c0", size=2.4, strength=strength)
    panels = [Panel(across, [dots, Marks("line", x, y, "curve")], up)] if len(values) else []
    return Chart(f"{target_name} by {name}, with the running mean", panels, small=True)


def number_by_category(name: str, codes: Floats, levels: Sequence[str], target: Floats, target_name: str) -> Chart:
    """A numeric target in each category of a feature: a bar from its first to its third quartile, and its median."""
    known = np.isfinite(codes) & np.isfinite(target)
    codes, target = codes[known], target[known]
    often, across = _most_frequent(codes, len(levels)), _span(target, target_name)
    own = [target[codes == level] for level in often.tolist()]
    rows = np.arange(len(often), dtype=np.float64)
    quartiles = np.array([np.quantile(part, [0.25, 0.5, 0.75]) for part in own]).reshape(-1, 3)
    low, middle, high = _within(across, quartiles).T
    marks = [Marks("bar", low, rows, "c0", high, strength=np.full(len(rows), 0.55)), _ticks(middle, rows)]
    names = [f"{levels[level]} ({counted(len(part), 'row')})" for level, part in zip(often, own, strict=True)]
    title = f"{target_name} in each category of {name}{_not_shown(len(levels) - len(often), *_RARER)}"
    return Chart(title, [Panel(across, marks)] if own else [], rows=names, small=True)


def _within(axis: Axis, values: Any) -> Floats:
    return np.clip(values, axis.low, axis.high)


def _ticks(at: Floats, rows: Any) -> Marks:
    """An upright line in each row."""
    return Marks("bar", np.asarray(at), np.asarray(rows, dtype=np.float64), "median", np.asarray(at))


def _shares(codes: Floats, n_levels: int, memberships: Floats) -> Floats:
    """Share of each category (columns) in each class (rows); rows without a value do not count."""
    known = np.isfinite(codes)
    found = np.zeros((memberships.shape[1], n_levels))
    np.add.at(found.T, codes[known].astype(int), memberships[known])
    return shares_of(found)


def _most_frequent(codes: Floats, n_levels: int) -> Integers:
    counts = np.bincount(codes[np.isfinite(codes)].astype(int), minlength=n_levels)
    order = np.argsort(-counts, kind="stable")[:_LEVELS]
    return order[counts[order] > 0]


def _not_shown(hidden: int, one: str, many: str) -> str:
    return f", {counted(hidden, one, many)} not shown" if hidden > 0 else ""


def _span(values: Floats, title: str = "") -> Axis:
    """From the lowest to the highest value, without far outliers."""
    if len(values) == 0:
        return Axis(0.0, 1.0, title)
    low, q1, q3, high = (float(v) for v in np.quantile(values, [0, 0.25, 0.75, 1]))
    reach = 4 * (q3 - q1)
    if reach > 0:
        low, high = max(low, q1 - reach), min(high, q3 + reach)
    half = 0.0 if is_wide(low, high) else max(0.5, 5e-4 * abs(low))
    return Axis(low - half, (low if half else high) + half, title)


def _density(across: Axis, values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """A smoothed histogram over 64 bins, with a peak of 1."""
    ends = (across.low, across.high)
    counts, edges = np.histogram(np.clip(values, *ends), bins=64, range=ends, weights=weights)
    kernel = np.exp(-0.5 * (np.arange(-6, 7) / 2.0) ** 2)
    density = np.convolve(counts, kernel / kernel.sum(), mode="same")
    middles = (edges[:-1] + edges[1:]) / 2
    return np.array([ends[0], *middles, ends[1]]), np.array([0.0, *density / max(density.max(), 1e-300), 0.0])
