"""Feature selection when the labels are in doubt: soft, wrong, missing, pairwise or mostly unknown."""

from dubio.constraints import coherence
from dubio.fuzzyrough import fuzzy_rough_dependency
from dubio.information import knn_entropy, mutual_information, noise_tolerant_mutual_information
from dubio.noise import LabelAudit, NoiseModel, audit_labels, estimate_memberships
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
    CleanedSelector,
    ConstrainedLaplacianScore,
    ConstraintScore,
    FisherScore,
    FuzzyRoughSearch,
    LaplacianScore,
    MutualInformationRanking,
    MutualInformationSearch,
    NeighborSearch,
    SemiSupervisedLaplacianScore,
    SupervisedLaplacianScore,
    WeightedLaplacianScore,
)
from dubio.supervision import SoftLabels, Supervision, soft_labels

__version__ = "0.1.0"

__all__ = [
    "CleanedSelector",
    "ConstrainedLaplacianScore",
    "ConstraintScore",
    "FisherScore",
    "FuzzyRoughSearch",
    "LabelAudit",
    "LaplacianScore",
    "MutualInformationRanking",
    "MutualInformationSearch",
    "NeighborSearch",
    "NoiseModel",
    "Ranking",
    "SemiSupervisedLaplacianScore",
    "SoftLabels",
    "SupervisedLaplacianScore",
    "Supervision",
    "WeightedLaplacianScore",
    "audit_labels",
    "coherence",
    "constrained_laplacian_score",
    "constraint_score",
    "estimate_memberships",
    "fisher_score",
    "fuzzy_rough_dependency",
    "knn_entropy",
    "laplacian_score",
    "mutual_information",
    "noise_tolerant_mutual_information",
    "semi_supervised_laplacian_score",
    "soft_labels",
    "supervised_laplacian_score",
    "weighted_laplacian_score",
]
