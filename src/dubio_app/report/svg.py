"""Draws charts as inline SVG, once for wide pages and once for phones. The page's style sheet has the colours."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from dubio.charts import Axis, Chart, Marks, Panel, is_wide, tick_name

_WIDE, PHONE = 900.0, 320.0  # widths; on a page of 360 pixels, letters of the one for phones have at least 11
#: Width of the names beside rows, of names that stand beside rows even on phones, and of notes beside rows.
_NAMES, _SHORT_NAMES, _NOTES = 238.0, 84.0, 360.0
_TEXT, _NAME = 20.0, 18.0  # height of one line of text, and of the space for a name above its row
_CELL, _NAMED_CELL = 26.0, 20.0  # width of a cell where there is room, and the narrowest cell with a name of its own
_GAP, _EDGE = 30.0, 14.0  # space between two panels, and between the last one and the edge
_LINES = ("curve", "by-chance", "whisker", "threshold")  # roles that are drawn as lines in a legend


def printable(text: object) -> str:
    """The text, with every character that is not printable replaced by a box."""
    return "".join(c if c.isprintable() or c in " \n" else "\ufffd" for c in str(text))


def escape(text: object) -> str:
    """Text made safe for SVG and HTML."""
    return html.escape(printable(text), quote=True)


def figure(chart: Chart) -> Markup:
    """The drawings of a chart; nothing if it is empty."""
    if not chart.panels:
        return Markup("")
    if chart.small:
        return Markup(_Drawing(chart, narrow=True).svg())
    wide, narrow = (_Drawing(chart, narrow=narrow).svg() for narrow in (False, True))
    return Markup(f'<div class="wide">{wide}</div><div class="narrow">{narrow}</div>')


def fit(words: object, room: float, size: float = 13.0) -> str:
    """Cut the text so that it fits into ``room`` pixels in letters of this size, whatever the font."""
    plain = str(words)
    ends = enumerate(accumulate(size * _width(letter) for letter in plain))
    cut = next((place for place, end in ends if end > room), None)
    return plain if cut is None else plain[: max(1, cut - 1)] + "…"


def width_of(words: str, size: float = 12.0) -> float:
    """Room that the text needs in letters of this size, whatever the font."""
    return sum(size * _width(letter) for letter in words)


def _width(letter: str) -> float:
    """Width of a letter in units of its size, as in a wide font."""
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.05
    if letter in "mwMW@%—<>":
        return 1.0
    if letter in "ijl.,:;'|!()[]ftr ":
        return 0.42
    return 0.72 if letter.isupper() or letter == "_" else 0.64


def nice_ticks(low: float, high: float, count: int = 5) -> NDArray[np.float64]:
    """Round numbers between two ends."""
    if not (np.isfinite(low) and np.isfinite(high)) or not is_wide(low, high):
        return np.array([low])
    rough = high / max(count, 1) - low / max(count, 1)
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough)
    first = np.ceil(low / step - 1e-9) * step
    ticks = np.arange(first, high + step * 1e-9, step)
    return np.where(np.abs(ticks) < step * 1e-9, 0.0, ticks)


class _Scale:
    """Maps the numbers of an axis to pixels. If its ends are the same number, it becomes a little longer."""

    def __init__(self, axis: Axis, start: float, end: float) -> None:
        self.axis, self.start, self.end = axis, start, end
        low, high = self._along(axis.low), self._along(axis.high)
        if low > high:
            low, high, self.start, self.end = high, low, end, start
        self.low, self.high = low, high if is_wide(low, high) else low + max(1.0, 1e-3 * abs(low))

    def __call__(self, value: float) -> float:
        share = (self._along(value) / 2 - self.low / 2) / (self.high / 2 - self.low / 2)  # the difference may overflow
        return float(self.start + share * (self.end - self.start))

    def _along(self, value: float) -> float:
        return float(np.log10(value)) if self.axis.numbers == "powers" else float(value)

    def ticks(self, room: float) -> Iterator[tuple[float, str]]:
        """Where numbers stand, each with about ``room`` pixels, and what they are."""
        count = int(np.clip(round(abs(self.end - self.start) / room), 2, 8))
        numbers, ticks = self.axis.numbers, nice_ticks(self.low, self.high, count)
        if numbers == "powers":
            step = max(1.0, np.ceil((self.high - self.low) / 6))
            steps = step * np.arange(np.ceil(self.low / step - 1e-9), self.high / step + 1e-9)
            yield from ((self(10.0**step), _power_of_ten(int(step))) for step in steps)
        elif numbers == "whole":
            ticks = np.unique(np.round([self.low, *ticks]))
            yield from ((self(t), f"{t:,.0f}") for t in ticks[ticks <= self.high])
        elif numbers != "none":
            yield from ((self(t), f"{100 * t:g} %" if numbers == "percent" else tick_name(t)) for t in ticks)


def _power_of_ten(exponent: int) -> str:
    raised = "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{10.0**exponent:,.12g}" if -3 <= exponent <= 5 else raised


class _Drawing:
    """One drawing of a chart, made from the top to the bottom: legend, titles of axes, then rows or a plane."""

    def __init__(self, chart: Chart, narrow: bool) -> None:
        self.chart, self.narrow, self.parts = chart, narrow, list[str]()
        self.width, self.columns = PHONE if narrow else _WIDE, len(chart.panels[0].x.names)
        short = chart.small and all(width_of(name, 13.0) < _SHORT_NAMES - 8 for name in chart.rows)
        self.above = narrow and not short  # names stand above their rows
        self.left = 2.0 if self.above else _SHORT_NAMES if narrow else _NAMES
        self.lead = _NAME if self.above else 1.0 if self.columns else 4.0
        notes = 32.0 if narrow and chart.notes else 0.0
        self.step = self.lead + chart.row_height + notes + (1.0 if self.columns else 5.0)

    def svg(self) -> str:
        """The whole drawing. It shrinks with the page and grows a little, and screen readers read its title."""
        panel = self.chart.panels[0]
        height = self._rows() if panel.y is None else self._plane(panel, panel.y)
        title, description = escape(self.chart.title), escape(self.chart.description)
        inside = f"<title>{title}</title>" + (f"<desc>{description}</desc>" if description else "")
        most = 1.4 * self.width if self.narrow else self.width
        return (
            f'<svg class="chart" role="img" aria-label="{title}" viewBox="0 0 {_number(self.width)} {_number(height)}" '
            f'style="max-width:{_number(most)}px">{inside}{"".join(self.parts)}</svg>'
        )

    def _rows(self) -> float:
        """Draw the panels, which share their rows; the height."""
        chart, panels = self.chart, self.chart.panels
        right = self.width - (_NOTES if chart.notes and not self.narrow else 2.0)
        room = (right - self.left - _GAP * (len(panels) - 1)) / len(panels)
        if self.columns:
            room = min(room, _CELL * self.columns)
            self.width = self.width if self.narrow else max(self.left + room + 10, 540.0)
        has_ticks = bool(self.columns) or any(panel.x.numbers != "none" for panel in panels)
        titles = self._legend(self.left if self.left == _NAMES else 2.0, 12.0)
        titles += _TEXT * any(panel.x.title for panel in panels)
        self.top = titles + _TEXT * (has_ticks and not chart.small)
        bottom = self.top + self.step * len(chart.rows)
        self._names(right + 14)
        for place, panel in enumerate(panels):
            start = self.left + place * (room + _GAP)
            self._text(2.0 if chart.small else start, titles - 8, panel.x.title, "axis-name")
            labels = [width_of(label) + 8 for marks in panel.marks for label in marks.labels if not self.columns]
            end, is_free = start + room - max(labels, default=0.0), panel.x.numbers == "none" or self.columns
            scale = _Scale(panel.x, start, end if is_free else min(end, self.width - _EDGE))
            for at, name in self._column_names(scale) if self.columns else scale.ticks(75.0):
                if not self.columns:
                    self._line([(at, self.top - 4), (at, bottom - 2)], "grid")
                self._text(at, bottom + 12 if chart.small else self.top - 8, name, "tick", "middle")
            for marks in panel.marks:
                self._marks(marks, scale, self._row_at)
        return bottom + (20.0 if chart.small and has_ticks else 6.0)

    def _column_names(self, x: _Scale) -> Iterator[tuple[float, str]]:
        """Names over the columns; if there is no room for all, the first, every fifth and the last."""
        few = (x.end - x.start) / self.columns < _NAMED_CELL and self.columns > 10
        for j, name in enumerate(x.axis.names):
            if not few or j in (0, self.columns - 1) or ((j + 1) % 5 == 0 and j < self.columns - 2):
                yield x(j + 0.5), name

    def _row_at(self, y: float) -> float:
        row = min(max(np.floor(y + 0.5), 0), len(self.chart.rows) - 1)
        return float(self.top + self.step * row + self.lead + (y - row + 0.5) * self.chart.row_height)

    def _names(self, x: float) -> None:
        """The names of the rows, and the notes, which begin at ``x`` or stand under the rows."""
        for row, name in enumerate(self.chart.rows):
            kind = f"name {self.chart.row_roles[row]}" if self.chart.row_roles else "name"
            if self.above:
                self._text(self.left, self._row_at(row - 0.5) - 5, fit(name, self.width - 6), kind)
            else:
                self._text(self.left - 10, self._row_at(row) + 4, fit(name, self.left - 14), kind, "end")
        for row, note in enumerate(self.chart.notes):
            lines, start, at = [note], x, self._row_at(row) + 4
            if self.narrow:
                lines, start, at = _in_two(note), self.left, self._row_at(row) + self.chart.row_height / 2 + 15
            for place, part in enumerate(lines):
                self._text(start, at + 15 * place, fit(part, self.width - start, 12), "value")

    def _plane(self, panel: Panel, up: Axis) -> float:
        """Draw a panel with two axes; the height."""
        left, right = 58.0 if self.narrow else 70.0, self.width - (12.0 if self.narrow else 20.0)
        edge, has_name = 2.0 if self.narrow else left, any(np.isnan(m.y[0]) for m in panel.marks if m.shape == "rule")
        self._text(edge, 12, fit(up.title, self.width - 6, 12), "axis-name")
        top = max(self._legend(edge, 30.0) + 6, 26.0) + 24.0 * has_name
        bottom = top + (190.0 if self.narrow else 234.0)
        x, y = _Scale(panel.x, left, right), _Scale(up, bottom, top)
        for at, name in y.ticks(46.0):
            self._line([(left, at), (right, at)], "grid")
            self._text(left - 6, at + 4, name, "tick", "end")
        for at, name in x.ticks(90.0):
            self._text(at, bottom + 18, name, "tick", "middle")
        self._text((left + right) / 2, bottom + 38, fit(panel.x.title, self.width - 6, 12), "axis-name", "middle")
        for marks in panel.marks:
            self._marks(marks, x, y)
        return bottom + 45

    def _legend(self, left: float, y: float) -> float:
        """The roles and their names, as many on a line as fit; where the drawing goes on, 0 without a legend."""
        x = left
        for role, words in self.chart.legend:
            name = fit(words, self.width - left - 30, 12)
            mark = 24.0 if role in _LINES else 18.0
            needed = mark + width_of(name)
            if x > left and x + needed > self.width:
                x, y = left, y + 18
            if role in _LINES:
                self._line([(x, y - 4), (x + 18, y - 4)], role)
            else:
                self._add("rect", x=x, y=y - 10, width=12.0, height=12.0, class_=role)
            self._text(x + mark, y, name, "axis-name")
            x += needed + 14
        return y + 8 if self.chart.legend else 0.0

    def _marks(self, marks: Marks, x: _Scale, y: Callable[[float], float]) -> None:
        to = marks.x if marks.to is None else marks.to
        points = list(zip(map(x, marks.x), map(y, marks.y), strict=True))
        if marks.shape == "line":
            self._line(points, marks.roles[0])
        elif marks.shape == "area":
            edge = [*points, *reversed(list(zip(map(x, marks.x), map(y, to), strict=True)))]
            self._add("polygon", points=_points(edge), class_=f"area {marks.roles[0]}")
        elif marks.shape == "rule":
            assert isinstance(y, _Scale)
            self._rule(marks.roles[0], marks.x[0], marks.y[0], marks.labels[0], x, y)
        else:
            for i, ((a, b), role) in enumerate(zip(points, marks.roles, strict=True)):
                inside = f"<title>{escape(marks.titles[i])}</title>" if marks.titles else ""
                more = {} if marks.strength is None else {"fill_opacity": f"{marks.strength[i]:.3g}"}
                if marks.shape == "dot":
                    self._add("circle", inside, cx=a, cy=b, r=marks.size, class_=role, **more)
                    continue
                end, height = x(to[i]), marks.size * self.chart.row_height
                if np.isfinite(end):  # a bar that is too short to see becomes a sliver
                    width = max(abs(end - a), 1.5)
                    place = {"x": min(a, end), "y": b - height / 2, "width": width, "height": height}
                    self._add("rect", inside, **place, class_=role, **more)
                if marks.labels and self.columns:
                    kind = "inside" if marks.strength is not None and marks.strength[i] > 0.5 else "value"
                    self._text((a + end) / 2, b + 4, marks.labels[i], kind, "middle")
                elif marks.labels:
                    self._text((end if np.isfinite(end) else a) + 6, b + 4, marks.labels[i], "value")

    def _rule(self, role: str, at_x: float, at_y: float, name: str, x: _Scale, y: _Scale) -> None:
        """A line across the plane, or one from its bottom to a name above it, where no other line crosses."""
        if np.isfinite(at_y):
            self._line([(x.start, y(at_y)), (x.end, y(at_y))], role)
            self._text(x.start + 6, y(at_y) - 6, name, f"{role}-name")
            return
        top, at = min(y.start, y.end), x.start
        if np.isfinite(at_x):
            at = x(at_x)
            self._line([(at, top - 12), (at, max(y.start, y.end))], role)
        self._text(max(at, x.start + width_of(name, 14.0) / 2), top - 18, name, f"{role}-name", "middle")

    def _text(self, x: float, y: float, words: str, kind: str, side: str = "") -> None:
        """Text at a point; in the middle of its point, it is moved so that it stays inside."""
        if words:
            half = width_of(words, 14.0 if kind == "chosen-name" else 12.0) / 2
            at = max(min(x, self.width - half), half) if side == "middle" else x
            sides = {"text_anchor": side} if side else {}
            self._add("text", escape(words), x=float(at), y=float(y), class_=kind, **sides)

    def _line(self, points: Sequence[tuple[float, float]], role: str) -> None:
        self._add("polyline", points=_points(points), fill="none", class_=role)

    def _add(self, name: str, content: str = "", **attributes: Any) -> None:
        """One element; ``class_`` becomes class, underscores become hyphens, numbers are rounded."""
        names = [key.rstrip("_").replace("_", "-") for key in attributes]
        texts = [_number(value) if isinstance(value, float) else escape(value) for value in attributes.values()]
        head = " ".join([name, *(f'{key}="{text}"' for key, text in zip(names, texts, strict=True))])
        self.parts.append(f"<{head}>{content}</{name}>" if content else f"<{head}/>")


def _in_two(words: str) -> list[str]:
    """The words on at most two lines of a phone."""
    lines = [""]
    for word in words.split():
        if len(lines[-1]) + len(word) > 36 and len(lines) < 2:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def _number(value: float) -> str:
    """A coordinate, rounded to what a screen can show."""
    return f"{value:.1f}".rstrip("0").rstrip(".")


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
