"""Selectors of the Laplacian family: thin shells that hold parameters and call the scores."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from dubio.graphs.nearest_rows import Route
from dubio.graphs.neighbors import Kernel, Symmetry, read_graph
from dubio.graphs.targets import target_graph
from dubio.ranking import Ranking
from dubio.scores.laplacian import ScoresAndErrors, laplacian_scores, semi_supervised_scores, supervised_scores
from dubio.selectors.base import AT_LEAST_ONE, Count, ScoreSelector
from dubio.significance.graphs import GraphNull
from dubio.significance.leave_one_out import leave_one_out_pvalues
from dubio.significance.permutation import permutation_pvalues
from dubio.supervision import Supervision
from dubio.table import Matrix, standardize

_WIDTH = [Interval(Real, 0, None, closed="neither"), StrOptions({"mean"})]
_ROUTE: dict[str, list[Any]] = {
    "neighbors": [StrOptions({"exact", "approximate", "anchors"})],
    "n_anchors": [Interval(Integral, 2, None, closed="left")],
    "random_state": ["random_state"],
}


class _GraphSelector(ScoreSelector):
    """A selector whose scores may be estimates from sampled rows, with standard errors.

    Attributes
    ----------
    scores_std_error_ : array (n_features,)
        With ``neighbors="anchors"`` only.
    """

    @abstractmethod
    def _scores_and_errors(self, X: Matrix, supervision: Supervision) -> ScoresAndErrors:
        """Scores and, where they are estimates, their standard errors."""

    def _score(
        self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        scores, errors = self._scores_and_errors(X, supervision)
        if errors is not None:
            self.scores_std_error_ = errors
        elif hasattr(self, "scores_std_error_"):
            del self.scores_std_error_
        return scores

    def to_ranking(self) -> Ranking:
        """The result as a :class:`~dubio.ranking.Ranking`; standard errors, if any, are a column of its frame."""
        ranking = super().to_ranking()
        errors = getattr(self, "scores_std_error_", None)
        return ranking if errors is None else replace(ranking, extras=ranking.extras | {"std_error": errors})


class LaplacianScore(_GraphSelector):
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
    neighbors : {"exact", "approximate", "anchors"}
        How the graph of many rows is found: exactly, by nearest-neighbour descent (needs pynndescent), or from the
        exact neighbours of ``n_anchors`` sampled rows, which gives estimates with standard errors.
    n_anchors : int
        Rows sampled for "anchors".
    random_state : int, RandomState or None
        For "approximate" and "anchors".
    standardize : bool
        Scale every column to unit variance before distances are taken; the columns handed back are the original.
    n_jobs : int, optional
        For the neighbour search.

    Attributes
    ----------
    scores_, ranking_, support_, n_features_
        See :class:`~dubio.selectors.base.ScoreSelector`. Low scores are good; ``inf`` for a constant feature.
    scores_std_error_ : array (n_features,)
        With ``neighbors="anchors"``: the standard error of each score.

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
        "n_neighbors": AT_LEAST_ONE,
        "t": _WIDTH,
        "kernel": [StrOptions({"squared", "linear"})],
        "graph": [None, "sparse matrix", HasMethods("fit_transform")],
        "symmetry": [StrOptions({"or", "and"})],
        **_ROUTE,
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
        neighbors: Route = "exact",
        n_anchors: int = 2000,
        standardize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.n_neighbors = n_neighbors
        self.t = t
        self.kernel = kernel
        self.graph = graph
        self.symmetry = symmetry
        self.neighbors = neighbors
        self.n_anchors = n_anchors
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _scores_and_errors(self, X: Matrix, supervision: Supervision) -> ScoresAndErrors:
        return laplacian_scores(
            standardize(X) if self.standardize else X,
            X,
            n_neighbors=self.n_neighbors,
            t=self.t,
            kernel=self.kernel,
            graph=self.graph,
            symmetry=self.symmetry,
            neighbors=self.neighbors,
            n_anchors=self.n_anchors,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )

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


class SupervisedLaplacianScore(_GraphSelector):
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
    neighbors : {"exact", "anchors"}
        Whether all labelled rows are scored, or ``n_anchors`` sampled ones, which gives estimates with standard
        errors. On a line neighbours are found exactly in any case.
    n_anchors : int
        Rows sampled for "anchors".
    random_state : int, RandomState or None
        For "anchors".

    Attributes
    ----------
    scores_, ranking_, support_, n_features_
        See :class:`~dubio.selectors.base.ScoreSelector`. Low scores are good.
    scores_std_error_ : array (n_features,)
        With ``neighbors="anchors"``: the standard error of each score.
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
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neighbors": AT_LEAST_ONE,
        "t": _WIDTH,
        **_ROUTE,
        "neighbors": [StrOptions({"exact", "anchors"})],
    }

    def __init__(
        self,
        *,
        n_features_to_select: Count = None,
        alpha: float = 0.05,
        n_neighbors: int = 5,
        t: float | Literal["mean"] = 1.0,
        neighbors: Literal["exact", "anchors"] = "exact",
        n_anchors: int = 2000,
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.n_neighbors = n_neighbors
        self.t = t
        self.neighbors = neighbors
        self.n_anchors = n_anchors
        self.random_state = random_state

    def _scores_and_errors(self, X: Matrix, supervision: Supervision) -> ScoresAndErrors:
        known = supervision.labelled
        return supervised_scores(
            X[known],
            _standard_target(supervision)[known],
            n_neighbors=self.n_neighbors,
            t=self.t,
            neighbors=self.neighbors,
            n_anchors=self.n_anchors,
            random_state=self.random_state,
        )

    def _pvalues(
        self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        null = GraphNull(self._target_graph(supervision), X[supervision.labelled])
        return permutation_pvalues(null, alpha=self.alpha, random_state=self._seed)

    def _target_graph(self, supervision: Supervision) -> sparse.csr_array:
        y = _standard_target(supervision)[supervision.labelled]
        return target_graph(y, n_neighbors=self.n_neighbors, t=self.t)


class SemiSupervisedLaplacianScore(_GraphSelector):
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
    neighbors : {"exact", "approximate", "anchors"}
        How the mixed graph of many rows is found: exactly, by nearest-neighbour descent (needs pynndescent), or from
        the exact neighbours of ``n_anchors`` sampled rows, which gives estimates with standard errors.
    n_anchors : int
        Rows sampled for "anchors".
    random_state : int, RandomState or None
        For "approximate" and "anchors".
    standardize : bool
        Scale every column before distances are taken.
    n_jobs : int, optional
        For the neighbour search.

    Attributes
    ----------
    scores_, ranking_, support_, n_features_
        See :class:`~dubio.selectors.base.ScoreSelector`. Low scores are good.
    scores_std_error_ : array (n_features,)
        With ``neighbors="anchors"``: the standard error of each score.
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
        "n_neighbors": AT_LEAST_ONE,
        "n_neighbors_supervised": AT_LEAST_ONE,
        "t": _WIDTH,
        "C": [Interval(Real, 0, None, closed="neither")],
        **_ROUTE,
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
        neighbors: Route = "exact",
        n_anchors: int = 2000,
        standardize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.n_neighbors = n_neighbors
        self.n_neighbors_supervised = n_neighbors_supervised
        self.t = t
        self.C = C
        self.neighbors = neighbors
        self.n_anchors = n_anchors
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _scores_and_errors(self, X: Matrix, supervision: Supervision) -> ScoresAndErrors:
        return semi_supervised_scores(
            standardize(X) if self.standardize else X,
            X,
            _standard_target(supervision),
            n_neighbors=self.n_neighbors,
            n_neighbors_supervised=self.n_neighbors_supervised,
            t=self.t,
            C=self.C,
            neighbors=self.neighbors,
            n_anchors=self.n_anchors,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )


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
