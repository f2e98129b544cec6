"""Models of wrong labels."""

from dubio.noise.expectation import NeighborOrder, fit_noise_model
from dubio.noise.memberships import estimate_memberships
from dubio.noise.record import NoiseModel

__all__ = ["NeighborOrder", "NoiseModel", "estimate_memberships", "fit_noise_model"]
