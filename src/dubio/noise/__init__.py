"""Models of wrong labels, and the label audit."""

from dubio.noise.audit import audit_labels, audit_problem
from dubio.noise.audit_record import LabelAudit
from dubio.noise.cleaning import CleanedLabels, clean_labels
from dubio.noise.estimation import estimate_memberships
from dubio.noise.expectation import NeighborOrder, fit_noise_model
from dubio.noise.noise_model import NoiseModel
from dubio.noise.number_audit import NumberAudit, audit_numbers
from dubio.noise.ordered_audit import OrderedAudit
from dubio.noise.positive_share import PositiveEstimate, estimate_positives
from dubio.noise.tracking import NoiseTracker

__all__ = [
    "CleanedLabels",
    "LabelAudit",
    "NeighborOrder",
    "NoiseModel",
    "NoiseTracker",
    "NumberAudit",
    "OrderedAudit",
    "PositiveEstimate",
    "audit_labels",
    "audit_numbers",
    "audit_problem",
    "clean_labels",
    "estimate_memberships",
    "estimate_positives",
    "fit_noise_model",
]
