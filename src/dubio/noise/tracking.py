"""Memberships for every subset that a search visits (Algorithm 2), or estimated once for all subsets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dubio.noise.expectation import DeviceOrder, NeighborOrder, fit_noise_model
from dubio.noise.noise_model import NoiseModel
from dubio.search.distances import DeviceDistances, SubsetDistances
from dubio.supervision import Classes, OfClasses


class NoiseTracker:
    """Estimate the noise model again, on the current distances, at each call.

    Parameters
    ----------
    supervision : OfClasses
        Hard labels, or soft labels with unlabelled rows.
    n_neighbors, n_init, max_iter, tol, random_state
        See :func:`dubio.estimate_memberships`. ``random_state`` gives the restarts of all models, one after the other.
    once : bool
        Estimate only at the first call, and keep the result.
    """

    def __init__(
        self,
        supervision: OfClasses,
        *,
        n_neighbors: int,
        n_init: int,
        max_iter: int,
        tol: float,
        random_state: np.random.RandomState,
        once: bool = False,
    ) -> None:
        self._supervision = supervision
        self._n_neighbors = n_neighbors
        self._n_init = n_init
        self._max_iter = max_iter
        self._tol = tol
        self._random_state = random_state
        self._once = once
        self._order: NeighborOrder | None = None
        self._on_device = DeviceOrder()
        self._memberships: NDArray[np.float64] | None = None

    def __call__(self, distances: SubsetDistances | DeviceDistances) -> NDArray[np.float64]:
        """Memberships for the current subset. An empty subset cannot separate classes, so all features are used."""
        if self._memberships is not None and self._once:
            return self._memberships
        if len(distances.subset) == 0:
            distances.start(np.arange(distances.n_features))
            self._memberships = self.fit(distances).memberships
            distances.start([])
        else:
            self._memberships = self.fit(distances).memberships
        return self._memberships

    def fit(self, distances: SubsetDistances | DeviceDistances) -> NoiseModel:
        """The noise model on the current distances."""
        known = self._supervision
        order: NeighborOrder | DeviceOrder
        if isinstance(distances, DeviceDistances):
            order = self._on_device
            self._on_device.update(distances)
        else:
            if self._order is None:
                self._order = NeighborOrder(known.n_rows)
            order = self._order
            self._order.update(distances)
        return fit_noise_model(
            order,
            codes=known.codes if isinstance(known, Classes) else None,
            given=known.memberships,
            classes=known.classes,
            n_neighbors=self._n_neighbors,
            n_init=self._n_init,
            max_iter=self._max_iter,
            tol=self._tol,
            random_state=self._random_state,
        )
