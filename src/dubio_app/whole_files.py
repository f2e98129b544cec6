"""Write files completely or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

#: Files that are being written. Those still here after an interruption are removed.
_unfinished: set[str] = set()


def write_whole(path: str | os.PathLike[str], content: bytes | str) -> None:
    """Write a temporary file in the same folder, and rename it once it is complete.

    Even after a failure (a full disk, no permission, an interruption) there is either the old file or the new one.
    """
    place = Path(path)
    if place.is_symlink():  # write the file that the link points to, and keep the link
        place = place.resolve()
    data = content.encode("utf-8") if isinstance(content, str) else content
    if place.exists() and not place.is_file():  # a pipe or /dev/null must not be replaced by a plain file
        place.write_bytes(data)
        return
    handle, temporary = tempfile.mkstemp(prefix=f".{place.name}.", suffix=".part", dir=place.parent)
    _unfinished.add(temporary)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # the content must be on the disk before the name
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)  # the permissions that open() gives; mkstemp makes private files
        os.replace(temporary, place)
    finally:
        remove_unfinished(temporary)


def remove_unfinished(*names: str) -> None:
    """Remove half-written files: the named ones, or all."""
    for name in names or tuple(_unfinished):
        _unfinished.discard(name)
        with contextlib.suppress(OSError):
            os.remove(name)
