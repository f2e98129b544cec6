"""Write docs/command_reference.md from the code: ``python tools/command_reference.py``."""

from __future__ import annotations

from pathlib import Path

from dubio_app.command.app import make_app, reference

PAGE = Path(__file__).parents[1] / "docs" / "command_reference.md"

if __name__ == "__main__":
    PAGE.write_text(reference(make_app()), encoding="utf-8")
    print(PAGE)
