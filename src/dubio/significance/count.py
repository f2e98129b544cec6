"""How many features to keep: those with a small q-value, with the reason in words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputWarning, counted, warn


class NoFeatureStandsOut(InputWarning):
    """Nothing in the table is clearly related to what is known of the target."""


def any_stands_out(qvalues: NDArray[np.float64], alpha: float) -> bool:
    """Whether the smallest q-value is at most ``alpha / 2``.

    If no feature is related to the target, the smallest q-value is still below ``alpha`` in a share ``alpha`` of all
    tables. The stricter bound makes such false alarms rarer.
    """
    return bool(qvalues.min() <= alpha / 2)


def keep_significant(
    qvalues: NDArray[np.float64], ranking: NDArray[np.int64], alpha: float
) -> tuple[NDArray[np.bool_], str]:
    """The features with ``q <= alpha``. If none stands out (any_stands_out), the best-ranked one, with a warning."""
    best = float(qvalues.min())
    support = qvalues <= alpha
    kept = int(support.sum())
    if any_stands_out(qvalues, alpha):
        return support, (
            f"{kept} of {counted(len(qvalues), 'feature')} {'stands' if kept == 1 else 'stand'} out with a q-value "
            f"(Benjamini-Hochberg) of at most {alpha:g}; about {100 * alpha:g} % of those kept may be there by chance"
        )
    warn(
        NoFeatureStandsOut(
            "X",
            f"has no feature that stands out: the smallest q-value is {best:.3g}, above alpha/2={alpha / 2:g}. The "
            "best-ranked feature is kept, but nothing shows that it matters",
        )
    )
    support = np.zeros(len(qvalues), dtype=bool)
    support[np.argmin(ranking)] = True
    return support, (
        f"no feature stands out: the smallest q-value (Benjamini-Hochberg) is {best:.3g}, above {alpha / 2:g}; the "
        "best-ranked feature is kept so that the selection is not empty"
    )
