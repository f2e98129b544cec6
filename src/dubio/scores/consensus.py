"""Join the opinions of several scores: the mean of their ranks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata


def mean_rank(scores: Sequence[ArrayLike], *, lower_is_better: Sequence[bool]) -> NDArray[np.float64]:
    """Mean over several scores of each feature's rank, 1 = best (low is good); equal scores share their mean rank.

    Parameters
    ----------
    scores : sequence of arrays (d,)
    lower_is_better : sequence of bool
        The direction of each score.

    Returns
    -------
    ranks : array (d,)

    Examples
    --------
    >>> from dubio.scores.consensus import mean_rank
    >>> mean_rank([[0.1, 0.9, 0.5], [3.0, 1.0, 1.0]], lower_is_better=[True, False])
    array([1.  , 2.75, 2.25])
    """
    columns = [np.asarray(s, dtype=np.float64) for s in scores]
    if not columns or len(columns) != len(lower_is_better):
        raise ValueError(f"{len(columns)} score(s) and {len(lower_is_better)} direction(s): give one of each or more.")
    lengths = {len(c) for c in columns}
    if len(lengths) > 1:
        raise ValueError(f"scores have different lengths, {sorted(lengths)}: they must be of the same features.")
    for position, column in enumerate(columns):
        if np.isnan(column).any():
            raise ValueError(f"score {position} has {int(np.isnan(column).sum())} NaN: give a number to every feature.")
    ranks = [rankdata(c if low else -c) for c, low in zip(columns, lower_is_better, strict=True)]
    return np.asarray(np.mean(ranks, axis=0))
