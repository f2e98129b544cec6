"""How the papers judge a choice of features: nearest neighbours on the first 1, 2, 3, ... of them.

Distances over the first m features are those over the first m - 1 plus one column's, so a whole curve costs little more
than its last point.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

#: The grid of the LNT paper: steps of 1 to 10, of 2 to 20, of 5 to 50.
NEIGHBOR_GRID = (*range(1, 11), *range(12, 21, 2), *range(25, 51, 5))


def scaled(train: ArrayLike, test: ArrayLike) -> tuple[Floats, Floats]:
    """Both parts standardised by the mean and deviation of the training part; constant columns become 0."""
    train, test = np.asarray(train, dtype=np.float64), np.asarray(test, dtype=np.float64)
    spread = train.std(axis=0)
    spread[spread == 0] = 1.0
    return (train - train.mean(axis=0)) / spread, (test - train.mean(axis=0)) / spread


def best_first(scores: ArrayLike, *, low_is_good: bool) -> NDArray[np.int64]:
    """Features by score, ties by index."""
    values = np.asarray(scores, dtype=np.float64)
    return np.argsort(values if low_is_good else -values, kind="stable")


def growing_distances(train: Floats, test: Floats, order: ArrayLike, sizes: Sequence[int]) -> Iterator[Floats]:
    """Squared distances (test x train) over the first ``size`` features of ``order``, for each size, ascending.

    The array is reused: take what you need before the next one.
    """
    features = np.asarray(order)
    squared = np.zeros((len(test), len(train)))
    done = 0
    for size in sizes:
        while done < size:
            if size - done > 8:  # many at once: a matrix product
                block = features[done:size]
                a, b = test[:, block], train[:, block]
                squared += (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1)[None, :] - 2 * (a @ b.T)
                done = size
            else:
                column = features[done]
                squared += (test[:, column][:, None] - train[:, column][None, :]) ** 2
                done += 1
        yield squared


def nearest_accuracy(
    train: Floats, y_train: NDArray[Any], test: Floats, y_test: NDArray[Any], order: ArrayLike, sizes: Sequence[int]
) -> Floats:
    """Percentage of test rows that the nearest training row classifies right, for each number of features."""
    return np.array(
        [100 * np.mean(y_train[d.argmin(axis=1)] == y_test) for d in growing_distances(train, test, order, sizes)]
    )


def nearest_rmse(
    train: Floats,
    y_train: Floats,
    test: Floats,
    y_test: Floats,
    order: ArrayLike,
    sizes: Sequence[int],
    n_neighbors: int = 5,
) -> Floats:
    """Root mean squared error of the mean of the nearest rows, for each number of features."""
    errors = []
    for squared in growing_distances(train, test, order, sizes):
        near = np.argpartition(squared, n_neighbors - 1, axis=1)[:, :n_neighbors]
        errors.append(np.sqrt(np.mean((y_train[near].mean(axis=1) - y_test) ** 2)))
    return np.array(errors)


def tuned_balanced_error(
    train: Floats,
    y_train: NDArray[np.int64],
    test: Floats,
    y_test: NDArray[np.int64],
    order: ArrayLike,
    folds: NDArray[np.int64],
) -> Floats:
    """Balanced error (percent) of k-NN for 1, 2, ... features, k by cross-validation over the paper's grid.

    ``folds`` numbers the part each training row is validated in. Predictions of all parts are pooled before the
    balanced error of a k is taken: a part may lack a small class. The smallest of equally good k wins, as does the
    first of equally frequent classes.
    """
    n_classes = int(max(y_train.max(), y_test.max())) + 1
    sizes = range(1, len(np.asarray(order)) + 1)
    same_fold = folds[:, None] == folds[None, :]
    largest_fold = int(np.bincount(folds).max())
    grid = np.array([k for k in NEIGHBOR_GRID if k <= len(train) - largest_fold])
    errors = []
    inner = growing_distances(train, train, order, sizes)
    outer = growing_distances(train, test, order, sizes)
    for within, across in zip(inner, outer, strict=True):
        votes = _predictions(np.where(same_fold, np.inf, within), y_train, n_classes, grid)
        validation = [balanced_error(y_train, votes[:, i], n_classes) for i in range(len(grid))]
        best = int(np.argmin(validation))
        predicted = _predictions(across, y_train, n_classes, grid[[best]])[:, 0]
        errors.append(100 * balanced_error(y_test, predicted, n_classes))
    return np.array(errors)


def balanced_error(truth: NDArray[np.int64], predicted: NDArray[np.int64], n_classes: int) -> float:
    """Mean over the classes present of the share of rows classified wrongly."""
    totals = np.bincount(truth, minlength=n_classes)
    wrong = np.bincount(truth[predicted != truth], minlength=n_classes)
    present = totals > 0
    return float(np.mean(wrong[present] / totals[present]))


def _predictions(squared: Floats, y: NDArray[np.int64], n_classes: int, grid: NDArray[np.int64]) -> NDArray[np.int64]:
    """Majority class of the k nearest rows (columns: every k of the grid)."""
    k = int(grid.max())
    near = np.argpartition(squared, k - 1, axis=1)[:, :k] if k < squared.shape[1] else np.argsort(squared, axis=1)
    order = np.argsort(np.take_along_axis(squared, near, axis=1), axis=1, kind="stable")
    labels = y[np.take_along_axis(near, order, axis=1)]
    counts = np.zeros((len(squared), len(grid), n_classes), dtype=np.int16)
    for label in range(n_classes):
        counts[:, :, label] = np.cumsum(labels == label, axis=1)[:, grid - 1]
    return counts.argmax(axis=2)
