"""Fuzzy-rough selection: the dependency of the target on a subset of features, and its greedy search."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dubio.checks import NOT_NEGATIVE, Interval, StrOptions, check_parameters
from dubio.errors import InputError, InputWarning, warn
from dubio.kernels.threads import resolve_threads
from dubio.methods.base import Searched, SearchSelector, TakesWeights
from dubio.methods.parameters import CONSTRAINTS, Count, documented, estimator
from dubio.neighbors.greedy import greedy_search
from dubio.problem import Problem
from dubio.searches.fuzzy_rough_gamma import (
    GAMMA_TOLERANCE,
    MATCHING_IMPLICATOR,
    ConnectiveCriterion,
    DependencyCriterion,
    Implicator,
    LukasiewiczCriterion,
    Similarity,
    TNorm,
    read_decision,
    similarity_coordinates,
)
from dubio.table.matrix import pick_columns
from dubio.target.reader import Target


@documented
def fuzzy_rough_dependency(
    X: Any,
    y: Any,
    *,
    features: ArrayLike | None = None,
    nominal: ArrayLike | None = None,
    similarity: Similarity = "std",
    t_norm: TNorm = "lukasiewicz",
    implicator: Implicator | None = None,
    sample_weight: ArrayLike | None = None,
    unlabelled_weight: float = 1.0,
    unlabelled_enmity: float = 1.0,
    target: Target = "auto",
    missing_label: Any = "auto",
    return_positive_region: bool = False,
    n_jobs: int | None = None,
) -> float | tuple[float, NDArray[np.float64]]:
    r"""Fuzzy-rough dependency of the target on a subset of features.

    With the relation :math:`R_B(x, y) = T_{a \in B} R_a(x, y)` between rows,

    .. math::
        POS_B(x) = \max_C \min_y I(R_B(x, y), C(y)), \qquad \gamma_B = \frac{\sum_x w_x POS_B(x)}{\sum_x w_x},

    where C runs over the fuzzy classes, and an unlabelled row is a class of its own. With the Lukasiewicz
    connectives and one class per row, :math:`POS_B(x)` is the distance :math:`\min(1, \sum_a \min(1, |a(x) - a(y)| /
    \sigma_a))` from x to the nearest row that is not known to have the same class.

    Parameters
    ----------
    X : array or data frame (n_rows, n_features)
        The table, used as it is. NaN is a missing value, which is similar to every other value. Columns of a frame that
        hold categories, text or bools are nominal: two values are either equal or not similar at all.
    y : None, 1-D array, 2-D array (n_rows, classes) or SoftLabels
        Classes, class probabilities or numbers; any of them may be missing. A numeric target is compared in the same
        way as a numeric feature: the closer the number of a row to that of x, the more the row belongs to C of x.
    features : array of int, names or bool, optional
        The subset B; all features by default.
    nominal : array of bool, int or names, optional
        Columns that are nominal although they hold numbers.
    similarity : {"std", "range", "gaussian"}
        ``max(0, 1 - d / standard deviation)``, ``1 - d / range`` or ``exp(-d^2 / (2 variance))``.
    t_norm : {"lukasiewicz", "minimum", "product"}
        Combines the features. Only Lukasiewicz, with one of the linear similarities, avoids visiting all pairs of rows.
    implicator : {"lukasiewicz", "kleene-dienes", "reichenbach", "goedel", "goguen"}, optional
        By default the S-implicator of the t-norm: the first, second and third for the three t-norms, in this order.
    sample_weight : array (n_rows,), optional
        Weight of each row in gamma. A row of weight zero is left out completely.
    unlabelled_weight : float
        Multiplies the weight of the unlabelled rows. Unless it is zero, they fully count as rows of other classes.
    unlabelled_enmity : float
        How far an unlabelled row counts as a row of another class for the labelled rows, from 0 to 1, which is the
        paper's form. Needs classes.
    return_positive_region : bool
        Whether to return the positive region too.

    Returns
    -------
    gamma : float
        In [0, 1]; it never falls when a feature is added.
    positive_region : array (n_rows,), with ``return_positive_region=True``
        Membership of each row (0 for rows left out).

    References
    ----------
    R. Jensen, S. Vluymans, N. Mac Parthaláin, C. Cornelis, Y. Saeys, "Semi-supervised fuzzy-rough feature
    selection", 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from dubio import fuzzy_rough_dependency
    >>> X, y = load_wine(return_X_y=True)
    >>> round(fuzzy_rough_dependency(X, y), 3), round(fuzzy_rough_dependency(X, y, features=[0, 6]), 3)
    (1.0, 0.627)
    """
    given = locals()
    check_parameters({"return_positive_region": ["boolean"]}, {"return_positive_region": return_positive_region})
    method = FuzzyRoughSearch(**{name: given[name] for name in FuzzyRoughSearch._get_param_names() if name in given})
    problem = method._read(X, y, sample_weight=sample_weight)
    chosen = pick_columns(features, problem.names, problem.n_features, "features")
    criterion, kept = method.criterion(problem.features(chosen))
    if not return_positive_region:
        return criterion.value_all
    region = np.zeros(problem.n_rows)
    region[kept] = criterion.region_all
    return criterion.value_all, region


@estimator
class FuzzyRoughSearch(TakesWeights, SearchSelector):
    """Keep features that together determine the target as well as all features do (FRFS; with missing labels, ssFRFS).

    A greedy forward search on the fuzzy-rough dependency gamma (see :func:`fuzzy_rough_dependency`): each step adds
    the feature that gives the largest gamma (the first one if several are equal), until gamma reaches that of all
    features. Labels may be hard, soft or numbers. Some or all of them may be missing.

    Parameters
    ----------
    n_features_to_select : "reduct", "auto", "relevant", "sufficient", int, float or None
        "reduct": as many as needed to reach the dependency of all features. "auto" or "relevant": the features that
        tests find related to the target (:func:`~dubio.evidence.relevance.relevance_of`). "sufficient": the smaller of
        the two numbers. Otherwise a count, a share, or None for half: only the first features of the search are kept.
        If this is more than the search needs, features that add nothing follow.
    prune : bool
        Whether features that have become superfluous are taken out after a complete search, so that the superreduct
        becomes a reduct: no feature of it can be left out.

    Attributes
    ----------
    support_ : array (n_features,) of bool
        The features kept. If none is needed, or none helps, this is the first one that is not constant, with a warning.
    dependencies_, dependency_all_ : array and float
        gamma after each step of the search, and of all features.

    Notes
    -----
    Equations 6 to 11, Theorem 1 and Algorithm 1 of the paper [1]_. Assumes that features are precise to a fraction
    of their standard deviation and that labels are right. Do not use it with wrong labels, since one of them keeps
    its neighbours apart, with many columns, of which a few always suffice, or to predict: it looks for features
    that determine the target, not for those that matter.

    References
    ----------
    .. [1] R. Jensen, S. Vluymans, N. Mac Parthalain, C. Cornelis and Y. Saeys (2015). Semi-supervised fuzzy-rough
       feature selection. RSFDGrC.

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

    _function = "fuzzy_rough_dependency"
    _name = "fuzzy_rough_search"
    _does = "smallest subset that determines the target, FRFS and ssFRFS"
    _takes = ("hard", "soft", "numbers", "none")
    _needs_labels = False
    _takes_nan = True
    _criterion = "dependency of the target (high is good)"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": [StrOptions({"reduct"}), *CONSTRAINTS["n_features_to_select"]],
        "nominal": [None, "array-like"],
        "similarity": [StrOptions(set(get_args(Similarity)))],
        "t_norm": [StrOptions(set(get_args(TNorm)))],
        "implicator": [None, StrOptions(set(get_args(Implicator)))],
        "unlabelled_weight": NOT_NEGATIVE,
        "unlabelled_enmity": [Interval(Real, 0, 1, closed="both")],
        "prune": ["boolean"],
    }

    n_features_to_select: Count | Literal["reduct"] = "reduct"
    nominal: ArrayLike | None = None
    similarity: Similarity = "std"
    t_norm: TNorm = "lukasiewicz"
    implicator: Implicator | None = None
    unlabelled_weight: float = 1.0
    unlabelled_enmity: float = 1.0
    prune: bool = False
    target: Target = "auto"
    missing_label: Any = "auto"
    n_jobs: int | None = None

    def read_problem(self, X: Any, y: Any = None, **more: Any) -> Problem:
        """Read a table, which may hold categories and missing cells, and a target; see ``fit``."""
        return super().read_problem(X, y, mixed=True, nominal=self.nominal, **more)

    def criterion(self, problem: Problem) -> tuple[DependencyCriterion, NDArray[np.int64]]:
        """The dependency for a problem, and the rows that count in it: those with a positive weight."""
        weights = np.ones(problem.n_rows) if problem.sample_weight is None else problem.sample_weight
        weights = np.where(problem.supervision.labelled, weights, self.unlabelled_weight * weights)
        kept = np.flatnonzero(weights > 0)
        if len(kept) == 0:
            wrong = f"and unlabelled_weight leave none of the {problem.n_rows} rows with a positive weight"
            raise InputError("sample_weight", wrong, "give some rows a positive weight")
        implicator = MATCHING_IMPLICATOR[self.t_norm] if self.implicator is None else self.implicator
        coordinates = similarity_coordinates(problem.table[kept], problem.nominal, self.similarity)
        decision = read_decision(problem.supervision.rows(kept), self.similarity, self.unlabelled_enmity)
        given = coordinates, decision, weights[kept], resolve_threads(self.n_jobs)
        gaussian = self.similarity == "gaussian"
        # Only then can near rows be found in a tree; else all pairs of rows are visited.
        if self.t_norm == implicator == "lukasiewicz" and not gaussian:
            return LukasiewiczCriterion(*given), kept
        relation: dict[str, Any] = {"t_norm": self.t_norm, "implicator": implicator, "gaussian": gaussian}
        return ConnectiveCriterion(*given, nominal=problem.nominal, **relation), kept

    def _search(self, problem: Problem, count: int | None) -> Searched:
        problem = one_column_per_feature(problem)
        n_features = problem.n_features
        if self.nominal is not None:  # the problem may have been read by another selector
            declared = pick_columns(self.nominal, problem.names, n_features, "nominal")
            problem = replace(problem, nominal=problem.nominal | np.isin(np.arange(n_features), declared))
        criterion, rows = self.criterion(problem)
        without = criterion.value
        columns = (column[~np.isnan(column)] for column in problem.table[rows].T)
        constant = np.array([len(np.unique(column)) < 2 for column in columns])
        stop: dict[str, Any] = {"stop_size": count, "stop_value": criterion.value_all, "direction": "forward"}
        last = np.flatnonzero(constant)
        path = greedy_search(criterion, np.arange(n_features), last=last, tie_tolerance=GAMMA_TOLERANCE, **stop)
        chosen = path.order()
        dependencies = np.array([step.value for step in path.steps])
        subsets, values = path.subsets, path.values
        if self.prune and len(chosen) and dependencies[-1] >= criterion.value_all - GAMMA_TOLERANCE:
            chosen, dependencies = self._pruned(problem, chosen)
            subsets = {size: np.sort(chosen[:size]) for size in range(len(chosen) + 1)}
            values = dict(enumerate([without, *dependencies.tolist()]))
        gains = np.zeros(n_features)
        gains[chosen] = np.diff(dependencies, prepend=without)
        if not len(chosen):
            _warn_nothing_found(criterion.value_all, len(rows))
        others = np.setdiff1d(np.arange(n_features), chosen)
        rest = others[np.argsort(constant[others], kind="stable")]
        return Searched(
            subsets,
            values,
            np.concatenate([chosen, rest]),
            gains,
            (max(1, len(chosen)), "as many as needed to reach the dependency of all features"),
            attributes={"dependencies_": dependencies, "dependency_all_": criterion.value_all},
        )

    def _pruned(self, problem: Problem, chosen: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """A reduct within a superreduct, in the order of the search, and gamma of its beginnings.

        Features are tried from the last one found to the first.
        """
        criterion = self.criterion(problem)[0]
        kept = chosen
        for feature in chosen[::-1]:
            fewer = kept[kept != feature]
            if criterion.value_of(fewer) >= criterion.value_all - GAMMA_TOLERANCE:
                kept = fewer
        return kept, np.array([criterion.value_of(kept[: size + 1]) for size in range(len(kept))])


def one_column_per_feature(problem: Problem) -> Problem:
    """The problem as fuzzy-rough sets see it: categories are alike or not, and a missing cell is like any other.

    The season of a date is left out.
    """
    columns = problem.columns
    if columns is None or columns.is_plain:
        return problem
    table = np.empty((problem.n_rows, problem.n_features))
    nominal = np.zeros(problem.n_features, dtype=bool)
    for feature in range(problem.n_features):
        own = columns.of(feature)
        roles, part = columns.roles[own], problem.table[:, own]
        if columns.leads[own].sum() > 1:
            wrong = f"puts several columns into {problem.feature_names[feature]!r}, "
            wrong += "and a fuzzy-rough search takes one column per feature"
            raise InputError("feature_groups", wrong, "leave the group out, or use another method")
        nominal[feature] = roles[0] == "level"
        table[:, feature] = part[:, roles == "level"].argmax(axis=1) if nominal[feature] else part[:, 0]
        if (roles == "missing").any():
            table[part[:, roles == "missing"][:, 0] > 0, feature] = np.nan
    return replace(problem, X=table, nominal=nominal, columns=None)


def _warn_nothing_found(dependency_all: float, n_rows: int) -> None:
    kept = "One feature is kept so that the selection is not empty"
    if dependency_all > GAMMA_TOLERANCE:
        found = f"the dependency without features is already that of all features, {dependency_all:.4g}"
        warn(InputWarning("y", f"needs no feature: {found}. No two rows differ in y (only one class?). {kept}"))
        return
    found = f"does not determine the target: the dependency on all features is 0. Each of the {n_rows} rows has an "
    found += f"equal row (missing values equal everything) that is not known to have the same class. {kept}"
    remedy = "look for duplicate rows, or leave unlabelled rows out with unlabelled_weight=0"
    warn(InputWarning("X", found, remedy, code="undecided"))
