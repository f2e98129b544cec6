"""scikit-learn estimators over the scores, criteria and searches."""

from dubio.selectors.cleaned import CleanedSelector
from dubio.selectors.consensus import MeanRankScore
from dubio.selectors.constraints import ConstrainedLaplacianScore, ConstraintScore
from dubio.selectors.dependence import LinearR2Score, SmoothR2Score
from dubio.selectors.fuzzy_rough import FuzzyRoughSearch
from dubio.selectors.laplacian import LaplacianScore, SemiSupervisedLaplacianScore, SupervisedLaplacianScore
from dubio.selectors.mutual_information_ranking import MutualInformationRanking
from dubio.selectors.mutual_information_search import MutualInformationSearch
from dubio.selectors.neighbors import NeighborSearch
from dubio.selectors.relief import ReliefFScore, SoftReliefScore
from dubio.selectors.weighted import FisherScore, WeightedLaplacianScore

__all__ = [
    "CleanedSelector",
    "ConstrainedLaplacianScore",
    "ConstraintScore",
    "FisherScore",
    "FuzzyRoughSearch",
    "LaplacianScore",
    "LinearR2Score",
    "MeanRankScore",
    "MutualInformationRanking",
    "MutualInformationSearch",
    "NeighborSearch",
    "ReliefFScore",
    "SemiSupervisedLaplacianScore",
    "SmoothR2Score",
    "SoftReliefScore",
    "SupervisedLaplacianScore",
    "WeightedLaplacianScore",
]
