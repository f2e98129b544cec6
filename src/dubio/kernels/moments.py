"""Sums over the rows of a table: class moments, second moments, one column at a time."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

#: Rows of a Fortran-ordered table that are processed together.
_BLOCK = 2048


@numba.njit(cache=True, nogil=True)
def _add_four(z: Any, p: Any, weight: Any, first: Any, second: Any, poison: Any) -> None:
    """Add four centred rows with memberships ``p``. A NaN in a row that does not count still shows in ``poison``."""
    n_classes, d = first.shape
    counted = False
    for k in range(n_classes):
        p0, p1, p2, p3 = p[0, k], p[1, k], p[2, k], p[3, k]
        if p0 == 0.0 and p1 == 0.0 and p2 == 0.0 and p3 == 0.0:
            continue
        counted = True
        weight[k] += (p0 + p1) + (p2 + p3)
        for r in range(d):
            z0, z1, z2, z3 = z[0, r], z[1, r], z[2, r], z[3, r]
            first[k, r] += (p0 * z0 + p1 * z1) + (p2 * z2 + p3 * z3)
            second[k, r] += (p0 * z0 * z0 + p1 * z1 * z1) + (p2 * z2 * z2 + p3 * z3 * z3)
    if not counted:
        for r in range(d):
            poison[r] += 0.0 * ((z[0, r] + z[1, r]) + (z[2, r] + z[3, r]))


@numba.njit(cache=True, nogil=True)
def class_sums_rows(
    X: Any, P: Any, shift: Any, start: int, stop: int, weight: Any, first: Any, second: Any, poison: Any
) -> None:
    """Add rows ``start:stop`` of a C-ordered table to ``weight[k]``, ``first[k, r]`` and ``second[k, r]``.

    These are the sums of ``p_ik``, of ``p_ik (x_ir - shift_r)`` and of ``p_ik (x_ir - shift_r)^2``.
    """
    d, n_classes = X.shape[1], P.shape[1]
    z, p = np.empty((4, d)), np.empty((4, n_classes))
    for i in range(start, stop, 4):
        for j in range(4):
            if i + j < stop:
                for r in range(d):
                    z[j, r] = X[i + j, r] - shift[r]
                for k in range(n_classes):
                    p[j, k] = P[i + j, k]
            else:
                z[j] = 0.0
                p[j] = 0.0
        _add_four(z, p, weight, first, second, poison)


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def class_sums_column(x: Any, PT: Any, shift: float, start: int, stop: int, first: Any, second: Any) -> None:
    """The sums of one contiguous column; ``PT`` is (classes, rows), ``first`` and ``second`` are (classes,).

    The order of additions may change, so that vector instructions can be used (this also makes the sums more accurate).
    A bad value shows in every class, even with membership 0: 0 * NaN is NaN.
    """
    n_classes = PT.shape[0]
    for k in range(0, n_classes - 1, 2):  # two classes per pass: loading the column takes longest
        p, q = PT[k], PT[k + 1]
        p_sum, p_squares, q_sum, q_squares = 0.0, 0.0, 0.0, 0.0
        for i in range(start, stop):
            z = x[i] - shift
            pz, qz = p[i] * z, q[i] * z
            p_sum += pz
            p_squares += pz * z
            q_sum += qz
            q_squares += qz * z
        first[k] += p_sum
        second[k] += p_squares
        first[k + 1] += q_sum
        second[k + 1] += q_squares
    if n_classes % 2:
        p = PT[n_classes - 1]
        p_sum, p_squares = 0.0, 0.0
        for i in range(start, stop):
            z = x[i] - shift
            pz = p[i] * z
            p_sum += pz
            p_squares += pz * z
        first[n_classes - 1] += p_sum
        second[n_classes - 1] += p_squares


@numba.njit(cache=True, nogil=True)
def class_sums_columns(
    XT: Any, P: Any, shift: Any, start: int, stop: int, weight: Any, first: Any, second: Any, poison: Any
) -> None:
    """The same for a Fortran-ordered table, given transposed (C-ordered, one row per feature), column by column.

    Rows are processed in blocks. The memberships of a block stay in the fast cache while every column is summed.
    ``poison`` is not needed because a bad value shows in the sums of every class.
    """
    d, n_classes = XT.shape[0], P.shape[1]
    PT = np.empty((n_classes, _BLOCK))
    sums, squares = np.zeros((d, n_classes)), np.zeros((d, n_classes))
    for block in range(start, stop, _BLOCK):
        size = min(_BLOCK, stop - block)
        for k in range(n_classes):
            for i in range(size):
                PT[k, i] = P[block + i, k]
                weight[k] += PT[k, i]
        for r in range(d):
            class_sums_column(XT[r, block : block + size], PT, shift[r], 0, size, sums[r], squares[r])
    first += sums.T
    second += squares.T


@numba.njit(cache=True, nogil=True)
def _class_sums_coded(x: Any, codes: Any, shift: float, first: Any, second: Any) -> Any:
    """The sums of one column with one class per row (-1 = none); the cost does not depend on the number of classes.

    Returns a value that is NaN if a row without a class has a bad value. Consecutive rows are added to separate sums;
    otherwise rows of one class would wait for each other.
    """
    n, n_classes = len(x), len(first)
    sums = np.zeros((n_classes + 1, 8))
    for i in range(0, n - 3, 4):
        for lane in range(4):
            z = x[i + lane] - shift
            k = codes[i + lane] + 1
            sums[k, 2 * lane] += z
            sums[k, 2 * lane + 1] += z * z
    for i in range(n - n % 4, n):
        z = x[i] - shift
        k = codes[i] + 1
        sums[k, 0] += z
        sums[k, 1] += z * z
    for k in range(n_classes):
        a = sums[k + 1]
        first[k] += (a[0] + a[2]) + (a[4] + a[6])
        second[k] += (a[1] + a[3]) + (a[5] + a[7])
    return 0.0 * sums[0].sum()


@numba.njit(cache=True, nogil=True)
def class_sums_coded(
    columns: Any, codes: Any, shift: Any, start: int, stop: int, first: Any, second: Any, poison: Any
) -> None:
    """The sums of features ``start:stop``. These are the first of ``columns``, a tuple of arrays of one type.

    One call handles several columns: with one call per column, threads would wait for each other at the interpreter.
    """
    for r in range(start, stop):
        poison[r] = _class_sums_coded(columns[r - start], codes, shift[r], first[r], second[r])


@numba.njit(cache=True, nogil=True)
def class_sums_csr(data: Any, indices: Any, indptr: Any, P: Any, start: int, stop: int, sums: Any) -> float:
    """Add rows ``start:stop`` of a CSR table to ``sums``, (features, classes, 2): ``p_ik v`` and ``p_ik v^2``.

    Zeros add nothing, nor do classes without the row. ``sums`` has room for an even number of classes, because two are
    summed at a time. Returns a value that is NaN if a row without a class has a bad value.
    """
    n_classes = P.shape[1]
    poison = 0.0
    for i in range(start, stop):
        counted = False
        for k in range(0, n_classes, 2):
            p, q = P[i, k], P[i, k + 1] if k + 1 < n_classes else 0.0
            if p == 0.0 and q == 0.0:
                continue
            counted = True
            # Unsigned positions: signed ones would have their sign checked for each value.
            for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
                r, v = np.uint64(indices[e]), np.float64(data[e])
                square = v * v
                sums[r, k, 0] += p * v
                sums[r, k, 1] += p * square
                sums[r, k + 1, 0] += q * v
                sums[r, k + 1, 1] += q * square
        if not counted:
            for e in range(indptr[i], indptr[i + 1]):
                poison += 0.0 * data[e]
    return poison


@numba.njit(cache=True, nogil=True)
def class_sums_csr_centred(
    data: Any, indices: Any, indptr: Any, P: Any, slot: Any, centre: Any, sums: Any, stored: Any
) -> None:
    """Sums of the few columns with ``slot[r] >= 0``, over their stored values, around the first value of each class.

    ``centre`` (columns, classes) is passed in as NaN and filled here. ``sums`` is (columns, 3, classes): first and
    second powers and the weights themselves. ``stored`` (columns, classes) counts the values stored in rows of each
    class.
    """
    n_classes = P.shape[1]
    for i in range(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            c = slot[indices[e]]
            if c < 0:
                continue
            for k in range(n_classes):
                p = P[i, k]
                if p != 0.0:
                    if np.isnan(centre[c, k]):
                        centre[c, k] = data[e]
                    z = data[e] - centre[c, k]
                    sums[c, 0, k] += p * z
                    sums[c, 1, k] += p * z * z
                    sums[c, 2, k] += p
                    stored[c, k] += 1


#: Sums may be taken in any order, so that vector instructions can be used; NaN and infinity are respected.
_ANY_ORDER = {"reassoc", "nsz", "contract"}


@numba.njit(cache=True, nogil=True, fastmath=_ANY_ORDER)
def sum_around(x: Any, origin: float) -> float:
    """Sum of ``x - origin``. It is not finite if a value is NaN or infinite."""
    total = 0.0
    for i in range(len(x)):
        total += np.float64(x[i]) - origin
    return total


@numba.njit(cache=True, nogil=True, fastmath=_ANY_ORDER)
def squares_around(x: Any, origin: float, offset: float) -> float:
    """Sum of squares around the mean ``origin + offset``.

    The sum of the deviations, which would be zero without rounding, corrects the squares.
    """
    squares, rest = 0.0, 0.0
    for i in range(len(x)):
        deviation = (np.float64(x[i]) - origin) - offset
        squares += deviation * deviation
        rest += deviation
    return squares - rest * rest / len(x)


@numba.njit(cache=True, nogil=True)
def centre_rows(X: Any, shift: Any, T: Any, mean: Any, roots: Any, start: int, stop: int, out: Any) -> None:
    """Rows ``start:stop`` of a C-ordered table, in the rows of ``out``: features, the root of the weight, the target.

    Features are taken around ``shift``, the target around ``mean``; both are multiplied by ``roots``. This is also done
    if the factor is 0, so that a NaN or infinity always shows as NaN. ``T`` holds the target of these rows only.
    """
    d, n_targets = X.shape[1], T.shape[1]
    for i in range(start, stop):
        root = roots[i]
        row = out[i - start]
        for r in range(d):
            row[r] = (X[i, r] - shift[r]) * root
        row[d] = root
        for k in range(n_targets):
            row[d + 1 + k] = (T[i - start, k] - mean[k]) * root


@numba.njit(cache=True, nogil=True)
def centre_columns(XT: Any, shift: Any, T: Any, mean: Any, roots: Any, start: int, stop: int, out: Any) -> None:
    """The same for a Fortran-ordered table, given transposed, in the columns of ``out``."""
    d, n_targets = XT.shape[0], T.shape[1]
    factors = roots[start:stop]
    for r in range(d):
        centre = shift[r]
        column, row = XT[r, start:stop], out[r]
        for i in range(len(factors)):
            row[i] = (column[i] - centre) * factors[i]
    for i in range(len(factors)):
        out[d, i] = factors[i]
        for k in range(n_targets):
            out[d + 1 + k, i] = (T[i, k] - mean[k]) * factors[i]


@numba.njit(cache=True, nogil=True)
def binned_sums(
    x: Any,
    codes: Any,
    values: Any,
    limits: Any,
    first: Any,
    centre: float,
    scale: float,
    counts: Any,
    sums: Any,
    powers: Any,
    cross: Any,
) -> int:
    """Add one column to the sums of its bins, to its first four power sums and to its products with the target.

    ``values`` are numbers of the target, or empty if it has classes; rows with the code -1 do not count. ``first`` has
    the first bin of each cell of equal width between the first and the last limit. Returns how many cells are missing.
    """
    n_limits = len(limits)
    while n_limits > 0 and limits[n_limits - 1] == np.inf:
        n_limits -= 1
    low, n_cells = (limits[0] if n_limits else 0.0), len(first) - 1
    width = limits[n_limits - 1] - low if n_limits else 0.0
    per_cell = n_cells / width if width > 0.0 else 0.0
    of_numbers, missing = len(values) > 0, 0
    p1 = p2 = p3 = p4 = 0.0
    for i in range(len(x)):
        code = codes[i]
        if code < 0:
            continue
        value = float(x[i])
        if not np.isfinite(value):
            missing += 1
            continue
        if n_limits == 0 or value < low:
            place, end = 0, 0
        elif value >= limits[n_limits - 1]:
            place, end = n_limits, n_limits
        else:
            cell = min(int((value - low) * per_cell), n_cells - 1)
            # one cell more on each side: the cell of a number may be rounded
            place, end = first[max(cell - 1, 0)], first[min(cell + 2, n_cells)]
        while place < end:
            middle = (place + end) // 2
            if limits[middle] <= value:
                place = middle + 1
            else:
                end = middle
        z = (value - centre) / scale
        t = values[i] if of_numbers else 1.0
        counts[place] += 1.0
        sums[place, code] += t
        cross[code] += z * t
        p1 += z
        p2 += z * z
        p3 += z * z * z
        p4 += z * z * z * z
    powers[0] += p1
    powers[1] += p2
    powers[2] += p3
    powers[3] += p4
    return missing
