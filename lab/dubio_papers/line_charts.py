"""Line charts with error bars, as plain SVG: small, the same on every computer, readable without colour."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dubio_app.report.svg import escape, nice_ticks

_COLOURS = ("#1b6ca8", "#d1495b", "#3a7d44", "#8e5ea2", "#b07d12", "#555555")
_DASHES = ("", "6 3", "2 3", "8 3 2 3", "4 2", "1 2")
_WIDTH, _HEIGHT = 360, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 10, 24, 40


@dataclass(frozen=True)
class Line:
    """A named line; ``errors`` are half the lengths of its error bars."""

    name: str
    y: Sequence[float]
    errors: Sequence[float] | None = None


def line_chart(
    title: str, x: Sequence[float], lines: Sequence[Line], x_label: str, y_label: str, description: str = ""
) -> str:
    """One chart; ``description`` is for readers who do not see it."""
    low = min(value - (line.errors[i] if line.errors else 0) for line in lines for i, value in enumerate(line.y))
    high = max(value + (line.errors[i] if line.errors else 0) for line in lines for i, value in enumerate(line.y))
    margin = 0.04 * (high - low) or 1.0
    low, high = low - margin, high + margin
    wide = max(x) / max(min(x), 1e-12) > 200  # sizes from 10 to thousands: a logarithmic axis
    place = [math.log10(value) for value in x] if wide else list(x)
    heading = _in_lines(title)
    top, height = _TOP + 14 * (len(heading) - 1), _HEIGHT + 14 * (len(heading) - 1)
    first, last = min(place), max(place)

    def across(value: float) -> float:
        share = (value - first) / (last - first) if last > first else 0.5
        return _LEFT + 6 + share * (_WIDTH - _LEFT - _RIGHT - 12)

    def down(value: float) -> float:
        return top + (high - value) / (high - low) * (height - top - _BOTTOM)

    parts = [text(_WIDTH / 2, 14 * (line + 1), words, "middle", "bold") for line, words in enumerate(heading)]
    for tick in nice_ticks(low, high):
        parts.append(f'<path d="M{_LEFT} {down(tick):.1f}H{_WIDTH - _RIGHT}" stroke="#ddd"/>')
        parts.append(text(_LEFT - 4, down(tick) + 4, f"{tick:g}", "end"))
    for tick in [10.0**k for k in range(-3, 7) if first <= k <= last] if wide else nice_ticks(first, last):
        at = across(math.log10(tick) if wide else tick)
        parts.append(f'<path d="M{at:.1f} {height - _BOTTOM}v4" stroke="#888"/>')
        parts.append(text(at, height - _BOTTOM + 15, f"{tick:g}", "middle"))
    parts.append(f'<path d="M{_LEFT} {top}V{height - _BOTTOM}H{_WIDTH - _RIGHT}" fill="none" stroke="#888"/>')
    parts.append(text((_LEFT + _WIDTH - _RIGHT) / 2, height - 8, x_label, "middle"))
    middle = (top + height - _BOTTOM) / 2
    parts.append(f'<g transform="rotate(-90 12 {middle:.1f})">{text(12, middle, y_label, "middle")}</g>')
    for number, line in enumerate(lines):
        style = _style(number)
        points = " ".join(f"{across(a):.1f},{down(b):.1f}" for a, b in zip(place, line.y, strict=True))
        parts.append(f'<polyline points="{points}" fill="none" {style}/>')
        if line.errors:
            bars = "".join(
                f"M{across(a):.1f} {down(b - e):.1f}V{down(b + e):.1f}"
                for a, b, e in zip(place, line.y, line.errors, strict=True)
            )
            parts.append(f'<path d="{bars}" stroke="{_COLOURS[number % 6]}" stroke-width="1" opacity="0.6"/>')
    return svg(_WIDTH, height, title, parts, description)


def legend(names: Sequence[str]) -> str:
    """The names of the lines, in one row that a page shows once for all charts."""
    parts, at = [], 4.0
    for number, name in enumerate(names):
        parts.append(f'<path d="M{at:.1f} 10h26" {_style(number)}/>')
        parts.append(text(at + 32, 14, name, "start"))
        at += 46 + 6.6 * len(name)
    return svg(max(at, 60), 20, "legend", parts, f"Lines: {', '.join(names)}.")


def _style(number: int) -> str:
    dash = _DASHES[number % 6]
    return f'stroke="{_COLOURS[number % 6]}" stroke-width="1.8"' + (f' stroke-dasharray="{dash}"' if dash else "")


def _in_lines(title: str) -> list[str]:
    """The title in lines that fit, broken after commas.

    >>> _in_lines("sonar, labels from all rows, first half of each class (50)")
    ['sonar, labels from all rows,', 'first half of each class (50)']
    """
    lines = [""]
    for part in title.split(", "):
        joined = f"{lines[-1]}, {part}" if lines[-1] else part
        if len(joined) <= 50:
            lines[-1] = joined
        else:
            lines[-1] += ","
            lines.append(part)
    return lines


def svg(width: float, height: float, title: str, parts: Sequence[str], description: str = "") -> str:
    """A whole image with its title and, for readers who do not see it, a description."""
    described = f"<desc>{escape(description)}</desc>" if description else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img" font-family="sans-serif" font-size="11" fill="#222">'
        f'<title>{escape(title)}</title>{described}<rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>'
    )


def text(x: float, y: float, words: str, anchor: str, weight: str = "") -> str:
    """Words at a place."""
    bold = ' font-weight="bold"' if weight else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{bold}>{escape(words)}</text>'
