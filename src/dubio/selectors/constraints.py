"""Selectors supervised by pairs of rows, by labels, or by both."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from dubio.constraints.clusters import cluster_rows
from dubio.constraints.selection import Order, select_hard, select_soft
from dubio.graphs.neighbors import clip_neighbors, nearest_others, symmetrize
from dubio.moments.class_moments import ClassMoments
from dubio.moments.running import RunningMoments
from dubio.scores.constrained_laplacian import Scale, score_on_clusters, score_on_graph
from dubio.scores.constraint import count_pairs, score_classes, score_groups, score_pairs
from dubio.selectors.base import AT_LEAST_ONE, Count, ScoreSelector
from dubio.selectors.weighted import MomentSelector
from dubio.supervision import Supervision
from dubio.supervision.pair_forms import given_pairs, supervision_pairs
from dubio.supervision.pairs import Pairs, row_groups
from dubio.table import Matrix, standardize


class _PairSelector(ScoreSelector):
    """A selector whose ``fit`` takes pairs beside, or in place of, labels."""

    _needs_labels = False
    _takes_soft = False
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
            Classes, some or most of them missing. Two labelled rows are a pair of their own.
        must_link, cannot_link : array-like (m, 2) and (c, 2), optional
            Positions in ``X`` of rows that belong to one class, and to two. In a pipeline, ask for them with
            ``set_fit_request(must_link=True, cannot_link=True)``. Cross-validation cuts rows out of ``X`` and
            leaves pairs as they are: give it labels instead, or use
            :func:`~dubio.constraints.restrict_pairs`.
        must_link_weights, cannot_link_weights : array-like (m,) and (c,), optional
            How sure each pair is. Weighted pairs are neither closed nor checked for contradictions.

        Returns
        -------
        self
        """
        pairs = {
            "must_link": must_link,
            "cannot_link": cannot_link,
            "must_link_weights": must_link_weights,
            "cannot_link_weights": cannot_link_weights,
        }
        return self._fit_once(X, y, **pairs)

    def _refuse_one_row(self, X: Matrix) -> None:
        if X.shape[0] < 2:
            raise ValueError("X has n_samples=1: a pair needs two rows.")


class ConstraintScore(_PairSelector, MomentSelector):
    """Keep the features on which rows that belong together are close, and rows that do not are apart.

    See :func:`constraint_score`. Of the methods that take pairs this is the plain one, and in our trials the
    better one (see the page on pairs). With labels and no pairs it is one pass over the table: ``partial_fit`` takes
    that by blocks, ``merge`` joins two selectors, and ``fit`` takes Dask arrays and dataframes.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None
        A count, a share, what stands out (see :class:`~dubio.selectors.base.ScoreSelector`), or None for half.
    alpha : float
        With "auto": the share of false discoveries to allow.
    closure : bool
        Whether pairs that follow from the given ones count too. They are not listed, so labels of thousands of
        rows are fine.
    missing_label : "auto", None or a value
        What means "unlabelled" in y besides None and NaN: "auto" adds the whole number -1.

    Attributes
    ----------
    scores_, ranking_, support_, n_features_
        See :class:`~dubio.selectors.base.ScoreSelector`. Low scores are good.
    n_must_link_, n_cannot_link_ : int
        Pairs that counted, with those that followed.

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

    _scores_are_independent = True
    _checks_values_itself = False

    def __init__(
        self,
        *,
        n_features_to_select: Count = None,
        alpha: float = 0.05,
        closure: bool = True,
        missing_label: Any = "auto",
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.closure = closure
        self.missing_label = missing_label

    def partial_fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Add a block of rows with labels; see :meth:`WeightedLaplacianScore.partial_fit`.

        Pairs name rows of one table, so they cannot come in blocks.
        """
        if hasattr(self, "scores_") and self._running is None:
            raise ValueError("this selector was fitted on pairs, which cannot be continued by blocks: make a new one.")
        return super().partial_fit(X, y)

    def _is_ready(self, running: RunningMoments) -> bool:
        return bool(running.has_two_classes and running.moments.weight.max() > 1)

    def _finish(self, running: RunningMoments) -> None:
        count_pairs(running.moments)
        super()._finish(running)

    def _score_moments(self, moments: ClassMoments) -> NDArray[np.float64]:
        self.n_must_link_, self.n_cannot_link_ = count_pairs(moments)
        return score_classes(moments)

    def _score(
        self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        self._refuse_one_row(X)
        if supervision.kind == "hard" and not supervision.has_pairs:
            return MomentSelector._score(self, X, supervision, sample_weight)
        self._running = None
        pairs = given_pairs(supervision)
        if self.closure and pairs.are_sure:
            groups = row_groups(pairs, supervision.n_rows, supervision.codes)
            self.n_must_link_, self.n_cannot_link_ = groups.n_must_link, groups.n_cannot_link
            return score_groups(X, groups)
        pairs = supervision_pairs(supervision, closure=self.closure)
        self.n_must_link_, self.n_cannot_link_ = len(pairs.must_link), len(pairs.cannot_link)
        return score_pairs(X, pairs)


class ConstrainedLaplacianScore(_PairSelector):
    """Laplacian score of all rows that respects pairs (CSFS; see :func:`constrained_laplacian_score`).

    Neighbours are rows of one cluster, as published, or plain nearest neighbours. Pairs may first be selected
    by coherence; with all pairs of a labelling the hard rule keeps hardly any, so all is the default.
    :meth:`as_published` is the paper's own setting.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None
        A count, a share, what stands out (see :class:`~dubio.selectors.base.ScoreSelector`), or None for half.
    alpha : float
        With "auto": the share of false discoveries to allow.
    neighbors : {"clusters", "knn"}
        ``"clusters"``: a self-organising map of the rows that are in no pair, joined with those that are, is
        clustered by Ward's method, as many clusters as the Davies-Bouldin index likes best; neighbours are in
        one cluster. ``"knn"``: one is among the ``n_neighbors`` nearest of the other.
    selection : {"all", "hard", "soft"}
        Which pairs count; see :func:`~dubio.constraints.select_pairs`.
    order : {"shortest", "random", "weight"}
        For ``selection="soft"``, which pairs come first.
    n_neighbors : int
        For ``neighbors="knn"``.
    lam : float
        Width of the kernel, in units of ``scale``.
    scale : {"mean", "none"}
        Whether squared distances are divided by their mean.
    unlabelled : {"prototypes", "rows"}
        For ``neighbors="clusters"``, whether the score is taken over the map's prototypes, as published, or
        over the rows themselves, which takes time that grows with the square of the clusters.
    closure : bool
        Whether pairs that follow from the given ones count too.
    standardize : bool
        Scale every column to unit variance before distances are taken; the columns handed back are the
        original.
    missing_label : "auto", None or a value
        What means "unlabelled" in y besides None and NaN: "auto" adds the whole number -1.
    random_state : int, RandomState or None
        For ``order="random"``.
    n_jobs : int, optional
        For the neighbour search.

    Attributes
    ----------
    scores_, ranking_, support_, n_features_
        See :class:`~dubio.selectors.base.ScoreSelector`. Low scores are good.
    n_must_link_, n_cannot_link_ : int
        Pairs known, with those that followed.
    n_must_link_kept_, n_cannot_link_kept_ : int
        Pairs that counted, after selection.
    map_shape_ : tuple of int or None
        Sides of the map; None without one (``"knn"``, or every row is in a pair).
    n_clusters_ : int or None
    row_clusters_ : array (n_rows,) or None
        Cluster of each row.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from dubio import ConstrainedLaplacianScore
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> y[np.arange(150) % 5 != 0] = -1
    >>> selector = ConstrainedLaplacianScore(n_features_to_select=2).fit(X, y)
    >>> list(selector.get_feature_names_out()), selector.map_shape_, selector.n_clusters_
    (['petal length (cm)', 'petal width (cm)'], (9, 6), 2)
    """

    _n_permutations = 200  # each finds its clusters anew
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "neighbors": [StrOptions({"clusters", "knn"})],
        "selection": [StrOptions({"all", "hard", "soft"})],
        "order": [StrOptions({"shortest", "random", "weight"})],
        "n_neighbors": AT_LEAST_ONE,
        "lam": [Interval(Real, 0, None, closed="neither")],
        "scale": [StrOptions({"mean", "none"})],
        "unlabelled": [StrOptions({"prototypes", "rows"})],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        n_features_to_select: Count = None,
        alpha: float = 0.05,
        neighbors: Literal["clusters", "knn"] = "clusters",
        selection: Literal["all", "hard", "soft"] = "all",
        order: Order = "shortest",
        n_neighbors: int = 5,
        lam: float = 0.1,
        scale: Scale = "mean",
        unlabelled: Literal["prototypes", "rows"] = "prototypes",
        closure: bool = True,
        standardize: bool = True,
        missing_label: Any = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.neighbors = neighbors
        self.selection = selection
        self.order = order
        self.n_neighbors = n_neighbors
        self.lam = lam
        self.scale = scale
        self.unlabelled = unlabelled
        self.closure = closure
        self.standardize = standardize
        self.missing_label = missing_label
        self.random_state = random_state
        self.n_jobs = n_jobs

    @classmethod
    def as_published(cls, **parameters: Any) -> Self:
        """The paper's setting: hard selection, clusters of a map, lambda = 0.1 on plain squared distances.

        On wide tables the kernel then underflows and hardly any pair is coherent; both are warned of.

        >>> from dubio import ConstrainedLaplacianScore
        >>> ConstrainedLaplacianScore.as_published(n_features_to_select=5)
        ConstrainedLaplacianScore(n_features_to_select=5, scale='none', selection='hard')
        """
        published = {
            "neighbors": "clusters",
            "selection": "hard",
            "lam": 0.1,
            "scale": "none",
            "unlabelled": "prototypes",
            "closure": True,
        }
        return cls(**{**published, **parameters})

    def _score(
        self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        self._refuse_one_row(X)
        space = X.astype(np.float64)
        if self.standardize:
            space = standardize(space)
        known = supervision_pairs(supervision, closure=self.closure)
        kept = self._select(space, known)
        self.n_must_link_, self.n_cannot_link_ = len(known.must_link), len(known.cannot_link)
        self.n_must_link_kept_, self.n_cannot_link_kept_ = len(kept.must_link), len(kept.cannot_link)
        if self.neighbors == "knn":
            self.map_shape_ = self.n_clusters_ = self.row_clusters_ = None
            k = clip_neighbors(self.n_neighbors, len(space) - 1)
            return score_on_graph(space, symmetrize(nearest_others(space, k, self.n_jobs)), kept, self.lam, self.scale)
        in_pairs = supervision.labelled.copy()
        in_pairs[known.rows] = True
        rows = np.flatnonzero(in_pairs)
        clusters = cluster_rows(space, rows)
        self.map_shape_, self.n_clusters_ = clusters.map_shape, clusters.n_clusters
        self.row_clusters_ = clusters.row_cluster
        if self.unlabelled == "rows":
            return score_on_clusters(space, clusters.row_cluster, kept, self.lam, self.scale)
        points = Pairs(
            np.searchsorted(rows, kept.must_link),
            np.searchsorted(rows, kept.cannot_link),
            kept.must_link_weights,
            kept.cannot_link_weights,
        )
        return score_on_clusters(clusters.points, clusters.point_cluster, points, self.lam, self.scale)

    def _select(self, space: NDArray[np.float64], known: Pairs) -> Pairs:
        if not len(known):
            warnings.warn(
                "no must-link and no cannot-link pair: the score is the Laplacian score of the neighbours alone",
                UserWarning,
                stacklevel=6,
            )
            return known
        kept = known
        if self.selection == "hard":
            kept = select_hard(space, known)
        elif self.selection == "soft":
            kept = select_soft(space, known, self.order, self.random_state)
        counts = f"of {len(known.must_link)} must-link and {len(known.cannot_link)} cannot-link pairs"
        if not len(kept):
            warnings.warn(
                f'selection="{self.selection}" kept none {counts}: no pair is coherent with all others. All of '
                'them are used instead; selection="soft" keeps more',
                UserWarning,
                stacklevel=6,
            )
            return known
        if not len(kept.must_link):
            self._warn_of_one_kind(counts, "must-link", "its numerator holds only neighbours together")
        elif not len(kept.cannot_link):
            self._warn_of_one_kind(counts, "cannot-link", "its denominator is only the spread around the mean")
        return kept

    def _warn_of_one_kind(self, counts: str, missing: str, effect: str) -> None:
        left = "left after selection" if self.selection != "all" else "given"
        warnings.warn(
            f"no {missing} pair is {left} {counts}: the score still ranks, but {effect}",
            UserWarning,
            stacklevel=7,
        )
