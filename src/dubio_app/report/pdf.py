"""The report as PDF: Chromium prints the page."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from dubio_app.command.options import UserError

#: What Chromium and its relatives are called.
_BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "msedge",
)
#: No first steps, no background work, nothing from a network.
_QUIET = (
    "--headless",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-pdf-header-footer",
)
_REMEDY = "give a name that ends in .html and print the page from your browser"
#: Seconds after which printing is given up.
_TIMEOUT = 120


def is_pdf(path: str) -> bool:
    """Whether a report is to be printed, by the ending of its name."""
    return path.casefold().endswith(".pdf")


def browser() -> str:
    """The browser that prints; raises if there is none."""
    for name in _BROWSERS:
        if (path := shutil.which(name)) is not None:
            return path
    raise UserError(f"--report: a PDF is printed by Chromium or Chrome, and neither is installed: {_REMEDY}.")


def printed(page: str) -> bytes:
    """A page of HTML as PDF."""
    program = browser()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        source, target = Path(folder, "report.html"), Path(folder, "report.pdf")
        source.write_text(page, encoding="utf-8")
        root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        words = [program, *_QUIET, *root, f"--user-data-dir={folder}/profile", f"--print-to-pdf={target}"]
        try:
            subprocess.run([*words, source.as_uri()], capture_output=True, timeout=_TIMEOUT, check=True)
            return target.read_bytes()
        except (OSError, subprocess.SubprocessError) as error:
            wrong = f"--report: {program} could not print the page"
            raise UserError(f"{wrong}: {_REMEDY}.") from error
