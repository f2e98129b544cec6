"""The linear test where a few rows decide: its closed-form null is then far too sure, and permutations take its place.

A category of one row that falls on a class of one row explains that class completely. By chance this happens in one of
n tables, but a Beta law with the same mean and variance calls it impossible.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dubio.tables.row_groups import shuffled_within

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

#: p-values below this are checked if a few rows decide: fewer than so many rows carry the target, and the feature.
SMALL, _ROWS_OF_TARGET, _ROWS_OF_FEATURE = 0.01, 10.0, 20.0
#: Permutations at most, the limit on the work (rows x columns x permutations), and the hits at which a check ends.
MOST_PERMUTATIONS, _WORK, _ENOUGH = 9_999, 3e7, 50
#: Fewest permutations, whatever the work, and numbers that are shuffled at once.
_FEWEST, _AT_ONCE = 999, 2e6


def effective_rows(lengths: Floats) -> float:
    r"""How many rows carry a sum of squared lengths: :math:`(\sum_i l_i)^2 / \sum_i l_i^2`.

    >>> import numpy as np
    >>> from dubio.significance.few_rows import effective_rows
    >>> effective_rows(np.ones(50)), effective_rows(np.array([1.0, 0.0, 0.0]))
    (50.0, 1.0)
    """
    total = float((lengths**2).sum())
    return float(lengths.sum() ** 2 / total) if total > 0 else float("inf")


def checked_pvalue(
    pvalue: float, block: Floats, basis: Floats, groups: Codes | None, seed: list[int], most: int = MOST_PERMUTATIONS
) -> float:
    """The p-value of one feature, or that of permutations if it is small, a few rows decide, and theirs is larger.

    ``block`` holds the columns of the feature, centred as for its :func:`~dubio.significance.relation_tests.linear_r2`;
    ``basis`` has orthonormal columns that span the target. With ``groups``, rows change places only within groups.
    """
    if not pvalue < SMALL or not _few_rows_decide(block, basis):
        return pvalue
    n, width = block.shape
    count = int(min(most, max(_FEWEST, _WORK / (n * width))))
    bar = float(((basis.T @ block) ** 2).sum()) * (1.0 - 1e-9)  # equal but for rounding counts as equal
    rng = np.random.default_rng(seed)
    at_once = int(np.clip(_AT_ONCE / (n * width), 1, 256))
    done = hits = 0
    while done < count and hits < _ENOUGH:
        orders = np.array(
            [rng.permutation(n) if groups is None else shuffled_within(groups, rng) for _ in range(at_once)]
        )
        explained = np.einsum("nr,pnc->prc", basis, block[orders], optimize=True)
        hits += int(((explained**2).sum(axis=(1, 2)) >= bar).sum())
        done += at_once
    return max(pvalue, (1.0 + hits) / (1.0 + done))


def _few_rows_decide(block: Floats, basis: Floats) -> bool:
    half = 0.5 * len(block)  # rows that count alike are never few, however short the table is
    if effective_rows((block**2).sum(axis=1)) >= min(_ROWS_OF_FEATURE, half):
        return False
    if effective_rows((basis**2).sum(axis=1)) < min(_ROWS_OF_TARGET, half):
        return True
    return 2 * len(np.unique(block, axis=0)) <= len(block)  # of numbers that differ, the closed form knows the tails
