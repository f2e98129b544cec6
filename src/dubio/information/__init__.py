"""k-nearest-neighbour entropies and mutual information with classes that may be uncertain."""

from dubio.information.criterion import InformationCriterion
from dubio.information.estimators import (
    knn_entropy,
    mutual_information,
    noise_tolerant_mutual_information,
    univariate_mutual_information,
)

__all__ = [
    "InformationCriterion",
    "knn_entropy",
    "mutual_information",
    "noise_tolerant_mutual_information",
    "univariate_mutual_information",
]
