"""Results on disk: one line per repetition, written at once and completely, so that a killed run loses no result."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows has no such locks: there, two runs may write into the same folder
    fcntl = None  # type: ignore[assignment]

Record = dict[str, Any]


class ResultFile:
    """The repetitions of one experiment in ``<folder>/<name>.jsonl``."""

    def __init__(self, folder: Path, name: str) -> None:
        self.path = folder / f"{name}.jsonl"

    def read(self) -> dict[tuple[str, int], Record]:
        """Every finished repetition, by cell and number.

        An incomplete last line does not count. If a repetition occurs twice, the first counts.
        """
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
                    f"{self.path}, line {number}, is not a result: {error}. Another program changed the file. Remove "
                    "the line, and the repetition will be run again."
                ) from error
        return records

    @contextmanager
    def append(self) -> Iterator[Any]:
        """Open the file and yield a function that adds one record; raises if another run is writing to it."""
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
                line = json.dumps(record, allow_nan=False).encode() + b"\n"
                whole = os.fstat(handle).st_size
                try:
                    while line:  # a full disk may take only a part of it
                        line = line[os.write(handle, line) :]
                    os.fsync(handle)
                except OSError:
                    os.ftruncate(handle, whole)  # no half line, whatever is added later
                    raise

            yield add
        finally:
            os.close(handle)

    def _cut_torn_line(self, handle: int) -> None:
        content = self.path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.ftruncate(handle, whole)
