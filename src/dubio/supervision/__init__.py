"""What is known of the target: one class per kind of knowledge, the reader, and simulators of doubtful labels."""

from dubio.supervision.agreement import krippendorff_alpha
from dubio.supervision.classes import Classes, OfClasses
from dubio.supervision.corrections import CorrectedLabels, apply_corrections
from dubio.supervision.intervals import IntervalLabels, Intervals, interval_targets
from dubio.supervision.knowledge import Nothing, Supervision
from dubio.supervision.memberships import Memberships, SoftLabels
from dubio.supervision.numbers import Numbers
from dubio.supervision.ordered import OrderedClasses, OrderedLabels, OrderedMemberships, ordered_classes
from dubio.supervision.pair_forms import pairs_from_labels
from dubio.supervision.positives import PositiveLabels, Positives, positive_unlabelled
from dubio.supervision.reader import READERS, Reader, read_supervision
from dubio.supervision.several import SeveralLabels, SeveralTargets, several_targets
from dubio.supervision.simulate import (
    UnsureExpert,
    blur_numbers,
    censor_numbers,
    flip_labels,
    flip_labels_by_matrix,
    flip_labels_near_border,
    flip_labels_to_neighbor,
    flip_labels_to_next,
    hide_labels,
    hide_targets,
    label_some_positives,
    misstate_numbers,
    unsure_expert,
)
from dubio.supervision.soft import soft_labels

__all__ = [
    "READERS",
    "Classes",
    "CorrectedLabels",
    "IntervalLabels",
    "Intervals",
    "Memberships",
    "Nothing",
    "Numbers",
    "OfClasses",
    "OrderedClasses",
    "OrderedLabels",
    "OrderedMemberships",
    "PositiveLabels",
    "Positives",
    "Reader",
    "SeveralLabels",
    "SeveralTargets",
    "SoftLabels",
    "Supervision",
    "UnsureExpert",
    "apply_corrections",
    "blur_numbers",
    "censor_numbers",
    "flip_labels",
    "flip_labels_by_matrix",
    "flip_labels_near_border",
    "flip_labels_to_neighbor",
    "flip_labels_to_next",
    "hide_labels",
    "hide_targets",
    "interval_targets",
    "krippendorff_alpha",
    "label_some_positives",
    "misstate_numbers",
    "ordered_classes",
    "pairs_from_labels",
    "positive_unlabelled",
    "read_supervision",
    "several_targets",
    "soft_labels",
    "unsure_expert",
]
