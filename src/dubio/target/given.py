"""What a person passes as ``y`` if one array cannot say it: records whose rows can be chosen like those of an array."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputError
from dubio.table.values import is_missing
from dubio.target.label_values import unmasked


def labels_by_row(y: Any) -> NDArray[Any]:
    """One label per row, None where there is none."""
    if isinstance(y, str | bytes | dict | set) or not hasattr(y, "__len__"):
        raise InputError("y", f"is a {type(y).__name__}", "give one label per row")
    try:
        given = np.asarray(unmasked(y), dtype=object)
    except ValueError:
        raise InputError("y", "has rows of different lengths", "give one label per row") from None
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.ndim != 1:
        raise InputError("y", f"has shape {given.shape}", "give one label per row")
    values = np.empty(len(given), dtype=object)
    values[:] = [None if is_missing(value) else value for value in given]
    odd = next((value for value in values if np.ndim(value) or isinstance(value, set | dict)), None)
    if odd is not None:
        raise InputError("y", f"holds a {type(odd).__name__}", "give one label per row")
    return values


class GivenByRow:
    """A record of arrays with one entry per row. A subclass is a frozen dataclass that lists them in ``_by_row``."""

    _by_row: ClassVar[tuple[str, ...]]

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows, as a shape."""
        return (len(self),)

    def __len__(self) -> int:
        return len(getattr(self, self._by_row[0]))

    def __getitem__(self, rows: Any) -> Self:
        """The same knowledge of some of the rows (a slice, a mask or indices)."""
        if isinstance(rows, tuple):  # scikit-learn's splitters index as y[rows, ...]
            rows = rows[0]
        chosen: dict[str, NDArray[Any]] = {name: getattr(self, name)[rows] for name in self._by_row}
        if any(np.ndim(values) != np.ndim(getattr(self, name)) for name, values in chosen.items()):
            raise TypeError(f"{type(self).__name__} is indexed by rows: give a slice, a mask or an array of indices")
        return replace(self, **chosen)  # type: ignore[type-var]
