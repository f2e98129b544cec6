"""Permutations in which rows change places only within their group: their moments, and their ranks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from dubio._kernels.threads import chunks
from dubio.significance.graph_null import permutation_moments
from dubio.tables.features import Columns
from dubio.tables.row_groups import groups_of_rows

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


def within_moments(
    X: NDArray[np.floating], basis: Floats, groups: Codes, columns: Columns | None = None
) -> tuple[Floats, Floats]:
    r"""Mean and variance of :math:`\|B^T f\|^2 / \|f\|^2` over permutations within groups, for every feature f.

    The columns of X and B are centred within every group g, so :math:`M = B B^T` has blocks :math:`M_{gh}` whose rows
    sum to zero. With :math:`s_g = \|f_g\|^2 / (n_g - 1)` and :math:`C_g = B_g^T B_g`,

    .. math:: E = \sum_g s_g\,\mathrm{tr}\,C_g, \qquad
              V = \sum_g \mathrm{Var}(f_g^T M_{gg} f_g)
                  + 2\Bigl(\bigl\|\sum_g s_g C_g\bigr\|^2 - \sum_g s_g^2 \|C_g\|^2\Bigr),

    because different groups are permuted independently. :func:`~dubio.significance.graph_null.permutation_moments` has
    the variance of one group. Every group has at least two rows. A constant column has mean and variance 0. For a
    feature of several columns F, the sums of squares are summed over them, and :math:`s_g C_g` is the Kronecker product
    of :math:`F_g^T F_g / (n_g - 1)` and :math:`C_g`.
    """
    order, starts, sizes = groups_of_rows(groups)
    B = basis[order]
    rank = B.shape[1]
    products = np.add.reduceat(B[:, :, None] * B[:, None, :], starts, axis=0)  # C_g: (groups, rank, rank)
    traces = np.einsum("gkk->g", products)
    squares = (products**2).sum(axis=(1, 2))
    leverages = np.add.reduceat((B**2).sum(axis=1) ** 2, starts)
    mean, variance = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for start, stop in chunks(X.shape[1], 256):
        f = np.array(X[:, start:stop], dtype=np.float64)[order]
        total = np.sqrt(np.einsum("ij,ij->j", f, f))
        f /= np.where(total > 0, total, 1.0)
        second = np.add.reduceat(f**2, starts, axis=0)
        fourth = np.add.reduceat(f**4, starts, axis=0)
        spread = second / (sizes - 1)[:, None]  # s_g: (groups, columns)
        mean[start:stop] = traces @ spread
        n = sizes[:, None]
        own = permutation_moments(second / n, fourth / n, n, traces[:, None], leverages[:, None], squares[:, None])[1]
        joined = spread.T @ products.reshape(len(sizes), rank * rank)
        variance[start:stop] = own.sum(axis=0) + 2.0 * ((joined**2).sum(axis=1) - squares @ spread**2)
    if columns is None or columns.is_plain:
        return mean, np.maximum(variance, 0.0)
    mean, variance = mean[columns.starts], variance[columns.starts]
    for feature in np.flatnonzero(columns.sizes > 1).tolist():
        f = np.array(X[:, columns.of(feature)], dtype=np.float64)[order]
        total = float(np.sqrt((f**2).sum()))
        f /= total if total > 0 else 1.0
        lengths = (f**2).sum(axis=1)
        gram = np.add.reduceat(f[:, :, None] * f[:, None, :], starts, axis=0)
        second, fourth = np.add.reduceat(lengths, starts), np.add.reduceat(lengths**2, starts)
        mean[feature] = traces @ (second / (sizes - 1))
        inner = (gram**2).sum(axis=(1, 2))
        own = permutation_moments(
            second / sizes, fourth / sizes, sizes, traces, leverages, squares, inner / sizes**2.0
        )[1]
        spread = gram / (sizes - 1)[:, None, None]
        joined = np.einsum("gab,gkl->abkl", spread, products)
        apart = ((spread**2).sum(axis=(1, 2)) * squares).sum()
        variance[feature] = own.sum() + 2.0 * (float((joined**2).sum()) - apart)
    return mean, np.maximum(variance, 0.0)


def fewest_orders(target: Floats, groups: Codes) -> float:
    """One over the number of different targets that permutations within groups can give: no p-value can be smaller."""
    order, starts, sizes = groups_of_rows(groups)
    logs = gammaln(sizes + 1.0).sum()
    for start, size in zip(starts, sizes, strict=True):
        same = np.unique(target[order[start : start + size]], axis=0, return_counts=True)[1]
        logs -= gammaln(same + 1.0).sum()
    return float(np.exp(-logs))


class GroupRanks:
    r"""Orders of all rows by their rank within their group: :math:`(r - 1/2) / n_g`.

    A row takes the place of its rank, so a feature's level and spread in a group do not matter. Without a relation,
    every order of the rows of a group is equally likely, whatever the feature. So one set of permutations serves all
    features, as without groups.
    """

    def __init__(self, groups: Codes) -> None:
        rows, starts, sizes = groups_of_rows(groups)
        rank = np.arange(len(groups)) - np.repeat(starts, sizes)
        share = (rank + 0.5) / np.repeat(sizes, sizes)
        tie = np.random.default_rng(0).permutation(len(groups))  # equal ranks of different groups: in a random order
        self._groups = groups
        #: The rows by group, where each group starts, its size, and the places of all ranks in the common order.
        self.slots = rows, starts, sizes, np.lexsort((tie, share))

    def order(self, column: NDArray[np.floating]) -> Codes:
        """The rows in the order of a feature's ranks within groups; equal values keep the order of the rows."""
        return np.asarray(np.lexsort((column, self._groups))[self.slots[3]])
