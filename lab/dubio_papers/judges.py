"""How the papers evaluate a choice of features: nearest neighbours on the first 1, 2, 3, ... features.

Distances in the first m features are those in the first m - 1 features plus one column. So a whole curve costs little
more than its last point.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

#: The grid of the LNT paper: steps of 1 up to 10, of 2 up to 20, of 5 up to 50.
NEIGHBOR_GRID = (*range(1, 11), *range(12, 21, 2), *range(25, 51, 5))


def scaled(train: ArrayLike, test: ArrayLike) -> tuple[Floats, Floats]:
    """Standardise both parts by the mean and deviation of the training part; constant columns become 0."""
    train, test = np.asarray(train, dtype=np.float64), np.asarray(test, dtype=np.float64)
    spread = train.std(axis=0)
    spread[spread == 0] = 1.0
    return (train - train.mean(axis=0)) / spread, (test - train.mean(axis=0)) / spread


def best_first(scores: ArrayLike, *, low_is_good: bool) -> NDArray[np.int64]:
    """Features in the order of their scores; ties are ordered by index."""
    values = np.asarray(scores, dtype=np.float64)
    return np.argsort(values if low_is_good else -values, kind="stable")


def growing_distances(train: Floats, test: Floats, order: ArrayLike, sizes: Sequence[int]) -> Iterator[Floats]:
    """Squared distances (test x train) in the first ``size`` features of ``order``, for each size in ascending order.

    The array is reused: take what you need from it before the next step.
    """
    features = np.asarray(order)
    squared = np.zeros((len(test), len(train)))
    done = 0
    for size in sizes:
        while done < size:
            if size - done > 8:  # for many features at once a matrix product is faster
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
    """Percentage of test rows that the nearest training row classifies correctly, for each number of features."""
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
    """Root mean squared error when the mean of the nearest rows is the prediction, for each number of features."""
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
    """Balanced error (percent) of k-NN for 1, 2, ... features; cross-validation chooses k from the paper's grid.

    ``folds`` is the number of the fold in which each training row is validated. The balanced error of a k is computed
    from the predictions of all folds together, because one fold may lack a small class. Among equally good values of k
    the smallest wins, and among equally frequent classes the first.
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
    """Share of wrongly classified rows in each class, averaged over the classes that occur."""
    totals = np.bincount(truth, minlength=n_classes)
    wrong = np.bincount(truth[predicted != truth], minlength=n_classes)
    present = totals > 0
    return float(np.mean(wrong[present] / totals[present]))


def _predictions(squared: Floats, y: NDArray[np.int64], n_classes: int, grid: NDArray[np.int64]) -> NDArray[np.int64]:
    """Majority class of the k nearest rows; one column per k of the grid."""
    k = int(grid.max())
    near = np.argpartition(squared, k - 1, axis=1)[:, :k] if k < squared.shape[1] else np.argsort(squared, axis=1)
    order = np.argsort(np.take_along_axis(squared, near, axis=1), axis=1, kind="stable")
    labels = y[np.take_along_axis(near, order, axis=1)]
    counts = np.zeros((len(squared), len(grid), n_classes), dtype=np.int16)
    for label in range(n_classes):
        counts[:, :, label] = np.cumsum(labels == label, axis=1)[:, grid - 1]
    return counts.argmax(axis=2)
