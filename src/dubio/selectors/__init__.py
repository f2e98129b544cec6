"""scikit-learn estimators over the scores, criteria and searches."""

from dubio.selectors.fuzzy_rough import FuzzyRoughSearch
from dubio.selectors.laplacian import (
    FisherScore,
    LaplacianScore,
    SemiSupervisedLaplacianScore,
    SupervisedLaplacianScore,
    WeightedLaplacianScore,
)

__all__ = [
    "FisherScore",
    "FuzzyRoughSearch",
    "LaplacianScore",
    "SemiSupervisedLaplacianScore",
    "SupervisedLaplacianScore",
    "WeightedLaplacianScore",
]
