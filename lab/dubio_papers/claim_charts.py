"""One figure per claim: the number it is judged by, its interval, and the line it must reach; as plain SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dubio_app.report.svg import nice_ticks
from dubio_papers.experiment import Finding
from dubio_papers.line_charts import svg, text

_ROW, _TOP, _BOTTOM, _WIDE = 18, 26, 40, 330
#: Filled if the claim holds, hollow if not, a small square if it is undecided: readable without colour.
_GREEN, _RED, _GREY = "#25703a", "#b00020", "#555555"


@dataclass(frozen=True)
class Row:
    """A number with an interval (two standard errors to each side) and whether its claim holds."""

    label: str
    value: float
    error: float | None
    holds: bool | None


@dataclass(frozen=True)
class ClaimChart:
    """Rows that share a scale and a line."""

    title: str
    rows: tuple[Row, ...]
    against: float | None
    scale: str

    @property
    def description(self) -> str:
        """The chart in words."""
        line = "" if self.against is None else f", and a line at {self.against:g}"
        numbers = "; ".join(f"{row.label}: {_with_error(row)}" for row in self.rows[:12])
        more = f"; and {len(self.rows) - 12} more, which the list of claims has" if len(self.rows) > 12 else ""
        return f"{self.title}. Each row is a number with two standard errors to each side{line}. {numbers}{more}."

    def svg(self) -> str:
        return _draw(self)


def claim_charts(findings: Sequence[Finding]) -> list[ClaimChart]:
    """Claims with one number share a chart if they have the same scale; a claim with several has its own."""
    shared: dict[tuple[str, float | None], list[Row]] = {}
    single: list[ClaimChart] = []
    for finding in findings:
        if len(finding.points) == 1:
            point = finding.points[0]
            row = Row(point.label or finding.claim.rstrip("."), point.value, point.error, finding.holds)
            shared.setdefault((finding.scale, finding.against), []).append(row)
        elif finding.points:
            rows = tuple(Row(p.label, p.value, p.error, finding.holds) for p in finding.points)
            single.append(ClaimChart(finding.claim.rstrip("."), rows, finding.against, finding.scale))
    charts = [ClaimChart("The claims", tuple(rows), against, scale) for (scale, against), rows in shared.items()]
    return charts + single


def _draw(chart: ClaimChart) -> str:
    rows = chart.rows
    left = 16 + 5.7 * max(len(row.label) for row in rows)
    width, height = max(left + _WIDE, 16 + 6.3 * len(chart.title)), _TOP + _ROW * len(rows) + _BOTTOM
    ends = [row.value + side * 2 * (row.error or 0.0) for row in rows for side in (-1, 1)]
    if chart.against is not None:
        ends.append(chart.against)
    margin = 0.05 * (max(ends) - min(ends)) or 1.0
    low, high = min(ends) - margin, max(ends) + margin

    def across(value: float) -> float:
        return left + (value - low) / (high - low) * (_WIDE - 16)

    bottom = height - _BOTTOM
    parts = [text(8, 15, chart.title, "start", "bold")]
    for tick in nice_ticks(low, high):
        parts.append(f'<path d="M{across(tick):.1f} {_TOP}V{bottom}" stroke="#ddd"/>')
        parts.append(text(across(tick), bottom + 15, f"{tick:g}", "middle"))
    if chart.against is not None:
        parts.append(f'<path d="M{across(chart.against):.1f} {_TOP}V{bottom}" stroke="#222" stroke-dasharray="4 3"/>')
    parts.append(text(left + _WIDE / 2 - 8, height - 8, chart.scale, "middle"))
    for number, row in enumerate(rows):
        middle = _TOP + _ROW * (number + 0.5)
        parts.append(text(left - 8, middle + 4, row.label, "end"))
        colour = {True: _GREEN, False: _RED, None: _GREY}[row.holds]
        if row.error:
            begin, end = across(row.value - 2 * row.error), across(row.value + 2 * row.error)
            parts.append(f'<path d="M{begin:.1f} {middle:.1f}H{end:.1f}" stroke="{colour}" stroke-width="1.5"/>')
        parts.append(_mark(across(row.value), middle, row.holds, colour))
    return svg(width, height, chart.title, parts, chart.description)


def _mark(x: float, y: float, holds: bool | None, colour: str) -> str:
    if holds is None:
        return f'<rect x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6" fill="{colour}"/>'
    fill = colour if holds else "#fff"
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{fill}" stroke="{colour}" stroke-width="1.5"/>'


def _with_error(row: Row) -> str:
    return f"{row.value:.3g}" + (f" ± {2 * row.error:.2g}" if row.error else "")
