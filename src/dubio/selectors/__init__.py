"""scikit-learn estimators over the scores, criteria and searches."""

from dubio.selectors.laplacian import (
    FisherScore,
    LaplacianScore,
    SemiSupervisedLaplacianScore,
    SupervisedLaplacianScore,
    WeightedLaplacianScore,
)

__all__ = [
    "FisherScore",
    "LaplacianScore",
    "SemiSupervisedLaplacianScore",
    "SupervisedLaplacianScore",
    "WeightedLaplacianScore",
]
