"""Results on disk: one line a repetition, written whole and at once, so that a kill loses none that was done."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows has no such locks; two runs into one folder are then not kept apart
    fcntl = None  # type: ignore[assignment]

Record = dict[str, Any]


class ResultFile:
    """The repetitions of one experiment in ``<folder>/<name>.jsonl``."""

    def __init__(self, folder: Path, name: str) -> None:
        self.path = folder / f"{name}.jsonl"

    def read(self) -> dict[tuple[str, int], Record]:
        """Every repetition done, by cell and number; a torn last line does not count, of doubles the first does."""
        if not self.path.exists():
            return {}
        content = self.path.read_bytes()
        records: dict[tuple[str, int], Record] = {}
        for number, line in enumerate(content[: content.rfind(b"\n") + 1].splitlines(), start=1):
            try:
                record = json.loads(line)
                records.setdefault((record["cell"], record["repetition"]), record)
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(
                    f"{self.path}, line {number} is no result: {error}. The file was changed by something else; "
                    "remove the line, and its repetition is run again."
                ) from error
        return records

    @contextmanager
    def append(self) -> Iterator[Any]:
        """Open for writing and yield a function that adds one record; a second writer is refused."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            if fcntl is not None:
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    raise RuntimeError(
                        f"another run is writing to {self.path}; wait for it or use another folder."
                    ) from None
            self._cut_torn_line(handle)

            def add(record: Record) -> None:
                os.write(handle, json.dumps(record, allow_nan=False).encode() + b"\n")
                os.fsync(handle)

            yield add
        finally:
            os.close(handle)

    def _cut_torn_line(self, handle: int) -> None:
        content = self.path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.ftruncate(handle, whole)
