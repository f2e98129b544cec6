"""Charts as plain data. :mod:`dubio.plots` draws them with matplotlib, the report as SVG.

A new chart is one function, from facts to a :class:`Chart`. Each mark has a *role*, such as "kept" or "by-chance": what
it means. The colour of a role is known only to those who draw.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from dubio.ranking import Ranking

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Axis:
    """The numbers along one side. If ``low`` is above ``high``, they fall; ``powers`` are those of ten.

    An axis with ``names`` has columns in place of numbers, the first from 0 to 1.
    """

    low: float
    high: float
    title: str = ""
    numbers: Literal["plain", "whole", "percent", "powers", "none"] = "plain"
    names: Sequence[str] = ()


@dataclass(frozen=True)
class Marks:
    """Marks of one shape; NaN is not drawn.

    A bar goes from ``x`` to ``to`` at ``y``; without length it is an upright line. A dot is at each point. A line goes
    through all points. An area lies between ``y`` and ``to``. A rule crosses the panel at its ``y``, or its ``x``.
    ``size`` is the height of a bar as a share of its row, or the radius of a dot.
    """

    shape: Literal["bar", "dot", "line", "area", "rule"]
    x: Floats
    y: Floats
    role: str | Sequence[str]
    to: Floats | None = None
    labels: Sequence[str] = ()
    titles: Sequence[str] = ()
    size: float = 1.0
    strength: Floats | None = None

    @property
    def roles(self) -> Sequence[str]:
        """The role of each mark."""
        return [self.role] * len(self.x) if isinstance(self.role, str) else self.role


@dataclass(frozen=True)
class Panel:
    """Marks between two axes; without ``y`` they lie on the rows of the chart, the middle of the first one at 0."""

    x: Axis
    marks: Sequence[Marks]
    y: Axis | None = None


@dataclass(frozen=True)
class Chart:
    """One panel, or several beside each other that share their rows.

    ``title`` and ``description`` are the chart in words; ``notes`` stand beside the rows. The height of a row is in
    pixels of the page. A legend has roles and their names. A small chart is one of several beside each other.
    """

    title: str
    panels: Sequence[Panel]
    description: str = ""
    rows: Sequence[str] = ()
    row_roles: Sequence[str] = ()
    notes: Sequence[str] = ()
    row_height: float = 13.0
    legend: Sequence[tuple[str, str]] = ()
    small: bool = False


def figures(value: float) -> str:
    """A number for display, with four significant figures.

    >>> figures(0.123456), figures(12345.6)
    ('0.1235', '12,346')
    """
    if not np.isfinite(value):
        return "–"
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e6 else f"{value:.4g}"


def tick_name(value: float) -> str:
    """A number on an axis: 1,000 and 20,000, but 2e6."""
    if 1e3 <= abs(value) < 1e6:
        return f"{value:,.6g}"
    return re.sub(r"e([+-])0*", lambda sign: "e-" if sign[1] == "-" else "e", f"{value:.4g}")


def is_wide(low: float, high: float) -> bool:
    """True if numbers between two ends can be told apart, so that an axis makes sense."""
    return bool(high / 2 - low / 2 > max(1e-290, 1e-9 * max(abs(low), abs(high))))


# ---- charts with rows ------------------------------------------------------------------------------------------------

_LEAST_END = 0.05  # of an axis of shares: bars of tiny shares stay short
_LINE_ROLES = {"sufficient": "kept", "kept": "kept", "related": "related", "": "left", "given": "left"}


def bars(rows: Floats, ends: Floats, role: str | Sequence[str], **more: Any) -> Marks:
    """Bars from 0; a share of 0 has none."""
    return Marks("bar", np.zeros(len(rows)), rows, role, np.where(ends == 0, np.nan, ends), **more)


def spans(rows: Floats, low: Floats, high: Floats) -> Marks:
    """An interval in each row."""
    return Marks("bar", low, rows, "whisker", high, size=0.15)


def ranking_chart(ranking: Ranking, shown: Integers, stability: Any = None, *, from_worst: bool = False) -> Chart:
    """Bars of the scores; beside them the effects, and the interval and the median of the rank when resampled.

    The scores of a search are places: they are only drawn where there is nothing else.

    With ``from_worst``, the best feature shown has a full bar and the worst none, whether low or high is good.
    """
    names, scores = [str(ranking.names[j]) for j in shown], ranking.scores[shown]
    roles, rows = [_LINE_ROLES[ranking.line_of(int(j))] for j in shown], np.arange(float(len(names)))
    labels = [figures(float(score)) for score in scores]
    kept = [", kept" if one else "" for one in ranking.support[shown]]
    titles = [f"{name}: {label}{more}" for name, label, more in zip(names, labels, kept, strict=True)]
    if from_worst:
        ends, across = _merits(-scores if ranking.lower_is_better else scores), Axis(0.0, 1.0, "score", "none")
    else:
        ends, labels = scores, []
        low, high = (float(end(np.nan_to_num(scores), initial=0.0)) for end in (np.min, np.max))
        across = Axis(low, high, _score_axis(ranking))
    panels = (
        [] if ranking.scores_are_places else [Panel(across, [bars(rows, ends, roles, labels=labels, titles=titles)])]
    )
    if "effect" in ranking.extras:
        panels.append(_effects_panel(ranking, shown, roles))
    if stability is not None:
        low, median, high = stability.rank_low[shown], stability.rank_median[shown], stability.rank_high[shown]
        found = zip(names, low, median, high, strict=True)
        titles = [f"{name}: rank {a:g} to {c:g}, median {b:g}" for name, a, b, c in found]
        dots = Marks("dot", median, rows, roles, titles=titles, size=4.0)
        ranks = Axis(1.0, max(float(high.max()), 2.0), "rank when resampled", "whole")
        panels.append(Panel(ranks, [spans(rows, low, high), dots]))
    what = f"The best {len(shown)} of {ranking.n_ranked} features" if len(shown) < ranking.n_ranked else "All features"
    title, said = f"{what}, in the order of their ranks", "Bars show the score; kept features are drawn darker."
    return Chart(title, panels, said, names, ["left" if role == "left" else "kept" for role in roles])


def _effects_panel(ranking: Ranking, shown: Integers, roles: Sequence[str]) -> Panel:
    """The concordance of each feature with its interval, and a line where it is nothing."""
    rows = np.arange(float(len(shown)))
    middle, low, high = (ranking.extras[f"effect{end}"][shown] for end in ("", "_low", "_high"))
    names = [str(ranking.names[j]) for j in shown]
    ends = zip(names, 100 * middle, 100 * low, 100 * high, strict=True)
    titles = [f"{name}: {a:.0f} % ({b:.0f} to {c:.0f})" for name, a, b, c in ends]
    nothing = Marks("line", np.array([0.5, 0.5]), np.array([-0.5, len(shown) - 0.5]), "grid")
    dots = Marks("dot", middle, rows, roles, titles=titles, size=4.0)
    return Panel(Axis(0.0, 1.0, "concordance", "percent"), [nothing, spans(rows, low, high), dots])


def _score_axis(ranking: Ranking) -> str:
    return f"score ({'low' if ranking.lower_is_better else 'high'} is good)"


def _merits(scores: Floats) -> Floats:
    """Scores from 0 (the worst) to 1 (the best)."""
    finite = np.isfinite(scores)
    low, high = scores[finite].min(initial=np.inf), scores[finite].max(initial=-np.inf)
    return np.where(finite, (scores - low) / (high - low) if high > low else 1.0, 0.0)


def adjusting_chart(ranking: Ranking, shown: Integers) -> Chart:
    """The p-values of features with given columns (filled where related) and without them (a ring), on one axis."""
    shown = shown[np.isfinite(ranking.extras["pvalue"][shown])]
    names, rows = [str(ranking.names[j]) for j in shown], np.arange(float(len(shown)))
    both = [np.maximum(ranking.extras[name][shown], _SMALLEST_P) for name in ("pvalue", "pvalue_without")]
    words = [str(word) or "not related" for word in ranking.extras["adjusting"][shown]]
    ends = zip(names, *both, words, strict=True)
    titles = [f"{name}: p = {a:.2g} with the given columns, {b:.2g} without: {word}" for name, a, b, word in ends]
    filled = ["kept" if one else "left" for one in ranking.is_related[shown]]
    lines = Marks("bar", both[1], rows, "whisker", both[0], size=0.15)
    rings = Marks("dot", both[1], rows, "unkept", titles=titles, size=4.0)
    dots = Marks("dot", both[0], rows, filled, titles=titles, size=4.0)
    across = Axis(1.0, float(np.min(both, initial=0.01)), "p-value", "powers")
    legend = [("kept", "with the given columns"), ("unkept", "without them")]
    title = "p-values with and without the given columns"
    return Chart(title, [Panel(across, [lines, rings, dots])], "; ".join(titles), names, legend=legend)


def share_chart(title: str, names: Sequence[str], shares: Floats, labels: Sequence[str]) -> Chart:
    """Plain bars from 0 to the largest share, or to 5 % if all are smaller."""
    across = Axis(0.0, max(float(shares.max(initial=0.0)), _LEAST_END), numbers="none")
    said = ", ".join(f"{name}: {label}" for name, label in zip(names, labels, strict=True))
    panel = Panel(across, [bars(np.arange(float(len(names))), shares, "kept", labels=labels)])
    return Chart(title, [panel], said, names)


def tolerance_chart(tolerance: Any, shown: Integers) -> Chart:
    """Share of wrong labels with which each feature is kept: a bar, its interval, and the worst case in words."""
    names, ends = [str(tolerance.names[j]) for j in shown], tolerance.random[shown]
    low, high, rows = tolerance.low[shown], tolerance.high[shown], np.arange(float(len(names)))
    notes = [tolerance.worst_in_words(int(j)) for j in shown]
    shares = [f"{100 * end:.2g} %" if np.isfinite(end) else "not known" for end in ends]
    titles = [f"{name}: {note or share}" for name, note, share in zip(names, notes, shares, strict=True)]
    label = {"hard": "wrong labels at random", "soft": "flattened by", "numbers": "gross errors"}[tolerance.kind]
    across = Axis(0.0, min(1.0, 0.05 + float(np.nanmax([*high, 0.1]))), label, "percent")
    panel = Panel(across, [bars(rows, ends, "kept", titles=titles), spans(rows, low, high)])
    title = "How wrong the labels may be before each feature is no longer kept"
    return Chart(title, [panel], rows=names, notes=notes if any(notes) else ())


# ---- heat maps -------------------------------------------------------------------------------------------------------


def _heat(title: str, names: Sequence[str], across: Axis, shares: Floats, titles: Sequence[str], **more: Any) -> Chart:
    """A cell for each name (rows) and each column; its strength is a share."""
    role, labels = more.pop("role", "kept"), more.pop("labels", ())
    row, column = (places.ravel().astype(np.float64) for places in np.indices(shares.shape))
    cells = Marks("bar", column + 0.04, row, role, column + 0.96, labels, titles, strength=shares.ravel())
    return Chart(title, [Panel(across, [cells])], rows=names, row_height=20.0, **more)


def rank_heat(stability: Any, shown: Integers, n_features: int) -> Chart:
    """The share of resamples with each rank: a row per feature, a column per rank, and one for all higher ranks."""
    ranks, n_ranks = stability.rankings[:, shown], len(shown)
    columns = [str(r) for r in range(1, n_ranks + 1)]
    shares = np.stack([(ranks == r).mean(axis=0) for r in range(1, n_ranks + 1)], axis=1)
    if n_ranks < n_features:
        columns.append(f">{n_ranks}")
        shares = np.column_stack([shares, (ranks > n_ranks).mean(axis=0)])
    names = [str(stability.names[j]) for j in shown]
    cells = zip(product(names, columns), shares.ravel(), strict=True)
    titles = [f"{name}: rank {rank} in {100 * share:.0f} % of the resamples" for (name, rank), share in cells]
    across = Axis(0.0, len(columns), "rank in the resamples; darker means more often", names=columns)
    return _heat("Rank of the top features in the resamples", names, across, np.sqrt(shares), titles)


def correlation_heat(names: Sequence[str], correlations: Floats, has_sign: NDArray[np.bool_]) -> Chart:
    """Correlations between features: one colour per sign, and one for pairs without a sign (categories, groups)."""
    roles = np.where(has_sign, np.where(correlations >= 0, "plus", "minus"), "undirected").ravel().tolist()
    cells = zip(has_sign.ravel(), correlations.ravel(), strict=True)
    said = [figures(value) if signed else f"{figures(abs(value))}, without a direction" for signed, value in cells]
    titles = [f"{a} and {b}: {text}" for (a, b), text in zip(product(names, names), said, strict=True)]
    legend = [("plus", "rise together"), ("minus", "one falls as the other rises"), ("undirected", "no direction")]
    places = [str(place) for place in range(1, len(names) + 1)]
    rows = [f"{place}. {name}" for place, name in zip(places, names, strict=True)]
    across, strength = Axis(0.0, len(names), names=places), np.minimum(np.nan_to_num(np.abs(correlations)), 1.0)
    more = {"role": roles, "legend": legend[: 2 if has_sign.all() else 3]}
    return _heat("Correlation of the top features", rows, across, strength, titles, **more)


def confusion_chart(audit: Any) -> Chart:
    """The share of each likely class among the rows with a given class; without an anchor, of what models prefer."""
    names, shares = [str(name) for name in audit.classes.tolist()], likely_shares(audit)
    labels = [f"{100 * share:.0f} %" for share in shares.ravel()]
    what = "likely" if audit.anchored else "preferred"
    titles = [f"given {a}, {what} {b}: {label}" for (a, b), label in zip(product(names, names), labels, strict=True)]
    title = f"{int(audit.doubtful.sum())} of {int(audit.labelled.sum())} rows to look at"
    across = Axis(0.0, len(names), "likely class" if audit.anchored else "class that the models prefer", names=names)
    return _heat(title, names, across, shares, titles, labels=labels if len(names) <= 12 else ())


def annotators_chart(audit: Any) -> Chart:
    """How good each annotator is, with an interval: the share of right votes, or how far off numbers are."""
    classes = audit.classes is not None
    order = np.argsort(-audit.quality if classes else audit.quality, kind="stable")
    order = order[audit.n_votes[order] > 0]
    names, rows = [str(audit.annotators[e]) for e in order], np.arange(float(len(order)))
    value, low, high = audit.quality[order], audit.low[order], audit.high[order]
    shown = [f"{100 * one:.0f} %" if classes else figures(float(one)) for one in value]
    counts = zip(names, shown, audit.n_votes[order].tolist(), strict=True)
    titles = [f"{name}: {one} in {n} votes" for name, one, n in counts]
    across = Axis(0.0, 1.0, "right votes", "percent") if classes else Axis(0.0, float(high.max()), "spread of errors")
    marks = [spans(rows, low, high), Marks("dot", value, rows, "kept", titles=titles, size=4.0)]
    title = "Annotators, the best first, with intervals of 95 %"
    return Chart(title, [Panel(across, marks)], ", ".join(titles), names, notes=shown, row_height=20.0)


def votes_chart(audit: Any, annotator: int) -> Chart:
    """What one annotator says (columns) where each class is true (rows)."""
    names = [str(name) for name in audit.classes.tolist()]
    shares = audit.confusions[annotator]
    labels = [f"{100 * share:.0f} %" for share in shares.ravel()]
    titles = [f"true {a}, said {b}: {label}" for (a, b), label in zip(product(names, names), labels, strict=True)]
    across = Axis(0.0, len(names), "said", names=names)
    title = f"What {audit.annotators[annotator]} says where each class is likely true"
    return _heat(title, names, across, shares, titles, labels=labels if len(names) <= 12 else (), small=True)


def likely_shares(audit: Any) -> Floats:
    """Share of each true class (columns) among the rows with a given class (rows), if the audit is anchored; else the
    share of each class that the models prefer there."""
    counts = np.array(audit.joint, dtype=np.float64)
    if not audit.anchored:
        rows = np.flatnonzero(audit.labelled)
        counts[:] = 0.0
        np.add.at(counts, (audit.codes[rows], audit.suggested_codes[rows]), 1.0)
    return shares_of(counts)


def shares_of(counts: Floats) -> Floats:
    """Each row divided by its sum; 0 in a row of zeros."""
    totals = counts.sum(axis=1, keepdims=True)
    return np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)


# ---- curves ----------------------------------------------------------------------------------------------------------

_POINTS = 600  # of a curve, at most
_MANY = _DOTTED = 40  # more features have an axis of powers of ten; more points of a curve have no dots
_SMALLEST_Q, _SMALLEST_P = 1e-12, 1e-16  # smaller q-values, and smaller p-values, are drawn as these


@dataclass(frozen=True)
class Curve:
    """The basis for choosing a number of features: one value per number of features."""

    sizes: Integers
    values: Floats
    chosen: int
    label: str
    threshold: float | None = None
    logarithmic: bool = False


def size_curve(selector: Any) -> Curve:
    """The curve behind the chosen size: q-values, the criterion of a search, or otherwise the scores."""
    ranking = selector.to_ranking().without_handed_on().without_left_out()
    kept = ranking.n_kept
    sizes, qvalues = np.arange(1, len(ranking.names) - ranking.n_given + 1), ranking.extras.get("qvalue")
    if qvalues is not None:
        qvalues = qvalues[ranking.best_first]
        alpha = float(getattr(selector, "alpha", 0.05)) / (2 if ranking.nothing_stands_out else 1)
        return Curve(sizes, np.sort(qvalues), kept, "q-value of the last feature added", alpha, True)
    return subset_path(selector) or Curve(sizes, ranking.scores[ranking.best_first], kept, _score_axis(ranking))


def subset_path(selector: Any) -> Curve | None:
    """The criterion of a search for each subset size; None for a method that ranks features one by one."""
    inner, ranking = getattr(selector, "selector_", selector), selector.to_ranking()
    if ranking.losses is not None and len(ranking.losses):  # of the first features of the ranking
        enough, sizes = ranking.n_sufficient or 0, np.arange(1, len(ranking.losses) + 1)
        return Curve(sizes, ranking.losses, enough, "loss of the nearest neighbours (low is good)")
    for attribute in ("values_", "dependencies_"):
        values = getattr(inner, attribute, None)
        if not hasattr(inner, "subsets_") or values is None or len(values) == 0:
            continue
        if not isinstance(values, dict):  # a list, from the smallest subset on
            values = dict(zip(sorted(inner.subsets_), values, strict=False))
        sizes = np.asarray(sorted(values), dtype=np.int64)
        heights = np.asarray([values[size] for size in sizes.tolist()], dtype=np.float64)
        enough = ranking.n_sufficient
        chosen = len(ranking.given) + enough if enough else int(inner.n_features_)
        return Curve(sizes, heights, chosen, getattr(inner, "_criterion", "criterion"))
    return None


def size_chart(curve: Curve, words: str) -> Chart:
    """Value against number of features, with the chosen number and the threshold."""
    finite = np.isfinite(curve.values)
    sizes, values = curve.sizes[finite].astype(np.float64), curve.values[finite]
    if curve.logarithmic:
        values = np.maximum(values, _SMALLEST_Q)
    shown, last = spread(len(sizes), _POINTS), max(sizes.max(initial=1.0), 2.0)
    marks = [Marks("line", sizes[shown], values[shown], "curve")]
    if len(shown) <= _DOTTED:
        marks.append(Marks("dot", sizes[shown], values[shown], "curve", size=2.5))
    if curve.threshold is not None:
        marks.append(_rule("threshold", y=curve.threshold, name=f"{curve.threshold:g}"))
        values = np.append(values, curve.threshold)
    marks.append(_rule("chosen", x=min(curve.chosen, last) if curve.chosen > 0 else np.nan, name=words))
    across, title = Axis(1.0, last, "number of features", "whole"), f"{curve.label} by number of features; {words}"
    if not len(sizes):
        return Chart(title, [])
    up = Axis(float(values.min()), float(values.max()), curve.label)
    if curve.logarithmic:
        low = 10.0 ** np.floor(np.log10(up.low))
        up = Axis(low, max(10.0 ** np.ceil(np.log10(up.high)), 10 * low), curve.label, "powers")
    return Chart(title, [Panel(across, marks, up)])


def chance_chart(pvalues: Floats, kept: NDArray[np.bool_]) -> Chart:
    """The p-values, smallest first, and where they would lie if no feature were related.

    The i-th smallest of d independent uniform numbers has the distribution Beta(i, d + 1 - i): the band holds the
    middle 95 % of it.
    """
    finite = np.isfinite(pvalues)
    pvalues, kept, d = pvalues[finite], kept[finite], int(finite.sum())
    title = "p-values of the features, and what chance would give"
    if d < 2:
        return Chart(title, [])
    order = np.argsort(pvalues, kind="stable")
    shown = np.arange(d) if d <= _MANY else np.unique(np.geomspace(1, d, min(d, _POINTS)).round().astype(np.int64)) - 1
    order, ranks = order[shown], shown + np.float64(1.0)
    drawn = np.maximum(pvalues[order], _SMALLEST_P)
    low, high = (betaincinv(ranks, d + 1 - ranks, share) for share in (0.025, 0.975))
    marks = [
        Marks("area", ranks, low, "band", high),
        Marks("line", ranks, ranks / (d + 1), "by-chance"),
        Marks("dot", ranks, drawn, ["kept" if kept[i] else "unkept" for i in order], size=3.0),
    ]
    across = Axis(1.0, d, "features, smallest p-value first", "powers" if d > _MANY else "whole")
    up = Axis(1.0, min(float(drawn.min()), float(low.min()), 0.01), "p-value", "powers")
    return Chart(title, [Panel(across, marks, up)], legend=[("by-chance", "what chance would give, and its range")])


def evaluation_chart(found: Any) -> Chart:
    """Score of a model by number of features, with its interval; with random features, with all of them, by chance."""
    rows, random = found.record()["by_size"], found.random_by_size.mean(axis=0)
    means, lows, highs = (np.array([row[name] for row in rows]) for name in ("mean", "low", "high"))
    everything, chance = float(found.all_features.mean()), float(found.chance.mean())
    low = max(0.0 if found.measure == "accuracy" else -1.0, float(min(lows.min(), random.min(), chance)))
    high = float(max(highs.max(), means.max(), everything, chance))
    lows, highs, random, means = (np.clip(values, low, high) for values in (lows, highs, random, means))
    sizes, last = found.sizes.astype(np.float64), max(float(found.sizes[-1]), 2.0)
    marks = [
        Marks("area", sizes, lows, "band", highs),
        _rule("whisker", y=max(everything, low)),
        _rule("threshold", y=max(chance, low)),
        Marks("line", sizes, random, "by-chance"),
        Marks("line", sizes, means, "curve"),
        Marks("dot", sizes, means, "curve", size=2.5),
    ]
    across = Axis(1.0, last, "number of features", "powers" if last > _MANY else "whole")
    names = {"curve": "ranked first", "by-chance": "random ones", "whisker": "all features", "threshold": "by chance"}
    panel = Panel(across, marks, Axis(low, high, found.measure))
    return Chart(f"{found.measure} by number of features", [panel], legend=list(names.items()))


def _rule(role: str, x: float = np.nan, y: float = np.nan, name: str = "") -> Marks:
    return Marks("rule", np.array([x]), np.array([y]), role, labels=[name])


def spread(count: int, most: int) -> Integers:
    """At most ``most`` of so many places, evenly spread, with the first and the last."""
    return np.unique(np.linspace(0, max(count - 1, 0), min(count, most)).round().astype(np.int64))
