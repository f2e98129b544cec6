"""The draw of rows to check: by chance, with known chances, so that nobody picks them; and how many are enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm

from dubio.checks import random_of
from dubio.errors import InputError, counted
from dubio.table.rows import groups_of_rows, most_frequent_codes

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
#: How rows are drawn: all alike, as many of each class, or those more often whose label the models disagree with.
Design = Literal["random", "class", "doubtful"]

#: Smallest chance of a row under the design "doubtful", relative to the largest: no row may be out of reach.
_LEAST_DOUBT = 0.25


@dataclass(frozen=True, eq=False)
class Draw:
    """Rows to check. Made by :func:`draw_rows`.

    Attributes
    ----------
    rows : array (n_drawn,)
        The rows drawn now, in random order; whole groups if rows belong together.
    chance : array (n_rows,)
        The chance of each row to be drawn, now or before.
    n_before : int
        Rows that were drawn before.
    """

    rows: Codes
    chance: Floats
    n_before: int = 0


def draw_rows(
    n_rows: int,
    count: int,
    *,
    design: Design = "random",
    strata: ArrayLike | None = None,
    disagreement: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    before: ArrayLike | None = None,
    random_state: Any = 0,
) -> Draw:
    """Draw rows to check.

    Parameters
    ----------
    n_rows, count : int
        Number of rows of the table, and of rows (or groups) to draw.
    design : {"random", "class", "doubtful"}, default="random"
        "random": every row has the same chance. "class": as many rows of each class, so rare classes are seen more
        often. "doubtful": rows whose label the models disagree with are drawn up to four times as often.
    strata : array-like (n_rows,) of int, optional
        The class of each row, for the design "class"; -1 for rows without a label.
    disagreement : array-like (n_rows,), optional
        For the design "doubtful": from 0 to 1, NaN for rows without a label.
    groups : array-like (n_rows,) of int, optional
        Rows that belong together: whole groups are drawn.
    before : array-like (n_rows,) of bool or float, optional
        Rows that were drawn before by the same design, or their chances then, NaN for all others: these show whether
        the design is the same. The new chances are those of all draws together.
    random_state : int, RandomState or None, default=0
        Seed of the draw.

    Examples
    --------
    >>> from dubio.trust import draw_rows
    >>> draw = draw_rows(600, 60)
    >>> len(draw.rows), float(draw.chance[0])
    (60, 0.1)
    """
    together = np.arange(n_rows) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    order, starts, _ = groups_of_rows(together)
    n_units = len(starts)
    done = np.zeros(n_units, dtype=bool)
    earlier = np.zeros(n_rows, dtype=bool) if before is None else np.asarray(before)
    earlier = earlier.astype(bool if earlier.dtype.kind in "biu" else np.float64)
    drawn_before = earlier if earlier.dtype.kind == "b" else ~np.isnan(earlier)
    done[together[drawn_before]] = True
    left = n_units - int(done.sum())
    if not 1 <= count <= left:
        unit = "row" if groups is None else "group"
        found = f"={count}, but {counted(left, unit)} of the table {'is' if left == 1 else 'are'} left"
        raise InputError("rows", found, f"give a number from 1 to {left}")
    rng = random_of(random_state)
    if design == "doubtful":
        if before is not None:
            raise InputError("design", "='doubtful' cannot add rows to an earlier draw", "draw all rows at once")
        doubt = np.nan_to_num(np.asarray(disagreement, dtype=np.float64))
        size = np.maximum.reduceat(doubt[order], starts)
        size = _LEAST_DOUBT + (1.0 - _LEAST_DOUBT) * size / (size.max() or 1.0)
        chance = _chances_by_size(size, count)
        drawn = _drawn_by_chance(chance, rng)
    else:
        codes = np.zeros(n_rows, dtype=np.int64) if design == "random" else np.asarray(strata, dtype=np.int64)
        stratum = np.unique(most_frequent_codes(codes, together), return_inverse=True)[1]
        sizes, before_counts = np.bincount(stratum), np.bincount(stratum, done)
        chance_before = (before_counts / sizes)[stratum][together]
        if earlier.dtype.kind != "b" and not np.allclose(chance_before[drawn_before], earlier[drawn_before]):
            remedy = "draw as the first time, from the same table, or draw all rows at once"
            raise InputError("before", "holds rows that were drawn in another way", remedy)
        counts = _shared_out(count, sizes - before_counts)
        chance = ((before_counts + counts) / sizes)[stratum]
        free = [rng.permutation(np.flatnonzero((stratum == one) & ~done)) for one in range(len(sizes))]
        drawn = np.concatenate([units[:n] for units, n in zip(free, counts.tolist(), strict=True)])
    drawn = rng.permutation(drawn)
    rows = [np.sort(order[starts[unit] : starts[unit] + int((together == unit).sum())]) for unit in drawn.tolist()]
    return Draw(np.concatenate(rows), chance[together], int(done[together].sum()))


def _shared_out(count: int, sizes: NDArray[Any]) -> Codes:
    """How many to draw of each stratum: as many of each, as far as they have as many."""
    counts = np.zeros(len(sizes), dtype=np.int64)
    for _ in range(count):
        open_ones = np.flatnonzero(counts < sizes)
        counts[open_ones[np.argmin(counts[open_ones])]] += 1
    return counts


def _chances_by_size(size: Floats, count: int) -> Floats:
    """Chances in proportion to sizes that sum to ``count``, none above 1."""
    chance = np.zeros(len(size))
    sure = np.zeros(len(size), dtype=bool)
    while True:
        chance[~sure] = (count - sure.sum()) * size[~sure] / size[~sure].sum()
        chance[sure] = 1.0
        more = ~sure & (chance >= 1.0)
        if not more.any():
            return chance
        sure |= more


def _drawn_by_chance(chance: Floats, rng: np.random.RandomState) -> Codes:
    """A draw with these chances and of fixed size: systematic sampling in random order."""
    order = rng.permutation(len(chance))
    ends = np.cumsum(chance[order])
    points = rng.random_sample() + np.arange(round(float(ends[-1])))
    return np.asarray(order[np.searchsorted(ends, np.minimum(points, ends[-1] - 1e-9), side="right")])


def rows_needed(disagreement: ArrayLike, effect: float = 0.25, *, level: float = 0.01, power: float = 0.8) -> int:
    r"""A forecast of how many rows to check before a column of a given effect is settled.

    An effect :math:`e` is the correlation of a column with the truth. With a proxy whose error is a share :math:`d` of
    the rows, the standard error after :math:`m` checked rows is about :math:`\sqrt{(1 - \rho^2) / m}` with
    :math:`\rho^2 = (1 - 2d)^2`, so

    .. math:: m = (1 - \rho^2) \frac{(z_{1 - level / 2} + z_{power})^2}{e^2}, \qquad 30 \le m \le n .

    The mean disagreement of the models with the labels stands for :math:`d`: a forecast, not a promise. Classes that
    overlap make it too large, and errors that the models share make it too small.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.trust import rows_needed
    >>> rows_needed(np.full(600, 0.1)), rows_needed(np.full(600, 0.25))
    (70, 150)
    """
    each = np.asarray(disagreement, dtype=np.float64)
    each = each[~np.isnan(each)]
    wrong = float(np.clip(each.mean() if len(each) else 0.5, 0.0, 0.5))
    reach = float(norm.ppf(1 - level / 2) + norm.ppf(power))
    needed = (1.0 - (1.0 - 2.0 * wrong) ** 2) * (reach / effect) ** 2
    return int(min(max(30, 10 * np.ceil(needed / 10)), max(30, len(each))))
