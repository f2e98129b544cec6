"""The fitted noise model, as an immutable record."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class NoiseModel:
    """What the expectation-maximisation found.

    Attributes
    ----------
    memberships : array (n, classes)
        Probability that each row truly belongs to each class; rows sum to 1.
    error_rates : array (classes,) or None
        Estimated probability that a row of this true class carries another label. The model assumes that a wrong label
        is any other class with equal probability. None for soft labels, which are taken as they are.
    priors : array (classes,)
        Share of each true class.
    classes : array (classes,)
        Names of the classes.
    objectives : tuple of arrays
        One array per restart: the incomplete log-likelihood (equation 24) at each iteration.
    best_restart : int
        The restart that was kept: the one with the largest final objective.
    converged : bool
        Whether that restart stopped because its objective settled, not because it reached ``max_iter``.
    """

    memberships: NDArray[np.float64] = field(repr=False)
    error_rates: NDArray[np.float64] | None
    priors: NDArray[np.float64]
    classes: NDArray[Any]
    objectives: tuple[NDArray[np.float64], ...] = field(repr=False)
    best_restart: int
    converged: bool

    def __post_init__(self) -> None:
        for value in (*vars(self).values(), *self.objectives):
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    @property
    def objective(self) -> float:
        """The objective at the end of the restart that was kept."""
        return float(self.objectives[self.best_restart][-1])
