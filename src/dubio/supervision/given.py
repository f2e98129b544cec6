"""What a person passes as ``y`` if one array cannot say it: records whose rows can be chosen like those of an array."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray


def is_missing(value: Any) -> bool:
    """Whether a label means "no label": None, NaN, pd.NA, pd.NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


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
