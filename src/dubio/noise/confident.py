"""Confident learning: find wrong labels, and their rates, by counting the rows the experts are sure of.

The rules are those of cleanlab's ``compute_confident_joint``, and of ``find_label_issues`` with
``filter_by="confident_learning"``; the tests compare the two. The rules are written out here because ``NeighborSearch``
uses them by default. So it needs no extra package, and thirty lines of NumPy take a seventh of the time
(``benchmarks/bench_neighbor_search.py``). Nothing else of cleanlab is repeated here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

#: Tolerance when a probability is compared with its threshold, as in cleanlab.
_SLACK = 1e-6


@dataclass(frozen=True)
class ConfidentCount:
    """The result of confident learning on out-of-fold probabilities."""

    thresholds: Floats
    """(classes,): mean probability of a class among the rows with that label; a row above it counts as sure."""
    joint: Floats
    """(classes, classes): estimated number of rows with observed label ``g`` and true class ``t`` at ``[g, t]``."""
    doubtful: NDArray[np.bool_]
    """(rows,): the experts are sure of another class than the label, and find it more probable."""


def confident_count(probabilities: Floats, codes: Codes) -> ConfidentCount:
    r"""Count the rows that surely belong to a class, by observed label and by that class.

    A row surely belongs to class :math:`k` if :math:`p_{ik} \ge t_k`, where :math:`t_k` is the mean of :math:`p_{ik}`
    over the rows labelled :math:`k`. If this holds for several classes, the most probable one counts. The counts are
    scaled so that every observed label keeps its number of rows. They estimate the joint distribution of observed and
    true labels.

    Parameters
    ----------
    probabilities : array (rows, classes)
        Out-of-fold probabilities of the rows that have a label.
    codes : int64 array (rows,)
        Their labels; every class must occur.

    References
    ----------
    .. [1] C. Northcutt, L. Jiang and I. Chuang (2021). Confident learning: estimating uncertainty in dataset labels.
       Journal of Artificial Intelligence Research 70, 1373-1411.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.noise.confident import confident_count
    >>> probabilities = np.array([[0.9, 0.1]] * 5 + [[0.2, 0.8]] * 5)
    >>> found = confident_count(probabilities, np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 1]))
    >>> found.doubtful.nonzero()[0], found.joint
    (array([4]), array([[4., 0.],
           [1., 5.]]))
    """
    n, n_classes = probabilities.shape
    counts = np.bincount(codes, minlength=n_classes).astype(np.float64)
    own = probabilities[np.arange(n), codes]
    thresholds = np.maximum(np.bincount(codes, own, minlength=n_classes) / counts, 2 * _SLACK)
    sure = probabilities >= thresholds - _SLACK
    predicted = probabilities.argmax(axis=1)
    guess = np.where(sure.sum(axis=1) > 1, predicted, sure.argmax(axis=1))
    counted = sure.any(axis=1)
    joint = np.zeros((n_classes, n_classes))
    np.add.at(joint, (codes[counted], guess[counted]), 1.0)
    np.fill_diagonal(joint, np.maximum(joint.diagonal(), 1.0))
    joint *= (counts / joint.sum(axis=1))[:, None]
    # The experts must also find another class more probable: near a border they are often sure of two classes.
    doubtful = counted & (guess != codes) & (own < probabilities.max(axis=1) - _SLACK)
    return ConfidentCount(thresholds, joint, doubtful)
