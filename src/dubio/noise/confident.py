"""Confident learning: which labels are wrong, and how often, by counting rows the experts are sure of.

The rules are those of cleanlab's ``compute_confident_joint`` and of ``find_label_issues`` with
``filter_by="confident_learning"``; the tests compare the two. They are written out here because this is what
``NeighborSearch`` does by default: that must not hang on a package of its own, and thirty lines of NumPy take a seventh
of the time (``benchmarks/bench_neighbor_search.py``). What cleanlab does beyond them stays with cleanlab.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

#: Slack in the comparison of a probability with its threshold, as in cleanlab.
_SLACK = 1e-6


@dataclass(frozen=True)
class ConfidentCount:
    """What confident learning makes of out-of-fold probabilities."""

    thresholds: Floats
    """(classes,): the mean probability of a class among the rows labelled so; above it a row is counted as sure."""
    joint: Floats
    """(classes, classes): estimated number of rows with observed label ``g`` and true class ``t`` at ``[g, t]``."""
    doubtful: NDArray[np.bool_]
    """(rows,): surely of another class than labelled, and more probably so."""


def confident_count(probabilities: Floats, codes: Codes) -> ConfidentCount:
    r"""Count rows that surely belong to some class, by that class and by their observed label.

    A row is sure to be of class :math:`k` if :math:`p_{ik} \ge t_k`, with :math:`t_k` the mean of :math:`p_{ik}` over
    the rows labelled :math:`k`; of several such classes the most probable one counts. The counts, scaled so that
    every observed label keeps its number of rows, are the estimated joint distribution of observed and true labels.

    Parameters
    ----------
    probabilities : array (rows, classes)
        Of rows that have a label, out-of-fold.
    codes : int64 array (rows,)
        Their labels; every class occurs.

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
    # The experts must also think another class more probable: near the border being sure of two is common.
    doubtful = counted & (guess != codes) & (own < probabilities.max(axis=1) - _SLACK)
    return ConfidentCount(thresholds, joint, doubtful)
