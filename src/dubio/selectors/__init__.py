"""scikit-learn estimators over the scores, criteria and searches."""

from dubio.selectors.constraints import ConstrainedLaplacianScore, ConstraintScore
from dubio.selectors.fuzzy_rough import FuzzyRoughSearch
from dubio.selectors.laplacian import (
    FisherScore,
    LaplacianScore,
    SemiSupervisedLaplacianScore,
    SupervisedLaplacianScore,
    WeightedLaplacianScore,
)
from dubio.selectors.mutual_information import MutualInformationRanking, MutualInformationSearch

__all__ = [
    "ConstrainedLaplacianScore",
    "ConstraintScore",
    "FisherScore",
    "FuzzyRoughSearch",
    "LaplacianScore",
    "MutualInformationRanking",
    "MutualInformationSearch",
    "SemiSupervisedLaplacianScore",
    "SupervisedLaplacianScore",
    "WeightedLaplacianScore",
]
