"""The ``dubio`` command."""

from __future__ import annotations

import os
import signal
import sys
from importlib.util import find_spec
from typing import Any

_NEEDED = ("typer", "rich", "pandas", "pyarrow", "jinja2")


def main() -> None:
    """Entry point of the command. If a package is missing, one line says what to install."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        needed = f"the command needs {', '.join(missing)}"
        print(f"dubio: {needed}: install it with  pip install 'dubio[cli]'", file=sys.stderr)
        raise SystemExit(2)
    before = signal.signal(signal.SIGINT, _leave)  # Ctrl-C works while the command itself is imported
    from dubio_app.command.run import run

    signal.signal(signal.SIGINT, before)
    try:
        raise SystemExit(run())
    except KeyboardInterrupt:  # before or after the command itself listens
        if "--debug" in sys.argv:
            raise
        _leave()


def _leave(*_: Any) -> None:
    # no exception: half-imported extension modules would turn it into other errors
    sys.stderr.write("dubio: interrupted.\n")
    sys.stderr.flush()
    os._exit(130)
