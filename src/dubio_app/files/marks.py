"""Cells that mean "missing"."""

from __future__ import annotations

import contextlib
from typing import Any


def without(frame: Any, marks: tuple[str, ...], *, text_only: bool = False) -> Any:
    """The frame with the cells that hold one of the marks made missing; -999 also means -999.0."""
    if not marks:
        return frame
    numbers = []
    for mark in marks:
        with contextlib.suppress(ValueError):
            numbers.append(float(mark))
    frame = frame.copy(deep=False)
    for name, column in frame.items():
        kind = getattr(column.dtype, "kind", "O")
        if kind in ("OUS" if text_only else "OUSiuf"):
            hidden = column.isin(numbers if kind in "iuf" else marks)
            frame[name] = column.mask(hidden) if hidden.any() else column
    return frame
