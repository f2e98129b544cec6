"""scikit-learn estimators over the scores, criteria and searches."""

from dubio.selectors.constraints import ConstrainedLaplacianScore, ConstraintScore
from dubio.selectors.laplacian import LaplacianScore, SemiSupervisedLaplacianScore, SupervisedLaplacianScore
from dubio.selectors.weighted import FisherScore, WeightedLaplacianScore

__all__ = [
    "ConstrainedLaplacianScore",
    "ConstraintScore",
    "FisherScore",
    "LaplacianScore",
    "SemiSupervisedLaplacianScore",
    "SupervisedLaplacianScore",
    "WeightedLaplacianScore",
]
