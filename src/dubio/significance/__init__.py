"""How many features, how stable, how sure."""

from dubio.significance.count import NoFeatureStandsOut, keep_significant
from dubio.significance.dependence import FeatureTests, linear_pvalues, relation_pvalues, smooth_pvalues
from dubio.significance.leave_one_out import leave_one_out_pvalues
from dubio.significance.multiple import benjamini_hochberg, cauchy_combination
from dubio.significance.permutation import permutation_pvalues, shuffle_supervision
from dubio.significance.resampling import NogueiraIndex, Stability, nogueira_index, stability
from dubio.significance.subsets import smallest_sufficient_size

__all__ = [
    "FeatureTests",
    "NoFeatureStandsOut",
    "NogueiraIndex",
    "Stability",
    "benjamini_hochberg",
    "cauchy_combination",
    "keep_significant",
    "leave_one_out_pvalues",
    "linear_pvalues",
    "nogueira_index",
    "permutation_pvalues",
    "relation_pvalues",
    "shuffle_supervision",
    "smallest_sufficient_size",
    "smooth_pvalues",
    "stability",
]
