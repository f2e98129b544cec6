"""What came out of a call."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from pathlib import Path

FINE, REFUSED, FAULT = "fine", "refused", "fault"


@dataclass(frozen=True)
class Outcome:
    """The result of one call.

    Attributes
    ----------
    seed : str
        The seed of the call, ``run:number``.
    call : str
        The call in words.
    kind : str
        "fine", "refused" or "fault".
    group : str
        What was called, or for a fault the kind of fault: faults of one group probably have one cause.
    detail : str
        The message.
    """

    seed: str
    call: str
    kind: str
    group: str
    detail: str = ""


class Broken(AssertionError):
    """A promise that does not hold."""

    def __init__(self, promise: str, detail: str = "") -> None:
        super().__init__(f"{promise}: {detail}")
        self.promise = promise


def where(error: BaseException) -> str:
    """The innermost place in the library that an error passed through."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "dubio" in Path(frame.filename).parts]
    if not own:
        return "outside the library"
    frame = own[-1]
    parts = Path(frame.filename).parts
    inside = "/".join(parts[len(parts) - parts[::-1].index("dubio") :])
    return f"{inside}:{frame.name}"
