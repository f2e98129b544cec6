"""Pairs of rows that belong together or do not: closure, coherence, selection, and the forms they are given in."""

from dubio.constraints.overlap import coherence, projected_overlap
from dubio.constraints.row_clusters import RowClusters, cluster_rows
from dubio.constraints.selection import select_pairs
from dubio.supervision.pair_forms import pairs_from_groups, pairs_from_labels, pairs_from_signed
from dubio.supervision.pairs import Pairs, close_pairs, read_pairs, restrict_pairs

__all__ = [
    "Pairs",
    "RowClusters",
    "close_pairs",
    "cluster_rows",
    "coherence",
    "pairs_from_groups",
    "pairs_from_labels",
    "pairs_from_signed",
    "projected_overlap",
    "read_pairs",
    "restrict_pairs",
    "select_pairs",
]
