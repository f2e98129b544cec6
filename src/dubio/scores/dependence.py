"""How much of the target one feature explains: along a smooth curve, or a straight line (high is good)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dubio._kernels.smooth import smooth_errors
from dubio._kernels.threads import chunks, resolve_threads, run_chunks
from dubio.supervision import Supervision, read_supervision, require_numbers, require_two_classes
from dubio.supervision.reader import Target
from dubio.table import Matrix, read_matrix

#: Columns handled by one thread at a time.
_COLUMNS = 16


def smooth_r2_score(
    X: ArrayLike,
    target: Any,
    *,
    kind: Target = "auto",
    missing_label: Any = "auto",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    r"""Rank-smooth R2 of every feature: the share of the target its neighbours along the feature explain.

    The rows are sorted by the feature (ties in a random, seeded order). Each row's target vector :math:`t_i`
    (memberships, or a number) is predicted by the mean :math:`\hat t_i` of its :math:`2h` neighbours in that order
    without itself, :math:`h = \max(4, \lfloor n/16 \rfloor)`, fewer at the ends, and

    .. math:: R^2 = 1 - \frac{\sum_i \|t_i - \hat t_i\|^2}{\sum_i \|t_i - \bar t_{-i}\|^2},

    :math:`\bar t_{-i}` being the mean of all other rows. It sees any smooth relation of one feature to the target,
    depends on the ranks of the feature only, and so has one null distribution for all features
    (:func:`dubio.significance.smooth_pvalues`).

    Parameters
    ----------
    X : array-like (n, d)
        The table, on any scale.
    target : array-like (n,) or (n, classes)
        Memberships, classes or numbers; unlabelled rows are left out.
    kind : {"auto", "classes", "numbers"}
        What a 1-D target holds.
    missing_label : "auto", None or a value
        What means "unlabelled" in classes besides None and NaN.
    random_state : int, RandomState or None
        Order of rows with equal values.
    n_jobs : int, optional
        Threads over the features.

    Returns
    -------
    scores : array (d,)
        At most 1; about 0, or a little below, for a feature without a relation; ``-inf`` for one that is constant
        among the labelled rows.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio import smooth_r2_score
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
    >>> smooth_r2_score(X, X[:, 1] ** 2).round(2)  # no correlation, and yet
    array([-0.02,  0.99])
    """
    matrix = read_matrix(X)
    supervision = _read(target, matrix.shape[0], kind, missing_label)
    return smooth_r2(matrix, supervision, random_state=random_state, n_jobs=n_jobs)


def linear_r2_score(
    X: ArrayLike, target: Any, *, kind: Target = "auto", missing_label: Any = "auto"
) -> NDArray[np.float64]:
    r"""R2 of the regression of every feature on the target (high is good).

    .. math:: R^2_r = \frac{\|U^T (f_r - \bar f_r)\|^2}{\|f_r - \bar f_r\|^2},

    with U an orthonormal basis of the centred target: memberships, or one number. For numbers it is the squared
    correlation; for hard classes :math:`F/(1+F)` with F the :func:`fisher_score`, and the test of it is the usual
    analysis of variance.

    Parameters
    ----------
    X : array-like (n, d)
    target, kind, missing_label
        As in :func:`smooth_r2_score`.

    Returns
    -------
    scores : array (d,)
        From 0 to 1; 0 for a feature that is constant among the labelled rows.

    Examples
    --------
    >>> from dubio import linear_r2_score
    >>> linear_r2_score([[0.0, 5.0], [1.0, 1.0], [2.0, 4.0], [3.0, 2.0]], [0.1, 1.1, 2.1, 3.1]).round(2)
    array([1.  , 0.18])
    """
    matrix = read_matrix(X)
    return linear_r2(matrix, _read(target, matrix.shape[0], kind, missing_label))[0]


def smooth_r2(
    X: Matrix, supervision: Supervision, *, random_state: Any = 0, n_jobs: int | None = None
) -> NDArray[np.float64]:
    """:func:`smooth_r2_score` of validated data."""
    known = np.flatnonzero(supervision.labelled)
    # Shuffled rows and a stable sort: ties come in a random order, the same for every feature.
    known = known[_generator(random_state).permutation(len(known))]
    target = np.ascontiguousarray(target_matrix(supervision, known))
    n = len(known)
    half = half_window(n)
    total = leave_one_out_total(target)

    def work(start: int, stop: int) -> NDArray[np.float64]:
        columns = np.ascontiguousarray(X[known, start:stop].T)
        errors = np.empty(stop - start)
        smooth_errors(target, np.argsort(columns, axis=1, kind="stable"), half, errors)
        return np.where((columns == columns[:, :1]).all(axis=1), -np.inf, 1.0 - errors / total)

    return np.concatenate(run_chunks(work, chunks(X.shape[1], _COLUMNS), resolve_threads(n_jobs)))


def linear_r2(X: Matrix, supervision: Supervision) -> tuple[NDArray[np.float64], int]:
    """:func:`linear_r2_score` of validated data, and the rank of the target (its degrees of freedom)."""
    known = supervision.labelled
    basis = orthonormal_basis(target_matrix(supervision, known))
    scores = np.zeros(X.shape[1])
    for start, stop in chunks(X.shape[1], 256):
        block = np.array(X[known, start:stop], dtype=np.float64)
        block -= block[0]  # so that a constant column is exactly zero from here on
        block -= block.mean(axis=0)
        total = np.einsum("ij,ij->j", block, block)
        explained = ((basis.T @ block) ** 2).sum(axis=0)
        np.divide(explained, total, out=scores[start:stop], where=total > 0)
    return np.minimum(scores, 1.0), basis.shape[1]


def half_window(n_rows: int) -> int:
    """Neighbours on either side: a sixteenth of the rows, at least four."""
    return max(4, n_rows // 16)


def leave_one_out_total(target: NDArray[np.float64]) -> float:
    """Squared errors of the mean of all other rows, for a centred target."""
    n = len(target)
    total = float((target**2).sum()) * (n / (n - 1)) ** 2
    if not total > 0:
        raise ValueError(f"y says the same of all {n} labelled row(s): it says nothing of the features.")
    return total


def target_matrix(supervision: Supervision, rows: NDArray[Any]) -> NDArray[np.float64]:
    """What is to be explained, centred: memberships or standardised numbers of those rows, one column each."""
    if supervision.kind == "numbers":
        assert supervision.values is not None
        values = supervision.values[rows][:, None]
        scale = np.abs(values).max() or 1.0  # squares of very large or small numbers would leave the range of floats
        target = values / scale
    else:
        assert supervision.memberships is not None
        target = supervision.memberships[rows]
    target = target - target[0]  # exactly zero when all rows say the same
    target -= target.mean(axis=0)
    spread = np.sqrt((target**2).mean())
    return target / spread if spread > 0 else target


def orthonormal_basis(target: NDArray[np.float64]) -> NDArray[np.float64]:
    """Orthonormal columns that span a centred target; columns that add nothing are left out."""
    left, values, _ = np.linalg.svd(target, full_matrices=False)
    if not values[0] > 0:
        raise ValueError(f"y says the same of all {len(target)} labelled row(s): it says nothing of the features.")
    return left[:, values > values[0] * 1e-9]


def _read(target: Any, n_rows: int, kind: Target, missing_label: Any) -> Supervision:
    supervision = read_supervision(target, n_rows, target=kind, missing_label=missing_label)
    if supervision.kind == "none":
        raise ValueError("target is None: this score needs memberships, classes or numbers.")
    if supervision.kind == "numbers":
        require_numbers(supervision)
    else:
        require_two_classes(supervision)
    return supervision


def _generator(random_state: Any) -> np.random.Generator:
    """A NumPy generator from scikit-learn's ``random_state``."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return np.random.default_rng(random_state)
