"""The ``dubio`` command."""

from __future__ import annotations

import sys
from importlib.util import find_spec

_NEEDED = ("typer", "rich", "pandas", "pyarrow", "jinja2")


def main() -> None:
    """Entry point of the command. If a package is missing, one line says what to install."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        print(
            f"dubio: the command needs {', '.join(missing)}: install it with  pip install 'dubio[cli]'", file=sys.stderr
        )
        raise SystemExit(2)
    from dubio.cli.run import run

    raise SystemExit(run())
