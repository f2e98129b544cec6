"""The private names of scikit-learn that dubio uses, each with a public substitute. Nothing else imports them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.tree import ExtraTreeClassifier, ExtraTreeRegressor

Floats = NDArray[np.float64]


def wants_pandas(estimator: Any) -> bool:
    """Whether ``set_output``, or else the configuration of scikit-learn, asks for the frames of pandas."""
    chosen = getattr(estimator, "_sklearn_output_config", {})
    return bool(chosen.get("transform", get_config()["transform_output"]) == "pandas")


def grow_random_trees(
    X: NDArray[np.float32],
    target: Floats,
    seeds: Sequence[int],
    min_samples_leaf: int,
    weights: Floats | None = None,
    *,
    n_classes: int,
) -> list[Any]:
    """The trees of an ``ExtraTreesClassifier``, or for no classes of an ``ExtraTreesRegressor``; one per seed.

    ``X`` is C-ordered; ``target`` (rows, 1) are codes of classes, each of which occurs, or numbers. ``predict`` of a
    tree gives shares of the classes, or a number. Nothing is checked.
    """
    try:
        return compiled_trees(X, target, seeds, min_samples_leaf, weights, n_classes)
    except (ImportError, TypeError):  # another version of scikit-learn has other names or arguments
        kind = ExtraTreeClassifier if n_classes else ExtraTreeRegressor
        trees = (kind(min_samples_leaf=min_samples_leaf, random_state=seed) for seed in seeds)
        return [tree.fit(X, target.ravel(), sample_weight=weights, check_input=False).tree_ for tree in trees]


def compiled_trees(
    X: NDArray[np.float32],
    target: Floats,
    seeds: Sequence[int],
    min_samples_leaf: int,
    weights: Floats | None,
    n_classes: int,
) -> list[Any]:
    """The same trees, grown by scikit-learn's compiled builder itself.

    For a forest on a few hundred rows, the public estimator spends most of the time on cloning and checking each tree.
    """
    from sklearn.tree._criterion import MSE, Gini
    from sklearn.tree._splitter import RandomSplitter
    from sklearn.tree._tree import DepthFirstTreeBuilder, Tree

    sizes = np.array([max(1, n_classes)], dtype=np.intp)
    max_features, deepest = max(1, int(np.sqrt(X.shape[1]))) if n_classes else X.shape[1], np.iinfo(np.int32).max
    trees = []
    for seed in seeds:
        state = np.random.RandomState(seed)
        criterion = Gini(1, sizes) if n_classes else MSE(1, len(X))
        splitter = RandomSplitter(criterion, max_features, min_samples_leaf, 0.0, state, None)
        tree = Tree(X.shape[1], sizes, 1)
        builder = DepthFirstTreeBuilder(splitter, 2 * min_samples_leaf, min_samples_leaf, 0.0, deepest, 0.0)
        builder.build(tree, X, target, weights, None)
        trees.append(tree)
    return trees
