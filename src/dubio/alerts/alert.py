"""What an alert says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal[
    "copy",
    "separates",
    "visits",
    "repeated rows",
    "identifier",
    "constant",
    "alike",
    "text",
    "rating",
    "lonely class",
    "sentinel",
]


@dataclass(frozen=True)
class Alert:
    """Something in the table that may make the answer wrong.

    Attributes
    ----------
    kind : str
        A short name: "copy", "separates", "visits", "repeated rows", "identifier", "constant", "text", "alike",
        "rating", "lonely class" or "sentinel".
    features : tuple of str
        The features it is about; empty if it is about rows or the target.
    sentence : str
        What was found.
    remedy : str
        What to do.
    left_out : str
        Why the features cannot be used, in a few words; empty if they can.
    asks_nothing : bool
        Whether nothing is to be done: to leave the features out is what anybody would do.
    """

    kind: Kind
    features: tuple[str, ...]
    sentence: str
    remedy: str
    left_out: str = ""
    asks_nothing: bool = False

    def __str__(self) -> str:
        return f"{self.sentence}: {self.remedy}."

    def record(self, remedy: str | None = None) -> dict[str, Any]:
        """The alert as a plain dictionary; a front end may give its own remedy."""
        return {
            "kind": self.kind,
            "features": list(self.features),
            "sentence": self.sentence,
            "remedy": self.remedy if remedy is None else remedy,
        }
