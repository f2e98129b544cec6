"""Class moments of rows that come in blocks, in any order. A class may appear for the first time in the last block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputError
from dubio.moments.class_moments import ClassMoments
from dubio.supervision import OfClasses
from dubio.supervision.classes import refuse_one_class

#: Bytes that the sums of all classes may take. If they need more, the target is probably not made of classes.
_MOST_BYTES = 2**30


@dataclass(frozen=True)
class RunningMoments:
    """Moments with the names of their classes, and the number of rows they come from.

    :meth:`merge` is exact and, up to rounding, gives the same result in any order. Classes are kept sorted (for soft
    labels: in the order of their columns), so that the order of blocks makes no difference.
    """

    soft: bool
    classes: NDArray[Any]
    moments: ClassMoments
    n_rows: int
    n_labelled: int

    @classmethod
    def of_block(cls, supervision: OfClasses, moments: ClassMoments) -> RunningMoments:
        """Moments of one validated block of rows."""
        return cls(supervision.kind == "soft", supervision.classes, moments, supervision.n_rows, supervision.n_labelled)

    def merge(self, other: RunningMoments) -> RunningMoments:
        """Both sets of rows together."""
        classes = self._joined_classes(other)
        a, b = (part.moments.place(_positions(part.classes, classes), len(classes)) for part in (self, other))
        return RunningMoments(
            self.soft, classes, a.merge(b), self.n_rows + other.n_rows, self.n_labelled + other.n_labelled
        )

    def require_two_classes(self) -> None:
        """Raise unless at least two classes have rows."""
        refuse_one_class(self.classes, self.moments.weight > 0, self.n_rows, self.n_labelled)

    @property
    def has_two_classes(self) -> bool:
        return int(np.count_nonzero(self.moments.weight)) >= 2

    def _joined_classes(self, other: RunningMoments) -> NDArray[Any]:
        if self.soft != other.soft:
            raise InputError(
                "y", "holds class probabilities in some blocks and one class per row in others", "use one form"
            )
        if not self.soft:
            if not (len(self.classes) and len(other.classes)):  # a block without any label
                return self.classes if len(self.classes) else other.classes
            mine, theirs = (f"{_sort(c)} (such as {c.tolist()[0]!r})" for c in (self.classes, other.classes))
            if _sort(self.classes) != _sort(other.classes):  # check this first: False equals 0 but means another thing
                raise InputError("y", f"holds {mine} in one block and {theirs} in another", "give all labels one type")
        if len(self.classes) == len(other.classes) and (self.classes == other.classes).all():
            return self.classes
        if self.soft:
            raise InputError(
                "y",
                f"has different classes in different blocks: {list(self.classes)} and {list(other.classes)}",
                "give the same columns of probabilities in every block",
            )
        joined = np.unique(np.concatenate([self.classes, other.classes]))
        if 16 * len(joined) * len(self.moments.origin) > _MOST_BYTES:
            raise InputError(
                "y",
                f"has {len(joined)} distinct values so far, too many for classes",
                "is it a number or an identifier?",
            )
        return joined


def merge_all(parts: Sequence[RunningMoments]) -> RunningMoments:
    """Merge neighbours with neighbours, level by level: a tree has smaller rounding errors than a chain."""
    level = list(parts)
    while len(level) > 1:
        level = [a.merge(b) for a, b in zip(level[::2], level[1::2], strict=False)] + level[len(level) & ~1 :]
    return level[0]


def _positions(classes: NDArray[Any], among: NDArray[Any]) -> NDArray[np.intp]:
    place = {name: index for index, name in enumerate(among.tolist())}
    return np.asarray([place[name] for name in classes.tolist()], dtype=np.intp)


def _sort(classes: NDArray[Any]) -> str:
    kind = classes.dtype.kind
    if kind == "O":
        kind = "U" if isinstance(classes[0], str) else "i"
    return {"b": "bools", "i": "numbers", "u": "numbers", "f": "numbers"}.get(kind, "text")
