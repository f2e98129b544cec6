"""The problem that ranking and search by mutual information both solve: the rows, features and labels that count."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from dubio._kernels.threads import resolve_threads
from dubio.information.groups import check_neighbors
from dubio.noise import NoiseTracker
from dubio.search import SubsetDistances, check_row_limit
from dubio.selectors.base import AT_LEAST_ONE
from dubio.supervision import Supervision, require_two_rows_a_class
from dubio.table import Matrix, standardize, varying_columns

#: The parameters that both selectors have.
CONSTRAINTS: dict[str, list[Any]] = {
    "label_noise": ["boolean"],
    "n_neighbors": AT_LEAST_ONE,
    "noise_neighbors": AT_LEAST_ONE,
    "n_init": AT_LEAST_ONE,
    "noise_max_iter": AT_LEAST_ONE,
    "noise_tol": [Interval(Real, 0, None, closed="left")],
    "slack": [Interval(Real, 0, 1, closed="left")],
    "jitter": [Interval(Real, 0, None, closed="left")],
    "max_rows": AT_LEAST_ONE,
    "random_state": ["random_state"],
    "verbose": ["verbose"],
}


class InformationProblem:
    """What both selectors work on: the rows that count, scaled and jittered; the features that vary; the labels."""

    def __init__(self, selector: Any, X: Matrix, supervision: Supervision) -> None:
        assert supervision.memberships is not None
        require_two_rows_a_class(supervision)
        X = np.asarray(X, dtype=np.float64)
        if not selector.label_noise:
            X, supervision = _labelled_rows(X, supervision)
        check_neighbors(selector.n_neighbors, len(X))
        self.random_state = check_random_state(selector.random_state)
        self.supervision = supervision
        self.varying = varying_columns(X, supervision.labelled)
        table = standardize(X) if selector.standardize else X
        self.table = _against_ties(table[:, self.varying], supervision, selector.jitter, self.random_state)
        self.n_threads = resolve_threads(selector.n_jobs)
        self.tracker: NoiseTracker | None = None
        in_doubt = supervision.kind == "hard" or supervision.n_labelled < supervision.n_rows
        if selector.label_noise and in_doubt:
            check_neighbors(selector.noise_neighbors, len(X), "noise_neighbors")
            check_row_limit(len(X), selector.max_rows)
            self.tracker = NoiseTracker(
                supervision,
                n_neighbors=selector.noise_neighbors,
                n_init=selector.n_init,
                max_iter=selector.noise_max_iter,
                tol=selector.noise_tol,
                random_state=self.random_state,
                once=getattr(selector, "reestimate", "once") == "once",
            )

    def memberships_of(self, distances: SubsetDistances) -> NDArray[np.float64]:
        """Memberships as given, or estimated on the current subset."""
        assert self.supervision.memberships is not None
        return self.supervision.memberships if self.tracker is None else self.tracker(distances)


def _labelled_rows(X: NDArray[np.float64], supervision: Supervision) -> tuple[NDArray[np.float64], Supervision]:
    assert supervision.memberships is not None
    rows = supervision.labelled
    codes = None if supervision.codes is None else supervision.codes[rows]
    kept = replace(
        supervision,
        n_rows=int(rows.sum()),
        labelled=np.ones(int(rows.sum()), dtype=bool),
        codes=codes,
        memberships=supervision.memberships[rows],
    )
    return X[rows], kept


def _against_ties(
    table: NDArray[np.float64], supervision: Supervision, jitter: float, random_state: np.random.RandomState
) -> NDArray[np.float64]:
    """Add Gaussian noise, drawn for the rows in sorted order: the order they are given in does not matter."""
    if jitter == 0:
        return table
    assert supervision.memberships is not None
    order = np.lexsort((*supervision.memberships.T, *table.T))
    noise = np.empty(table.shape)
    noise[order] = random_state.normal(scale=jitter, size=table.shape)
    return table + noise
