"""scikit-learn estimators over the scores, criteria and searches."""

from dubio.selectors.constraints import ConstrainedLaplacianScore, ConstraintScore
from dubio.selectors.laplacian import (
    FisherScore,
    LaplacianScore,
    SemiSupervisedLaplacianScore,
    SupervisedLaplacianScore,
    WeightedLaplacianScore,
)

__all__ = [
    "ConstrainedLaplacianScore",
    "ConstraintScore",
    "FisherScore",
    "LaplacianScore",
    "SemiSupervisedLaplacianScore",
    "SupervisedLaplacianScore",
    "WeightedLaplacianScore",
]
