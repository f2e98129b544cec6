"""The process in which the page does its work: it is started before there is work, and waits with everything loaded.

Requests come in on standard input, one JSON object per line, and answers go out on standard output: progress, parts of
the answer, and the end of the work. When standard input ends, the server is gone, and the process ends too.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import sys
import threading
import time
from typing import Any

#: Seconds between two reports of progress.
_PAUSE = 0.2


def main() -> None:
    """Do one piece of work, then answer questions about it."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)  # what commands print is not for the server
    requests: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()

    def listen() -> None:
        for line in sys.stdin:
            requests.put(json.loads(line))
        from dubio_app.whole_files import remove_unfinished

        remove_unfinished()
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    lock = threading.Lock()

    def send(kind: str, content: Any) -> None:
        with lock, contextlib.suppress(OSError):
            out.write(json.dumps({"kind": kind, "content": content}, ensure_ascii=True) + "\n")
            out.flush()

    from dubio_app.page import jobs  # which loads the library

    work = requests.get()
    _limit_memory(work["memory"])
    answering = jobs.run(work["job"], work["words"], _with_progress(send), work.get("more", {}))
    while answering is not None:
        request = requests.get()
        send("answer", {"number": request["number"], "content": answering(request["ask"])})


def _with_progress(send: Any) -> Any:
    """The function that sends; of progress, it sends only what somebody can read."""
    last, shown, began = 0.0, ("", ""), time.monotonic()

    def tell(kind: str, content: Any) -> None:
        nonlocal last, shown, began
        if kind == "progress":
            now = time.monotonic()
            if shown != (content["what"], content["part"]):
                shown, began = (content["what"], content["part"]), now
            elif now - last < _PAUSE:
                return
            last = now
            content = {**content, "seconds": round(now - began, 1)}
        send(kind, content)

    return tell


def _limit_memory(most: int) -> None:
    """No more memory than this, where the system can limit it."""
    try:
        import resource
    except ImportError:  # Windows
        return
    if most > 0:
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (most if hard < 0 else min(most, hard), hard))


if __name__ == "__main__":
    main()
