"""How many features to keep, and how stable and certain a selection is.

The significance tests of single methods are next to the methods.
"""

from dubio.significance.count import NoFeatureStandsOut
from dubio.significance.fingerprints import Fingerprints, label_fingerprints
from dubio.significance.mended import Mended, audit_left, compare
from dubio.significance.multiple import cauchy_combination
from dubio.significance.permutation import permutation_pvalues
from dubio.significance.relevance import Relevance, relevance_of
from dubio.significance.resampling import NogueiraIndex, Stability, nogueira_index, problem_stability, stability
from dubio.significance.subsets import smallest_sufficient_size
from dubio.significance.tolerance import LabelTolerance, label_tolerance, problem_tolerance

__all__ = [
    "Fingerprints",
    "LabelTolerance",
    "Mended",
    "NoFeatureStandsOut",
    "NogueiraIndex",
    "Relevance",
    "Stability",
    "audit_left",
    "cauchy_combination",
    "compare",
    "label_fingerprints",
    "label_tolerance",
    "nogueira_index",
    "permutation_pvalues",
    "problem_stability",
    "problem_tolerance",
    "relevance_of",
    "smallest_sufficient_size",
    "stability",
]
