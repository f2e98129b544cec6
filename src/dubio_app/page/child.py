"""The process in which the page does its work: one command, a limit of memory, and progress on standard error."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence

from dubio_app.command.output import progress_goes_to
from dubio_app.command.run import run

#: Seconds between two reports of progress.
_PAUSE = 0.2


def main(words: Sequence[str]) -> int:
    """Run a command of dubio; a line that begins with a record separator is progress, as JSON."""
    _limit_memory(int(os.environ.get("DUBIO_PAGE_MEMORY", "0")))
    last = 0.0

    def tell(what: str, part: str, done: int, total: int | None) -> None:
        nonlocal last
        now = time.monotonic()
        if done and now - last < _PAUSE:
            return
        last = now
        record = {"what": what, "part": part, "done": done, "total": total}
        sys.stderr.write(f"\x1e{json.dumps(record)}\n")
        sys.stderr.flush()

    with progress_goes_to(tell):
        return run(words)


def _limit_memory(most: int) -> None:
    """No more memory than this, where the system can limit it."""
    try:
        import resource
    except ImportError:  # Windows
        return
    if most > 0:
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (most if hard < 0 else min(most, hard), hard))
