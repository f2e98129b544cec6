"""What the target says about each row, as claims "row x belongs to class c" (see ``_kernels.fuzzy_rough``)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dubio.fuzzyrough.similarity import scale_numbers


@dataclass(frozen=True)
class Decision:
    """The decision columns, and the claims in the order of the rows.

    ``columns`` is (n, classes) memberships, zero where unlabelled. If ``on_a_line``, it is instead one column of
    coordinates, NaN where unlabelled: the closer two coordinates, the more the rows belong to the same class
    (``crisp``: only if they are equal). The claims of row ``x`` are ``starts[x]:starts[x + 1]``; ``labels`` holds their
    classes, -1 for "a class of its own"; ``caps`` is the largest truth that the row itself allows: its own membership.
    """

    columns: NDArray[np.float64]
    on_a_line: bool
    crisp: bool
    starts: NDArray[np.int64]
    labels: NDArray[np.int64]
    caps: NDArray[np.float64]


def soft_decision(memberships: NDArray[np.float64]) -> Decision:
    """Fuzzy classes; a row without any membership is unlabelled and forms a class of its own (Theorem 1).

    A row has one claim for each class in which it has some membership. In any other class it would contradict
    itself, and the positive region is the union (maximum) over the classes.
    """
    belongs = memberships > 0
    unlabelled = ~belongs.any(axis=1)
    counts = np.where(unlabelled, 1, belongs.sum(axis=1))
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    labels = np.full(starts[-1], -1, dtype=np.int64)
    caps = np.ones(starts[-1])
    rows, classes = np.nonzero(belongs)
    of_labelled = np.repeat(~unlabelled, counts)
    labels[of_labelled] = classes
    caps[of_labelled] = np.minimum(memberships[rows, classes], 1.0)
    return Decision(np.ascontiguousarray(memberships), False, False, starts, labels, caps)


def number_decision(values: NDArray[np.float64], similarity: str) -> Decision:
    """A numeric target, compared in the same way as a feature; a row without a value is like no other row."""
    return _line_decision(scale_numbers(values, similarity), crisp=False)


def hard_decision(codes: NDArray[np.int64]) -> Decision:
    """One class per row, -1 for unlabelled: whole numbers on a line, so different classes are at least 1 apart."""
    return _line_decision(np.where(codes >= 0, codes.astype(np.float64), np.nan), crisp=True)


def _line_decision(column: NDArray[np.float64], crisp: bool) -> Decision:
    n_rows = len(column)
    starts = np.arange(n_rows + 1, dtype=np.int64)
    return Decision(column[:, None], True, crisp, starts, np.zeros(n_rows, dtype=np.int64), np.ones(n_rows))
