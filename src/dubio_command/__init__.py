"""The start of the ``dubio`` command. It is not in the package ``dubio``, because that takes a second to import.

Ctrl-C must work during this second too. So this module listens for it before it imports anything large.
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
    except KeyboardInterrupt:  # before the command itself listens
        if "--debug" in sys.argv:
            raise
        _leave()


def _leave(*_: Any) -> None:
    # no exception: half-imported extension modules would turn it into other errors
    sys.stderr.write("dubio: interrupted.\n")
    sys.stderr.flush()
    os._exit(130)
