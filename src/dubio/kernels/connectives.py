"""Fuzzy connectives: three t-norms, and the implicators that belong to them.

Each is one plain formula on numbers or arrays in [0, 1]. The kernels compile these same functions.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

Degrees = NDArray[np.float64]


@register_jitable
def lukasiewicz_t_norm(a: Degrees, b: Degrees) -> Degrees:
    """``max(0, a + b - 1)``.

    >>> float(lukasiewicz_t_norm(0.75, 0.5))
    0.25
    """
    return np.maximum(a + b - 1.0, 0.0)


@register_jitable
def minimum_t_norm(a: Degrees, b: Degrees) -> Degrees:
    """``min(a, b)``, the largest t-norm."""
    return np.minimum(a, b)


@register_jitable
def product_t_norm(a: Degrees, b: Degrees) -> Degrees:
    """``a * b``."""
    return a * b


@register_jitable
def lukasiewicz_implicator(a: Degrees, b: Degrees) -> Degrees:
    """``min(1, 1 - a + b)``: both the S-implicator and the residual implicator of the Lukasiewicz t-norm.

    >>> float(lukasiewicz_implicator(0.75, 0.25))
    0.5
    """
    return np.minimum(1.0, 1.0 - a + b)


@register_jitable
def kleene_dienes_implicator(a: Degrees, b: Degrees) -> Degrees:
    """``max(1 - a, b)``: the S-implicator of the minimum."""
    return np.maximum(1.0 - a, b)


@register_jitable
def reichenbach_implicator(a: Degrees, b: Degrees) -> Degrees:
    """``1 - a + a b``: the S-implicator of the product."""
    return 1.0 - a + a * b


@register_jitable
def goedel_implicator(a: Degrees, b: Degrees) -> Degrees:
    """``1 if a <= b else b``: the residual implicator of the minimum. For crisp classes it is always 0 or 1."""
    holds = (a <= b) * 1.0
    return holds + (1.0 - holds) * b


@register_jitable
def goguen_implicator(a: Degrees, b: Degrees) -> Degrees:
    """``1 if a <= b else b / a``: the residual implicator of the product. For crisp classes it is always 0 or 1."""
    holds = (a <= b) * 1.0
    return holds + (1.0 - holds) * (b / np.maximum(a, 1e-300))
