"""k-nearest-neighbour entropies, mutual information and prediction losses, with classes that may be uncertain."""

from dubio.information.estimators import (
    feature_mutual_information,
    knn_entropy,
    mutual_information,
    noise_tolerant_mutual_information,
)
from dubio.information.information_criterion import InformationCriterion
from dubio.information.neighbor_loss import NeighborCrossEntropy, NeighborSquaredError

__all__ = [
    "InformationCriterion",
    "NeighborCrossEntropy",
    "NeighborSquaredError",
    "feature_mutual_information",
    "knn_entropy",
    "mutual_information",
    "noise_tolerant_mutual_information",
]
