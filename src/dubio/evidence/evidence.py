"""Evidence: the input of the tests, with columns, the target as scores, weights, and rows that may change places.

Facts about rows and columns become a part of the tests here, and the tests know none of them by name. *Groups* divide a
problem into :func:`independent_parts` and become ``exchange``; *weights* become ``weights``, and centre the scores.
Columns that are *given*: ``columns`` and ``scores`` become residuals of a regression on them, weighted if there are
weights (:mod:`~dubio.evidence.residuals`); the searches begin with these columns. A further fact would enter in
:meth:`Evidence.of` too. Rows that were *checked*: a second ``Evidence``, of these rows, their true labels, and weights
of one over the chance to be checked.

The tests are the linear and the smooth one (:mod:`~dubio.evidence.relations`), with permutations within ``exchange``
(:mod:`~dubio.evidence.permutation`). The joint test (:func:`~dubio.evidence.relevance.joint_pvalues`) searches and
predicts, so it takes a part of the problem itself, with its groups and weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import ndtri
from scipy.stats import rankdata

from dubio.errors import InputError, all_of, quoted
from dubio.evidence.residuals import regression_of, shared_by_chance, without_given
from dubio.kernels.threads import chunks, resolve_threads, run_chunks
from dubio.problem import Problem
from dubio.sampling import mixed_contents
from dubio.table.matrix import Columns, Matrix, standardize
from dubio.table.rows import centred_within, group_means, orders_and_ties
from dubio.words import Note, note, say

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
#: Share of the variation of the target below which it is rounding.
_NOTHING = 1e-9
#: Columns that are ranked at a time.
_COLUMNS_AT_ONCE = 64


@dataclass(frozen=True, eq=False)
class Evidence:
    """The part of a problem that a test sees: rows with a label."""

    #: The table. Within groups, it is without the means of the groups (:func:`independent_parts`).
    columns: Matrix
    #: (n_rows, q): the target as numbers with a mean square of 1, centred: over all rows, or within each group of
    #: ``exchange``.
    scores: Floats
    #: Weights of the rows with a mean of 1; empty if all rows weigh the same.
    weights: Floats
    #: Rows change places only within these groups; None: all rows may change places.
    exchange: Codes | None = None
    #: Which columns are one feature.
    layout: Columns | None = None
    #: Whether distances between the scores mean something, as for numbers.
    has_distances: bool = False
    #: Whether the columns are residuals: then categories and missing cells are numbers too.
    are_residuals: bool = False
    #: How many times as much each column shares with the scores by chance as if rows were shuffled; empty: once.
    by_chance: Floats = field(default_factory=lambda: np.empty(0))

    @classmethod
    def of(cls, problem: Problem, *, within: bool = True) -> Evidence:
        """The evidence of a problem. ``within=False``: groups play no part, as in a score that is not tested."""
        problem = problem.tested
        target, rows = problem.supervision, problem.supervision.labelled
        within = within and problem.groups is not None
        scores, weights, part = target.target_matrix(rows), np.empty(0), problem
        if problem.given is not None:
            part = without_given(problem, centred=within)
        columns = part.X if rows.all() else part.labelled.X
        if problem.given is not None:
            regression = regression_of(problem, np.flatnonzero(rows), within)
            varies, scores = scores.any(), _scaled(regression.residuals(scores, together=True))
            if varies and not scores.any():
                found = f"explains all of the target: {all_of(map(quoted, problem.given_names))}"
                raise InputError("given", found, "leave out what is the target in another form, or follows from it")
            columns = columns.copy()
            columns[:, problem.columns_of(problem.given_features)] = 0.0
        if problem.uneven_weights is not None:
            weights = problem.uneven_weights[rows] / problem.uneven_weights[rows].mean()
            scores = scores - np.average(scores, axis=0, weights=weights)
        exchange = None
        if within:
            assert problem.groups is not None
            exchange = problem.groups[rows]
            scores = _scaled(centred_within(scores, exchange, weights if len(weights) else None))
        by_chance = np.empty(0)
        if problem.given is not None:
            free = len(scores) - (1 if exchange is None else len(np.unique(exchange)))
            moved = scores * weights[:, None] if len(weights) else scores
            by_chance = shared_by_chance(problem, np.flatnonzero(rows), moved, free, centred=within)
        about = problem.columns, target.has_neighbors, problem.given is not None, by_chance
        return cls(columns, np.ascontiguousarray(scores), weights, exchange, *about)

    @property
    def n_rows(self) -> int:
        return len(self.scores)

    @property
    def n_features(self) -> int:
        return int(self.columns.shape[1]) if self.layout is None else self.layout.n_features

    def columns_of(self, feature: int) -> Codes:
        """The columns of one feature."""
        return np.array([feature]) if self.layout is None else self.layout.of(feature)

    def by_chance_of(self, columns: Any) -> Floats | float:
        """``by_chance`` of some columns."""
        return self.by_chance[columns] if len(self.by_chance) else 1.0

    def on_normal_scores(self, n_jobs: int | None = None) -> Evidence:
        r"""The same evidence with each number replaced by the normal quantile of its rank.

        With :math:`r_i` the rank of a value (the mean one of equal values), it becomes
        :math:`\Phi^{-1}((r_i - 1/2) / n)`, on a scale that keeps the standard deviation of its column. So neither the
        unit of a column nor its skew or its outliers matter. A column of two values stays as it is, and so do
        categories. Within groups, the scores are centred in each group.
        """
        columns = np.array(self.columns, dtype=np.result_type(self.columns.dtype, np.float32))
        values = np.flatnonzero(
            np.ones(columns.shape[1], bool) if self.layout is None else self.layout.roles == "value"
        )

        def work(start: int, stop: int) -> None:
            block = np.asarray(columns[:, values[start:stop]], dtype=np.float64)
            scores = _normal_scores(block.T).T
            spread = scores.std(axis=0)
            scale = np.divide((block - block[0]).std(axis=0), spread, out=np.zeros(len(spread)), where=spread > 0)
            columns[:, values[start:stop]] = scores * scale

        run_chunks(work, chunks(len(values), _COLUMNS_AT_ONCE), resolve_threads(n_jobs))
        return replace(self, columns=columns if self.exchange is None else centred_within(columns, self.exchange))

    @property
    def level_features(self) -> Codes:
        """The features that are categories: all their columns are 0 or 1, one column per category."""
        return level_features(None if self.are_residuals else self.layout)

    def levels(self, feature: int) -> Codes:
        """The category of each row; rows in which it was missing are one more category."""
        return levels_of(self.columns[:, self.columns_of(feature)])

    def lines(self, start: int, stop: int, rows: Codes) -> NDArray[Any]:
        """One line of numbers per feature (features, rows), by which the rows are sorted.

        A feature of one column is its own line. A number or a date that was missing in some rows has these rows at the
        end; the season of a date plays no part. Several columns that were put together are projected on their first
        principal component. Of categories only the varying matters here (see :meth:`levels`).
        """
        if self.layout is None or self.layout.is_plain:
            return np.ascontiguousarray(self.columns[rows, start:stop].T)
        lines = np.empty((stop - start, len(rows)))
        for feature in range(start, stop):
            places = self.layout.of(feature)
            roles, table = self.layout.roles[places], self.columns[:, places]
            values = np.isin(roles, ("value", "level"))
            if values.sum() > 1:
                space = np.asarray(standardize(np.asarray(table[:, values], dtype=np.float64)))
                # the component of a tiny matrix; its sign does not matter
                line = space @ np.linalg.eigh(space.T @ space)[1][:, -1]
            else:
                gone = table[:, roles == "missing"].any(axis=1) & (not self.are_residuals)
                line = np.where(gone, np.inf, table[:, 0])
            lines[feature - start] = line[rows]
        return lines


def _normal_scores(lines: Floats) -> Floats:
    """The normal quantile of the rank of each value in its line; equal values have their mean rank."""
    order, tied = orders_and_ties(lines)
    scores, n = np.empty(lines.shape), lines.shape[1]
    np.put_along_axis(scores, order, ndtri((np.arange(1.0, n + 1) - 0.5) / n), axis=1)
    scores[tied] = ndtri((rankdata(lines[tied], axis=1) - 0.5) / n)
    return scores


def _scaled(scores: Floats) -> Floats:
    """Scores with a mean square of 1."""
    spread = np.sqrt((scores**2).mean()) if scores.size else 0.0
    return scores / spread if spread > 0 else scores


def level_features(layout: Columns | None) -> Codes:
    """The features that are categories: all their columns are 0 or 1, one column per category."""
    if layout is None or layout.is_plain:
        return np.zeros(0, dtype=np.int64)
    leads, sizes = np.add.reduceat(layout.leads.astype(np.int64), layout.starts), layout.sizes
    return np.flatnonzero((sizes > 1) & (leads == 1) & (layout.roles[layout.starts] == "level"))


def levels_of(columns: NDArray[Any]) -> Codes:
    """The category of each row, from the columns of one feature."""
    return np.unique(columns, axis=0, return_inverse=True)[1].reshape(-1)


def varying_features(problem: Problem) -> NDArray[np.bool_]:
    """The features that vary among the labelled rows."""
    X = problem.labelled.X
    varying = np.asarray((X[:1] != X).any(axis=0)).ravel()
    return problem.per_feature(varying.astype(np.float64)) > 0


def independent_parts(problem: Problem) -> list[tuple[Problem, float]]:
    r"""The problems to test in place of one whose rows belong together, each with its share of the error.

    *Between groups*: one row per group, with the mean of each feature (the most frequent category of a nominal one) and
    of the target over its labelled rows, weighted if there are weights. The weight of a group is the mean of its rows.
    These rows are independent, and whole groups change places in permutations.
    *Within groups*: the rows of groups in which the target varies, each feature without the mean of its group. The
    problem keeps its groups, and rows change places only within them. So what is constant in a group, such as a
    patient's own level, can neither help nor mislead.

    The allowed error is shared in proportion to where the target varies: :math:`\sum (\bar t_g - \bar t)^2` between the
    groups, :math:`\sum (t_i - \bar t_g)^2` within. So if the target is the same in all rows of a group, only groups are
    compared, and a single wrong label does not change that. If p-values of both parts exist, a feature has
    :math:`p = \min(p_b / s_b, p_w / s_w)`.

    Without groups, the problem itself is the only part.
    """
    if problem.groups is None:
        return [(problem.counted, 1.0)]
    problem = problem.counted.tested
    problem = problem.rows(np.argsort(mixed_contents(problem, 0), kind="stable"))  # sums do not depend on the row order
    problem.supervision.require_enough()
    problem = problem.used
    within, between = _variation(problem)
    parts = [(unit_problem(problem), between)] if between > _NOTHING else []
    parts += [(within_problem(problem), within)] if within > _NOTHING else []
    return parts or [(unit_problem(problem), 1.0)]


def varying_parts(problem: Problem) -> Iterator[tuple[Problem, Codes, float]]:
    """The independent parts with only the features that vary in them, these features, and the share of each part."""
    for part, share in independent_parts(problem):
        varying = np.flatnonzero(varying_features(part))
        if len(varying):
            yield part.features(varying), varying, share


def notes_on_groups(problem: Problem, kept_apart: bool, tested: bool) -> tuple[Note, ...]:
    """Notes on rows that belong together.

    ``kept_apart``: the method itself compares rows only with rows of other groups. ``tested``: features were tested.
    """
    labelled = problem.tested.used
    varies_within = _variation(labelled)[0] > _NOTHING
    use = "groups compared" if varies_within else "groups once"
    code = "groups labelled" if labelled.n_groups < problem.n_groups else "groups"
    groups = note(code, n=problem.n_groups, labelled=labelled.n_groups, use=say(use) if tested else "")
    sites = [note("groups are no sites")] if tested and varies_within and problem.given is None else []
    return groups, note("other groups" if kept_apart else "independent rows"), *sites


def _variation(problem: Problem) -> tuple[float, float]:
    """The shares of the target's variation within and between groups."""
    if problem.n_rows == 0:
        return 0.0, 1.0
    assert problem.groups is not None
    target = problem.supervision.target_matrix(np.arange(problem.n_rows))
    inside = float((centred_within(target, problem.groups) ** 2).sum())
    total = float((target**2).sum())
    share = inside / total if total > 0 else 0.0
    return share, 1.0 - share


def unit_problem(problem: Problem) -> Problem:
    """One row per group: the mean of each feature (most frequent category of nominal ones), of the target and of the
    weights. Its rows are in the order of the groups, and it has no groups any more."""
    groups, weight = problem.groups, problem.sample_weight
    assert groups is not None
    place = np.unique(groups, return_inverse=True)[1]
    X: Any
    if sparse.issparse(problem.X):
        weights = np.ones(len(groups)) if weight is None else weight
        members = sparse.csr_array((weights / np.bincount(place, weights)[place], (place, np.arange(len(groups)))))
        X = sparse.csr_matrix(members @ problem.X)
    else:
        X = group_means(problem.X, groups, weight)
        for j in np.flatnonzero(problem.nominal):  # of equally frequent values the smallest
            values, codes = np.unique(problem.X[:, j], return_inverse=True)
            counts = np.zeros((len(X), len(values)))
            np.add.at(counts, (place, codes), 1.0)
            X[:, j] = values[counts.argmax(axis=1)]
        for start, stop in [] if problem.columns is None else problem.columns.level_blocks():
            # 1 for the category with the largest share of a group; all 0 for cells that are in none of the columns
            whole = np.column_stack([X[:, start:stop], 1.0 - X[:, start:stop].sum(axis=1)])
            X[:, start:stop] = whole.argmax(axis=1)[:, None] == np.arange(stop - start)
    units = problem.supervision.of_groups(groups, weight)
    weight = None if weight is None else group_means(weight[:, None], groups)[:, 0]
    return replace(problem, X=X, supervision=units, sample_weight=weight, groups=None, checks=None)


def within_problem(problem: Problem) -> Problem:
    """The rows of groups in which the target varies; features without the means of their groups."""
    groups = problem.groups
    assert groups is not None
    moves = (centred_within(problem.supervision.target_matrix(np.arange(problem.n_rows)), groups) != 0).any(axis=1)
    varied = np.isin(groups, groups[moves])
    part = problem.rows(np.flatnonzero(varied))
    X = part.X.toarray() if sparse.issparse(part.X) else part.X
    assert part.groups is not None
    centred, given = centred_within(X, part.groups), part.columns_of(part.given_features)
    centred[:, given] = X[:, given]  # their curves are centred, and not they themselves
    return replace(part, X=centred)
