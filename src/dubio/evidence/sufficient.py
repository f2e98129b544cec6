"""How many of the relevant features suffice: the first line of the answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import norm

from dubio.evidence.together import neighbor_loss, standardized_space
from dubio.problem import Problem
from dubio.sampling import sample_rows

#: One-sided level of the test whether a shorter list predicts worse. At 0.05 the loss of accuracy was larger.
LEVEL = 0.2
#: Rows used, at most, and the longest list tried.
_MOST_ROWS, _LONGEST = 1000, 40

#: The loss that each row, or each group of rows, adds, for a list of features (low is good).
RowLosses = Callable[[NDArray[np.int64]], NDArray[np.float64]]


def sufficient_size(order: NDArray[np.int64], n_relevant: int, losses: RowLosses, level: float = LEVEL) -> int:
    r"""The shortest beginning of the relevant features that predicts the target as well as any longer one.

    For each row, take the difference of its loss between a short list and the best one. If rows are independent, the
    sum :math:`S` of these differences has the standard error :math:`\sqrt{n}\, s`. A list is too short if
    :math:`S / (\sqrt{n}\, s)` is above the normal quantile of ``1 - level``.

    Parameters
    ----------
    order : array of int
        Features, best first; the first ``n_relevant`` are relevant.
    losses : callable
        ``losses(features)`` gives the loss of each row: an array (n_rows,). If rows belong together, of each group.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.evidence.sufficient import sufficient_size
    >>> noise = np.random.default_rng(0).normal(0, 0.1, size=50)
    >>> def losses(features):  # a third feature adds nothing
    ...     return 1.0 / min(len(features), 2) + noise
    >>> sufficient_size(np.arange(5), 4, losses)
    2
    """
    longest = min(n_relevant, _LONGEST)
    if longest <= 1:
        return longest
    rows = [np.asarray(losses(order[:size]), dtype=np.float64) for size in range(1, longest + 1)]
    best = rows[int(np.argmin([row.sum() for row in rows]))]
    bar = norm.ppf(1 - level)
    for size, row in enumerate(rows, 1):
        worse = row - best
        if worse.sum() <= bar * worse.std(ddof=1) * np.sqrt(len(worse)):
            return size
    return longest


def row_losses_of(problem: Problem, random_state: int = 0, n_jobs: int | None = None) -> RowLosses:
    """The k-NN loss of the given labels, for methods that have no loss of their own."""
    known = problem.counted.tested.labelled
    known = known.rows(sample_rows(known, _MOST_ROWS, random_state))
    if sparse.issparse(known.X):
        known = replace(known, X=known.X.toarray())
    loss = neighbor_loss(known, standardized_space(known)[0], n_jobs)
    return lambda features: loss.unit_values(np.sort(features))
