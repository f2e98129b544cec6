"""Rows that belong together are no independent evidence: what is tested between the groups, and what within them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import gammaln

from dubio.errors import counted
from dubio.evidence.permutation import permutation_moments
from dubio.kernels.threads import chunks
from dubio.problem import Problem
from dubio.sampling import mixed_contents
from dubio.table.columns import Columns
from dubio.table.groups import centred_within, group_means, groups_of_rows

Floats = NDArray[np.float64]
#: A share of the variation of the target below this is rounding.
_NOTHING = 1e-9


def independent_parts(problem: Problem) -> list[tuple[Problem, float]]:
    r"""The problems to test in place of one whose rows belong together, each with its share of the error.

    *Between groups*: one row per group, with the mean of each feature (the most frequent category of a nominal one) and
    of the target over its labelled rows, weighted if there are weights. The weight of a group is the mean of its rows.
    These rows are independent, and whole groups change places in permutations.
    *Within groups*: the rows of groups in which the target varies, each feature without the mean of its group. The
    problem keeps its groups, and rows change places only within them. So what is constant in a group, such as a
    patient's own level, can neither help nor mislead.

    The allowed error is shared in proportion to where the target varies: :math:`\sum (\bar t_g - \bar t)^2` between the
    groups, :math:`\sum (t_i - \bar t_g)^2` within. So if the target is the same in all rows of a group, only groups are
    compared, and a single wrong label does not change that. If p-values of both parts exist, a feature has
    :math:`p = \min(p_b / s_b, p_w / s_w)`.

    Without groups, the problem itself is the only part.
    """
    if problem.groups is None:
        return [(problem.counted, 1.0)]
    problem = problem.counted.tested
    problem = problem.rows(np.argsort(mixed_contents(problem, 0), kind="stable"))  # sums do not hang on the row order
    problem.supervision.require_enough()
    known = problem.used
    groups = known.groups
    assert groups is not None
    within, between = _variation(known, groups)
    parts = []
    if between > _NOTHING:
        parts.append((unit_problem(known), between))
    if within > _NOTHING:
        parts.append((within_problem(known), within))
    return parts or [(unit_problem(known), 1.0)]


def groups_in_words(problem: Problem, kept_apart: bool, tested: bool) -> str:
    """What was done about rows that belong together, in a sentence without a full stop.

    ``kept_apart``: the method itself compares rows only with rows of other groups. ``tested``: features were tested.
    """
    known = problem.tested.used
    assert known.groups is not None
    text = f"{counted(problem.n_groups, 'group')} of rows"
    if known.n_groups < problem.n_groups:
        have = "has" if known.n_groups == 1 else "have"
        text = f"{known.n_groups} of {text} {have} a label"
    if tested and _variation(known, known.groups)[0] > _NOTHING:
        text += "; tests compare their means, and rows within each group"
    elif tested:
        text += "; each counts once"
    if kept_apart:
        return f"{text}. Experts and neighbours of a row are from other groups"
    return f"{text}. The order of this method takes rows as independent"


def _variation(problem: Problem, groups: NDArray[np.int64]) -> tuple[float, float]:
    """The shares of the target's variation within and between groups."""
    if problem.n_rows == 0:
        return 0.0, 1.0
    target = problem.supervision.target_matrix(np.arange(problem.n_rows))
    inside = float((centred_within(target, groups) ** 2).sum())
    total = float((target**2).sum())
    share = inside / total if total > 0 else 0.0
    return share, 1.0 - share


def most_frequent(table: Floats, groups: NDArray[np.int64]) -> Floats:
    """(groups, columns): the most frequent value of each group; of equally frequent ones the smallest."""
    codes = np.unique(groups, return_inverse=True)[1]
    result = np.empty((codes.max() + 1, table.shape[1]))
    for j in range(table.shape[1]):
        values, place = np.unique(table[:, j], return_inverse=True)
        counts = np.zeros((len(result), len(values)))
        np.add.at(counts, (codes, place), 1.0)
        result[:, j] = values[counts.argmax(axis=1)]
    return result


def _most_frequent_level(shares: Floats) -> Floats:
    """1 for the category with the largest share of a group, 0 for others; all 0 if no column stands for it."""
    whole = np.column_stack([shares, 1.0 - shares.sum(axis=1)])  # the last place: cells that are in none of the columns
    return np.asarray(whole.argmax(axis=1)[:, None] == np.arange(shares.shape[1]), dtype=np.float64)


def unit_problem(problem: Problem) -> Problem:
    """One row per group: the mean of each feature (most frequent category of nominal ones), of the target and of the
    weights. Its rows are in the order of the groups, and it has no groups any more."""
    groups = problem.groups
    assert groups is not None
    weight = problem.sample_weight
    X: Any
    if sparse.issparse(problem.X):
        place = np.unique(groups, return_inverse=True)[1]
        own = np.ones(len(groups)) if weight is None else weight
        members = sparse.csr_array((own / np.bincount(place, own)[place], (place, np.arange(len(groups)))))
        X = sparse.csr_matrix(members @ problem.X)
    else:
        X = group_means(problem.X, groups, weight)
        nominal = np.flatnonzero(problem.nominal)
        X[:, nominal] = most_frequent(problem.X[:, nominal], groups)
        for start, stop in [] if problem.columns is None else problem.columns.level_blocks():
            X[:, start:stop] = _most_frequent_level(X[:, start:stop])
    return replace(
        problem,
        X=X,
        supervision=problem.supervision.of_groups(groups, weight),
        sample_weight=None if weight is None else group_means(weight[:, None], groups)[:, 0],
        groups=None,
    )


def within_problem(problem: Problem) -> Problem:
    """The rows of groups in which the target varies; features without the means of their groups."""
    groups = problem.groups
    assert groups is not None
    moves = (centred_within(problem.supervision.target_matrix(np.arange(problem.n_rows)), groups) != 0).any(axis=1)
    varied = np.isin(groups, groups[moves])
    part = problem.rows(np.flatnonzero(varied))
    X = part.X.toarray() if sparse.issparse(part.X) else part.X
    assert part.groups is not None
    return replace(part, X=centred_within(X, part.groups))


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

    because different groups are permuted independently. :func:`~dubio.evidence.permutation.permutation_moments` has
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
