"""Selectors of the Laplacian family: thin shells that hold parameters and call the scores."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from dubio.graphs import neighbor_graph, read_graph, semi_supervised_graph, target_graph
from dubio.graphs.neighbors import Kernel, Symmetry
from dubio.scores.laplacian import combine_semi_supervised
from dubio.scores.quadratic import laplacian_ratio
from dubio.scores.weighted import (
    fisher_from_moments,
    supervision_moments,
    weighted_laplacian_from_moments,
)
from dubio.selectors.base import Count, ScoreSelector
from dubio.significance.graphs import GraphNull, RatioForms
from dubio.significance.leave_one_out import leave_one_out_pvalues
from dubio.significance.permutation import permutation_pvalues
from dubio.supervision import Supervision
from dubio.table import Matrix, standardize

_NEIGHBORS = [Interval(Integral, 1, None, closed="left")]
_WIDTH = [Interval(Real, 0, None, closed="neither"), StrOptions({"mean"})]


class LaplacianScore(ScoreSelector):
    """Unsupervised: keep the features that vary smoothly over the neighbour graph (see :func:`laplacian_score`).

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None
        A count, a share, what stands out (see :class:`~dubio.selectors.base.ScoreSelector`), or None for half.
    alpha : float
        With "auto": the share of false discoveries to allow.
    n_neighbors : int
        Neighbours of each row.
    t : float or "mean"
        Width of the kernel.
    kernel : {"squared", "linear"}
        ``exp(-d^2/t)`` or ``exp(-d/t)``.
    graph : sparse matrix or transformer, optional
        A graph of your own in place of the neighbours.
    symmetry : {"or", "and"}
        How directed neighbours become edges.
    standardize : bool
        Scale every column to unit variance before distances are taken; the columns handed back are the original.
    n_jobs : int, optional
        For the neighbour search.

    Attributes
    ----------
    scores_, ranking_, support_, n_features_
        See :class:`~dubio.selectors.base.ScoreSelector`. Low scores are good; ``inf`` for a constant feature.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dubio import LaplacianScore
    >>> X, _ = load_iris(return_X_y=True, as_frame=True)
    >>> list(LaplacianScore(n_features_to_select=2).fit(X).get_feature_names_out())
    ['petal length (cm)', 'petal width (cm)']
    """

    _target = "none"
    _needs_labels = False
    _takes_sparse = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neighbors": _NEIGHBORS,
        "t": _WIDTH,
        "kernel": [StrOptions({"squared", "linear"})],
        "graph": [None, "sparse matrix", HasMethods("fit_transform")],
        "symmetry": [StrOptions({"or", "and"})],
    }

    def __init__(
        self,
        *,
        n_features_to_select: Count = None,
        alpha: float = 0.05,
        n_neighbors: int = 5,
        t: float | Literal["mean"] = 1.0,
        kernel: Kernel = "squared",
        graph: Any = None,
        symmetry: Symmetry = "or",
        standardize: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.n_neighbors = n_neighbors
        self.t = t
        self.kernel = kernel
        self.graph = graph
        self.symmetry = symmetry
        self.standardize = standardize
        self.n_jobs = n_jobs

    def _score(
        self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        space = standardize(X) if self.standardize else X
        if self.graph is not None:
            graph = read_graph(self.graph, space, **self._graph_options)
        else:
            graph = neighbor_graph(space, n_neighbors=self.n_neighbors, n_jobs=self.n_jobs, **self._graph_options)
        return laplacian_ratio(graph, X)

    def _pvalues(
        self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Of each feature on the graph of all others; on a graph given by the user, on that one."""
        space = standardize(X) if self.standardize else X
        if self.graph is not None:
            null = GraphNull(read_graph(self.graph, space, **self._graph_options), X)
            return permutation_pvalues(null, alpha=self.alpha, random_state=self._seed, n_jobs=self.n_jobs)
        return leave_one_out_pvalues(
            space, n_neighbors=self.n_neighbors, random_state=self._seed, n_jobs=self.n_jobs, **self._graph_options
        )

    @property
    def _graph_options(self) -> dict[str, Any]:
        return {"t": self.t, "kernel": self.kernel, "symmetry": self.symmetry}


class SupervisedLaplacianScore(ScoreSelector):
    """Numeric target: keep the features whose values are close where y is (see :func:`supervised_laplacian_score`).

    Rows whose y is NaN are left out; y is standardised first.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None
        A count, a share, what stands out (see :class:`~dubio.selectors.base.ScoreSelector`), or None for half.
    alpha : float
        With "auto": the share of false discoveries to allow.
    n_neighbors : int
        Neighbours of each row on the line of y.
    t : float or "mean"
        Width of the kernel, in squared standard deviations of y.

    Attributes
    ----------
    scores_, ranking_, support_, n_features_
        See :class:`~dubio.selectors.base.ScoreSelector`. Low scores are good.
    n_labelled_, n_unlabelled_ : int
        Rows used and left out.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from dubio import SupervisedLaplacianScore
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> list(SupervisedLaplacianScore(n_features_to_select=2).fit(X, y).get_feature_names_out())
    ['bmi', 's5']
    """

    _target = "numbers"
    _takes_sparse = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"n_neighbors": _NEIGHBORS, "t": _WIDTH}

    def __init__(
        self,
        *,
        n_features_to_select: Count = None,
        alpha: float = 0.05,
        n_neighbors: int = 5,
        t: float | Literal["mean"] = 1.0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.n_neighbors = n_neighbors
        self.t = t

    def _score(
        self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        return laplacian_ratio(self._target_graph(supervision), X[supervision.labelled])

    def _pvalues(
        self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        null = GraphNull(self._target_graph(supervision), X[supervision.labelled])
        return permutation_pvalues(null, alpha=self.alpha, random_state=self._seed)

    def _target_graph(self, supervision: Supervision) -> sparse.csr_array:
        y = _standard_target(supervision)[supervision.labelled]
        return target_graph(y, n_neighbors=self.n_neighbors, t=self.t)


class SemiSupervisedLaplacianScore(ScoreSelector):
    """Numeric target, mostly missing: neighbours in y where known, in X otherwise.

    See :func:`semi_supervised_laplacian_score`. NaN in y means unlabelled. y is standardised first, and so are the
    features unless ``standardize=False``.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None
        A count, a share, what stands out (see :class:`~dubio.selectors.base.ScoreSelector`), or None for half.
    alpha : float
        With "auto": the share of false discoveries to allow.
    n_neighbors, n_neighbors_supervised : int
        Neighbours in the mixed graph and in the graph of the labelled rows.
    t : float or "mean"
        Width of both kernels.
    C : float
        Weight of edges between labelled rows.
    standardize : bool
        Scale every column before distances are taken.
    n_jobs : int, optional
        For the neighbour search.

    Attributes
    ----------
    scores_, ranking_, support_, n_features_
        See :class:`~dubio.selectors.base.ScoreSelector`. Low scores are good.
    n_labelled_, n_unlabelled_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_diabetes
    >>> from dubio import SemiSupervisedLaplacianScore
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> y = y.to_numpy(copy=True)
    >>> y[100:] = np.nan
    >>> selector = SemiSupervisedLaplacianScore(n_features_to_select=2).fit(X, y)
    >>> list(selector.get_feature_names_out()), selector.n_unlabelled_
    (['s4', 's5'], 342)
    """

    _target = "numbers"
    _n_permutations = 200  # each builds the mixed graph anew
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neighbors": _NEIGHBORS,
        "n_neighbors_supervised": _NEIGHBORS,
        "t": _WIDTH,
        "C": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        *,
        n_features_to_select: Count = None,
        alpha: float = 0.05,
        n_neighbors: int = 30,
        n_neighbors_supervised: int = 5,
        t: float | Literal["mean"] = 1.0,
        C: float = 1.0,
        standardize: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.n_neighbors = n_neighbors
        self.n_neighbors_supervised = n_neighbors_supervised
        self.t = t
        self.C = C
        self.standardize = standardize
        self.n_jobs = n_jobs

    def _score(
        self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        y = _standard_target(supervision)
        known = supervision.labelled
        space = standardize(X) if self.standardize else X
        mixed = semi_supervised_graph(space, y, n_neighbors=self.n_neighbors, t=self.t, C=self.C, n_jobs=self.n_jobs)
        labelled = target_graph(y[known], n_neighbors=self.n_neighbors_supervised, t=self.t)
        return combine_semi_supervised(laplacian_ratio(mixed, X), laplacian_ratio(labelled, X[known]))


class WeightedLaplacianScore(ScoreSelector):
    """Classes, hard or soft: keep the features that hold likely classmates together.

    See :func:`weighted_laplacian_score`. Hard labels are one-hot memberships; unlabelled rows are left out and
    counted in ``n_unlabelled_``.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None
        A count, a share, what stands out (see :class:`~dubio.selectors.base.ScoreSelector`), or None for half.
    alpha : float
        With "auto": the share of false discoveries to allow.
    missing_label : "auto", None or a value
        What means "unlabelled" in hard labels besides None and NaN: "auto" adds the whole number -1.

    Attributes
    ----------
    scores_, ranking_, support_, n_features_
        See :class:`~dubio.selectors.base.ScoreSelector`. Low scores are good.
    classes_ : array
        The classes, in the order of the columns of soft labels.
    n_labelled_, n_unlabelled_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dubio import WeightedLaplacianScore
    >>> from dubio.supervision import unsure_expert
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> doubtful = unsure_expert(y, mean=0.3, random_state=0).memberships
    >>> list(WeightedLaplacianScore(n_features_to_select=2).fit(X, doubtful).get_feature_names_out())
    ['petal length (cm)', 'petal width (cm)']
    """

    _takes_sparse = True
    _checks_values_itself = True
    _scores_are_independent = True

    def __init__(self, *, n_features_to_select: Count = None, alpha: float = 0.05, missing_label: Any = "auto") -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.missing_label = missing_label

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Rank the features of ``X``.

        Parameters
        ----------
        X : array-like or CSR matrix (n, d)
        y : array-like (n,) or (n, classes)
            Classes, or memberships whose rows sum to 1 (a row of NaN = unlabelled).
        sample_weight : array-like (n,), optional

        Returns
        -------
        self
        """
        return self._fit_once(X, y, sample_weight=sample_weight)

    def _score(
        self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        return weighted_laplacian_from_moments(supervision_moments(X, supervision, sample_weight, self._known_names()))

    def _screen(
        self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64] | None:
        if sample_weight is not None:
            return None  # the moments are those of unweighted rows
        assert supervision.memberships is not None
        known = supervision.labelled
        share = 1.0 - 1.0 / (1.0 + self.scores_)  # similar over all pairs, from similar over dissimilar
        return RatioForms.of_memberships(supervision.memberships[known]).pvalues(X[known], share)


class FisherScore(WeightedLaplacianScore):
    """Classes, hard or soft: spread of the class means over spread within classes (see :func:`fisher_score`).

    Parameters and attributes as for :class:`WeightedLaplacianScore`; high scores are good.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dubio import FisherScore
    >>> X, y = load_iris(return_X_y=True)
    >>> FisherScore(n_features_to_select=2).fit(X, y).scores_.round(2)
    array([ 1.62,  0.67, 16.06, 13.06])
    """

    _lower_is_better = False

    def _score(
        self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        return fisher_from_moments(supervision_moments(X, supervision, sample_weight, self._known_names()))

    def _screen(
        self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64] | None:
        return None


def _standard_target(supervision: Supervision) -> NDArray[np.float64]:
    """The numeric target with mean 0 and standard deviation 1 over the labelled rows; NaN stays NaN."""
    assert supervision.values is not None
    known = supervision.values[supervision.labelled]
    spread = known.std()
    if not spread > 0:
        raise ValueError(
            f"y has the same value, {known[0]:g}, in all {len(known)} labelled row(s): it says nothing of the features."
        )
    return (supervision.values - known.mean()) / spread
