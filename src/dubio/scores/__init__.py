"""Scores of single features, as plain functions."""

from dubio.scores.consensus import mean_rank
from dubio.scores.constrained_laplacian import constrained_laplacian_score
from dubio.scores.constraint import constraint_score
from dubio.scores.dependence import linear_r2_score, smooth_r2_score
from dubio.scores.laplacian import laplacian_score, semi_supervised_laplacian_score, supervised_laplacian_score
from dubio.scores.relief import relieff_score, soft_relief_score
from dubio.scores.spectral import c4_score, class_graph, spec_score
from dubio.scores.weighted import fisher_score, weighted_laplacian_score

__all__ = [
    "c4_score",
    "class_graph",
    "constrained_laplacian_score",
    "constraint_score",
    "fisher_score",
    "laplacian_score",
    "linear_r2_score",
    "mean_rank",
    "relieff_score",
    "semi_supervised_laplacian_score",
    "smooth_r2_score",
    "soft_relief_score",
    "spec_score",
    "supervised_laplacian_score",
    "weighted_laplacian_score",
]
