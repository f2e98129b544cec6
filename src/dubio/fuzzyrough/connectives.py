"""The t-norms and implicators by name. The kernels number them in the order of the names."""

from __future__ import annotations

from collections.abc import Callable

from dubio._kernels.connectives import (
    Degrees,
    goedel_implicator,
    goguen_implicator,
    kleene_dienes_implicator,
    lukasiewicz_implicator,
    lukasiewicz_t_norm,
    minimum_t_norm,
    product_t_norm,
    reichenbach_implicator,
)

T_NORMS: dict[str, Callable[[Degrees, Degrees], Degrees]] = {
    "lukasiewicz": lukasiewicz_t_norm,
    "minimum": minimum_t_norm,
    "product": product_t_norm,
}
IMPLICATORS: dict[str, Callable[[Degrees, Degrees], Degrees]] = {
    "lukasiewicz": lukasiewicz_implicator,
    "kleene-dienes": kleene_dienes_implicator,
    "reichenbach": reichenbach_implicator,
    "goedel": goedel_implicator,
    "goguen": goguen_implicator,
}
# The S-implicators. With them, the positive region of a crisp class is the distance to the nearest enemy, as in
# equation (10) of the paper, for every t-norm.
MATCHING_IMPLICATOR = {"lukasiewicz": "lukasiewicz", "minimum": "kleene-dienes", "product": "reichenbach"}
