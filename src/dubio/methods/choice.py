"""Which method to use, given what is known: the rule of ``FeatureSelector(method="auto")`` and its two exceptions.

The page on choosing a method has the measurements.
"""

from __future__ import annotations

from dataclasses import dataclass

from dubio.supervision import Supervision


@dataclass(frozen=True)
class Choice:
    """A method, and why it was chosen."""

    method: str
    because: str


def choose(supervision: Supervision) -> Choice:
    """The engine for every target, the constraint score for pairs, the Laplacian score if nothing is known."""
    if supervision.has_pairs:
        return Choice("constraint", "pairs of rows are given, and the constraint score was the best method for pairs")
    if supervision.kind == "none":
        return Choice("laplacian", "nothing is known of the target, and the Laplacian score does not need a target")
    if supervision.kind == "several":
        return Choice("neighbor_search", "it searches for the features that serve all targets together")
    return Choice(
        "neighbor_search",
        "it gave the best order for every kind of target in our trials",
    )
