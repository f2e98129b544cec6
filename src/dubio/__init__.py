"""Feature selection when the labels are in doubt: soft, wrong, missing, pairwise or mostly unknown."""

from dubio.constraints import coherence
from dubio.fuzzyrough import fuzzy_rough_dependency
from dubio.information import knn_entropy, mutual_information, noise_tolerant_mutual_information
from dubio.methods import METHODS
from dubio.noise import LabelAudit, NoiseModel, audit_labels, estimate_memberships
from dubio.ranking import Ranking
from dubio.scores import (
    constrained_laplacian_score,
    constraint_score,
    fisher_score,
    laplacian_score,
    linear_r2_score,
    relieff_score,
    semi_supervised_laplacian_score,
    smooth_r2_score,
    soft_relief_score,
    supervised_laplacian_score,
    weighted_laplacian_score,
)
from dubio.scores.redundancy import redundancy_ranking
from dubio.selectors import (
    CleanedSelector,
    ConstrainedLaplacianScore,
    ConstraintScore,
    FisherScore,
    FuzzyRoughSearch,
    LaplacianScore,
    LinearR2Score,
    MeanRankScore,
    MutualInformationRanking,
    MutualInformationSearch,
    NeighborSearch,
    ReliefFScore,
    SemiSupervisedLaplacianScore,
    SmoothR2Score,
    SoftReliefScore,
    SupervisedLaplacianScore,
    WeightedLaplacianScore,
)
from dubio.selectors.feature_selector import FeatureSelector, select_features
from dubio.significance import Stability, stability
from dubio.supervision import SoftLabels, Supervision, soft_labels

__version__ = "0.1.0"

__all__ = [
    "METHODS",
    "CleanedSelector",
    "ConstrainedLaplacianScore",
    "ConstraintScore",
    "FeatureSelector",
    "FisherScore",
    "FuzzyRoughSearch",
    "LabelAudit",
    "LaplacianScore",
    "LinearR2Score",
    "MeanRankScore",
    "MutualInformationRanking",
    "MutualInformationSearch",
    "NeighborSearch",
    "NoiseModel",
    "Ranking",
    "ReliefFScore",
    "SemiSupervisedLaplacianScore",
    "SmoothR2Score",
    "SoftLabels",
    "SoftReliefScore",
    "Stability",
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
    "linear_r2_score",
    "mutual_information",
    "noise_tolerant_mutual_information",
    "redundancy_ranking",
    "relieff_score",
    "select_features",
    "semi_supervised_laplacian_score",
    "smooth_r2_score",
    "soft_labels",
    "soft_relief_score",
    "stability",
    "supervised_laplacian_score",
    "weighted_laplacian_score",
]
