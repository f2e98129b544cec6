"""Feature selection when the labels are in doubt: soft, wrong, missing, pairwise or mostly unknown."""

from typing import TYPE_CHECKING

from dubio._lazy import lazy_names

if TYPE_CHECKING:
    from dubio.doubt.audit import audit_labels
    from dubio.doubt.audit_record import LabelAudit
    from dubio.doubt.noise_model import NoiseModel, estimate_memberships
    from dubio.errors import InputError, InputWarning
    from dubio.methods.register import METHODS
    from dubio.neighbors.information import knn_entropy, mutual_information, noise_tolerant_mutual_information
    from dubio.ranking import Ranking
    from dubio.scores.coherence import coherence
    from dubio.scores.consensus import MeanRankScore, redundancy_ranking
    from dubio.scores.constrained_laplacian import ConstrainedLaplacianScore, constrained_laplacian_score
    from dubio.scores.constraint import ConstraintScore, constraint_score
    from dubio.scores.laplacian import (
        LaplacianScore,
        SemiSupervisedLaplacianScore,
        SupervisedLaplacianScore,
        laplacian_score,
        semi_supervised_laplacian_score,
        supervised_laplacian_score,
    )
    from dubio.scores.relation import LinearR2Score, SmoothR2Score, linear_r2_score, smooth_r2_score
    from dubio.scores.relief import ReliefFScore, SoftReliefScore, relieff_score, soft_relief_score
    from dubio.scores.weighted import FisherScore, WeightedLaplacianScore, fisher_score, weighted_laplacian_score
    from dubio.searches.cleaned import CleanedSelector
    from dubio.searches.fuzzy_rough import FuzzyRoughSearch, fuzzy_rough_dependency
    from dubio.searches.linear_search import LinearSearch
    from dubio.searches.mutual_information import MutualInformationRanking, MutualInformationSearch
    from dubio.searches.neighbor_search import NeighborSearch
    from dubio.selector import FeatureSelector, select_features
    from dubio.target.classes import SoftLabels
    from dubio.target.intervals import IntervalLabels, interval_targets
    from dubio.target.knowledge import Supervision
    from dubio.target.label_values import CorrectedLabels, apply_corrections
    from dubio.target.ordered import OrderedLabels, ordered_classes
    from dubio.target.positives import PositiveLabels, positive_unlabelled
    from dubio.target.several import SeveralLabels, several_targets
    from dubio.target.soft import soft_labels
    from dubio.trust.fingerprints import Fingerprints, label_fingerprints
    from dubio.trust.resampling import Stability, stability
    from dubio.trust.tolerance import LabelTolerance, label_tolerance

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
    "SeveralLabels",
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
    "several_targets",
    "smooth_r2_score",
    "soft_labels",
    "soft_relief_score",
    "stability",
    "supervised_laplacian_score",
    "weighted_laplacian_score",
]

_HOMES = {
    "doubt.audit": "audit_labels",
    "doubt.audit_record": "LabelAudit",
    "doubt.noise_model": "NoiseModel estimate_memberships",
    "errors": "InputError InputWarning",
    "methods.register": "METHODS",
    "neighbors.information": "knn_entropy mutual_information noise_tolerant_mutual_information",
    "ranking": "Ranking",
    "scores.coherence": "coherence",
    "scores.consensus": "MeanRankScore redundancy_ranking",
    "scores.constrained_laplacian": "ConstrainedLaplacianScore constrained_laplacian_score",
    "scores.constraint": "ConstraintScore constraint_score",
    "scores.laplacian": "LaplacianScore SemiSupervisedLaplacianScore SupervisedLaplacianScore laplacian_score "
    "semi_supervised_laplacian_score supervised_laplacian_score",
    "scores.relation": "LinearR2Score SmoothR2Score linear_r2_score smooth_r2_score",
    "scores.relief": "ReliefFScore SoftReliefScore relieff_score soft_relief_score",
    "scores.weighted": "FisherScore WeightedLaplacianScore fisher_score weighted_laplacian_score",
    "searches.cleaned": "CleanedSelector",
    "searches.fuzzy_rough": "FuzzyRoughSearch fuzzy_rough_dependency",
    "searches.linear_search": "LinearSearch",
    "searches.mutual_information": "MutualInformationRanking MutualInformationSearch",
    "searches.neighbor_search": "NeighborSearch",
    "selector": "FeatureSelector select_features",
    "target.label_values": "CorrectedLabels apply_corrections",
    "target.intervals": "IntervalLabels interval_targets",
    "target.knowledge": "Supervision",
    "target.classes": "SoftLabels",
    "target.ordered": "OrderedLabels ordered_classes",
    "target.positives": "PositiveLabels positive_unlabelled",
    "target.several": "SeveralLabels several_targets",
    "target.soft": "soft_labels",
    "trust.fingerprints": "Fingerprints label_fingerprints",
    "trust.resampling": "Stability stability",
    "trust.tolerance": "LabelTolerance label_tolerance",
}

if not TYPE_CHECKING:  # type checkers and editors see the imports above
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)
