"""Estimate the true class of every row when some labels are wrong or missing."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dubio._kernels.threads import resolve_threads
from dubio._sklearn import AT_LEAST_ONE, NOT_NEGATIVE, Interval, check_parameters
from dubio.counts import clip_neighbors
from dubio.errors import InputError
from dubio.noise.expectation import NeighborOrder, fit_noise_model
from dubio.noise.noise_model import NoiseModel
from dubio.problem import Problem, read_problem
from dubio.search.distances import MAX_ROWS, SubsetDistances
from dubio.seeds import random_of
from dubio.supervision import Classes, OfClasses

#: Valid values of the parameters that are not checked elsewhere.
_VALID = {
    "n_init": [Interval(Integral, 1, 10_000, closed="both")],
    "max_iter": AT_LEAST_ONE,
    "tol": NOT_NEGATIVE,
    "max_rows": AT_LEAST_ONE,
}


def estimate_memberships(
    X: ArrayLike,
    y: Any,
    *,
    n_neighbors: int = 3,
    n_init: int = 5,
    max_iter: int = 50,
    tol: float = 1e-3,
    missing_label: Any = "auto",
    random_state: int | np.random.RandomState | None = 0,
    n_jobs: int | None = None,
    max_rows: int = MAX_ROWS,
) -> NoiseModel:
    r"""Probability that each row truly belongs to each class, when some of the labels are wrong.

    A row of true class s carries the label s with probability :math:`1 - p_e(s)`, and each other label with
    probability :math:`p_e(s) / (K - 1)`. Expectation-maximisation alternates

    .. math:: \gamma(s|i) \propto \hat p(x_i|s) \, p(y_i|s) \, p(s), \qquad
              p_e(s) = \frac{\sum_{i: y_i \ne s} \gamma(s|i)}{\sum_i \gamma(s|i)}, \qquad
              p(s) = \frac1n \sum_i \gamma(s|i),

    with k-nearest-neighbour densities :math:`\log \hat p(x_i|s) = \psi(\Gamma(s|i)) - \psi(\Gamma(s)) - \log c_d -
    d \log \epsilon(i|s)` that depend on the memberships themselves. So the objective may fall from one iteration to the
    next. The iteration stops when the objective per row changes by no more than ``tol``, or after ``max_iter`` steps.

    A row without a label has no label likelihood :math:`p(y_i|s)`: its memberships come from the densities and the
    priors. Soft labels (2-D ``y``) are kept as they are, and only rows of NaN are estimated.

    The memberships are good enough to improve a selection, but they do not detect wrong labels reliably. With large
    ``n_neighbors`` a large class can absorb a small one.

    Parameters
    ----------
    X : array-like (n, d)
        The features, used as they are: they are not scaled, and no noise is added to break ties.
    y : array-like (n,) or (n, classes)
        Labels, some of them wrong or missing; or memberships, with rows of NaN.
    n_neighbors : int, default=3
        Number of neighbours k for the densities.
    n_init : int, default=5
        Number of restarts from random error rates in [0, 0.5); the one with the largest objective is kept.
    max_iter : int, default=50
        Maximum number of iterations per restart.
    tol : float, default=1e-3
        A restart has settled when the objective per row changes by no more than this.
    missing_label : "auto", None or a value
        What means "unlabelled" besides None and NaN.
    random_state : int, RandomState or None, default=0
        Seed of the restarts.
    n_jobs : int, optional
        Number of threads.
    max_rows : int, default=20_000
        Tables with more rows are refused: the method needs 12 bytes per pair of rows.

    Returns
    -------
    NoiseModel

    References
    ----------
    .. [1] B. Frenay, G. Doquire and M. Verleysen (2014). Estimating mutual information for feature selection in the
       presence of label noise. Computational Statistics and Data Analysis 71, 832-848, section 4.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio import estimate_memberships
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat([0, 1], 60)
    >>> X = rng.normal(size=(120, 2)) + 5 * truth[:, None]
    >>> y = truth.copy()
    >>> y[:6] = 1  # six wrong labels
    >>> model = estimate_memberships(X, y, random_state=0)
    >>> model.error_rates.round(2), model.memberships[:3].round(2).tolist()
    (array([0.09, 0.  ]), [[0.93, 0.07], [0.87, 0.13], [0.96, 0.04]])
    """
    check_parameters(_VALID, {"n_init": n_init, "max_iter": max_iter, "tol": tol, "max_rows": max_rows})
    return membership_model(
        read_problem(X, y, missing_label=missing_label),
        n_neighbors=n_neighbors,
        n_init=int(n_init),
        max_iter=int(max_iter),
        tol=tol,
        random_state=random_state,
        n_jobs=n_jobs,
        max_rows=max_rows,
    )


def membership_model(
    problem: Problem,
    *,
    n_neighbors: int = 3,
    n_init: int = 5,
    max_iter: int = 50,
    tol: float = 1e-3,
    random_state: int | np.random.RandomState | None = 0,
    n_jobs: int | None = None,
    max_rows: int = MAX_ROWS,
) -> NoiseModel:
    """The same as :func:`estimate_memberships`, for a problem."""
    supervision, table = problem.supervision, np.ascontiguousarray(problem.table)
    if not isinstance(supervision, OfClasses):
        raise InputError("y", f"cannot be used: {supervision.given}, and estimating memberships needs some labels")
    supervision.require_enough()
    n_neighbors = clip_neighbors(n_neighbors, len(table) - 1)
    distances = SubsetDistances(table, n_threads=resolve_threads(n_jobs), max_rows=max_rows)
    distances.start(np.arange(table.shape[1]))
    order = NeighborOrder(len(table))
    order.update(distances)
    return fit_noise_model(
        order,
        codes=supervision.codes if isinstance(supervision, Classes) else None,
        given=supervision.memberships,
        classes=supervision.classes,
        n_neighbors=n_neighbors,
        n_init=n_init,
        max_iter=max_iter,
        tol=tol,
        random_state=random_of(random_state),
    )
