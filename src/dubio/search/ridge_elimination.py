"""Backward elimination of a ridge regression, from the correlations of the features and with the target alone."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.blas import dger

from dubio._kernels.threads import one_blas_thread

Floats = NDArray[np.float64]

#: Costs that differ by less than this share of themselves, or of the target, are equal.
SAME, NOTHING = 1e-8, 1e-15
#: The matrix is inverted again once so much of it is gone, or once a diagonal value has become so much smaller.
_STILL_THERE, _DIGITS = 0.8, 1e4
#: Matrices with at most so many rows are small.
_SMALL = 300


@dataclass(frozen=True)
class Elimination:
    """The features in the order in which they were dropped, and the fit at every size.

    Attributes
    ----------
    dropped : array (d,) of int
        The features; the first was dropped first, the last is the best.
    costs : array (d,)
        What the fit lost with each of them, in the order of ``dropped``; a share of the target.
    values : array (d + 1,)
        By size: the share of the target that is explained, after the penalty.
    residuals : array (d + 1,)
        By size: the mean square of the residuals, as a share of the target.
    freedoms : array (d + 1,)
        By size: the degrees of freedom of the fit.
    """

    dropped: NDArray[np.int64]
    costs: Floats
    values: Floats
    residuals: Floats
    freedoms: Floats


def ridge_elimination(C: Floats, B: Floats, total: float, ridge: float) -> Elimination:
    r"""Drop, step by step, the feature without which a ridge regression loses least.

    With :math:`A = C + \lambda I` and :math:`W = A^{-1} B`, dropping feature j costs
    :math:`\|w_j\|^2 / (A^{-1})_{jj}`. Then :math:`A^{-1}` and :math:`W` follow by an update of rank one. If costs are
    equal, the last column is dropped.

    Parameters
    ----------
    C : array (d, d)
        Correlations of the features.
    B : array (d, K)
        Mean products of the standardised features and the centred columns of the target.
    total : float
        Mean square of the centred target, summed over its columns.
    ridge : float
        The penalty :math:`\lambda`, positive.

    Returns
    -------
    Elimination
    """
    with _threads(len(C)):
        return _eliminate(C, B, total, ridge)


def _eliminate(C: Floats, B: Floats, total: float, ridge: float) -> Elimination:
    d = len(C)
    dropped, costs = np.empty(d, dtype=np.int64), np.empty(d)
    values, residuals, freedoms = np.zeros(d + 1), np.ones(d + 1), np.zeros(d + 1)
    left = np.arange(d)
    while len(left):
        inverse = _inverse(C[np.ix_(left, left)], ridge)
        goal = B[left]
        W = inverse @ goal
        alive = np.ones(len(left), dtype=bool)
        at_first = inverse.diagonal().copy()
        n_alive = len(left)
        while n_alive:
            diagonal = inverse.diagonal()
            values[n_alive] = value = (W * goal).sum() / total  # dropped rows of W are zero
            residuals[n_alive] = 1.0 - value - ridge * (W**2).sum() / total
            freedoms[n_alive] = n_alive - ridge * diagonal[alive].sum()
            if n_alive < _STILL_THERE * len(left) or (at_first > _DIGITS * diagonal)[alive].any():
                break
            cost = np.full(len(left), np.inf)
            np.divide((W**2).sum(axis=1), diagonal * total, out=cost, where=alive)
            j = int(np.flatnonzero(cost <= cost.min() * (1.0 + SAME) + NOTHING)[-1])
            n_alive -= 1
            dropped[d - 1 - n_alive], costs[d - 1 - n_alive] = left[j], cost[j]
            column, weights = inverse[:, j].copy(), W[j] / inverse[j, j]
            inverse = dger(-1.0 / column[j], column, column, a=inverse, overwrite_a=True)
            W -= np.outer(column, weights)
            inverse[j], inverse[:, j], W[j], alive[j] = 0.0, 0.0, 0.0, False
        left = left[alive]
    return Elimination(dropped, costs, values, np.clip(residuals, 0.0, 1.0), freedoms)


def grouped_elimination(C: Floats, B: Floats, total: float, ridge: float, starts: NDArray[np.int64]) -> Elimination:
    r"""The same if a feature may have several columns, which are dropped together.

    Without the columns J of a feature the fit loses :math:`\mathrm{tr}(W_J^T ((A^{-1})_{JJ})^{-1} W_J)`. ``starts`` are
    the first columns of the features. Sizes of the result count features, degrees of freedom columns.
    """
    ends = np.append(starts[1:], len(C))
    members = [np.arange(start, end) for start, end in zip(starts, ends, strict=True)]
    d = len(members)
    dropped, costs = np.empty(d, dtype=np.int64), np.empty(d)
    values, residuals, freedoms = np.zeros(d + 1), np.ones(d + 1), np.zeros(d + 1)
    alive = list(range(d))
    with _threads(len(C)):
        while alive:
            left = np.concatenate([members[f] for f in alive])
            place = {int(column): p for p, column in enumerate(left)}
            inverse, goal = _inverse(C[np.ix_(left, left)], ridge), B[left]
            W = inverse @ goal
            values[len(alive)] = value = (W * goal).sum() / total
            residuals[len(alive)] = 1.0 - value - ridge * (W**2).sum() / total
            freedoms[len(alive)] = len(left) - ridge * inverse.diagonal().sum()
            cost = np.empty(len(alive))
            for p, feature in enumerate(alive):
                own = [place[int(column)] for column in members[feature]]
                cost[p] = (W[own] * np.linalg.solve(inverse[np.ix_(own, own)], W[own])).sum() / total
            worst = int(np.flatnonzero(cost <= cost.min() * (1.0 + SAME) + NOTHING)[-1])
            dropped[d - len(alive)], costs[d - len(alive)] = alive[worst], cost[worst]
            alive.pop(worst)
    return Elimination(dropped, costs, values, np.clip(residuals, 0.0, 1.0), freedoms)


def _threads(d: int) -> AbstractContextManager[None]:
    """Small matrices are faster in one thread."""
    return one_blas_thread() if d <= _SMALL else nullcontext()


def _inverse(C: Floats, ridge: float) -> Floats:
    """Inverse of ``C + ridge I``, in Fortran order."""
    A = np.asfortranarray(C)
    A[np.diag_indices_from(A)] += ridge
    inverse = np.asfortranarray(cho_solve(cho_factor(A, lower=True, overwrite_a=True), np.eye(len(A), order="F")))
    return np.asfortranarray((inverse + inverse.T) / 2)


def gcv_ridge(C: Floats, B: Floats, total: float, n_rows: float, grid: Floats) -> float:
    r"""The penalty of the grid with the smallest generalised cross-validation error of the fit on all features.

    .. math:: GCV(\lambda) = \frac{\text{mean square of the residuals}}{(1 - (1 + df(\lambda)) / n)^2}, \qquad
              df(\lambda) = \sum_i \frac{e_i}{e_i + \lambda}

    with the eigenvalues :math:`e_i` of ``C``. Among penalties that are as good (within a millionth), the largest.
    """
    with _threads(len(C)):
        e, V = np.linalg.eigh(C)
    e = np.maximum(e, 0.0)
    explained = ((V.T @ B) ** 2).sum(axis=1) / total
    sums = e + grid[:, None]
    residual = np.maximum(1.0 - ((e + 2 * grid[:, None]) / sums**2 * explained).sum(axis=1), 0.0)
    freedom = (e / sums).sum(axis=1)
    error = residual / (1.0 - (1.0 + freedom) / n_rows) ** 2
    return float(grid[np.flatnonzero(error <= error.min() * (1 + 1e-6) + 1e-9)[-1]])
