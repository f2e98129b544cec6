"""Scores of single features, as plain functions."""

from dubio.scores.laplacian import (
    laplacian_score,
    semi_supervised_laplacian_score,
    supervised_laplacian_score,
)
from dubio.scores.weighted import fisher_score, weighted_laplacian_score

__all__ = [
    "fisher_score",
    "laplacian_score",
    "semi_supervised_laplacian_score",
    "supervised_laplacian_score",
    "weighted_laplacian_score",
]
