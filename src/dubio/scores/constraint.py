"""The constraint score: spread over rows that belong together, over spread over rows that do not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from dubio.graphs.quadratic import by_blocks, quadratic_form
from dubio.moments.class_moments import ClassMoments, class_moments
from dubio.scores.weighted import weighted_laplacian_from_moments
from dubio.supervision import read_supervision
from dubio.supervision.pairs import Pairs, RowGroups, pair_graph, read_pairs, row_groups
from dubio.table import CANCELLED, column_names, read_matrix


def constraint_score(
    X: ArrayLike,
    must_link: ArrayLike | None = None,
    cannot_link: ArrayLike | None = None,
    *,
    y: ArrayLike | None = None,
    must_link_weights: ArrayLike | None = None,
    cannot_link_weights: ArrayLike | None = None,
) -> NDArray[np.float64]:
    r"""Constraint score of each feature; low is good.

    .. math::
        C_r = \frac{\sum_{(i,j) \in ML} (f_{ri} - f_{rj})^2}{\sum_{(i,j) \in CL} (f_{ri} - f_{rj})^2}

    Parameters
    ----------
    X : array-like or CSR matrix of shape (n_rows, n_features)
        Scaling a column does not change its score.
    must_link, cannot_link : array-like of shape (m, 2) and (c, 2), optional
        Row indices of pairs that belong to one class, and to two. Each pair counts once, whatever the order.
    y : array-like of shape (n_rows,), optional
        Classes, some possibly missing. All pairs of labelled rows then count, and every pair that follows
        from them and the given pairs together. Nothing is listed: 2,000 labelled rows have 2 million pairs,
        and the sums over them need only the mean and the spread of each class.
    must_link_weights, cannot_link_weights : array-like, optional
        How sure each pair is: it multiplies the pair's term. Not together with ``y``.

    Returns
    -------
    ndarray of shape (n_features,)
        ``inf``, the worst score, for a feature on which no cannot-link differs, constant ones among them.

    References
    ----------
    Zhang, Chen, Zhou, "Constraint score: a new filter method for feature selection with pairwise
    constraints", 2008.

    Examples
    --------
    >>> X = [[0.0, 5.0], [1.0, 9.0], [7.0, 5.0]]
    >>> constraint_score(X, must_link=[(0, 1)], cannot_link=[(0, 2)])
    array([0.02040816,        inf])
    >>> constraint_score(X, y=["a", "a", "b"])
    array([0.01176471, 1.        ])
    """
    only_labels = y is not None and must_link is None and cannot_link is None
    table = read_matrix(X, accept_sparse=True, check_values=not only_labels)
    n_rows = table.shape[0]
    pairs = read_pairs(must_link, cannot_link, n_rows, must_link_weights, cannot_link_weights)
    if y is None:
        return score_pairs(table, pairs)
    if not pairs.are_sure:
        raise ValueError("y and weights cannot be given together: pairs that follow from others have no weight")
    supervision = read_supervision(y, n_rows)
    codes = class_codes(supervision)
    if only_labels:
        assert supervision.memberships is not None
        return score_classes(class_moments(table, supervision.memberships, column_names(X)))
    return score_groups(table, row_groups(pairs, n_rows, codes))


def class_codes(supervision: Any) -> NDArray[np.int64] | None:
    """Class of each row, -1 where unknown; ``None`` where nothing is known but, perhaps, pairs."""
    if supervision.kind not in ("none", "hard"):
        raise ValueError(f"pairs need one class a row; y holds {supervision.describe()}")
    codes: NDArray[np.int64] | None = supervision.codes
    return codes


def score_pairs(X: NDArray[Any], pairs: Pairs) -> NDArray[np.float64]:
    """:func:`constraint_score` of listed pairs, validated."""
    refuse_one_kind(len(pairs.must_link), len(pairs.cannot_link))
    together = pair_graph(pairs.must_link, pairs.must_link_weights, X.shape[0])
    apart = pair_graph(pairs.cannot_link, pairs.cannot_link_weights, X.shape[0])
    return ratio(quadratic_form(together, X), quadratic_form(apart, X))


def score_classes(moments: ClassMoments) -> NDArray[np.float64]:
    """:func:`constraint_score` of all pairs of labelled rows, from the moments of their classes.

    Summed over these pairs, its numerator and denominator are those of the weighted Laplacian score of one-hot rows.
    """
    count_pairs(moments)
    return weighted_laplacian_from_moments(moments)


def count_pairs(moments: ClassMoments) -> tuple[int, int]:
    """How many must-links and cannot-links the labelled rows make; there must be some of both."""
    sizes = moments.weight.astype(np.int64)
    must_link = int((sizes * (sizes - 1) // 2).sum())
    cannot_link = int(sizes.sum() * (sizes.sum() - 1) // 2) - must_link
    refuse_one_kind(must_link, cannot_link)
    return must_link, cannot_link


def score_groups(X: NDArray[Any], groups: RowGroups) -> NDArray[np.float64]:
    r""":func:`constraint_score` of all pairs that groups stand for, without listing them.

    With size :math:`n_g`, mean :math:`m_g` and sum of squared deviations :math:`W_g` of each group, the
    must-links sum to :math:`\sum_g n_g W_g` and the cannot-links, over rival groups, to
    :math:`\sum_{g<h} n_h W_g + n_g W_h + n_g n_h (m_g - m_h)^2`: nothing is subtracted, no digits are lost.
    """
    refuse_one_kind(groups.n_must_link, groups.n_cannot_link)
    if sparse.issparse(X):
        return _score_sparse_groups(X, groups)
    return ratio(*_group_sums(X, groups))


def _group_sums(X: NDArray[Any], groups: RowGroups) -> NDArray[np.float64]:
    """Both sums (2, d) of :func:`score_groups`."""
    sizes, means, spreads = _group_moments(X, groups)
    between = groups.rivals.copy()
    between.data = between.data * np.repeat(sizes, np.diff(between.indptr)) * sizes[between.indices]
    apart = (groups.rivals @ sizes) @ spreads + quadratic_form(between, means)
    return np.vstack([sizes @ spreads, apart])


def _score_sparse_groups(X: Any, groups: RowGroups) -> NDArray[np.float64]:
    r"""The same in time proportional to the stored values, from the sums :math:`s_g` of each group.

    :math:`\sum_g n_g Q_g - s_g^2` over :math:`\sum_g (R n)_g Q_g - s^T R s`, with Q the sums of squares, R the rivals;
    columns that lose their digits in one of these subtractions are summed as dense ones.
    """
    rows = np.flatnonzero(groups.group >= 0)
    group, sizes = groups.group[rows], groups.sizes.astype(np.float64)
    table = sparse.csr_array(X)[rows].astype(np.float64)
    joined = sparse.csr_array((np.ones(len(rows)), group, np.arange(len(rows) + 1)), shape=(len(rows), len(sizes)))
    sums, squares = joined.T @ table, table.multiply(table)
    minuends = np.vstack([sizes[group] @ squares, (groups.rivals @ sizes)[group] @ squares])
    both = minuends - [sums.multiply(sums).sum(axis=0), sums.multiply(groups.rivals @ sums).sum(axis=0)]
    lost = np.flatnonzero((both < CANCELLED * minuends).any(axis=0))
    if len(lost):
        both[:, lost] = by_blocks(X, lambda block: _group_sums(block, groups), lost)
    return ratio(*both)


def _group_moments(
    X: NDArray[Any], groups: RowGroups
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    rows = np.flatnonzero(groups.group >= 0)
    rows = rows[np.argsort(groups.group[rows], kind="stable")]
    sizes = groups.sizes.astype(np.float64)
    starts = np.concatenate([[0], np.cumsum(groups.sizes)[:-1]])
    # One row as the origin: a constant column is then exactly zero, and large offsets cost no digits.
    values = X[rows].astype(np.float64)
    values -= values[0].copy()
    means = np.add.reduceat(values, starts, axis=0) / sizes[:, None]
    values -= np.repeat(means, groups.sizes, axis=0)
    values *= values
    return sizes, means, np.add.reduceat(values, starts, axis=0)


def refuse_one_kind(n_must_link: int, n_cannot_link: int) -> None:
    """The score is a ratio: with one kind of pair missing it ranks nothing."""
    if n_must_link and n_cannot_link:
        return
    if n_cannot_link:
        missing, effect = "must-link", "the numerator is a sum over them, so every score would be 0"
    elif n_must_link:
        missing, effect = (
            "cannot-link",
            "the denominator is a sum over them, so every score would be infinite",
        )
    else:
        missing, effect = "must-link and no cannot-link", "every score would be 0/0"
    raise ValueError(
        f"no {missing} pair is left: {effect}, and no feature better than another. Give pairs of both kinds, "
        "or labels of at least two classes, one of them twice"
    )


def ratio(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    """``above / below``; the worst score, infinity, where ``below`` is 0."""
    return np.divide(above, below, out=np.full_like(above, np.inf), where=below > 0)
