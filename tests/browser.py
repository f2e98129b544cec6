"""Pages in a headless Chromium, driven by Playwright: what they show, log and ask the network for."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


class Missing(Exception):
    """Playwright or Chromium is not installed."""


class View:
    """One page, with everything that it logged, and everything that it asked for but data."""

    def __init__(self, page: Any) -> None:
        self.page, self.problems, self.requests = page, list[str](), list[str]()
        page.on("console", lambda message: self.problems.append(f"logs {message.text}"))
        page.on("pageerror", lambda error: self.problems.append(f"fails: {error}"))
        page.on("dialog", lambda dialog: (self.problems.append(f"asks {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: self.requests.append(request.url))

    def open(self, path: Path) -> None:
        """Open a file and wait until it is loaded."""
        self.problems.clear()
        self.requests.clear()
        self.page.goto(path.resolve().as_uri())

    def run(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        return self.page.evaluate(expression)

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self.page.keyboard.press(key)


class Browser:
    """A headless Chromium; each view has a memory of its own."""

    def __init__(self, chromium: Any) -> None:
        self._chromium = chromium

    def view(self, *, width: int = 1100, height: int = 900, dark: bool = False) -> View:
        """An empty page of this size; narrow ones are phones."""
        context = self._chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            is_mobile=width < 500,
        )
        return View(context.new_page())


@contextmanager
def launch() -> Iterator[Browser]:
    """A browser: the one that DUBIO_CHROMIUM names, or the first found. Nothing is downloaded."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise Missing("Playwright is not installed: pip install playwright") from error
    path = os.environ.get("DUBIO_CHROMIUM") or next((path for path in map(shutil.which, _NAMES) if path), None)
    if path is None:
        raise Missing("no Chromium found: install Debian's chromium, or set DUBIO_CHROMIUM")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield Browser(chromium)
        finally:
            chromium.close()
