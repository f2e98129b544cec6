"""Which rows depend on each other, so that chance is reckoned with what is independent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dubio.alerts.alert import Alert
from dubio.alerts.of_rows import row_keys
from dubio.alerts.view import View


@dataclass(frozen=True, eq=False)
class Units:
    """Rows that belong together, or seem to.

    Attributes
    ----------
    shared : tuple of array (n_rows,)
        For each reason why rows depend on each other: a number that such rows share.
    neighbours : bool
        Whether rows that stand next to each other in the table depend on each other.
    """

    shared: tuple[NDArray[np.int64], ...] = ()
    neighbours: bool = False

    def one_of_each(self, rows: NDArray[np.int64], codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Positions in ``rows`` of one row of each unit and class; all of them if rows are independent.

        If neighbours depend on each other, neighbours of one class are one unit: nobody knows where a subject ends.
        """
        chosen = np.ones(len(rows), dtype=bool)
        shared = [numbers[rows] for numbers in self.shared]
        if self.neighbours:
            order = np.argsort(rows)
            runs = np.zeros(len(rows), dtype=np.int64)
            runs[order] = np.cumsum(np.diff(codes[order], prepend=-1) != 0)
            shared.append(runs)
        for numbers in shared:
            first = np.unique(numbers * (int(codes.max(initial=0)) + 1) + codes, return_index=True)[1]
            chosen &= np.isin(np.arange(len(rows)), first)
        return np.flatnonzero(chosen)


def units_of(view: View, groups: NDArray[np.int64] | None, of_rows: Sequence[Alert]) -> Units:
    """The units of a table: groups that are given, or what the alerts about its rows suspect."""
    if groups is not None:
        return Units((groups[view.rows],))
    shared, neighbours = [], False
    for alert in of_rows:
        if alert.kind == "repeated rows":
            shared.append(np.unique(row_keys(view), return_inverse=True)[1])
        elif alert.features:
            feature = [str(name) for name in view.names].index(alert.features[0])
            shared.append(np.unique(view.values_of(feature), return_inverse=True)[1])
        else:
            neighbours = True
    return Units(tuple(shared), neighbours)
