"""Special functions that numba does not have."""

from __future__ import annotations

import math

import numba


@numba.njit(cache=True, nogil=True)
def digamma(x: float) -> float:
    """The digamma function of ``x > 0``: recurrence up to 10, then the asymptotic series, exact up to rounding."""
    shift = 0.0
    while x < 10.0:
        shift -= 1.0 / x
        x += 1.0
    inverse = 1.0 / (x * x)
    series = inverse * (
        1.0 / 12.0
        - inverse
        * (
            1.0 / 120.0
            - inverse * (1.0 / 252.0 - inverse * (1.0 / 240.0 - inverse * (1.0 / 132.0 - inverse * 691.0 / 32760.0)))
        )
    )
    return shift + math.log(x) - 0.5 / x - series
