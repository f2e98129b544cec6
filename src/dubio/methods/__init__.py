"""All methods: each file holds a score or search as a function, its estimator and its null. All are found by name."""

from dubio.methods.cleaned import CleanedSelector
from dubio.methods.consensus import MeanRankScore, mean_rank
from dubio.methods.constrained_laplacian import ConstrainedLaplacianScore, constrained_laplacian_score
from dubio.methods.constraint import ConstraintScore, constraint_score
from dubio.methods.feature_selector import FeatureSelector, select_features
from dubio.methods.fuzzy_rough import FuzzyRoughSearch, fuzzy_rough_dependency
from dubio.methods.laplacian import LaplacianScore, laplacian_score
from dubio.methods.linear_search import LinearSearch
from dubio.methods.mutual_information import MutualInformationRanking, MutualInformationSearch
from dubio.methods.neighbor_search import NeighborSearch
from dubio.methods.numeric_laplacian import (
    SemiSupervisedLaplacianScore,
    SupervisedLaplacianScore,
    semi_supervised_laplacian_score,
    supervised_laplacian_score,
)
from dubio.methods.redundancy import redundancy_ranking
from dubio.methods.register import METHODS, Method, get_method, register
from dubio.methods.relation import LinearR2Score, SmoothR2Score, linear_r2_score, smooth_r2_score
from dubio.methods.relief import ReliefFScore, SoftReliefScore, relieff_score, soft_relief_score
from dubio.methods.spectral import c4_score, class_graph, spec_score
from dubio.methods.weighted import FisherScore, WeightedLaplacianScore, fisher_score, weighted_laplacian_score

# In the order in which `dubio methods` lists them.
for _estimator in (
    MeanRankScore,
    SmoothR2Score,
    LinearR2Score,
    SoftReliefScore,
    ReliefFScore,
    WeightedLaplacianScore,
    FisherScore,
    SupervisedLaplacianScore,
    SemiSupervisedLaplacianScore,
    LaplacianScore,
    ConstraintScore,
    ConstrainedLaplacianScore,
    NeighborSearch,
    LinearSearch,
    MutualInformationSearch,
    MutualInformationRanking,
    FuzzyRoughSearch,
):
    register(_estimator)

__all__ = [
    "METHODS",
    "CleanedSelector",
    "ConstrainedLaplacianScore",
    "ConstraintScore",
    "FeatureSelector",
    "FisherScore",
    "FuzzyRoughSearch",
    "LaplacianScore",
    "LinearR2Score",
    "LinearSearch",
    "MeanRankScore",
    "Method",
    "MutualInformationRanking",
    "MutualInformationSearch",
    "NeighborSearch",
    "ReliefFScore",
    "SemiSupervisedLaplacianScore",
    "SmoothR2Score",
    "SoftReliefScore",
    "SupervisedLaplacianScore",
    "WeightedLaplacianScore",
    "c4_score",
    "class_graph",
    "constrained_laplacian_score",
    "constraint_score",
    "fisher_score",
    "fuzzy_rough_dependency",
    "get_method",
    "laplacian_score",
    "linear_r2_score",
    "mean_rank",
    "redundancy_ranking",
    "register",
    "relieff_score",
    "select_features",
    "semi_supervised_laplacian_score",
    "smooth_r2_score",
    "soft_relief_score",
    "spec_score",
    "supervised_laplacian_score",
    "weighted_laplacian_score",
]
