"""The work of the page: a command of dubio in a process of its own, with progress, limits, and a way to stop it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

#: Share of the memory that is free at the start which the work may use, and the longest it may take, in seconds.
_MEMORY, _SECONDS = 0.8, 6 * 3600
#: What the process runs.
_CHILD = "import sys; from dubio_app.page.child import main; sys.exit(main(sys.argv[1:]))"


class Work:
    """One command that runs, or has run.

    ``status`` is "running", "done", "failed" or "stopped"; ``progress`` says what is done; ``said`` has the lines of
    the command, ``printed`` its output.
    """

    def __init__(self, words: Sequence[str], folder: Path) -> None:
        self.words = list(words)
        self.status, self.printed, self.said = "running", "", list[str]()
        self.progress: dict[str, Any] = {}
        self.started = time.monotonic()
        self._stopped = False
        self._process = subprocess.Popen(
            [sys.executable, "-c", _CHILD, *words],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "DUBIO_PAGE_MEMORY": str(_memory_limit()), "PYTHONIOENCODING": "utf-8"},
            start_new_session=True,
        )
        readers = [threading.Thread(target=self._read_output), threading.Thread(target=self._read_lines)]
        self._threads = readers
        for thread in readers:
            thread.daemon = True
            thread.start()
        threading.Thread(target=self._wait, daemon=True).start()

    def stop(self) -> None:
        """End the process."""
        self._stopped = True
        self._process.terminate()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def join(self, timeout: float | None = None) -> bool:
        """Wait until the work is over; return whether it is."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while self.status == "running" and (deadline is None or time.monotonic() < deadline):
            time.sleep(0.02)
        return self.status != "running"

    def record(self) -> dict[str, Any]:
        """What the page shows."""
        seconds = round(time.monotonic() - self.started, 1)
        return {"status": self.status, "progress": self.progress, "said": self.said[-50:], "seconds": seconds}

    def _read_output(self) -> None:
        assert self._process.stdout is not None
        self.printed = self._process.stdout.read().decode("utf-8", "replace")

    def _read_lines(self) -> None:
        assert self._process.stderr is not None
        for raw in self._process.stderr:
            line = raw.decode("utf-8", "replace").rstrip("\n")
            if line.startswith("\x1e"):
                self.progress = json.loads(line[1:])
            elif line:
                self.said.append(line.removeprefix("dubio: "))

    def _wait(self) -> None:
        try:
            code = self._process.wait(timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self.said.append("The work took too long and was stopped.")
            code = self._process.wait()
        for thread in self._threads:
            thread.join()
        self.status = "stopped" if self._stopped else "done" if code == 0 else "failed"


def _memory_limit() -> int:
    import psutil

    return int(_MEMORY * psutil.virtual_memory().available)
