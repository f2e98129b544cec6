"""The order in which classes are drawn, and the colour of each: the same in every drawing of a page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dubio.supervision import OfClasses, OrderedClasses, OrderedMemberships, Supervision

_COLOURS = 8


def class_order(known: OfClasses) -> NDArray[np.int64]:
    """Places of the classes as they are drawn: in their own order if they have one, otherwise the largest first."""
    if isinstance(known, OrderedClasses | OrderedMemberships):
        return np.arange(known.n_classes)
    return np.argsort(-known.memberships.sum(axis=0), kind="stable")


def colour_at(place: int) -> int:
    """The colour of the class that is drawn at this place."""
    return place % _COLOURS


def colours_of(names: Sequence[str], known: Supervision) -> list[int]:
    """The colour of each named class; classes that the target does not have are counted on."""
    drawn = [str(known.classes.tolist()[k]) for k in class_order(known)] if isinstance(known, OfClasses) else []
    drawn += [name for name in names if name not in drawn]
    return [colour_at(drawn.index(name)) for name in names]
