"""Shared by the CSFS experiments: the split, the labelled rows, the rankings, and projections learned from pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.linalg import eigh

from dubio.scores.constrained_laplacian import ConstrainedLaplacianScore, constrained_laplacian_score
from dubio.scores.constraint import c4_score, constraint_score
from dubio.scores.laplacian import laplacian_score
from dubio.scores.weighted import fisher_score
from dubio.table.matrix import standardize
from dubio.target.pairs import Pairs
from dubio.target.reader import pairs_from_labels
from dubio_papers.datasets.load import load
from dubio_papers.judges import best_first, nearest_accuracy, scaled

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

#: Which rows may be labelled: only training rows, or as in the paper all rows, including the test rows.
SOURCES = ("training rows", "all rows")
#: How rows are split: as the paper says, in the order of the file, or at random. Both take half of each class.
SPLITS = ("first half of each class", "random halves")
STATED, RANDOM = SPLITS


@dataclass(frozen=True)
class Scene:
    """One random draw: the rows for selection (standardised), which are labelled, and the training and test rows."""

    X: Floats
    y: NDArray[Any]
    labelled: NDArray[np.bool_]
    train: Floats
    y_train: NDArray[Any]
    test: Floats
    y_test: NDArray[Any]

    @property
    def known(self) -> NDArray[Any]:
        """The classes; None for an unlabelled row."""
        known = self.y.astype(object)
        known[~self.labelled] = None
        return known

    def accuracy(self, order: Indices, sizes: Sequence[int]) -> Floats:
        """Accuracy (%) of 1-NN on the first features of ``order``, for each size."""
        return nearest_accuracy(self.train, self.y_train, self.test, self.y_test, order, sizes)

    def projected_accuracy(self, axes: Floats) -> float:
        """Accuracy (%) of 1-NN after projecting the rows on ``axes``."""
        every = np.arange(axes.shape[1])
        train, test = self.train @ axes, self.test @ axes
        return float(nearest_accuracy(train, self.y_train, test, self.y_test, every, [len(every)])[0])


def set_scene(dataset: str, source: str, random: np.random.Generator, split: str = STATED) -> Scene:
    """Train on one half of each class, test on the other; label a quarter of each class."""
    data = load(dataset, paper="csfs")
    training = half_of_each_class(data.y, split, random)
    rows = np.flatnonzero(training) if source == SOURCES[0] else np.arange(len(data.y))
    train, test = scaled(data.X[training], data.X[~training])
    y = data.y[rows]
    return Scene(
        standardize(data.X[rows]),
        y,
        quarter_of_each_class(y, random),
        train,
        data.y[training],
        test,
        data.y[~training],
    )


def half_of_each_class(y: NDArray[Any], split: str, random: np.random.Generator) -> NDArray[np.bool_]:
    """The training rows; an odd row more is for training."""
    training = np.zeros(len(y), dtype=bool)
    for label in np.unique(y):
        own = np.flatnonzero(y == label)
        training[(random.permutation(own) if split == RANDOM else own)[: (len(own) + 1) // 2]] = True
    return training


def quarter_of_each_class(y: NDArray[Any], random: np.random.Generator) -> NDArray[np.bool_]:
    """A random quarter of each class, rounded half up, but at least two rows.

    The paper's maps need this rounding: 5 of 21 and 3 of 10 rows (Python's ``round`` would take 2 of 10).

    >>> int(quarter_of_each_class(np.repeat(["a", "b"], [10, 21]), np.random.default_rng(0)).sum())
    8
    """
    labelled = np.zeros(len(y), dtype=bool)
    for label in np.unique(y):
        own = np.flatnonzero(y == label)
        labelled[random.choice(own, max(2, int(len(own) / 4 + 0.5)), replace=False)] = True
    return labelled


def csfs(scene: Scene) -> Indices:
    """dubio's default: all pairs, and a kernel scaled by the mean distance."""
    return np.argsort(ConstrainedLaplacianScore().fit(scene.X, scene.known).ranking_, kind="stable")


def csfs_as_published(scene: Scene) -> Indices:
    """Hard selection of pairs, lambda = 0.1 on plain squared distances."""
    return np.argsort(ConstrainedLaplacianScore.as_published().fit(scene.X, scene.known).ranking_, kind="stable")


def csfs_variant(scene: Scene) -> Indices:
    """Not in the paper: all rows instead of prototypes, Ward's tree cut at the number of classes, mean distances.

    It knows the number of classes. Of all readings tried, this one keeps most of the paper's claims on Figure 6.
    """
    n_classes = len(np.unique(scene.y))
    cluster = fcluster(linkage(scene.X, method="ward"), n_classes, criterion="maxclust") - 1
    pairs = pairs_from_labels(scene.known)
    scores = constrained_laplacian_score(scene.X, cluster, pairs.must_link, pairs.cannot_link)
    return best_first(scores, low_is_good=True)


def constraint(scene: Scene) -> Indices:
    return best_first(constraint_score(scene.X, y=scene.known), low_is_good=True)


def laplacian(scene: Scene) -> Indices:
    return best_first(laplacian_score(scene.X, t="mean"), low_is_good=True)


def c4(scene: Scene) -> Indices:
    return best_first(c4_score(scene.X, y=scene.known, t="mean"), low_is_good=True)


def fisher(scene: Scene) -> Indices:
    """The Fisher score of all training labels, as in the paper."""
    return best_first(fisher_score(scene.train, scene.y_train), low_is_good=False)


RANKERS: dict[str, Callable[[Scene], Indices]] = {
    "CSFS": csfs,
    "CSFS as published": csfs_as_published,
    "CSFS variant": csfs_variant,
    "constraint": constraint,
    "Laplacian": laplacian,
    "Fisher": fisher,
    "C4": c4,
}


def draw_pairs(scene: Scene, n_pairs: int, random: np.random.Generator) -> Pairs:
    """Draw pairs of labelled rows, half of each kind if there are enough."""
    rows = np.flatnonzero(scene.labelled)
    i, j = np.triu_indices(len(rows), 1)
    same = scene.y[rows[i]] == scene.y[rows[j]]
    chosen: list[Indices] = []
    for kind in (same, ~same):
        places = np.flatnonzero(kind)
        chosen.append(random.choice(places, min(len(places), max(1, n_pairs // 2)), replace=False))
    must_link, cannot_link = (np.column_stack([rows[i[c]], rows[j[c]]]).astype(np.int64) for c in chosen)
    return Pairs(must_link, cannot_link)


def csfs_on_pairs(scene: Scene, pairs: Pairs) -> Indices:
    selector = ConstrainedLaplacianScore(closure=False)
    selector.fit(scene.X, must_link=pairs.must_link, cannot_link=pairs.cannot_link)
    return np.argsort(selector.ranking_, kind="stable")


def principal_axes(X: Floats, n_axes: int) -> Floats:
    """The axes of PCA."""
    return _largest(np.cov(X.T), n_axes)


def ssdr_axes(X: Floats, pairs: Pairs, n_axes: int) -> Floats:
    """SSDR-CMU (Zhang, Zhou and Chen, 2007), alpha = 1, beta = 20: spread out rows and cannot-links, not must-links."""
    total = np.cov(X.T, bias=True) + _pair_spread(X, pairs.cannot_link) / 2 - 10 * _pair_spread(X, pairs.must_link)
    return _largest(total, n_axes)


def cfld_axes(X: Floats, pairs: Pairs, n_axes: int) -> Floats:
    """cFLD (Bar-Hillel et al., 2005): the spread of all rows divided by the spread within must-links.

    The spread within must-links does not have full rank, so a hundredth of its mean variance is added.
    """
    within = _pair_spread(X, pairs.must_link)
    within += 0.01 * max(np.trace(within), 1e-12) / len(within) * np.eye(len(within))
    return _largest(np.cov(X.T), n_axes, within)


def _pair_spread(X: Floats, pairs: Indices) -> Floats:
    gaps = X[pairs[:, 0]] - X[pairs[:, 1]]
    spread: Floats = gaps.T @ gaps / max(1, len(pairs))
    return spread


def _largest(matrix: Floats, n_axes: int, metric: Floats | None = None) -> Floats:
    axes: Floats = eigh(matrix, metric)[1][:, ::-1][:, :n_axes]
    return axes
