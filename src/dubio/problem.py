"""The input of every method: a table and what is known of its target, read and checked once.

Each entry point (an estimator's ``fit``, a function, the command) makes one Problem. Resampling, shuffling and the
cleaning of labels derive new problems from it. They never go back to the user's arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from math import fsum
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dubio.errors import InputError
from dubio.ranking import default_names
from dubio.sampling import order_of_groups
from dubio.table.given import Given, with_given
from dubio.table.matrix import (
    Columns,
    Matrix,
    as_dense,
    column_names,
    feature_sums,
    fill_missing,
    in_memory,
    read_matrix,
    standardize,
    varying_columns,
)
from dubio.table.read import ReadTable, read_any_table, read_mixed_matrix
from dubio.table.rows import check_weights, random_order, read_groups
from dubio.target.checked import Checks, read_checks
from dubio.target.knowledge import Supervision
from dubio.target.reader import Target, read_supervision
from dubio.target.several import refuse_shared_names

T = TypeVar("T")


@dataclass(frozen=True)
class AllRows:
    """What all rows say about single features, if the rows of a problem are a sample of them."""

    #: (n_features,): p-value of each feature alone; NaN where only the sample was tested.
    pvalues: NDArray[np.float64]
    #: Number of labelled rows behind them.
    n_rows: int

    def only(self, features: NDArray[np.int64]) -> AllRows:
        """The same for some features."""
        return AllRows(self.pvalues[features], self.n_rows)


@dataclass(frozen=True, eq=False)
class Problem:
    """A table and what is known of its target.

    Attributes
    ----------
    X : array or CSR matrix (n_rows, n_columns)
        float64 or float32; holds NaN only if the method accepts it.
    supervision : Supervision
        What is known of the target.
    names : list or None
        Names of the features, if the table has any.
    nominal : array (n_columns,) of bool
        Columns whose numbers are only names of categories.
    sample_weight : array (n_rows,) or None
        Weight of each row.
    n_rows_before : int or None
        If the rows are a sample: number of rows of the whole table.
    columns : Columns or None
        Which columns of the matrix are one feature, and how the table was read. None: every column is a feature, and
        the table held numbers.
    groups : array (n_rows,) of int or None
        The group of each row, if some rows belong together (visits of one patient).
    checks : Checks or None
        The truth of some rows, drawn at random and checked.
    given : Given or None
        Which features are given: the others are judged by what they add to these.
    is_resample : bool
        Whether the rows were drawn to see how an answer changes: then it is not explained.
    all_rows : AllRows or None
        If the rows are a sample: tests of single features on all rows of the table.
    """

    X: Matrix
    supervision: Supervision
    names: list[Any] | None = None
    nominal: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    sample_weight: NDArray[np.float64] | None = None
    n_rows_before: int | None = None
    columns: Columns | None = None
    groups: NDArray[np.int64] | None = None
    checks: Checks | None = None
    given: Given | None = None
    is_resample: bool = False
    all_rows: AllRows | None = None
    _known: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_rows_in_all(self) -> int:
        """Number of rows of the whole table, if these rows are a sample; else the number of rows."""
        return self.n_rows if self.n_rows_before is None else self.n_rows_before

    @property
    def n_columns(self) -> int:
        """Number of columns of the matrix."""
        return int(self.X.shape[1])

    @property
    def n_features(self) -> int:
        """Number of features; a feature may have several columns."""
        return self.n_columns if self.columns is None else self.columns.n_features

    @property
    def given_features(self) -> NDArray[np.int64]:
        """The features that are given, in their order."""
        return np.zeros(0, dtype=np.int64) if self.given is None else self.given.features

    @property
    def given_names(self) -> list[str]:
        """The names of the features that are given, in their order."""
        return [str(name) for name in self.feature_names[self.given_features]]

    @property
    def n_own(self) -> int:
        """Number of features that are columns of the table; given ones beside it come after them."""
        return self.n_features - (0 if self.given is None else len(self.given.beside))

    @property
    def is_judged(self) -> NDArray[np.bool_]:
        """Which features are judged: those that are not given."""
        return ~np.isin(np.arange(self.n_features), self.given_features)

    def given_first(self, order: NDArray[np.int64]) -> NDArray[np.int64]:
        """An order of features with those that are given in front."""
        return np.concatenate([self.given_features, order[~np.isin(order, self.given_features)]])

    @property
    def has_wide_features(self) -> bool:
        """Whether some feature has several columns."""
        return self.columns is not None and not self.columns.is_plain

    def columns_of(self, features: NDArray[Any]) -> NDArray[Any]:
        """The columns of the matrix that belong to some features."""
        return features if self.columns is None or self.columns.is_plain else self.columns.of_all(features)

    def per_feature(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums over the columns of each feature (along the last axis) of one value per column."""
        return feature_sums(values, self.columns)

    @property
    def column_names(self) -> list[Any] | None:
        """For each column of the matrix, the name of its feature."""
        if self.names is None or self.columns is None:
            return self.names
        return [self.names[j] for j in self.columns.feature_of]

    @property
    def feature_names(self) -> NDArray[Any]:
        """One name per feature: the table's own if all of them are text, else x0, x1, ..."""
        if self.names is not None and all(isinstance(name, str) for name in self.names):
            return np.asarray(self.names, dtype=object)
        return default_names(self.n_features)

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The result of ``compute``, computed at the first call and kept: for expensive results that are shared."""
        if key not in self._known:
            self._known[key] = compute()
        value: T = self._known[key]
        return value

    @property
    def dense(self) -> Problem:
        """The same problem with all cells of its table; the problem itself if it has them."""
        return replace(self, X=as_dense(self.X)) if sparse.issparse(self.X) else self

    @property
    def table(self) -> NDArray[np.float64]:
        """The table as float64."""
        return self.once("table", lambda: as_dense(self.X).astype(np.float64, copy=False))

    @property
    def standardized(self) -> Matrix:
        """The table with features of unit variance, in its own precision."""
        return self.once("standardized", lambda: standardize(self.X, self.columns))

    @property
    def standardized_table(self) -> NDArray[np.float64]:
        """The standardized table as float64, also scaled in float64."""
        if not sparse.issparse(self.X) and self.X.dtype == np.float64:
            return np.asarray(self.standardized)
        return self.once("standardized table", lambda: np.asarray(standardize(self.table, self.columns)))

    def space(self, standardized: bool) -> NDArray[np.float64]:
        """The float64 table in which distances are measured."""
        return self.standardized_table if standardized else self.table

    @property
    def n_missing(self) -> int:
        """Number of cells of the table without a value."""

        cells = self.X.data if sparse.issparse(self.X) else self.X
        leads = ... if self.columns is None or sparse.issparse(self.X) else (slice(None), self.columns.leads)
        return self.once("missing", lambda: int(np.isnan(cells[leads]).sum()))

    @property
    def filled_with(self) -> str:
        """What missing cells are filled with, in words."""
        read = () if self.columns is None else self.columns.read
        gaps = any(one.n_missing and one.kind == "category" for one in read)
        return "column medians and most frequent values" if gaps else "column medians"

    @property
    def filled(self) -> Problem:
        """The same problem with missing cells filled by the median, or the most frequent category, of their column;
        itself if nothing is missing."""
        if not self.n_missing:
            return self
        return self.once("filled", lambda: replace(self, X=fill_missing(self.X, self.columns)))

    @property
    def without_given_features(self) -> Problem:
        """The same problem without the given features, as if nothing were given."""
        return self.features(np.flatnonzero(self.is_judged))

    def rows(self, index: NDArray[Any]) -> Problem:
        """The problem restricted to some rows, in the given order; a row may occur more than once."""
        weight, groups = (None if one is None else one[index] for one in (self.sample_weight, self.groups))
        known = self.supervision.rows(index)
        checks = None if self.checks is None else self.checks.rows(index)
        facts: dict[str, Any] = {"sample_weight": weight, "groups": groups, "checks": checks, "all_rows": None}
        return replace(self, X=self.X[index], supervision=known, **facts)

    @property
    def labelled(self) -> Problem:
        """The problem restricted to the labelled rows: those about which something is known."""
        return self._only("labelled", self.supervision.labelled)

    @property
    def used(self) -> Problem:
        """The problem restricted to the rows that a score uses: the labelled ones; without any target, all rows."""
        return self._only("used", self.supervision.used)

    def _only(self, key: str, chosen: NDArray[np.bool_]) -> Problem:
        return self if chosen.all() else self.once(key, lambda: self.rows(np.flatnonzero(chosen)))

    @property
    def counted(self) -> Problem:
        """The problem without the rows of weight 0; itself if there are none."""
        weight = self.sample_weight
        if weight is None or (weight > 0).all():
            return self
        return self.once("counted", lambda: self.rows(np.flatnonzero(weight > 0))._with_ordered_groups())

    def _with_ordered_groups(self) -> Problem:
        """The same problem with groups numbered by their contents: their names decide nothing."""
        return self if self.groups is None else replace(self, groups=order_of_groups(self))

    @property
    def uneven_weights(self) -> NDArray[np.float64] | None:
        """The weights of the rows, with a mean of 1; None if all rows weigh the same."""
        weight = self.sample_weight
        if weight is None or not len(weight) or (weight == weight[0]).all():
            return None
        # the exact sum, so that the order of the rows does not matter
        return self.once("weights", lambda: np.asarray(weight / (fsum(weight.tolist()) / len(weight))))

    @property
    def n_groups(self) -> int:
        """Number of groups of rows that belong together; 0 if nothing is known of groups."""
        return 0 if self.groups is None else len(np.unique(self.groups))

    @property
    def tested(self) -> Problem:
        """The problem as the tests of relevance see it; see :meth:`~dubio.target.knowledge.Supervision.as_tested`."""
        return self.once("tested", lambda: self.with_supervision(self.supervision.as_tested()))

    def features(self, index: NDArray[np.int64]) -> Problem:
        """The problem restricted to some features."""
        names = None if self.names is None else [self.names[j] for j in index]
        places = self.columns_of(index)
        nominal = self.nominal[places] if len(self.nominal) else self.nominal
        columns = None if self.columns is None else self.columns.only(index)
        given = None if self.given is None else self.given.only(index)
        every = None if self.all_rows is None else self.all_rows.only(index)
        parts: dict[str, Any] = {"names": names, "nominal": nominal, "columns": columns, "given": given}
        return replace(self, X=self.X[:, places], all_rows=every, **parts)

    def varying_features(self, rows: NDArray[Any]) -> NDArray[np.intp]:
        """The features that vary among ``rows`` (the rows to learn from); raises if none varies."""
        varying = varying_columns(self.table, rows)
        return varying if self.columns is None else np.unique(self.columns.feature_of[varying])

    def with_checks(self, checks: Checks) -> Problem:
        """The same problem with other checks; all results are kept."""
        other = replace(self, checks=checks)
        other._known.update(self._known)
        return other

    def with_supervision(self, supervision: Supervision) -> Problem:
        """The same table with other knowledge of the target; results that depend only on the table are kept."""
        if supervision is self.supervision:
            return self
        return self._with(supervision, self.sample_weight)

    def _with(self, supervision: Supervision, sample_weight: NDArray[np.float64] | None) -> Problem:
        other = replace(self, supervision=supervision, sample_weight=sample_weight)
        of_table = ("table", "standardized", "standardized table")
        other._known.update({key: self._known[key] for key in of_table if key in self._known})
        return other

    def shuffled(self, rng: np.random.Generator) -> Problem:
        """The same problem with the knowledge and the weights moved to random other rows: of the same group, if rows
        belong together."""
        if self.groups is None:
            order = self.supervision.shuffled_order(rng)
        else:
            order, known = np.arange(self.n_rows), np.flatnonzero(self.supervision.labelled)
            order[known] = known[random_order(len(known), self.groups[known], rng)]
        weight = None if self.sample_weight is None else self.sample_weight[order]
        return self._with(self.supervision.reordered(order), weight)


def read_problem(
    X: Any,
    y: Any = None,
    *,
    target: Target = "classes",
    missing_label: Any = "auto",
    must_link: Any = None,
    cannot_link: Any = None,
    must_link_weights: Any = None,
    cannot_link_weights: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    checked: Any = None,
    given: Any = None,
    accept_sparse: bool = False,
    allow_nan: bool = False,
    check_values: bool = True,
    mixed: bool = False,
    nominal: Any = None,
    any_type: bool = False,
    feature_groups: Any = None,
    is_block: bool = False,
) -> Problem:
    """Read and check a table and what is known of its target. Every entry point uses this function.

    Parameters
    ----------
    X, y, sample_weight, groups, checked, given, must_link, cannot_link, must_link_weights, cannot_link_weights
        What the user gave; for ``given``, see :func:`~dubio.table.given.with_given`.
    target, missing_label, is_block
        How to read ``y``; see :func:`~dubio.target.reader.read_supervision`.
    accept_sparse, allow_nan, check_values
        What the table may contain; see :func:`~dubio.table.matrix.read_matrix`.
    mixed, nominal
        Whether columns of categories become codes, and which columns of numbers hold categories; see
        :func:`~dubio.table.read.read_mixed_matrix`.
    any_type, feature_groups
        Whether columns may be of any type and cells may be missing, and which columns belong together; see
        :func:`~dubio.table.read.read_any_table`. ``X`` may also be a table that was read before.
    """
    X, columns, is_nominal = in_memory(X), None, None
    if isinstance(X, ReadTable) or any_type:
        read = X if isinstance(X, ReadTable) else read_any_table(X, feature_groups, accept_sparse=accept_sparse)
        matrix, names, columns = read.matrix, read.names, read.columns
    elif mixed:
        matrix, is_nominal = read_mixed_matrix(X, nominal)
        names = column_names(X)
    else:
        matrix = read_matrix(X, accept_sparse=accept_sparse, allow_nan=allow_nan, check_values=check_values)
        names = column_names(X)
    is_nominal = np.zeros(matrix.shape[1], dtype=bool) if is_nominal is None else is_nominal
    supervision = read_supervision(
        y,
        matrix.shape[0],
        target=target,
        missing_label=missing_label,
        must_link=must_link,
        cannot_link=cannot_link,
        must_link_weights=must_link_weights,
        cannot_link_weights=cannot_link_weights,
        is_block=is_block,
    )
    if supervision.targets:
        refuse_shared_names(y, names)
    weights = None if sample_weight is None else _in_range(check_weights(sample_weight, matrix), is_block)
    together = None if groups is None else read_groups(groups, matrix.shape[0])
    if together is not None and supervision.has_pairs:
        raise InputError("groups", "cannot be used together with pairs of rows", "leave one of them out")
    checks = None if checked is None else read_checks(checked, supervision)
    problem = Problem(matrix, supervision, names, is_nominal, weights, None, columns, together, checks)
    if given is not None:
        supervision.require_given()
        problem = with_given_columns(problem, given)
    return problem._with_ordered_groups()


def with_given_columns(problem: Problem, given: Any) -> Problem:
    """The same problem, in which some columns are given; further ones come after those of its table."""
    table, which = with_given(ReadTable(problem.X, problem.names, problem.columns), given)
    more = np.zeros(table.matrix.shape[1] - problem.n_columns, dtype=bool)
    parts = {"X": table.matrix, "names": table.names, "columns": table.columns, "given": which}
    return replace(problem, **parts, nominal=np.concatenate([problem.nominal, more]))


def _in_range(weights: NDArray[np.float64], is_block: bool) -> NDArray[np.float64]:
    """Weights whose squares neither overflow nor vanish: scores depend only on their ratios."""
    largest = float(weights.max(initial=0.0))
    if largest == 0.0 or 1e-100 <= largest <= 1e100:  # sums and squares keep their digits
        return weights
    if is_block:
        found = f"has a largest value of {largest:.3g}, and other blocks may be on another scale"
        raise InputError("sample_weight", found, "divide all weights by the same number, so that they are about 1")
    return np.asarray(weights / largest)


def require_weights(problem: Problem) -> None:
    """Raise if the weights leave nothing to learn from."""
    if problem.sample_weight is not None:
        problem.supervision.require_weights(problem.sample_weight)
