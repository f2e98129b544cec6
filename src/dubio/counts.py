"""Check how many neighbours or features a user wants against what the table has."""

from __future__ import annotations

from numbers import Integral

import numpy as np

from dubio.errors import InputError, InputWarning, counted, warn


class NeighborsCut(InputWarning):
    """The user wanted more neighbours than there are rows."""


def clip_neighbors(n_neighbors: int, available: int, name: str = "n_neighbors", where: str = "row") -> int:
    """The number of neighbours to use: ``n_neighbors``, but at most ``available``; warns if it had to be cut.

    Every method follows this rule.
    """
    if not isinstance(n_neighbors, Integral) or isinstance(n_neighbors, bool) or n_neighbors < 1:
        raise InputError(name, f"={n_neighbors!r}", "give a whole number of neighbours, at least 1")
    if available < 1:
        raise InputError("X", f"has n_samples={available + 1} {where}", "a neighbour needs at least two rows")
    if n_neighbors > available:
        others = f"there {'is' if available == 1 else 'are'} only {counted(available, f'other {where}')}"
        warn(
            NeighborsCut(
                name,
                f"={n_neighbors}, but {others}",
                f"using {available}",
            )
        )
    return int(min(n_neighbors, available))


def resolve_count(n_features_to_select: int | float | str | None, n_features: int) -> tuple[int, str]:
    """How many features to keep, and the reason in words.

    ``None`` keeps half of them (as in :class:`sklearn.feature_selection.RFE`). An int is a count, a float in (0, 1] is
    a share. At least one feature is kept.
    """
    wish = n_features_to_select
    if wish is None:
        return max(1, n_features // 2), "half of the features, the default"
    if isinstance(wish, Integral) and not isinstance(wish, bool):
        if not 1 <= wish <= n_features:
            raise InputError(
                "n_features_to_select",
                f"={wish}, but the table has {counted(n_features, 'feature')}",
                f"give a number from 1 to {n_features}, or a share",
            )
        return int(wish), "as many as requested"
    if isinstance(wish, float | np.floating) and 0 < wish <= 1:
        return max(1, int(wish * n_features + 1e-9)), f"{100 * wish:g} % of {n_features} features"
    raise InputError("n_features_to_select", f"={wish!r}", "give None, a positive integer or a share in (0, 1]")
