"""A headless Chromium, driven by the DevTools protocol over a pair of pipes: no driver, no network, no package."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

#: Chromium reads commands from descriptor 3 and writes answers to descriptor 4: first out of the way, then into place.
_LAUNCH = """
import fcntl, os, sys
read, write = (fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3])
os.dup2(read, 3)
os.dup2(write, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
#: A report is ready when it says so.
READY = "document.readyState === 'complete' && document.documentElement.dataset.ready"


def find_browser() -> str | None:
    """Path of a Chromium: DUBIO_CHROMIUM, or the first found."""
    named = os.environ.get("DUBIO_CHROMIUM")
    return named or next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One page of a headless Chromium, with everything it logged and asked the network for."""

    def __init__(self, path: str, *, width: int = 1100, height: int = 900, dark: bool = False) -> None:
        self._folder = tempfile.mkdtemp(prefix="dubio-chromium-")
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()
        self.messages: list[dict[str, Any]] = []
        self._buffer = b""
        self._number = 0
        options = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--remote-debugging-pipe",
            f"--user-data-dir={self._folder}",
            f"--window-size={width},{height}",
        ]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _LAUNCH, str(to_read), str(to_write), path, *options, "about:blank"],
            pass_fds=(to_read, to_write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        try:
            target = self.call("Target.createTarget", url="about:blank")["targetId"]
            self._session: str | None = None
            self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Network", "Log"):
                self.call(f"{domain}.enable")
            scheme = "dark" if dark else "light"
            features = [{"name": "prefers-color-scheme", "value": scheme}]
            self.call("Emulation.setEmulatedMedia", features=features)
        except BaseException:
            self.close()
            raise

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command and its answer; events that come in between are kept in ``messages``."""
        self._number += 1
        command: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if getattr(self, "_session", None):
            command["sessionId"] = self._session
        os.write(self._write, json.dumps(command).encode() + b"\0")
        while True:
            message = self._next()
            if message.get("id") == self._number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.messages.append(message)

    def open(self, path: Path, timeout: float = 60.0, ready: str = READY) -> None:
        """Open a file and wait until it is ready; reports say so themselves."""
        self.call("Page.navigate", url=path.resolve().as_uri())
        end = time.monotonic() + timeout
        while not self.run(f"location.href !== 'about:blank' && {ready}"):
            if time.monotonic() > end:
                raise TimeoutError(f"{path} was not ready after {timeout} s: {self.problems()}")
            time.sleep(0.05)

    def run(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def screenshot(self, path: Path, *, whole: bool = True) -> None:
        """The page as a PNG."""
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def problems(self) -> list[str]:
        """Everything the console, the log and uncaught exceptions said."""
        found = []
        for message in self.messages:
            method, parameters = message.get("method", ""), message.get("params", {})
            if method in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"):
                found.append(json.dumps(parameters))
            if method == "Page.javascriptDialogOpening":
                found.append(f"dialog: {parameters}")
        return found

    def requests(self) -> list[str]:
        """Everything that was asked for, except the page itself and data: addresses."""
        asked = [
            message["params"]["request"]["url"]
            for message in self.messages
            if message.get("method") == "Network.requestWillBeSent"
        ]
        return [url for url in asked if not url.startswith(("data:", "file:", "about:"))] + [
            url for url in asked[1:] if url.startswith("file:")
        ]

    def close(self) -> None:
        """End the browser and remove its profile."""
        self._process.kill()
        self._process.wait()
        for descriptor in (self._read, self._write):
            os.close(descriptor)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            piece = os.read(self._read, 1 << 20)
            if not piece:
                raise RuntimeError("the browser went away")
            self._buffer += piece
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)
