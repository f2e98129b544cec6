"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

#: Files that are being written; what is left here at an interruption is removed.
_unfinished: set[str] = set()


def write_whole(path: str | os.PathLike[str], content: bytes | str) -> None:
    """Write a file beside its place and move it there once it is complete.

    Whatever goes wrong (a full disk, no permission, an interruption), there is either the old file or the new one.
    """
    place = Path(path)
    data = content.encode("utf-8") if isinstance(content, str) else content
    if place.exists() and not place.is_file():  # a pipe or /dev/null: never put a plain file in its place
        place.write_bytes(data)
        return
    handle, temporary = tempfile.mkstemp(prefix=f".{place.name}.", suffix=".part", dir=place.parent)
    _unfinished.add(temporary)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)  # as open() would have made it, not private as mkstemp does
        os.replace(temporary, place)
    finally:
        remove_unfinished(temporary)


def remove_unfinished(*names: str) -> None:
    """Remove half-written files: those named, or all."""
    for name in names or tuple(_unfinished):
        _unfinished.discard(name)
        with contextlib.suppress(OSError):
            os.remove(name)
