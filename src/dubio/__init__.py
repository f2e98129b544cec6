"""Feature selection when the labels are in doubt: soft, wrong, missing, pairwise or mostly unknown."""

from typing import TYPE_CHECKING

from dubio._lazy import lazy_names

if TYPE_CHECKING:
    from dubio.constraints import coherence
    from dubio.errors import InputError, InputWarning
    from dubio.information import knn_entropy, mutual_information, noise_tolerant_mutual_information
    from dubio.methods import (
        METHODS,
        CleanedSelector,
        ConstrainedLaplacianScore,
        ConstraintScore,
        FeatureSelector,
        FisherScore,
        FuzzyRoughSearch,
        LaplacianScore,
        LinearR2Score,
        LinearSearch,
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
        constrained_laplacian_score,
        constraint_score,
        fisher_score,
        fuzzy_rough_dependency,
        laplacian_score,
        linear_r2_score,
        redundancy_ranking,
        relieff_score,
        select_features,
        semi_supervised_laplacian_score,
        smooth_r2_score,
        soft_relief_score,
        supervised_laplacian_score,
        weighted_laplacian_score,
    )
    from dubio.noise import LabelAudit, NoiseModel, audit_labels, estimate_memberships
    from dubio.ranking import Ranking
    from dubio.significance import (
        Fingerprints,
        LabelTolerance,
        Stability,
        label_fingerprints,
        label_tolerance,
        stability,
    )
    from dubio.supervision import (
        CorrectedLabels,
        IntervalLabels,
        OrderedLabels,
        PositiveLabels,
        SoftLabels,
        Supervision,
        apply_corrections,
        interval_targets,
        ordered_classes,
        positive_unlabelled,
        soft_labels,
    )

__version__ = "0.1.0"

__all__ = [
    "METHODS",
    "CleanedSelector",
    "ConstrainedLaplacianScore",
    "ConstraintScore",
    "CorrectedLabels",
    "FeatureSelector",
    "Fingerprints",
    "FisherScore",
    "FuzzyRoughSearch",
    "InputError",
    "InputWarning",
    "IntervalLabels",
    "LabelAudit",
    "LabelTolerance",
    "LaplacianScore",
    "LinearR2Score",
    "LinearSearch",
    "MeanRankScore",
    "MutualInformationRanking",
    "MutualInformationSearch",
    "NeighborSearch",
    "NoiseModel",
    "OrderedLabels",
    "PositiveLabels",
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
    "apply_corrections",
    "audit_labels",
    "coherence",
    "constrained_laplacian_score",
    "constraint_score",
    "estimate_memberships",
    "fisher_score",
    "fuzzy_rough_dependency",
    "interval_targets",
    "knn_entropy",
    "label_fingerprints",
    "label_tolerance",
    "laplacian_score",
    "linear_r2_score",
    "mutual_information",
    "noise_tolerant_mutual_information",
    "ordered_classes",
    "positive_unlabelled",
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

_HOMES = ("errors", "supervision", "ranking", "information", "constraints", "noise", "significance", "methods")

if not TYPE_CHECKING:  # type checkers and editors see the imports above
    __getattr__, __dir__ = lazy_names(__name__, [f"dubio.{home}" for home in _HOMES], __all__)
