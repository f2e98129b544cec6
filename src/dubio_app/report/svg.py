"""A few primitives for charts as inline SVG. The page's style sheet sets the colours, so that dark mode works."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def printable(text: object) -> str:
    """The text, with every character that is not printable replaced by a box."""
    return "".join(c if c.isprintable() or c in " \n" else "\ufffd" for c in str(text))


def escape(text: object) -> str:
    """Text made safe for SVG and HTML."""
    return html.escape(printable(text), quote=True)


def legend(x: float, y: float, kind: str, words: str, *, size: float = 12.0) -> tuple[str, float]:
    """A short line of a kind (a class of the style sheet) with its name, and where the next one may begin."""
    name = fit(words, 10_000.0, size)
    drawn = line([(x, y - 4), (x + 18, y - 4)], class_=kind) + text(x + 24, y, name, class_="axis-name")
    return drawn, x + 24 + width_of(name, size) + 14


def shorten(text: object, length: int) -> str:
    """Cut the text to at most ``length`` characters, with an ellipsis."""
    plain = str(text)
    return plain if len(plain) <= length else plain[: length - 1] + "…"


def fit(words: object, room: float, size: float = 13.0) -> str:
    """Cut the text so that it fits into ``room`` pixels in letters of this size, whatever the font."""
    plain, used = str(words), 0.0
    for place, letter in enumerate(plain):
        used += size * _width(letter)
        if used > room:
            return plain[: max(1, place - 1)] + "…"
    return plain


def width_of(words: str, size: float = 12.0) -> float:
    """Room that the text needs in letters of this size, whatever the font."""
    return sum(size * _width(letter) for letter in words)


def _width(letter: str) -> float:
    """Width of a letter in units of its size, as in a wide font."""
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.05
    if letter in "mwMW@%—":
        return 1.0
    if letter in "ijl.,:;'|!()[]ftr ":
        return 0.42
    return 0.72 if letter.isupper() or letter == "_" else 0.64


def number(value: float) -> str:
    """A coordinate, rounded to what a screen can show."""
    return f"{value:.1f}".rstrip("0").rstrip(".")


def figures(value: float) -> str:
    """A number for display, with four significant figures."""
    if not np.isfinite(value):
        return "–"
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e6 else f"{value:.4g}"


def tick_name(value: float) -> str:
    """A number on an axis: 1,000 and 20,000, but 2e6."""
    if 1e3 <= abs(value) < 1e6:
        return f"{value:,.6g}"
    return re.sub(r"e([+-])0*", lambda sign: "e-" if sign[1] == "-" else "e", f"{value:.4g}")


def tag(name: str, content: str = "", **attributes: Any) -> str:
    """One element; ``class_`` becomes class, underscores become hyphens, numbers are rounded."""
    parts = [name]
    for key, value in attributes.items():
        text = number(value) if isinstance(value, float) else escape(value)
        parts.append(f'{key.rstrip("_").replace("_", "-")}="{text}"')
    head = " ".join(parts)
    return f"<{head}>{content}</{name}>" if content else f"<{head}/>"


def text(x: float, y: float, words: object, **attributes: Any) -> str:
    """Text at a point."""
    return tag("text", escape(words), x=float(x), y=float(y), **attributes)


def chart(width: float, height: float, title: str, content: Sequence[str], description: str = "") -> str:
    """A complete drawing. It shrinks with the page and grows a little, and screen readers read its title."""
    inside = f"<title>{escape(title)}</title>" + (f"<desc>{escape(description)}</desc>" if description else "")
    most = width if width > PHONE else 1.4 * width
    return (
        f'<svg class="chart" role="img" aria-label="{escape(title)}" viewBox="0 0 {number(width)} {number(height)}" '
        f'style="max-width:{number(most)}px">{inside}{"".join(content)}</svg>'
    )


#: Width of the drawings for phones. Their letters have at least 11 pixels on a page of 360.
PHONE = 320.0


def both(draw: Callable[[bool], str]) -> str:
    """A drawing for wide pages and one for phones (``draw(True)``); the style sheet shows one of them."""
    wide = draw(False)
    return f'<div class="wide">{wide}</div><div class="narrow">{draw(True)}</div>' if wide else ""


def is_wide(low: float, high: float) -> bool:
    """Whether numbers between two ends can be told apart, so that an axis makes sense."""
    return bool(high / 2 - low / 2 > max(1e-290, 1e-9 * max(abs(low), abs(high))))


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


def line(points: Sequence[tuple[float, float]], **attributes: Any) -> str:
    """A polyline."""
    return tag("polyline", points=" ".join(f"{number(x)},{number(y)}" for x, y in points), fill="none", **attributes)


class Scale:
    """Maps values to positions along an axis. If the ends are the same number, the axis becomes a little longer."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        self.low, self.high = low, high if is_wide(low, high) else low + max(1.0, 1e-3 * abs(low))
        self.start, self.end = start, end

    def __call__(self, value: float) -> float:
        share = (value / 2 - self.low / 2) / (self.high / 2 - self.low / 2)  # the difference itself may be too large
        return float(self.start + share * (self.end - self.start))
