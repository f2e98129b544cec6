"""Where the ``dubio`` command starts: outside of the package, which takes a second to import.

Ctrl-C in that second is to be answered as at any other time, so this module imports nothing else before it listens.
"""

import os
import signal
import sys
from typing import Any


def main() -> None:
    """Import the command and run it."""
    before = signal.signal(signal.SIGINT, _leave)
    import dubio.cli

    signal.signal(signal.SIGINT, before)
    try:
        dubio.cli.main()
    except KeyboardInterrupt:  # between here and where the command listens itself
        if "--debug" in sys.argv:
            raise
        _leave()


def _leave(*_: Any) -> None:
    # not an exception: extension modules that are half-imported turn those into errors of their own
    sys.stderr.write("dubio: interrupted.\n")
    sys.stderr.flush()
    os._exit(130)
