"""Feature selection when the labels are in doubt: soft, wrong, missing, pairwise or mostly unknown."""

from dubio.constraints import coherence
from dubio.ranking import Ranking
from dubio.scores import (
    constrained_laplacian_score,
    constraint_score,
    fisher_score,
    laplacian_score,
    semi_supervised_laplacian_score,
    supervised_laplacian_score,
    weighted_laplacian_score,
)
from dubio.selectors import (
    ConstrainedLaplacianScore,
    ConstraintScore,
    FisherScore,
    LaplacianScore,
    SemiSupervisedLaplacianScore,
    SupervisedLaplacianScore,
    WeightedLaplacianScore,
)
from dubio.supervision import SoftLabels, Supervision, soft_labels

__version__ = "0.1.0"

__all__ = [
    "ConstrainedLaplacianScore",
    "ConstraintScore",
    "FisherScore",
    "LaplacianScore",
    "Ranking",
    "SemiSupervisedLaplacianScore",
    "SoftLabels",
    "SupervisedLaplacianScore",
    "Supervision",
    "WeightedLaplacianScore",
    "coherence",
    "constrained_laplacian_score",
    "constraint_score",
    "fisher_score",
    "laplacian_score",
    "semi_supervised_laplacian_score",
    "soft_labels",
    "supervised_laplacian_score",
    "weighted_laplacian_score",
]
