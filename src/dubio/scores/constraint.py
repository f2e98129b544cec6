"""Constraint score, C4 and the spectral score: pairs of rows that belong together, and pairs that do not."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.linalg import eigsh

from dubio.errors import InputError
from dubio.methods.base import ScoreSelector
from dubio.methods.parameters import estimator
from dubio.moments.class_moments import ClassMoments
from dubio.moments.running import RunningMoments
from dubio.neighbors.graphs import read_weights
from dubio.neighbors.quadratic import by_blocks, quadratic_form
from dubio.problem import Problem
from dubio.ranking import Scored
from dubio.scores.laplacian import laplacian_score, product
from dubio.scores.weighted import MomentSelector, ratio
from dubio.table.matrix import CANCELLED, Columns, feature_sums, read_matrix
from dubio.target.pairs import RowGroups, pair_graph, row_groups

Floats = NDArray[np.float64]


def constraint_score(
    X: ArrayLike,
    must_link: ArrayLike | None = None,
    cannot_link: ArrayLike | None = None,
    *,
    y: ArrayLike | None = None,
    must_link_weights: ArrayLike | None = None,
    cannot_link_weights: ArrayLike | None = None,
) -> Floats:
    r"""Constraint score of each feature; low is good.

    .. math::
        C_r = \frac{\sum_{(i,j) \in ML} (f_{ri} - f_{rj})^2}{\sum_{(i,j) \in CL} (f_{ri} - f_{rj})^2}

    Parameters
    ----------
    X : array-like or CSR matrix of shape (n_rows, n_features)
        Scaling a column does not change its score.
    must_link, cannot_link : array-like of shape (m, 2) and (c, 2), optional
        Row indices of pairs that belong to the same class, and to different classes. Each pair counts once, in either
        order.
    y : array-like of shape (n_rows,), optional
        Classes; some may be missing. All pairs of labelled rows then count, and every pair that follows from them and
        the given pairs. The pairs are not listed: 2,000 labelled rows have 2 million pairs, but the sums over them
        need only the mean and the spread of each class.
    must_link_weights, cannot_link_weights : array-like, optional
        How certain each pair is: this multiplies the pair's term. Cannot be combined with ``y``.

    Returns
    -------
    ndarray of shape (n_features,)
        ``inf``, the worst score, for a feature in which no cannot-link pair differs, such as a constant feature.

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
    if y is not None and (must_link_weights is not None or cannot_link_weights is not None):
        raise InputError("y", "is given together with weights", "leave one of them out: pairs from y have no weight")
    return ConstraintScore._scores_for(**locals(), closure=y is not None)


class PairSelector(ScoreSelector):
    """A selector whose ``fit`` takes pairs, labels, or both."""

    _takes = ("pairs", "hard")
    _needs_labels = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"closure": ["boolean"]}

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        must_link: Any = None,
        cannot_link: Any = None,
        must_link_weights: Any = None,
        cannot_link_weights: Any = None,
    ) -> Self:
        """Rank the features of ``X`` by pairs, labels or both.

        Parameters
        ----------
        X : array-like (n_rows, n_features)
            The table.
        y : array-like (n_rows,), optional
            Classes; some or most may be missing. Any two labelled rows are a pair too.
        must_link, cannot_link : array-like (m, 2) and (c, 2), optional
            Positions in ``X`` of rows that belong to the same class, and to different classes. In a pipeline, request
            them with ``set_fit_request(must_link=True, cannot_link=True)``. Cross-validation removes rows from ``X``
            but does not change the pairs: give it labels instead, or use
            :func:`~dubio.target.pairs.restrict_pairs`.
        must_link_weights, cannot_link_weights : array-like (m,) and (c,), optional
            How certain each pair is. For weighted pairs, no further pairs are derived, and contradictions are not
            checked.
        """
        pairs = {"must_link": must_link, "cannot_link": cannot_link}
        return self._fit(X, y, **pairs, must_link_weights=must_link_weights, cannot_link_weights=cannot_link_weights)

    def _require(self, problem: Problem) -> None:
        super()._require(problem)
        if problem.n_rows < 2:
            raise InputError("X", "has n_samples=1", "a pair needs two rows")


@estimator
class ConstraintScore(PairSelector, MomentSelector):
    """Keep the features in which rows that belong together are close, and rows that do not are far apart.

    See :func:`constraint_score`. This is the simpler of the two methods that take pairs, and it did better in our
    trials (see the page on pairs). With labels and no pairs it needs one pass over the table: ``partial_fit`` takes the
    table in blocks, ``merge`` joins two selectors, and ``fit`` takes Dask arrays and dataframes.

    Parameters
    ----------
    closure : bool
        Whether pairs that follow from the given pairs count too. They are not listed, so thousands of labelled rows
        are no problem.

    Attributes
    ----------
    n_must_link_, n_cannot_link_ : int
        Number of pairs used, including those that follow from others.

    Notes
    -----
    The first of the two scores of the paper [1]_. Assumes that the pairs are right and typical of all rows, and
    needs pairs of both kinds. Do not use it with a handful of pairs, or with pairs that may be wrong and have no
    weights.

    References
    ----------
    .. [1] D. Zhang, S. Chen and Z.-H. Zhou (2008). Constraint score: a new filter method for feature selection with
       pairwise constraints. Pattern Recognition 41, 1440-1451.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dubio import ConstraintScore
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = ConstraintScore(n_features_to_select=2)
    >>> selector.fit(X, must_link=[(0, 1), (50, 60), (60, 70)], cannot_link=[(0, 50), (70, 149)])
    ConstraintScore(n_features_to_select=2)
    >>> list(selector.get_feature_names_out()), selector.n_must_link_, selector.n_cannot_link_
    (['petal length (cm)', 'petal width (cm)'], 4, 9)
    """

    _name = "constraint"
    _does = "must-link rows close, cannot-link rows far apart"
    _as_published: ClassVar[dict[str, Any]] = {"closure": False}
    _checks_values_itself = False

    closure: bool = True

    @classmethod
    def as_published(cls, **parameters: Any) -> Self:
        """The printed form: only the pairs as given.

        >>> from dubio import ConstraintScore
        >>> ConstraintScore.as_published(n_features_to_select=5)
        ConstraintScore(closure=False, n_features_to_select=5)
        """
        return cls(**{**cls._as_published, **parameters})

    def partial_fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Add a block of rows with labels. Pairs refer to rows of one table, so they cannot come in blocks."""
        if hasattr(self, "scores_") and self._running is None:
            raise InputError("X", "cannot be added: this selector was fitted on pairs of one table", "make a new one")
        return super().partial_fit(X, y)

    def _require_running(self, running: RunningMoments[Any]) -> None:
        super()._require_running(running)
        self._counts(running.moments)

    def read_problem(self, X: Any, y: Any = None, **more: Any) -> Problem:
        """Read a table, labels and pairs. Without pairs, the sums of the classes check the values themselves."""
        has_pairs = y is None or any(value is not None for value in more.values())
        return super().read_problem(X, y, **{"check_values": has_pairs, **more})

    def _is_ready(self, running: RunningMoments[Any]) -> bool:
        return bool(running.has_two_classes and running.moments.weight.max() > 1)

    def _counts(self, moments: ClassMoments) -> dict[str, Any]:
        sizes = moments.weight.astype(np.int64)
        together = int((sizes * (sizes - 1) // 2).sum())
        return pair_counts(together, int(sizes.sum() * (sizes.sum() - 1) // 2) - together)

    def _score(self, problem: Problem) -> Scored:
        known = problem.supervision
        if not known.has_pairs and known.codes_of_pairs is not None:
            return super()._score(problem)
        if self.closure and known.pairs.are_sure:
            groups = row_groups(known.pairs, known.n_rows, known.codes_of_pairs)
            counts = pair_counts(groups.n_must_link, groups.n_cannot_link)
            scores = score_groups(problem.X, groups, problem.columns)
        else:
            pairs = known.all_pairs(closure=self.closure)
            counts = pair_counts(len(pairs.must_link), len(pairs.cannot_link))
            sides = (pairs.must_link, pairs.must_link_weights), (pairs.cannot_link, pairs.cannot_link_weights)
            forms = [quadratic_form(pair_graph(*side, problem.n_rows), problem.X) for side in sides]
            scores = ratio(*problem.per_feature(np.stack(forms)))
        return Scored(scores, attributes={**counts, "_running": None})


def score_groups(X: NDArray[Any], groups: RowGroups, columns: Columns | None = None) -> Floats:
    r""":func:`constraint_score` of all pairs that the groups represent, without listing them.

    With size :math:`n_g`, mean :math:`m_g` and sum of squared deviations :math:`W_g` of each group, the
    must-links sum to :math:`\sum_g n_g W_g` and the cannot-links, over rival groups, to
    :math:`\sum_{g<h} n_h W_g + n_g W_h + n_g n_h (m_g - m_h)^2`. Nothing is subtracted, so no digits are lost.
    """
    if sparse.issparse(X):
        return _score_sparse_groups(X, groups)
    return ratio(*feature_sums(_group_sums(X, groups), columns))


def _group_sums(X: NDArray[Any], groups: RowGroups) -> Floats:
    """Both sums (2, d) of :func:`score_groups`."""
    rows = np.flatnonzero(groups.group >= 0)
    rows = rows[np.argsort(groups.group[rows], kind="stable")]
    sizes = groups.sizes.astype(np.float64)
    starts = np.cumsum(groups.sizes) - groups.sizes
    # Use one row as the origin: a constant column is then exactly zero, and large offsets cost no digits.
    values = X[rows].astype(np.float64)
    values -= values[0].copy()
    means = np.add.reduceat(values, starts, axis=0) / sizes[:, None]
    spreads = np.add.reduceat((values - np.repeat(means, groups.sizes, axis=0)) ** 2, starts, axis=0)
    between = groups.rivals.copy()
    between.data = between.data * np.repeat(sizes, np.diff(between.indptr)) * sizes[between.indices]
    apart = (groups.rivals @ sizes) @ spreads + quadratic_form(between, means)
    return np.vstack([sizes @ spreads, apart])


def _score_sparse_groups(X: Any, groups: RowGroups) -> Floats:
    r"""The same in time proportional to the stored values, from the sums :math:`s_g` of each group.

    :math:`\sum_g n_g Q_g - s_g^2` over :math:`\sum_g (R n)_g Q_g - s^T R s`, with Q the sums of squares, R the rivals.
    Columns that lose digits in one of these subtractions are summed as dense columns.
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


def pair_counts(n_must_link: int, n_cannot_link: int) -> dict[str, Any]:
    """The numbers of pairs, as attributes; raises if one kind is missing: the score is a ratio and needs both."""
    if n_must_link and n_cannot_link:
        return {"n_must_link_": n_must_link, "n_cannot_link_": n_cannot_link}
    missing, effect = "must-link and no cannot-link", "every score would be 0/0"
    if n_cannot_link:
        missing, effect = "must-link", "the numerator is a sum over them, so every score would be 0"
    elif n_must_link:
        missing, effect = "cannot-link", "the denominator is a sum over them, so every score would be infinite"
    raise InputError(
        "must_link" if n_cannot_link else "cannot_link",
        f"is empty (no {missing} pair is left): {effect}, and no feature would be better than another",
        "give pairs of both kinds, or labels of at least two classes with two rows in one of them",
    )


#: Up to this many rows, computing all eigenvectors is as fast as computing a few, and safer.
_DENSE_ROWS = 400


def spec_score(
    X: ArrayLike, graph: Any, *, function: Literal[1, 2, 3] = 1, power: int = 1, n_eigenvectors: int | None = None
) -> Floats:
    r"""One of SPEC's three ranking functions on a given graph.

    With :math:`\mathcal L = D^{-1/2} (D - S) D^{-1/2}`, eigenvalues :math:`\lambda_j` (ascending) and
    eigenvectors :math:`\xi_j`, :math:`\hat f = D^{1/2} f / \|D^{1/2} f\|`, :math:`\alpha_j = \hat f' \xi_j`
    and :math:`\gamma(\lambda) = \lambda^{power}`:

    .. math::
        \varphi_1 = \hat f' \gamma(\mathcal L) \hat f, \qquad
        \varphi_2 = \frac{\varphi_1}{1 - \alpha_1^2}, \qquad
        \varphi_3 = \sum_{j=2}^{k} (\gamma(2) - \gamma(\lambda_j)) \alpha_j^2

    Low is good for the first two; **high** is good for the third. The second, with power 1, is the Laplacian score
    of the graph. The first depends on the zero point of a feature, so it is meant for centred features.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
    graph : sparse matrix or array of shape (n_rows, n_rows)
        Symmetric, not negative. A neighbour graph gives an unsupervised score; a graph of equal classes (see
        :func:`class_graph`) gives a supervised score. The diagonal counts, as in the paper.
    function : {1, 2, 3}
    power : int
        1, or more to damp the high frequencies of the graph ("F2+r^4" is function 2 with power 4).
    n_eigenvectors : int or None
        k for the third function, usually the number of classes or clusters.

    Returns
    -------
    ndarray of shape (n_features,)
        A feature without any spread on the graph has the worst score: ``inf``, or 0 for the third function.

    References
    ----------
    Zhao, Liu, "Spectral feature selection for supervised and unsupervised learning", 2007.

    Examples
    --------
    >>> X = [[0.0, 1.0], [0.0, 2.0], [1.0, 1.0], [1.0, 2.0]]
    >>> spec_score(X, class_graph(["a", "a", "b", "b"]), function=2).round(6)
    array([0., 1.])
    """
    table = read_matrix(X).astype(np.float64, copy=False)
    if np.ndim(function) or function not in (1, 2, 3):
        raise InputError("function", f"={function!r}", "give 1, 2 or 3")
    if not (isinstance(power, int | np.integer) and power >= 1):
        raise InputError("power", f"={power!r}", "give a whole number of at least 1")
    edges = read_weights(graph, len(table), tolerance=1e-9)
    degree = np.asarray(edges.sum(axis=1)).ravel()
    inverse = ratio(np.ones_like(degree), np.sqrt(degree), 0.0)
    if not degree.any():
        raise InputError("graph", "has no edge", "there is nothing for a feature to follow")
    # Functions 2 and 3 only use differences from the weighted mean; exactly zero for constant columns.
    mean = degree @ (table - table[0]) / degree.sum()
    centred = np.where((table == table[0]).all(axis=0), 0.0, table - table[0] - mean)
    spread = degree @ centred**2
    if function == 3:
        if n_eigenvectors is None:
            raise InputError("n_eigenvectors", "is needed for function=3", "give the number of classes or clusters")
        values, vectors = _smoothest(edges * inverse[:, None] * inverse[None, :], degree, n_eigenvectors)
        # Centring removes the trivial eigenvector, for any basis of the zero eigenvalues.
        alpha = vectors.T @ (np.sqrt(degree)[:, None] * centred)
        return ratio((2.0**power - values**power) @ alpha**2, degree @ table**2, 0.0)
    smooth = _power_form(edges, degree, inverse, centred, power)
    return ratio(smooth, degree @ table**2 if function == 1 else spread)


def class_graph(y: ArrayLike) -> sparse.csr_array:
    """SPEC's supervised graph: 1 / (size of the class) between rows of the same class, including a row with itself.

    On it, SPEC's second function is ``1 / (1 + F)`` with the Fisher score F (:func:`dubio.fisher_score`).

    Examples
    --------
    >>> class_graph(["a", "b", "a"]).toarray()
    array([[0.5, 0. , 0.5],
           [0. , 1. , 0. ],
           [0.5, 0. , 0.5]])
    """
    codes = np.unique(np.asarray(y), return_inverse=True)[1].reshape(-1)
    indicator = sparse.csr_array((np.ones(len(codes)), (np.arange(len(codes)), codes)))
    share = sparse.csr_array(indicator / np.bincount(codes)[None, :])
    return sparse.csr_array(share @ indicator.T)


def c4_score(
    X: ArrayLike,
    must_link: ArrayLike | None = None,
    cannot_link: ArrayLike | None = None,
    *,
    y: ArrayLike | None = None,
    must_link_weights: ArrayLike | None = None,
    cannot_link_weights: ArrayLike | None = None,
    n_neighbors: int = 5,
    t: float | Literal["mean"] = 1.0,
) -> Floats:
    """C4: the Laplacian score of all rows times the constraint score of the pairs; low is good.

    Parameters are those of :func:`~dubio.constraint_score` and :func:`~dubio.laplacian_score`.

    References
    ----------
    Kalakech, Biela, Macaire, Hamad, "Constraint scores for semi-supervised feature selection: a comparative
    study", 2011.

    Examples
    --------
    >>> X = [[0.0, 5.0], [1.0, 9.0], [7.0, 4.0], [8.0, 9.0]]
    >>> scores = c4_score(X, must_link=[(0, 1)], cannot_link=[(0, 2)], n_neighbors=1)
    >>> bool(scores[0] < scores[1])
    True
    """
    weights = {"must_link_weights": must_link_weights, "cannot_link_weights": cannot_link_weights}
    pairs = constraint_score(X, must_link, cannot_link, y=y, **weights)
    return product(pairs, laplacian_score(X, n_neighbors=n_neighbors, t=t))


def _power_form(edges: sparse.csr_array, degree: Floats, inverse: Floats, f: Floats, power: int) -> Floats:
    r""":math:`f' D^{1/2} \mathcal L^{power} D^{1/2} f` of each column; ``inverse`` is the diagonal of D^(-1/2)."""
    # L^p = L^h L^(p - 2h) L^h; (D - S) g and f'(D - S) f need no eigenvectors.
    for _ in range((power - 1) // 2):
        f = inverse[:, None] ** 2 * (degree[:, None] * f - edges @ f)
    if power % 2:
        return quadratic_form(edges, f)
    g = inverse[:, None] * (degree[:, None] * f - edges @ f)
    return np.einsum("ij,ij->j", g, g)


def _smoothest(similar: Any, degree: Floats, k: int) -> tuple[Floats, Floats]:
    """The smallest eigenvalues of the normalised Laplacian of the graph, and their eigenvectors."""
    n = len(degree)
    if not 1 <= k <= n:
        raise InputError("n_eigenvectors", f"={k}", f"give a number from 1 to {n}, the number of rows")
    whole = sparse.csr_array(similar) + sparse.diags_array((degree <= 0).astype(np.float64))  # isolated rows
    if n <= _DENSE_ROWS or k > n // 4:
        values, vectors = np.linalg.eigh(whole.toarray())
        values, vectors = values[::-1][:k], vectors[:, ::-1][:, :k]
    else:
        values, vectors = eigsh(whole, k=k, which="LA", v0=np.random.default_rng(0).standard_normal(n))
    return np.clip(1.0 - values, 0.0, 2.0), vectors
