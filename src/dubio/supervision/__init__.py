"""What is known of the target: one record for every form, and simulators of doubt."""

from dubio.supervision.pair_forms import pairs_from_labels
from dubio.supervision.reader import read_supervision, require_numbers, require_two_classes, require_two_rows_a_class
from dubio.supervision.record import SoftLabels, Supervision
from dubio.supervision.simulate import (
    UnsureExpert,
    flip_labels,
    flip_labels_by_matrix,
    flip_labels_near_border,
    flip_labels_to_next,
    hide_labels,
    unsure_expert,
)
from dubio.supervision.soft import soft_labels

__all__ = [
    "SoftLabels",
    "Supervision",
    "UnsureExpert",
    "flip_labels",
    "flip_labels_by_matrix",
    "flip_labels_near_border",
    "flip_labels_to_next",
    "hide_labels",
    "pairs_from_labels",
    "read_supervision",
    "require_numbers",
    "require_two_classes",
    "require_two_rows_a_class",
    "soft_labels",
    "unsure_expert",
]
