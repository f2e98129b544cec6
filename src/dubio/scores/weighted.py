"""Scores of classes, hard or soft, from class moments alone: weighted Laplacian score and Fisher score."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import _check_sample_weight

from dubio.moments.class_moments import ClassMoments, class_moments
from dubio.supervision import Supervision, read_supervision, require_two_classes
from dubio.table import Matrix, column_names, read_matrix


def weighted_laplacian_score(
    X: ArrayLike, P: Any, *, sample_weight: ArrayLike | None = None, missing_label: Any = "auto"
) -> NDArray[np.float64]:
    r"""Weighted Laplacian score of every feature for class memberships (low is good).

    With :math:`S^{sim} = P P^T`, :math:`S^{dis} = 1 - S^{sim}` and graph Laplacians :math:`L = D - S`,

    .. math:: WLS_r = \frac{f_r^T L^{sim} f_r}{f_r^T L^{dis} f_r}
              = \frac{\sum_k A_k V_{kr}}{W B_r + \sum_k (W - A_k) V_{kr}},

    where :math:`A_k` is the total membership of class k, :math:`V_{kr}` the membership-weighted sum of squared
    deviations of feature r from its mean in class k, :math:`B_r` that of the class means from the overall mean, and
    :math:`W = \sum_k A_k`. The right-hand side is what is computed: one pass, no n x n matrix.

    Parameters
    ----------
    X : array-like or CSR matrix (n, d)
        The table, taken as it is (the score does not depend on the scale or offset of a column).
    P : array-like (n, classes) or (n,)
        Memberships, a row of NaN = unlabelled; or hard classes, the same as one-hot memberships. Unlabelled rows
        are left out.
    sample_weight : array-like (n,), optional
        A weight of 2 counts a row twice.
    missing_label : "auto", None or a value
        What means "unlabelled" in hard classes besides None and NaN.

    Returns
    -------
    scores : array (d,)
        ``inf`` for a feature that is constant among the labelled rows.

    References
    ----------
    .. [1] G. Doquire and M. Verleysen (2012). Handling imprecise labels in feature selection with graph Laplacian.
       ICPRAM, 162-169, equations 3 to 5.

    Examples
    --------
    >>> from dubio import weighted_laplacian_score
    >>> X = [[0.0, 5.0], [0.1, 1.0], [1.0, 4.0], [0.9, 2.0]]
    >>> P = [[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.3, 0.7]]
    >>> weighted_laplacian_score(X, P).round(3)
    array([0.392, 1.045])
    """
    return weighted_laplacian_from_moments(_moments(X, P, sample_weight, missing_label))


def fisher_score(
    X: ArrayLike, y: Any, *, sample_weight: ArrayLike | None = None, missing_label: Any = "auto"
) -> NDArray[np.float64]:
    r"""Fisher score of every feature (high is good): spread of the class means over spread within classes.

    .. math:: F_r = \frac{\sum_k n_k (\mu_{kr} - \mu_r)^2}{\sum_k n_k \sigma_{kr}^2}

    Soft memberships count each row partly in each class. Parameters as in :func:`weighted_laplacian_score`.

    Returns
    -------
    scores : array (d,)
        0 for a constant feature; ``inf`` where the classes have no spread at all and different means.

    Examples
    --------
    >>> from dubio import fisher_score
    >>> fisher_score([[0.0, 5.0], [0.2, 1.0], [1.0, 4.0], [0.8, 2.0]], ["a", "a", "b", "b"]).round(3)
    array([16.,  0.])
    """
    return fisher_from_moments(_moments(X, y, sample_weight, missing_label))


def weighted_laplacian_from_moments(moments: ClassMoments) -> NDArray[np.float64]:
    """The score from class moments (of the labelled rows)."""
    total = moments.total_weight
    similar = moments.weight @ moments.m2
    different = total * moments.between + (total - moments.weight) @ moments.m2
    return np.divide(similar, different, out=np.full(len(similar), np.inf), where=different > 0)


def fisher_from_moments(moments: ClassMoments) -> NDArray[np.float64]:
    """The score from class moments (of the labelled rows)."""
    between, within = moments.between, moments.within
    worst_or_best = np.where(between > 0, np.inf, 0.0)
    return np.divide(between, within, out=worst_or_best, where=within > 0)


def supervision_moments(
    X: Matrix,
    supervision: Supervision,
    sample_weight: NDArray[np.float64] | None,
    names: list[Any] | None = None,
    *,
    first_row: int = 0,
    n_threads: int | None = None,
) -> ClassMoments:
    """Class moments of validated data; unlabelled rows have zero memberships and do not count."""
    assert supervision.memberships is not None
    P = supervision.memberships
    P = P if sample_weight is None else P * sample_weight[:, None]
    return class_moments(X, P, names, first_row=first_row, n_threads=n_threads)


def _moments(X: ArrayLike, y: Any, sample_weight: ArrayLike | None, missing_label: Any) -> ClassMoments:
    matrix = read_matrix(X, accept_sparse=True, check_values=False)
    supervision = read_supervision(y, matrix.shape[0], missing_label=missing_label)
    if supervision.kind == "none":
        raise ValueError("y is None: this score needs classes; without any label use laplacian_score.")
    require_two_classes(supervision)
    weights = None
    if sample_weight is not None:
        weights = _check_sample_weight(sample_weight, matrix, dtype=np.float64, ensure_non_negative=True)
    return supervision_moments(matrix, supervision, weights, column_names(X))
