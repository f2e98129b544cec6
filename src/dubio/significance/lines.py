"""The order in which a feature puts the rows, or the groups into which it sorts them: what smooth R2 needs of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.problem import Problem
from dubio.tables.scaling import standardize


def level_features(problem: Problem) -> NDArray[np.int64]:
    """The features that are categories: all their columns are 0 or 1, one column per category."""
    columns = problem.columns
    if columns is None or columns.is_plain:
        return np.zeros(0, dtype=np.int64)
    found = []
    for feature in np.flatnonzero(columns.sizes > 1).tolist():
        own = columns.of(feature)
        if columns.leads[own].sum() == 1 and columns.roles[own[0]] == "level":
            found.append(feature)
    return np.asarray(found, dtype=np.int64)


def levels_of(problem: Problem, feature: int, rows: NDArray[Any]) -> NDArray[np.int64]:
    """The category of each row; rows in which it was missing are one more category."""
    assert problem.columns is not None
    own = problem.X[rows][:, problem.columns.of(feature)]
    return np.unique(own, axis=0, return_inverse=True)[1].reshape(-1)


def lines_of_features(problem: Problem, rows: NDArray[Any], start: int, stop: int) -> NDArray[Any]:
    """One line of numbers per feature (features, rows), by which the rows are sorted.

    A feature of one column is its own line. A number or a date that was missing in some rows has these rows at the end;
    the season of a date plays no part. Several columns that were put together are projected on their first principal
    component. Of categories only the varying matters here (see :func:`levels_of`).
    """
    columns = problem.columns
    if columns is None or columns.is_plain:
        return np.ascontiguousarray(problem.X[rows, start:stop].T)
    lines = [_line(problem, feature, rows) for feature in range(start, stop)]
    return np.ascontiguousarray(np.vstack(lines))


def _line(problem: Problem, feature: int, rows: NDArray[Any]) -> NDArray[Any]:
    assert problem.columns is not None
    own = problem.columns.of(feature)
    roles = problem.columns.roles[own]
    table = problem.X[rows][:, own]
    values = np.isin(roles, ("value", "level"))
    if values.sum() > 1:
        space = np.asarray(standardize(np.asarray(table[:, values], dtype=np.float64)))
        # the component of a tiny matrix; its sign does not matter
        return space @ np.linalg.eigh(space.T @ space)[1][:, -1]
    line = table[:, 0].astype(np.float64)
    if (roles == "missing").any():
        line[table[:, roles == "missing"][:, 0] > 0] = np.inf
    return line
