"""Notes for the user: the warnings of the library, collected and printed at the end."""

from __future__ import annotations

import contextlib
import re
import sys
import warnings
from collections.abc import Iterator

from dubio.cli.output import visible
from dubio.cli.wording import one_line
from dubio.significance.count import NoFeatureStandsOut

_THEIRS = re.compile(r"[/\\](sklearn|scipy|numpy|pandas|joblib|cleanlab)[/\\]")


@contextlib.contextmanager
def notes_from_warnings(notes: list[str]) -> Iterator[None]:
    """Collect the library's warnings as notes. Each note appears once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        finally:
            for warning in caught:
                # warnings of the libraries that we use are not meant for this user
                if issubclass(warning.category, UserWarning) and not _THEIRS.search(warning.filename):
                    message = warning.message
                    text = one_line(message)
                    if isinstance(message, NoFeatureStandsOut):  # the command hands nothing on
                        text = f"the table {message.found}."
                    if text not in notes:
                        notes.append(text)


def tell(notes: list[str], quiet: bool) -> None:
    """Print the notes on standard error, one per line."""
    if not quiet:
        for note in notes:
            sys.stderr.write(f"dubio: {visible(note)}\n")
        sys.stderr.flush()
