"""Memberships for every subset a search stops at (Algorithm 2), or estimated once for all of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dubio.noise.expectation import NeighborOrder, fit_noise_model
from dubio.noise.noise_model import NoiseModel
from dubio.search.distances import SubsetDistances
from dubio.supervision import Classes, OfClasses


class NoiseTracker:
    """Re-estimates the noise model on the current distances whenever it is asked for memberships.

    Parameters
    ----------
    supervision : OfClasses
        Hard labels, or soft ones with unlabelled rows.
    n_neighbors, n_init, max_iter, tol, random_state
        See :func:`dubio.estimate_memberships`; restarts of one model after the other are drawn from ``random_state``.
    once : bool
        Estimate on the first subset asked about, and keep that.
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
        self._order = NeighborOrder(supervision.n_rows)
        self._memberships: NDArray[np.float64] | None = None

    def __call__(self, distances: SubsetDistances) -> NDArray[np.float64]:
        """Memberships for the current subset; of an empty one, which tells no classes apart, for all features."""
        if self._memberships is not None and self._once:
            return self._memberships
        if len(distances.subset) == 0:
            distances.start(np.arange(distances.columns.shape[0]))
            self._memberships = self.fit(distances).memberships
            distances.start([])
        else:
            self._memberships = self.fit(distances).memberships
        return self._memberships

    def fit(self, distances: SubsetDistances) -> NoiseModel:
        """The noise model on the current distances."""
        known = self._supervision
        self._order.update(distances)
        return fit_noise_model(
            self._order,
            codes=known.codes if isinstance(known, Classes) else None,
            given=known.memberships,
            classes=known.classes,
            n_neighbors=self._n_neighbors,
            n_init=self._n_init,
            max_iter=self._max_iter,
            tol=self._tol,
            random_state=self._random_state,
        )
