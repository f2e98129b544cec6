"""Fuzzy-rough forward search as a selector."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from dubio._kernels.threads import resolve_threads
from dubio.fuzzyrough.connectives import IMPLICATORS, T_NORMS
from dubio.fuzzyrough.criterion import GAMMA_TOLERANCE
from dubio.fuzzyrough.dependency import Implicator, Similarity, TNorm, dependency_criterion
from dubio.fuzzyrough.similarity import SIMILARITIES
from dubio.ranking import Ranking, resolve_count
from dubio.search import greedy_search
from dubio.selectors.base import BaseSelector
from dubio.supervision import Supervision
from dubio.supervision.reader import Target
from dubio.table import Matrix, read_mixed_matrix


class FuzzyRoughSearch(BaseSelector):
    """Keep features that together decide the target as far as all features do (FRFS; with missing labels, ssFRFS).

    A greedy forward search on the fuzzy-rough dependency gamma (see :func:`fuzzy_rough_dependency`): each step adds
    the feature with the largest gamma, the first of equals, until gamma is that of all features. Labels may be
    missing, all of them too; soft; or numbers.

    Parameters
    ----------
    n_features_to_select : "reduct", "auto", int, float or None
        "reduct", or "auto": as many as it takes to reach the dependency of all features. A count, a share, or None
        for half: a shorter search is cut there; a longer wish is filled with features that add nothing, the first
        columns first, constant ones last.
    nominal : array of bool, int or names, optional
        Columns that are nominal although they hold numbers. Categories, text and bools of a data frame always are.
    similarity : {"std", "range", "gaussian"}
        How alike two numbers are.
    t_norm : {"lukasiewicz", "minimum", "product"}
        Joins the features. Lukasiewicz, the paper's, is fast; the others look at all pairs of rows.
    implicator : str, optional
        By default the one that matches the t-norm, see :func:`fuzzy_rough_dependency`.
    unlabelled_weight : float
        Multiplies the weight of unlabelled rows in gamma; 0 leaves them out.
    target : {"auto", "classes", "numbers"}
        What a 1-D y holds.
    missing_label : "auto", None or a value
        Beside NaN and None, what stands for "unlabelled": by default -1 among whole-numbered classes.
    n_jobs : int, optional
        Threads, from some hundreds of rows on.

    Attributes
    ----------
    ranking_ : array (n_features,)
        1 for the feature chosen first; features that were never needed share the last rank.
    support_ : array (n_features,) of bool
        The features kept, one at least: where no feature is needed, or none helps (a warning says so), it is the
        first that is not constant.
    n_features_ : int
        How many were kept.
    dependencies_ : array
        gamma after each feature of the search, in its order.
    dependency_all_ : float
        gamma of all features.
    subsets_ : dict of arrays
        For each size the search passed, the features chosen so far, in increasing order.
    n_labelled_, n_unlabelled_ : int
        Rows with and without a label.

    References
    ----------
    R. Jensen, S. Vluymans, N. Mac Parthaláin, C. Cornelis, Y. Saeys, "Semi-supervised fuzzy-rough feature
    selection", 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from dubio import FuzzyRoughSearch
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> search = FuzzyRoughSearch().fit(X, y)
    >>> list(search.get_feature_names_out())
    ['alcohol', 'flavanoids', 'color_intensity', 'hue', 'proline']
    >>> search.dependencies_.round(3)
    array([0.18 , 0.691, 0.934, 0.993, 1.   ])
    >>> FuzzyRoughSearch().fit(X, y.where(y.index % 2 == 0)).n_features_  # every other label is missing
    7
    """

    _needs_labels = False
    _takes_nan = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": [
            StrOptions({"reduct"}),
            *BaseSelector._parameter_constraints["n_features_to_select"],
        ],
        "nominal": [None, "array-like"],
        "similarity": [StrOptions(set(SIMILARITIES))],
        "t_norm": [StrOptions(set(T_NORMS))],
        "implicator": [None, StrOptions(set(IMPLICATORS))],
        "unlabelled_weight": [Interval(Real, 0, None, closed="left")],
        "target": [StrOptions({"auto", "classes", "numbers"})],
    }

    def __init__(
        self,
        *,
        n_features_to_select: Literal["reduct", "auto"] | int | float | None = "reduct",
        nominal: ArrayLike | None = None,
        similarity: Similarity = "std",
        t_norm: TNorm = "lukasiewicz",
        implicator: Implicator | None = None,
        unlabelled_weight: float = 1.0,
        target: Target = "auto",
        missing_label: Any = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.nominal = nominal
        self.similarity = similarity
        self.t_norm = t_norm
        self.implicator = implicator
        self.unlabelled_weight = unlabelled_weight
        self.target = target
        self.missing_label = missing_label
        self.n_jobs = n_jobs

    @property
    def _target(self) -> Target:  # type: ignore[override]
        return self.target

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Search the features of ``X``.

        Parameters
        ----------
        X : array or data frame (n_rows, n_features)
            The table; NaN is a missing value.
        y : array-like, optional
            What is known of the target.
        sample_weight : array (n_rows,), optional
            Weight of each row in the dependency; a row of weight zero is left out.

        Returns
        -------
        self
        """
        return self._fit_once(X, y, sample_weight=sample_weight)

    def _read_table(self, X: Any) -> Matrix:
        table, self._nominal = read_mixed_matrix(X, self.nominal)
        validate_data(self, X, reset=True, skip_check_array=True)
        return table

    def _fit(self, X: Matrix, supervision: Supervision, sample_weight: NDArray[np.float64] | None) -> None:
        n_features = X.shape[1]
        wish, self.explanation_ = None, "as many as reach the dependency of all features"
        if not isinstance(self.n_features_to_select, str):
            wish, self.explanation_ = resolve_count(self.n_features_to_select, n_features)
        criterion, rows = dependency_criterion(
            X,
            supervision,
            sample_weight,
            nominal=self._nominal,
            similarity=self.similarity,
            t_norm=self.t_norm,
            implicator=self.implicator,
            unlabelled_weight=self.unlabelled_weight,
            n_threads=resolve_threads(self.n_jobs),
        )
        without = criterion.value
        path = greedy_search(
            criterion,
            np.arange(n_features),
            direction="forward",
            stop_size=wish,
            stop_value=criterion.value_all,
            tie_tolerance=GAMMA_TOLERANCE,
        )
        chosen = path.order().tolist()
        self.dependencies_ = np.array([step.value for step in path.steps])
        self.dependency_all_ = criterion.value_all
        self._gains = np.zeros(n_features)
        self._gains[chosen] = np.diff(self.dependencies_, prepend=without)
        self.ranking_ = np.full(n_features, len(chosen) + 1, dtype=np.int64)
        self.ranking_[chosen] = np.arange(1, len(chosen) + 1)
        self.subsets_ = path.subsets
        if not chosen:
            _warn_nothing_found(criterion.value_all, len(rows))
        self.n_features_ = max(1, len(chosen)) if wish is None else wish
        kept = [*chosen, *_not_needed(X[rows], chosen)][: self.n_features_]
        self.support_ = np.isin(np.arange(n_features), kept)

    def to_ranking(self) -> Ranking:
        """The result as a :class:`~dubio.ranking.Ranking`; the scores are what each feature added to gamma."""
        check_is_fitted(self)
        return Ranking(
            self._names(), self._gains, False, self.ranking_, self.support_, type(self).__name__, self.explanation_
        )


def _not_needed(table: NDArray[np.float64], chosen: list[int]) -> list[int]:
    """The other features, constant ones last."""
    others = [j for j in range(table.shape[1]) if j not in chosen]

    def is_constant(j: int) -> bool:
        known = table[~np.isnan(table[:, j]), j]
        return len(known) == 0 or bool((known == known[0]).all())

    return sorted(others, key=is_constant)


def _warn_nothing_found(dependency_all: float, n_rows: int) -> None:
    if dependency_all <= GAMMA_TOLERANCE:
        message = (
            f"The dependency of y on all features is 0: each of the {n_rows} rows has an equal row (missing values "
            "equal everything) that is not known to be of its class. No feature helps; the selector keeps one only "
            "because it must. Look for duplicate rows, or leave unlabelled rows out with unlabelled_weight=0."
        )
    else:
        message = (
            f"No feature is needed: without any, the dependency is already that of all features, "
            f"{dependency_all:.4g}. y tells no two rows apart (one class?). The selector keeps one feature only "
            "because it must."
        )
    warnings.warn(message, UserWarning, stacklevel=5)
