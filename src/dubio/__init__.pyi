# ruff: isort: skip_file
from dubio.doubt.audit import audit_labels as audit_labels
from dubio.doubt.audit_record import LabelAudit as LabelAudit
from dubio.doubt.noise_model import estimate_memberships as estimate_memberships
from dubio.doubt.votes import soft_labels as soft_labels
from dubio.errors import InputError as InputError, InputWarning as InputWarning
from dubio.methods.register import METHODS as METHODS
from dubio.neighbors.information import (
    knn_entropy as knn_entropy,
    mutual_information as mutual_information,
    noise_tolerant_mutual_information as noise_tolerant_mutual_information,
    numeric_mutual_information as numeric_mutual_information,
)
from dubio.ranking import Ranking as Ranking
from dubio.scores.coherence import coherence as coherence, coherence_of_set as coherence_of_set
from dubio.scores.consensus import MeanRankScore as MeanRankScore
from dubio.scores.constrained_laplacian import (
    ConstrainedLaplacianScore as ConstrainedLaplacianScore,
    constrained_laplacian_score as constrained_laplacian_score,
)
from dubio.scores.constraint import ConstraintScore as ConstraintScore, constraint_score as constraint_score
from dubio.scores.laplacian import (
    LaplacianScore as LaplacianScore,
    SemiSupervisedLaplacianScore as SemiSupervisedLaplacianScore,
    SupervisedLaplacianScore as SupervisedLaplacianScore,
    laplacian_score as laplacian_score,
    semi_supervised_laplacian_score as semi_supervised_laplacian_score,
    supervised_laplacian_score as supervised_laplacian_score,
)
from dubio.scores.relation import (
    LinearR2Score as LinearR2Score,
    SmoothR2Score as SmoothR2Score,
    linear_r2_score as linear_r2_score,
    smooth_r2_score as smooth_r2_score,
)
from dubio.scores.relief import (
    ReliefFScore as ReliefFScore,
    SoftReliefScore as SoftReliefScore,
    relieff_score as relieff_score,
    soft_relief_score as soft_relief_score,
)
from dubio.scores.weighted import (
    FisherScore as FisherScore,
    WeightedLaplacianScore as WeightedLaplacianScore,
    fisher_score as fisher_score,
    weighted_laplacian_score as weighted_laplacian_score,
)
from dubio.searches.cleaned import CleanedSelector as CleanedSelector
from dubio.searches.fuzzy_rough import (
    FuzzyRoughSearch as FuzzyRoughSearch,
    fuzzy_rough_dependency as fuzzy_rough_dependency,
)
from dubio.searches.linear_search import LinearSearch as LinearSearch
from dubio.searches.mutual_information import (
    MutualInformationRanking as MutualInformationRanking,
    MutualInformationSearch as MutualInformationSearch,
)
from dubio.searches.neighbor_search import NeighborSearch as NeighborSearch
from dubio.selector import FeatureSelector as FeatureSelector, select_features as select_features
from dubio.target.checked import checked_rows as checked_rows
from dubio.target.intervals import interval_targets as interval_targets
from dubio.target.label_values import apply_corrections as apply_corrections
from dubio.target.ordered import ordered_classes as ordered_classes
from dubio.target.positives import positive_unlabelled as positive_unlabelled
from dubio.target.several import several_targets as several_targets
from dubio.target.votes import votes as votes
from dubio.trust.fingerprints import label_fingerprints as label_fingerprints
from dubio.trust.resampling import stability as stability
from dubio.trust.tolerance import label_tolerance as label_tolerance

__version__: str
