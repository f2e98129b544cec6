"""Combine several p-values of one feature. (Across features: ``scipy.stats.false_discovery_control``.)"""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dubio.errors import InputError, InputWarning, counted

#: In the Cauchy rule a p-value near 1 would outweigh all others (its tangent goes to minus infinity).
_CEILING = 0.99


def check_alpha(alpha: Any) -> None:
    """Raise if ``alpha`` is no share of false discoveries."""
    if not isinstance(alpha, Real) or isinstance(alpha, bool | np.bool_) or not 0 < float(alpha) < 1:
        raise InputError("alpha", f"={alpha!r}", "it must lie strictly between 0 and 1")


def cauchy_combination(*pvalues: ArrayLike) -> NDArray[np.float64]:
    r"""One p-value from several tests of the same feature, which may depend on each other in any way [1]_.

    .. math:: p = \tfrac12 - \tfrac1\pi \arctan\Bigl( \tfrac1m \sum_{i=1}^m \tan\bigl((\tfrac12 - p_i)\pi\bigr) \Bigr).

    p-values above 0.99 count as 0.99, so that one test that sees nothing cannot cancel another.

    References
    ----------
    .. [1] Y. Liu and J. Xie (2020). Cauchy combination test. Journal of the American Statistical Association 115.

    Examples
    --------
    >>> from dubio.evidence.multiple import cauchy_combination
    >>> cauchy_combination([0.001, 0.5], [0.4, 0.5]).round(4)
    array([0.002, 0.5  ])
    """
    if not pvalues:
        raise InputError("pvalues", "is empty", "pass one array or more")
    table = np.clip(np.stack([_read(p, f"pvalues[{i}]") for i, p in enumerate(pvalues)]), 1e-300, _CEILING)
    # tan((1/2 - p) pi) = 1 / tan(p pi); the right side stays accurate for tiny p
    mean = (1.0 / np.tan(np.pi * table)).mean(axis=0)
    return np.arctan2(1.0, mean) / np.pi


def _read(pvalues: ArrayLike, name: str) -> NDArray[np.float64]:
    p = np.asarray(pvalues, dtype=np.float64)
    if p.size == 0 or p.ndim == 0:
        raise InputError(name, f"has shape {p.shape}", "give one p-value per feature")
    bad = p[~((p >= 0) & (p <= 1))]
    if len(bad):
        raise InputError(name, f"has {counted(len(bad), 'value')} outside [0, 1], first {bad[0]:g}")
    return p


class NoFeatureStandsOut(InputWarning):
    """Nothing in the table is clearly related to what is known of the target."""

    @classmethod
    def because(cls, why: str) -> Self:
        """The warning with its reason."""
        remedy = "one feature is handed on so that pipelines run, but nothing shows that it matters"
        return cls("X", f"has no feature that stands out: {why}", remedy, code="nothing stands out")
