"""How many changed labels a feature is sure to survive: with fewer, the linear test alone keeps it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

#: Subsets looked at, at most, to decide whether some sum lies between two limits.
_MOST_SUBSETS = 20_000


def fewest_flips(values: NDArray[np.floating], second: NDArray[np.bool_], cuts: ArrayLike) -> int:
    r"""The smallest number :math:`m` of labels of two classes whose change brings the linear :math:`R^2` below
    :math:`c_m`.

    With centred values :math:`f`, class size :math:`k` and class sum :math:`S` of the second class,

    .. math:: R^2 = \frac{n\, S^2}{k\,(n - k) \sum_i f_i^2}.

    So the feature is out if :math:`|S| < t(k)`. Let :math:`a` labels leave the second class and :math:`b` enter it.
    The new :math:`k` is then known, and the sum nearest to zero, or beyond it, comes from the :math:`a` largest values
    of one class and the :math:`b` smallest of the other. All :math:`a + b = m` are tried, for :math:`m = 0, 1, ...`.
    Where the extreme sum passes zero and leaves the interval on the other side, sums between the extremes are
    looked at; this is rare. If it takes too long, the count is the smallest that was not decided: no smaller number is
    enough.

    ``cuts`` has one cut for each number of changes, the last for all larger ones; or one for all. If a class loses all
    of its rows, no feature can be tested, and :math:`R^2` counts as 0.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.trust.worst_case import fewest_flips
    >>> fewest_flips(np.array([1.0, 2.0, 3.0, 7.0, 8.0, 9.0]), np.arange(6) >= 3, 0.5)
    1
    """
    f, cuts = _centred(values), np.atleast_1d(np.asarray(cuts, dtype=np.float64))
    if not f.any():
        return 0
    n = len(f)
    if f[second].sum() < 0:
        f = -f
    total = float((f**2).sum())
    leaving, entering = np.sort(f[second])[::-1], np.sort(f[~second])
    start = float(leaving.sum())
    taken = np.concatenate([[0.0], np.cumsum(leaving)])
    added = np.concatenate([[0.0], np.cumsum(entering)])
    n_leaving, n_entering = len(leaving), len(entering)
    for m in range(min(n_leaving, n_entering) + 1):
        a = np.arange(max(0, m - n_entering), min(m, n_leaving) + 1)
        size = n_leaving - 2 * a + m
        limit = np.sqrt(cuts[min(m, len(cuts) - 1)] * total * size * (n - size) / n)
        nearest = start - taken[a] + added[m - a]
        if ((np.abs(nearest) < limit) | (size == 0) | (size == n)).any():
            return m
        for i in np.flatnonzero(nearest <= -limit):
            n_left = int(a[i])
            found = _some_sum_between(-leaving, entering, n_left, m - n_left, -limit[i] - start, limit[i] - start)
            if found is not False:  # nothing smaller than m does; m does, or is not decided
                return m
    raise AssertionError("a class without rows explains nothing")


def fewest_changes(values: NDArray[np.floating], codes: NDArray[np.int64], n_classes: int, cuts: ArrayLike) -> int:
    r"""With fewer changed labels than this, the :math:`R^2` of any number of classes is not below its cut.

    Two classes: :func:`fewest_flips`. More: to join all classes but one lowers :math:`R^2`, and :math:`m` changed
    labels change at most :math:`m` of "this class or not". So a feature survives what it survives as a feature of any
    one class against the others, by the cuts of all classes. If a class may lose all of its rows, nothing is known.
    """
    one = range(1, 2) if n_classes == 2 else range(n_classes)
    return min(
        int(np.bincount(codes, minlength=n_classes).min()),
        max(fewest_flips(values, codes == c, cuts) for c in one),
    )


def _centred(values: NDArray[np.floating]) -> Floats:
    """Values around their mean, of size 1 at most."""
    f = np.asarray(values, dtype=np.float64)
    f = f - f[0]  # exactly zero if all values are the same
    f = f - f.mean()
    return f / (float(np.abs(f).max()) or 1.0)


def _some_sum_between(one: Floats, other: Floats, n_one: int, n_other: int, low: float, high: float) -> bool | None:
    """True if ``n_one`` of the first numbers and ``n_other`` of the second (both increasing) have a sum strictly
    between two limits; None if too many subsets would have to be looked at."""
    ones, others = (np.concatenate([[0.0], np.cumsum(part)]) for part in (one, other))
    looked_at = 0
    # each entry: the sum so far, the first free place and how many are still to be chosen, in both lists
    waiting = [(0.0, 0, n_one, 0, n_other)]
    while waiting:
        looked_at += 1
        if looked_at > _MOST_SUBSETS:
            return None
        so_far, i, from_one, j, from_other = waiting.pop()
        least = so_far + ones[i + from_one] - ones[i] + others[j + from_other] - others[j]
        most = so_far + ones[-1] - ones[len(one) - from_one] + others[-1] - others[len(other) - from_other]
        if most <= low or least >= high:
            continue
        if least > low or most < high:
            return True
        if from_one:
            waiting.append((so_far + one[i], i + 1, from_one - 1, j, from_other))
            if i + from_one < len(one):
                waiting.append((so_far, i + 1, from_one, j, from_other))
        elif from_other:
            waiting.append((so_far + other[j], len(one), 0, j + 1, from_other - 1))
            if j + from_other < len(other):
                waiting.append((so_far, len(one), 0, j + 1, from_other))
    return False


def smallest_shift(r2: NDArray[np.floating], cut: NDArray[np.floating]) -> Floats:
    r"""By how much the numbers of a target must move, at worst, to bring :math:`R^2` with a feature below ``cut``.

    Seen from the mean, the target and the feature are two arrows with an angle :math:`\theta = \arccos r`. The
    shortest way of the target to the angle :math:`\theta_c = \arccos \sqrt{c}` is :math:`\sin(\theta_c - \theta)` times
    its own length. So this is the root mean square of the shifts, in standard deviations of the target.

    >>> import numpy as np
    >>> from dubio.trust.worst_case import smallest_shift
    >>> smallest_shift(np.array([0.5, 0.05]), np.array([0.1, 0.1])).round(3)
    array([0.447, 0.   ])
    """
    angle = np.arccos(np.sqrt(np.clip(cut, 0.0, 1.0))) - np.arccos(np.sqrt(np.clip(r2, 0.0, 1.0)))
    return np.asarray(np.sin(np.clip(angle, 0.0, np.pi / 2)))
