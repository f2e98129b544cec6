"""Trust in an answer: stability, tolerance, fingerprints, corrections."""

from typing import TYPE_CHECKING

from dubio._lazy import lazy_names

if TYPE_CHECKING:
    from dubio.trust.corrections import BeforeAndAfter, Mended, audit_left, compare
    from dubio.trust.fingerprints import Fingerprints, label_fingerprints
    from dubio.trust.resampling import NogueiraIndex, Stability, nogueira_index, problem_stability, stability
    from dubio.trust.tolerance import LabelTolerance, label_tolerance, problem_tolerance

__all__ = [
    "BeforeAndAfter",
    "Fingerprints",
    "LabelTolerance",
    "Mended",
    "NogueiraIndex",
    "Stability",
    "audit_left",
    "compare",
    "label_fingerprints",
    "label_tolerance",
    "nogueira_index",
    "problem_stability",
    "problem_tolerance",
    "stability",
]

_HOMES = {
    "fingerprints": "Fingerprints label_fingerprints",
    "corrections": "BeforeAndAfter Mended audit_left compare",
    "resampling": "NogueiraIndex Stability nogueira_index problem_stability stability",
    "tolerance": "LabelTolerance label_tolerance problem_tolerance",
}

if not TYPE_CHECKING:  # type checkers and editors see the imports above
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)
