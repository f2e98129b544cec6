"""The work of the page in processes of its own, with progress, limits of memory and time, and a way to stop it."""

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

import dubio_app
from dubio.progress import with_time_left

#: Share of the memory that is free at the start which the work may use; longest time of a ranking and of all other
#: work, and of an answer to a question about it, in seconds.
_MEMORY, RANKING, OTHER, _ANSWERING = 0.8, 6 * 3600.0, 600.0, 30.0
#: Lines of what the work says that are shown.
_SHOWN = 50


class Work:
    """A process that does one piece of work and then answers questions about it.

    ``status`` is "ready", "running", "done", "failed" or "stopped"; ``parts`` are what it has found so far,
    ``problems`` why it failed, ``said`` the notes.
    """

    def __init__(self, folder: Path) -> None:
        self.status = "ready"
        self.parts: dict[str, Any] = {}
        self.problems: list[dict[str, Any]] = []
        self.said: list[str] = []
        self._progress: dict[str, Any] = {}
        self._began, self._ended, self._stopped = time.monotonic(), 0.0, False
        self._news = threading.Condition()
        self._answers: dict[int, Any] = {}
        self._asked = 0
        places = [str(Path(dubio_app.__file__).parents[1]), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
        places = [place for place in places if Path(place).is_absolute()]
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "dubio_app.page.child"],  # -P: no module comes from the folder
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONPATH": os.pathsep.join(places)},
            start_new_session=True,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def start(self, job: str, words: Sequence[str], seconds: float = OTHER, **more: Any) -> None:
        """Begin the work; it is stopped after so many seconds."""
        self.status, self._began = "running", time.monotonic()
        self._send({"job": job, "words": list(words), "memory": _memory_limit(), "more": more})
        timer = threading.Timer(seconds, self._too_long)
        timer.daemon = True
        timer.start()

    def ask(self, question: dict[str, Any]) -> Any:
        """The answer of a process that has done its work; None if it is gone."""
        with self._news:
            if self.status != "done" or self._process.poll() is not None:
                return None
            self._asked += 1
            number, deadline = self._asked, time.monotonic() + _ANSWERING
            self._send({"number": number, "ask": question})
            while number not in self._answers and time.monotonic() < deadline and self._process.poll() is None:
                self._news.wait(0.5)
            return self._answers.pop(number, None)

    def stop(self) -> None:
        """End the process."""
        self._stopped = self._stopped or self.status == "running"
        self._process.kill()
        self._process.wait()

    @property
    def is_alive(self) -> bool:
        """Whether the process is there."""
        return self._process.poll() is None

    def join(self, seconds: float) -> bool:
        """Wait until the work is over; return whether it is."""
        deadline = time.monotonic() + seconds
        with self._news:
            while self.status == "running" and time.monotonic() < deadline:
                self._news.wait(0.5)
        return self.status != "running"

    def record(self) -> dict[str, Any]:
        """What the page shows while it waits."""
        end = self._ended or time.monotonic()
        told = self._progress
        text = told.get("what", "starting")
        if told.get("part"):
            time_left = with_time_left(told["part"], told["done"], told["total"], told.get("seconds", 0.0))
            text = f"{text}: {time_left}"
        shown = {"status": self.status, "text": text, "done": told.get("done", 0), "total": told.get("total")}
        shown |= {"seconds": round(end - self._began, 1), "said": self.said[-_SHOWN:], "problems": self.problems}
        return {**shown, "parts": sorted(self.parts)}

    def _send(self, request: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write((json.dumps(request) + "\n").encode())
            self._process.stdin.flush()
        except OSError:  # it has ended
            pass

    def _read(self) -> None:
        assert self._process.stdout is not None
        for raw in self._process.stdout:
            with self._news:
                self._take(json.loads(raw))
                self._news.notify_all()
        self._process.wait()
        with self._news:
            if self.status == "running":
                self._end("stopped" if self._stopped else "failed")
                if not self._stopped and not self.problems:
                    self.problems.append({"text": "The work ended early: perhaps there was not enough memory."})
            self._news.notify_all()

    def _take(self, told: dict[str, Any]) -> None:
        kind, content = told["kind"], told["content"]
        if kind == "progress":
            self._progress = content
        elif kind == "part":
            self.parts |= content
        elif kind == "notes":
            self.said += content
        elif kind == "problems":
            self.problems = content
            self._end("failed")
        elif kind == "done":
            self._end("done")
        elif kind == "answer":
            self._answers[content["number"]] = content["content"]

    def _end(self, status: str) -> None:
        self.status, self._ended = status, time.monotonic()

    def _too_long(self) -> None:
        if self.status == "running":
            self.problems.append({"text": "The work took too long and was stopped."})
            self._process.kill()


class Workshop:
    """Processes for work, one of which waits with everything loaded, so that the next work begins at once."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._lock = folder, threading.Lock()
        self._next: Work | None = Work(folder)
        self._busy: list[Work] = []

    def begin(self, job: str, words: Sequence[str], seconds: float = OTHER, **more: Any) -> Work:
        """Begin a piece of work."""
        with self._lock:
            work = self._next if self._next is not None and self._next.is_alive else Work(self._folder)
            work.start(job, words, seconds, **more)
            self._next = Work(self._folder)
            self._busy = [*(one for one in self._busy if one.status in ("running", "done")), work]
        return work

    def finish(self, work: Work, seconds: float = OTHER) -> Work:
        """Wait for a piece of work and end its process."""
        work.join(seconds)
        work.stop()
        with self._lock:
            self._busy = [one for one in self._busy if one is not work]
        return work

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            for work in [*self._busy, *([self._next] if self._next else [])]:
                work.stop()
            self._busy, self._next = [], None


def _memory_limit() -> int:
    import psutil

    return int(_MEMORY * psutil.virtual_memory().available)
