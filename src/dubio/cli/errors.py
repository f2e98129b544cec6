"""Mistakes in files and options, told in one line."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """Something the person at the keyboard can put right; its text is one line that says how."""


def quote(name: object) -> str:
    """A name as it stands in a message: quoted, on one line, control characters escaped, never longer than a line."""
    text = repr(str(name))
    # the middle of a long name goes: the end of a path says most
    return text if len(text) <= 80 else f"{text[:20]}...{text[-57:]}"


def listing(names: Iterable[object], most: int = 5) -> str:
    """``'a', 'b' and 3 more``."""
    shown = [quote(name) for name in names]
    rest = len(shown) - most
    return ", ".join(shown[:most]) + (f" and {rest} more" if rest > 0 else "")


def nearest(name: str, candidates: Iterable[object], most: int = 3) -> list[str]:
    """The candidates most like ``name``, whatever their case."""
    known = {str(candidate): str(candidate).casefold() for candidate in candidates}
    wanted = name.casefold()
    near = difflib.get_close_matches(wanted, list(known.values()), n=most, cutoff=0.5)
    found = [original for close in near for original, folded in known.items() if folded == close]
    found += [original for original, folded in known.items() if wanted and wanted in folded]
    return list(dict.fromkeys(found))[:most]
