"""How far annotators agree with each other, beyond chance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def krippendorff_alpha(codes: NDArray[np.int64]) -> float:
    r"""Krippendorff's alpha for classes: 1 is full agreement, 0 is chance, below 0 is less than chance.

    :math:`\alpha = 1 - D_o / D_e`. Rows with one vote or none do not count. In a row with :math:`m` votes, each pair of
    different votes adds :math:`1 / (m - 1)` to the observed disagreement :math:`D_o`; :math:`D_e` is the disagreement
    of two votes drawn at random from all that count [1]_.

    Parameters
    ----------
    codes : int64 array (rows, annotators)
        The class that each annotator gave, -1 for none.

    Returns
    -------
    float
        NaN if no row has two votes, or if only one class was given.

    References
    ----------
    .. [1] K. Krippendorff (2004). Content Analysis: An Introduction to Its Methodology. Sage.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.supervision import krippendorff_alpha
    >>> round(krippendorff_alpha(np.array([[0, 0], [1, 1], [0, 1], [1, 1]])), 3)
    0.533
    """
    votes = (codes[:, :, None] == np.arange(max(1, int(codes.max(initial=0)) + 1))).sum(axis=1).astype(np.float64)
    votes = votes[votes.sum(axis=1) >= 2]
    per_row = votes.sum(axis=1)
    totals = votes.sum(axis=0)
    n = totals.sum()
    expected = (n**2 - (totals**2).sum()) / (n * (n - 1)) if n > 1 else 0.0
    if expected == 0.0:
        return float("nan")
    observed = ((per_row**2 - (votes**2).sum(axis=1)) / (per_row - 1)).sum() / n
    return float(1.0 - observed / expected)
