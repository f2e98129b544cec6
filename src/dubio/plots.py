"""Charts in notebooks and in files, with matplotlib, which is only imported to draw.

:func:`draw` draws any chart of :mod:`dubio.charts`. The displays work like those of scikit-learn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from dubio import charts
from dubio.charts import Axis, Chart, Curve, Marks
from dubio.errors import InputError
from dubio.ranking import Ranking

_CLASSES = "#0b6e6e", "#c2571a", "#4b5fc4", "#a8327a", "#6b7d1f", "#7a5230", "#2f7fb8", "#6d6d76"
#: The colour of each role; the report has the same ones on a light page.
COLOURS = {
    **dict.fromkeys(("kept", "curve", "plus"), "#0b6e6e"),
    **dict.fromkeys(("threshold", "minus"), "#b4441c"),
    **dict.fromkeys(("chosen", "median", "unkept"), "#1d2433"),
    **dict.fromkeys(("whisker", "by-chance"), "#5b6475"),
    **dict.fromkeys(("left", "band"), "#c3c8d1"),
    "related": "#7fb5b5",
    "undirected": "#5a4fb0",
    "grid": "#e3e1dc",
    **{f"c{place}": colour for place, colour in enumerate(_CLASSES)},
}


def draw(chart: Chart, ax: Any = None) -> list[Any]:
    """Draw a chart, for a notebook or to be saved as SVG, PDF or PNG.

    Parameters
    ----------
    chart : Chart
        From a function of :mod:`dubio.charts` or :mod:`dubio.feature_charts`.
    ax : matplotlib axes, optional
        Where the first panel is drawn; others are left out.

    Returns
    -------
    list of matplotlib axes
        One for each panel.

    Examples
    --------
    >>> import io
    >>> import numpy as np
    >>> from dubio.charts import share_chart
    >>> from dubio.plots import draw
    >>> (ax,) = draw(share_chart("Rows", ["ill", "well"], np.array([20.0, 30.0]), ["20", "30"]))
    >>> ax.figure.savefig(io.BytesIO(), format="pdf")
    """
    panels = chart.panels or [charts.Panel(Axis(0.0, 1.0), [])]
    if ax is None:
        size = (3.4 + 3 * len(panels), 1 + len(chart.rows) * max(0.28, chart.row_height / 50) if chart.rows else 4.8)
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError("plots need matplotlib: pip install 'dubio[cli]'") from error
        axes = list(plt.subplots(1, len(panels), figsize=size, sharey=True, squeeze=False)[1][0])
    else:
        axes = [ax]
    for panel, part in zip(panels, axes, strict=False):
        for marks in panel.marks:
            _draw_marks(part, marks)
        _draw_axis(part, "x", panel.x)
        if panel.y is not None:
            _draw_axis(part, "y", panel.y)
        elif panel.x.numbers == "powers":  # bars hide from matplotlib how far the dots go
            part.set_xlim(2 * panel.x.low, panel.x.high / 2)
    first = axes[0]
    if chart.rows:
        first.set_yticks(range(len(chart.rows)), [_plain(name) for name in chart.rows])
        first.set_ylim(len(chart.rows) - 0.5, -0.5)
    for row, note in enumerate(chart.notes):
        axes[-1].annotate(_plain(note), (1.02, row), xycoords=("axes fraction", "data"), va="center", fontsize=9)
    for role, name in chart.legend:
        first.plot([], [], label=_plain(name), linewidth=3, **_stroke(role))
    if first.get_legend_handles_labels()[0]:  # above rows, which it would hide
        first.legend(**{"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": 4} if chart.rows else {})
    return axes


def _draw_marks(ax: Any, marks: Marks) -> None:
    colours = [COLOURS[role] for role in marks.roles]
    if marks.shape == "bar":
        _draw_bars(ax, marks, colours)
    elif marks.shape == "dot":
        fills = ["white" if role == "unkept" else colour for role, colour in zip(marks.roles, colours, strict=True)]
        ax.scatter(marks.x, marks.y, (2 * marks.size) ** 2, fills, edgecolors=colours, alpha=marks.strength, zorder=3)
    elif marks.shape == "line":
        ax.plot(marks.x, marks.y, **_stroke(marks.roles[0]))
    elif marks.shape == "area":
        ax.fill_between(marks.x, marks.y, marks.to, color=colours[0], alpha=0.5, linewidth=0)
    elif np.isfinite(marks.y[0]):
        ax.axhline(marks.y[0], label=_plain(marks.labels[0]), **_stroke(marks.roles[0]))
    elif np.isfinite(marks.x[0]):
        ax.axvline(marks.x[0], label=_plain(marks.labels[0]), **_stroke(marks.roles[0]))


def _draw_bars(ax: Any, marks: Marks, colours: list[str]) -> None:
    """Bars, cells of a heat map, and upright lines where a bar has no length."""
    from matplotlib.colors import to_rgba

    assert marks.to is not None
    is_cell, ends = marks.strength is not None, np.where(np.isfinite(marks.to), marks.to, marks.x)
    strength = np.ones(len(ends)) if marks.strength is None else marks.strength
    fills = [to_rgba(colour, share) for colour, share in zip(colours, strength, strict=True)]
    edges = np.where(marks.to == marks.x, 1.5, 0.0)
    ax.margins(x=0.15 if marks.labels else 0.05)
    ax.barh(marks.y, ends - marks.x, 0.8 * marks.size, marks.x, color=fills, edgecolor=fills, linewidth=edges)
    for label, start, end, y, share in zip(marks.labels, marks.x, ends, marks.y, strength, strict=False):
        at, side, name = ((start + end) / 2, "center", label) if is_cell else (end, "left", f" {label}")
        colour = "white" if is_cell and share > 0.5 else "black"
        ax.annotate(_plain(name), (at, y), ha=side, va="center", fontsize=9, color=colour)


def _stroke(role: str) -> dict[str, Any]:
    return {"color": COLOURS[role], "linestyle": {"threshold": "--", "by-chance": "--", "chosen": ":"}.get(role, "-")}


def _draw_axis(ax: Any, side: str, axis: Axis) -> None:
    """The title and the numbers of an axis."""
    from matplotlib import ticker

    ax.set(**{f"{side}label": _plain(axis.title)})
    line = ax.xaxis if side == "x" else ax.yaxis
    if axis.names:
        line.set_ticks(np.arange(len(axis.names)) + 0.5, [_plain(name) for name in axis.names])
        ax.set_xlim(axis.low, axis.high)
        if max(map(len, axis.names)) > 4:
            ax.tick_params("x", rotation=90)
    elif axis.numbers == "powers":
        ax.set(**{f"{side}scale": "log"})
    elif axis.numbers == "percent":
        line.set_major_formatter(ticker.PercentFormatter(1.0, symbol=" %"))
    elif axis.numbers == "whole":
        line.set_major_locator(ticker.MaxNLocator(integer=True))
    elif axis.numbers == "none":
        line.set_ticks([])
    if axis.low > axis.high:
        line.set_inverted(True)


class _Display:
    """A chart that is drawn, and where."""

    def _draw(self, chart: Chart, ax: Any) -> list[Any]:
        """Draw the first panel on ``ax_``; the axes of others come back."""
        self.ax_, *others = draw(chart, ax)
        self.figure_ = self.ax_.figure
        return others


@dataclass
class RankingDisplay(_Display):
    """The best features of a ranking as bars, with the interval of their ranks if stability is given.

    Attributes
    ----------
    ranking : Ranking
    stability : Stability or None
    ax_, figure_
        Set by :meth:`plot`, as is ``interval_ax_`` if stability is given.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dubio import FisherScore
    >>> from dubio.plots import RankingDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> display = RankingDisplay.from_estimator(FisherScore().fit(X, y))
    >>> [label.get_text() for label in display.ax_.get_yticklabels()][0]
    'petal length (cm)'
    """

    ranking: Ranking
    stability: Any = None

    @classmethod
    def from_estimator(cls, estimator: Any, *, stability: Any = None, n_features: int = 20, ax: Any = None) -> Self:
        """Draw the ranking of a fitted selector."""
        check_is_fitted(estimator)
        return cls(estimator.to_ranking(), stability).plot(n_features=n_features, ax=ax)

    def plot(self, *, n_features: int = 20, ax: Any = None) -> Self:
        """Draw the best ``n_features``; with stability and no ``ax``, the ranks are shown next to the bars."""
        if n_features < 1:
            raise InputError("n_features", f"={n_features}", "draw at least one feature")
        shown = self.ranking.order[:n_features]
        for beside in self._draw(charts.ranking_chart(self.ranking, shown, self.stability), ax):
            self.interval_ax_ = beside
        self.ax_.set_title(_plain(self.ranking.method))
        return self


@dataclass
class SubsetPathDisplay(_Display):
    """The curve behind the chosen number of features: criterion, q-values or scores by size.

    Attributes
    ----------
    curve : Curve
    ax_, figure_
        Set by :meth:`plot`.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from dubio import FuzzyRoughSearch
    >>> from dubio.plots import SubsetPathDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> SubsetPathDisplay.from_estimator(FuzzyRoughSearch().fit(X, y)).ax_.get_xlabel()
    'number of features'
    """

    curve: Curve

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the criterion of a fitted search, or for other methods the curve behind the chosen size."""
        check_is_fitted(estimator)
        return cls(charts.subset_path(estimator) or charts.size_curve(estimator)).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the values by size, and mark the chosen size."""
        self._draw(charts.size_chart(self.curve, f"{self.curve.chosen} chosen"), ax)
        return self


@dataclass
class LabelAuditDisplay(_Display):
    """Doubtful labels: the estimated share of wrong labels by class, and what they may be instead.

    Attributes
    ----------
    audit : LabelAudit
    ax_, figure_
        Set by :meth:`plot`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dubio import audit_labels
    >>> from dubio.plots import LabelAuditDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> y[:5] = 1
    >>> LabelAuditDisplay.from_audit(audit_labels(X, y)).shares.shape
    (3, 3)
    """

    audit: Any

    @classmethod
    def from_audit(cls, audit: Any, *, ax: Any = None) -> Self:
        """Draw a finished audit."""
        return cls(audit).plot(ax=ax)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the audit that a selector made of its labels (``audit_``)."""
        check_is_fitted(estimator)
        audit = getattr(estimator, "audit_", None) or getattr(getattr(estimator, "selector_", None), "audit_", None)
        if audit is None:
            found = f"is a {type(estimator).__name__} that did not audit its labels"
            raise InputError("estimator", found, "use from_audit(audit_labels(X, y))")
        return cls(audit).plot(ax=ax)

    @property
    def shares(self) -> NDArray[np.float64]:
        """Estimated share of each true class (columns) among the rows with a given class (rows)."""
        return charts.likely_shares(self.audit)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the shares as a matrix: given classes by likely classes."""
        chart = charts.confusion_chart(self.audit)
        self._draw(chart, ax)
        self.ax_.set(title=_plain(chart.title), ylabel="given class")
        return self


def _plain(name: object) -> str:
    """A name shown as it is: without the escape, matplotlib would read $...$ as a formula."""
    return str(name).replace("$", r"\$")
