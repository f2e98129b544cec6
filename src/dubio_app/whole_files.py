"""Write files completely or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path

#: Files that are being written. Those still here after an interruption are removed.
_unfinished: set[str] = set()


#: The permissions of new files, before the user's mask: those of a private table are private, too.
_mode: ContextVar[int] = ContextVar("permissions of new files", default=0o666)


@contextlib.contextmanager
def as_private_as(path: str) -> Iterator[None]:
    """Inside this block, nobody may read what is written who may not read this file."""
    try:
        found = os.stat(path).st_mode
        mode = found & 0o666 | 0o600 if stat.S_ISREG(found) else 0o666
    except (OSError, ValueError):  # standard input, or no such file
        mode = 0o666
    token = _mode.set(mode)
    try:
        yield
    finally:
        _mode.reset(token)


def write_whole(path: str | os.PathLike[str], content: bytes | str) -> None:
    """Write a temporary file in the same folder, and rename it once it is complete. An existing file keeps its mode.

    Even after a failure (a full disk, no permission, an interruption) there is either the old file or the new one.
    """
    place = Path(path)
    if place.is_symlink():  # write the file that the link points to, and keep the link
        place = place.resolve()
    data = content.encode("utf-8") if isinstance(content, str) else content
    old = place.stat().st_mode if place.exists() else None
    if old is not None and not stat.S_ISREG(old):  # a pipe or /dev/null must not be replaced by a plain file
        place.write_bytes(data)
        return
    temporary = str(place.parent / f".{place.name[:200]}.{secrets.token_hex(6)}.part")
    # private until it has the mode of the old file; a new one gets what the user's mask allows
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _mode.get() if old is None else 0o600)
    _unfinished.add(temporary)
    try:
        with os.fdopen(handle, "wb") as file:
            if old is not None:
                os.chmod(temporary, stat.S_IMODE(old))
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # the content must be on the disk before the name
        os.replace(temporary, place)
    finally:
        remove_unfinished(temporary)


def remove_unfinished(*names: str) -> None:
    """Remove half-written files: the named ones, or all."""
    for name in names or tuple(_unfinished):
        _unfinished.discard(name)
        with contextlib.suppress(OSError):
            os.remove(name)
