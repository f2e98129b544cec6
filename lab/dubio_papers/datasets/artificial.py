"""The papers' artificial problems: tables whose relevant features are known."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state


class Problem(NamedTuple):
    """A table, its target, and the number of relevant features (the first columns)."""

    X: NDArray[np.float64]
    y: NDArray[Any]
    n_relevant: int


def make_spheres(n_rows: int = 50, n_features: int = 6, *, random_state: Any = 0) -> Problem:
    """Four classes: balls of radius 1/4 in the first three features (WLS paper, *spheres*)."""
    rng = check_random_state(random_state)
    centres = np.array([[1, 1, 1], [1, 3, 3], [3, 3, 1], [3, 1, 3]]) / 4
    rows: list[NDArray[np.float64]] = []
    labels: list[int] = []
    while len(rows) < n_rows:
        point = rng.uniform(size=n_features)
        inside = np.flatnonzero(((point[:3] - centres) ** 2).sum(axis=1) <= 0.25**2)
        if len(inside):
            rows.append(point)
            labels.append(int(inside[0]))
    return Problem(np.asarray(rows), np.asarray(labels), 3)


def make_squares(n_rows: int = 100, n_features: int = 6, *, random_state: Any = 0) -> Problem:
    """Four classes: the quadrants of the first two features (WLS paper, *squares*)."""
    X = check_random_state(random_state).uniform(size=(n_rows, n_features))
    return Problem(X, 2 * (X[:, 0] > 0.5) + (X[:, 1] > 0.5).astype(np.int64), 2)


def make_circle(n_rows: int = 500, n_features: int = 6, *, random_state: Any = 0) -> Problem:
    """Two classes: inside or outside a circle in the first two features, with a gap between (WLS paper, *circle*)."""
    rng = check_random_state(random_state)
    kept = np.empty((0, n_features))
    while len(kept) < n_rows:
        X = rng.uniform(size=(n_rows, n_features))
        radius = np.hypot(X[:, 0] - 0.5, X[:, 1] - 0.5)
        kept = np.vstack([kept, X[(radius <= 0.40) | (radius >= 0.45)]])
    X = kept[:n_rows]
    return Problem(X, (np.hypot(X[:, 0] - 0.5, X[:, 1] - 0.5) <= 0.40).astype(np.int64), 2)


def make_y4(n_rows: int = 300, n_features: int = 10, *, random_state: Any = 0) -> Problem:
    """Three classes of equal size from cos(2 f1) cos(2 f2) exp(2 f3) exp(2 f4) (WLS paper, equation 11).

    The printed equation has three features, but the steps of Table 4 need four. We chose this formula because it
    reproduces the table.
    """
    X = check_random_state(random_state).uniform(size=(n_rows, n_features))
    output = np.cos(2 * X[:, 0]) * np.cos(2 * X[:, 1]) * np.exp(2 * X[:, 2]) * np.exp(2 * X[:, 3])
    return Problem(X, _equal_classes(output, 3), 4)


def make_y5(n_rows: int = 300, n_features: int = 10, *, random_state: Any = 0) -> Problem:
    """Two classes of equal size from 10 sin(f1 f2) + 20 (f3 - 1/2)^2 + 10 f4 + 5 f5 (WLS paper, equation 12)."""
    X = check_random_state(random_state).uniform(size=(n_rows, n_features))
    output = 10 * np.sin(X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return Problem(X, _equal_classes(output, 2), 5)


def make_y1(n_rows: int = 1000, *, random_state: Any = 0) -> Problem:
    """Six features, y = 5 x1 + 7 x2 - 10 x3 (SSLS paper, equation 7)."""
    X = check_random_state(random_state).uniform(size=(n_rows, 6))
    return Problem(X, 5 * X[:, 0] + 7 * X[:, 1] - 10 * X[:, 2], 3)


def make_y2(n_rows: int = 1000, *, random_state: Any = 0) -> Problem:
    """Eight features, y = cos(2 pi x1 x2) sin(2 pi x3 x4) (SSLS paper, equation 8)."""
    X = check_random_state(random_state).uniform(size=(n_rows, 8))
    return Problem(X, np.cos(2 * np.pi * X[:, 0] * X[:, 1]) * np.sin(2 * np.pi * X[:, 2] * X[:, 3]), 4)


def make_y3(n_rows: int = 1000, *, random_state: Any = 0) -> Problem:
    """Four features, y = x1^2 / x2^2 (SSLS paper, equation 9)."""
    X = check_random_state(random_state).uniform(size=(n_rows, 4))
    return Problem(X, X[:, 0] ** 2 / X[:, 1] ** 2, 2)


def _equal_classes(output: NDArray[np.float64], n_classes: int) -> NDArray[np.int64]:
    """Split the sorted outputs into consecutive classes of equal size."""
    rank = np.argsort(np.argsort(output, kind="stable"), kind="stable")
    return (rank * n_classes // len(output)).astype(np.int64)
