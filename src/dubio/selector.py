"""The main entry: one selector that looks at what is known, chooses the method, and explains why."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import field, replace
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from dubio._sklearn import wants_pandas
from dubio.alerts import find_alerts, without_copies
from dubio.alerts.confounders import FEWEST_GONE, confounder_alerts
from dubio.checks import NOT_NEGATIVE, Interval, NeighborsCut
from dubio.doubt.belief import believe
from dubio.doubt.experts import ExpertOptions
from dubio.errors import InputError, all_of, quoted
from dubio.evidence.effects import Effects, EffectsWithin, effects_of, effects_within, wrong_labels
from dubio.evidence.evidence import notes_on_groups
from dubio.evidence.relevance import needed_alone, tests_without_given
from dubio.evidence.residuals import explained_by_given
from dubio.evidence.sketch import column_of, sketch_dask, tested_on_all_rows
from dubio.findings import LEAKS, Alert, Findings, left_out_by
from dubio.kernels.gpu import DeviceName
from dubio.kernels.threads import beside, resolve_threads
from dubio.methods.base import TESTED, Selector
from dubio.methods.parameters import Count, estimator
from dubio.methods.register import Method, get_method
from dubio.problem import Problem, require_weights, with_given_columns
from dubio.progress import listener_of, listening
from dubio.ranking import Answer, Ranking, resolve_count
from dubio.sampling import sample_rows
from dubio.scores.consensus import rank_without_repeats
from dubio.table.given import some_given
from dubio.table.matrix import (
    NOTHING_VARIES,
    arrow_frame,
    check_squares,
    count_rows,
    is_arrow,
    is_dask,
    nothing_is_left,
    take_columns,
    take_rows,
)
from dubio.table.reading import notes_of
from dubio.table.rows import check_weights, read_groups
from dubio.target.checked import read_checks
from dubio.target.knowledge import Supervision
from dubio.target.reader import Target, read_supervision
from dubio.words import Note, note, say

if TYPE_CHECKING:
    from dubio.trust.tolerance import Flips, LabelTolerance


def choose(supervision: Supervision) -> tuple[str, str]:
    """The method for pairs, or that of the kind of target, and why."""
    return ("constraint", say("because pairs")) if supervision.has_pairs else supervision.usual_method


#: Most cells of a sparse table that is made dense for a method that needs it (0.8 GB).
_DENSE_CELLS = 100_000_000
#: Fewest rows of such a table, however wide it is.
_FEWEST_DENSE_ROWS = 1000
#: Related features of which effects within the levels of given columns are found.
_MOST_WITHIN = 30
#: Share of the target that given columns explain, above which they may be the target in another form.
_NEARLY_ALL = 0.95
#: Fewest rows of a sample.
_FEWEST_SAMPLED = 20
#: Facts about rows and columns that ``fit`` takes.
_ROW_FACTS = ("groups", "sample_weight", "given")
#: What is said of weights, by whether the tests hold if these depend on a column.
_WEIGHTS = {True: "weights tested", False: "weights assumed"}


@estimator
class FeatureSelector(Selector):
    """Select features with what is known of the target, and explain what was done and why.

    Parameters
    ----------
    method : str
        "auto" chooses by what is known of the target (:mod:`dubio.selector` has the rule).
        Otherwise a name in ``dubio.METHODS``.
    n_features_to_select : "auto", "relevant", "sufficient", int, float or None
        "auto" or "relevant" keeps the features that are related to the target, alone or together with others
        (:func:`~dubio.evidence.relevance.relevance_of`); without a target, or with a score requested by name, those
        whose score is better than expected by chance. False discoveries are limited to ``alpha``. "sufficient" keeps
        the first of them that predict the target as well as all of them. Or: a count, a share, None for half of the
        features.
    redundancy : float, optional
        Weight of the penalty on relevant features that resemble better-ranked ones, for example 0.5
        (:func:`~dubio.scores.consensus.redundancy_ranking`). Off by default: the engine already looks at features
        together. It helps rankings of single features.
    method_params : dict, optional
        Further parameters of the method.
    feature_groups : dict of str to list of columns, optional
        Columns of the table (names or positions) that are one feature: the window of a spectrum, a questionnaire. They
        get one rank and one p-value, and are kept or left out together.
    max_rows : int or None, default=20_000
        Tables with more rows are sampled: labelled rows first, each class with its share. This concerns "auto", and
        tables that are not in memory (Dask, Arrow). None: use all rows.
    drop_leaks : bool, default=False
        Whether features that are suspected to be copies of the target are left out, and those that separate its classes
        completely (see ``alerts_``): they come last.

    Attributes
    ----------
    alerts_ : tuple of Alert
        What in the table may make the answer wrong: copies of the target, repeated rows or visits of the same subject,
        identifiers, and more (:func:`~dubio.alerts.find_alerts`). Each has a ``kind``, the ``features``, a
        ``sentence`` and a ``remedy``. Empty for sparse tables.
    method_, explanation_ : str
        Name of the method used. How the labels were read, why this method was chosen, and how many features were kept
        and why.
    selector_, supervision_, findings_
        The method's own estimator, fitted; what is known of the target, as it was read; the facts behind the
        explanation.
    scores_ : array (n_features,)
        The scores of the method; ``lower_is_better_`` gives their direction.
    ranking_, support_, n_features_
        The place of every feature, 1 = best; which features are kept, and how many.
    n_relevant_, n_sufficient_, pvalues_, qvalues_, at_the_line_
        If features were tested: see :class:`~dubio.methods.base.SearchSelector`. The first ``n_relevant_`` of the
        ranking are related to the target; the first ``n_sufficient_`` predict it as well as all of these.
    n_sampled_ : int
        Number of rows used. ``n_labelled_`` and ``n_unlabelled_`` count all rows; of tables that are not in memory,
        those of the sample.
    notes_ : tuple of str
        What was sampled, grouped, weighed, completed and left out, in sentences.
    row_facts_ : tuple of str
        The facts that ``fit`` was given besides ``y``: "groups", "sample_weight" and "given", or some of them.
    n_given_ : int
        If columns are given: how many of them are columns of X. They are the first of the ranking, and in
        ``support_``; ``n_relevant_`` and ``n_sufficient_`` count from the next one on, and their p-values are NaN.
    effects_within_ : tuple of EffectsWithin
        If columns are given and features are tested: for each given category, the effects of the related features
        within each of its levels, and whether they differ (:class:`~dubio.evidence.effects.EffectsWithin`).
    given_share_ : float
        How much of the variation of the target the given columns explain, on rows that were not used to learn this.
    n_groups_, n_missing_values_ : int
        Number of groups of rows used, if rows belong together, and of missing cells of X, which were filled.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dubio import FeatureSelector
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = FeatureSelector(n_features_to_select=2).fit(X, y)
    >>> list(selector.get_feature_names_out())
    ['petal length (cm)', 'petal width (cm)']
    >>> print(selector.explanation_)  # doctest: +ELLIPSIS
    150 rows with one class each (3 classes). Method: ...
    """

    _target = "auto"
    _takes = ("none", "hard", "soft", "numbers", "ordered", "ordered soft", "positives", "intervals", "several", "any")
    _needs_labels = False
    _takes_nan = True
    _takes_sparse = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "method": [str],
        "redundancy": [None, *NOT_NEGATIVE],
        "method_params": [None, dict],
        "drop_leaks": ["boolean"],
        "feature_groups": [None, dict],
        "max_rows": [Interval(Integral, _FEWEST_SAMPLED, None, closed="left"), None],
    }

    method: str = field(default="auto", kw_only=False)
    n_features_to_select: Count = "auto"
    alpha: float = 0.05
    redundancy: float | None = None
    target: Target = "auto"
    missing_label: Any = "auto"
    method_params: dict[str, Any] | None = None
    feature_groups: dict[str, Any] | None = None
    max_rows: int | None = 20_000
    drop_leaks: bool = False
    random_state: Any = 0
    n_jobs: int | None = None
    device: DeviceName = "cpu"

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        must_link: Any = None,
        cannot_link: Any = None,
        groups: Any = None,
        sample_weight: Any = None,
        checked: Any = None,
        given: Any = None,
    ) -> Self:
        """Rank the features of ``X`` and choose among them.

        Parameters
        ----------
        X : array-like, sparse matrix, Dask array or dataframe, or Arrow table (n_rows, n_features)
            The table. Columns may be of any type (:func:`~dubio.table.read.read_any_table`); missing cells are
            filled with the median or the most frequent value of their column. Arrow tables are pyarrow tables and
            whatever else has ``__arrow_c_stream__``.
        y : array-like, optional
            What is known of the target: classes, class probabilities or numbers. Some or all may be missing. Several
            targets: :func:`dubio.several_targets`.
        must_link, cannot_link : array-like (m, 2), optional
            Pairs of rows of the same class, and of different classes.
        groups : array-like (n_rows,), optional
            Which rows belong together, such as the visits of one patient. Rows of a group are no independent evidence:
            tests compare groups, or rows within a group, and no row is predicted by rows of its own group.
        sample_weight : array-like (n_rows,), optional
            The weight of each row. Only the ratios matter; a row of weight 0 is left out. Weights may depend on the
            target, and on columns too; the explanation says if the tests of a method take for granted that they do not.
        checked : CheckedRows, optional
            The truth of rows that were drawn at random (:func:`dubio.checked_rows`). Features are also tested against
            the truth (:mod:`dubio.evidence.truth`). Those that are related only to how rows were labelled are not kept.
        given : str, int, a list of these, or a table (n_rows, any), optional
            Columns that are known already, such as age, sex, site or batch: the other columns are judged by what they
            add to these. Names or positions of columns of ``X``; or further columns, as a series, a frame or an array
            with two dimensions. Given columns of ``X`` come first in the ranking and are kept, but are not tested.
        """
        facts = {"must_link": must_link, "cannot_link": cannot_link, "checked": checked, "given": given}
        return self._fit(X, y, groups=groups, sample_weight=sample_weight, **facts)

    def transform(self, X: Any) -> Any:
        """Return the chosen columns of ``X``, which has the columns of ``fit``, as a table of the same kind."""
        if is_dask(X) or is_arrow(X):
            check_is_fitted(self)
            names = list(getattr(self, "feature_names_in_", ()))
            kept = take_columns(X, np.flatnonzero(self.get_support()), names, self.n_features_in_)
            return arrow_frame(kept) if is_arrow(kept) and wants_pandas(self) else kept
        return super().transform(X)

    def tolerance(
        self,
        X: Any,
        y: Any,
        *,
        groups: Any = None,
        sample_weight: Any = None,
        given: Any = None,
        flips: Flips = "uniform",
        progress: bool | Callable[[str, int, int], None] = False,
    ) -> LabelTolerance:
        """Measure how wrong the labels may be before a feature is no longer related to the target.

        The features are tested with this selector's ``alpha`` and seed; see :func:`~dubio.label_tolerance`. No fit is
        needed, and none is done. ``selector.to_ranking().with_columns(tolerance.columns())`` is the ranking of a fit
        with the result as columns.

        Parameters
        ----------
        X, y, groups, sample_weight, given
            As in ``fit``. What the selector was fitted with is needed here too.
        flips : {"uniform", "one-class", "next"}, default="uniform"
            What wrong labels are.
        progress : bool or callable, default=False
            True shows the progress on standard error; a callable gets ``(what, done, total)``.
        """
        from dubio.trust.tolerance import problem_tolerance  # which imports everything, while nothing imports it

        self._check_parameters()
        facts = dict(zip(_ROW_FACTS, (groups, sample_weight, given), strict=True))
        for name in getattr(self, "row_facts_", ()):
            if facts[name] is None:
                raise InputError(name, "is missing, but the selector was fitted with it", f"give {name}= here too")
        problem = self.read_problem(X, y, **facts)
        problem = problem.dense
        with listening(listener_of(progress, with_name=True)):
            options: dict[str, Any] = {"alpha": self.alpha, "random_state": self._seed, "n_jobs": self.n_jobs}
            return problem_tolerance(problem, flips=flips, **options)

    def read_problem(self, X: Any, y: Any = None, **more: Any) -> Problem:
        """Read a table and a target as ``fit`` does; ``method_params`` may say how y is read."""
        params = (self.method_params or {}).items()
        of_target = {name: value for name, value in params if name in ("target", "missing_label")}
        of_table = {"any_type": True, "feature_groups": self.feature_groups}
        if is_dask(X) or is_arrow(X):
            return self._read_large(X, y, of_table, **{**of_target, **more})
        return super().read_problem(X, y, **{**of_target, **of_table, **more})

    def _read_large(self, X: Any, y: Any, of_table: dict[str, Any], **of_rows: Any) -> Problem:
        """Read the target of all rows, and a sample of the rows of the table."""
        y = y.compute() if is_dask(y) else y
        try:
            n_rows = len(y)
        except TypeError:  # y is missing, or is no list: reading it says what is wrong
            n_rows = count_rows(X)
        groups, weights = read_groups(of_rows.pop("groups", None), n_rows), of_rows.pop("sample_weight", None)
        given = of_rows.pop("given", None)
        weights = None if weights is None else check_weights(weights, np.empty((n_rows, 1)))
        checked = of_rows.pop("checked", None)
        supervision = read_supervision(y, n_rows, **{**self._reading, **of_rows})
        checks = None if checked is None else read_checks(checked, supervision)
        rows = np.arange(n_rows)
        if self.max_rows is not None and not supervision.has_pairs:
            rows = _with_checked(
                Problem(rows[:, None], supervision, groups=groups, checks=checks), self.max_rows, self._seed
            )
        some = take_rows(X, rows, n_rows)
        problem = super().read_problem(some, **of_table)
        target = supervision.one_per_row
        plain = groups is None and weights is None and checked is None and given is None
        if is_dask(X) and len(rows) < n_rows and plain and target is not None and not supervision.has_pairs:
            sample = replace(problem, supervision=supervision.rows(rows))
            every = tested_on_all_rows(sample, partial(column_of, some), partial(sketch_dask, X, target))
            problem = replace(problem, all_rows=every)
        if given is not None:
            supervision.require_given()
            problem = with_given_columns(problem, some_given(given, rows, n_rows))
        return replace(
            problem,
            supervision=supervision.rows(rows),
            n_rows_before=n_rows,
            groups=None if groups is None else groups[rows],
            sample_weight=None if weights is None else weights[rows],
            checks=None if checks is None else checks.rows(rows),
        )

    def _require(self, problem: Problem) -> None:
        """Check nothing here: the chosen method checks what it can use."""

    def _solve(self, problem: Problem) -> Answer:
        """Choose a method, look for alerts, prepare the rows, rank the features, and explain the answer."""
        wish = self._checked_wish(int(problem.is_judged.sum()))
        if self.redundancy and problem.given is not None:
            raise InputError("redundancy", "cannot be combined with given columns", "leave one of them out")
        method, because, supervision = self._chosen_method(problem.supervision.certain())
        if problem.given is not None:
            method.require_given()
        whole, problem = problem, problem.with_supervision(supervision)
        alerts = find_alerts(problem)
        _refuse_given_copies(problem, alerts)
        columns = () if whole.columns is None else tuple(notes_of(whole.columns.read))
        left_out = left_out_by(alerts, self.drop_leaks, columns)
        drawn = self._drawn(without_copies(problem, alerts) if self.drop_leaks else problem, method)
        problem = self._with_belief(self._prepared(drawn, method), method, wish)
        if len(left_out) == problem.n_features and problem.n_rows > 1:  # one row has an error of its own
            raise nothing_is_left(problem.feature_names, left_out)
        is_explained, n_threads = not problem.is_resample, resolve_threads(self.n_jobs)
        with beside(lambda: effects_of(drawn, self.n_jobs) if is_explained else None, n_threads) as effects_found:
            selector = self._fitted(problem, method, wish, left_out)
            ranking = self._without_repeats(problem, selector.to_ranking())
            effects = effects_found()
        if effects is not None:
            ranking = ranking.with_columns(effects.columns()).with_details(effects.details())
        wrong = wrong_labels(drawn)
        if effects is not None and wrong is not None:
            right = effects.corrected(*wrong)
            names = ("effect_corrected", "effect_corrected_low", "effect_corrected_high")
            ranking = ranking.with_columns(dict(zip(names, (right.effect, right.low, right.high), strict=True)))
        ranking, within, more = self._beyond(problem, drawn, ranking, effects)
        alerts = (*alerts, *more)
        ranking = ranking.only_first(whole.n_own)
        unread = [str(one.name) for one in whole.columns.read if one.left_out] if whole.columns is not None else []
        ranking = replace(ranking, support=ranking.support & ~np.isin(ranking.names.astype(str), unread))
        leaks = () if self.drop_leaks else tuple(one for each in alerts if each.kind in LEAKS for one in each.features)
        ranking = replace(ranking.with_left_out(left_out), suspected=leaks)
        facts: dict[str, Any] = {"supervision": supervision, "ranking": ranking}
        facts |= {"method": method.name, "does": method.does, "because": because, "redundancy": self.redundancy}
        notes = (*self._notes_on(whole, problem, selector), *_notes_beyond(ranking, within))
        if wrong is not None:
            first, second = supervision.as_drawn()[1]
            shares = {"first": 100 * wrong[0], "second": 100 * wrong[1]}
            notes = (*notes, note("effects corrected", first_class=first, second_class=second, **shares))
        if effects is not None and ranking.nothing_stands_out:
            level = needed_alone(self.alpha, int(problem.is_judged.sum()))
            notes = (*notes, note("would be found", percent=100 * effects.smallest_found(level)))
        facts |= {"alerts": alerts, "columns": columns, "notes": notes}
        findings = Findings(**facts)
        explained = replace(findings.ranking, method=method.name, reason=findings.explanation())
        attributes = self._attributes(whole, problem, selector, findings)
        attributes |= {} if whole.given is None else {"effects_within_": tuple(within)}
        return Answer(explained, attributes, findings.notes)

    def _beyond(
        self, problem: Problem, drawn: Problem, ranking: Ranking, effects: Effects | None
    ) -> tuple[Ranking, list[EffectsWithin], list[Alert]]:
        """If features were tested: what given columns change, effects within their levels, and columns to be given."""
        if effects is None or "pvalue" not in ranking.extras:
            return ranking, [], []
        options: dict[str, Any] = {"alpha": self.alpha, "random_state": self._seed, "n_jobs": self.n_jobs}
        related, within = ranking.is_related, list[EffectsWithin]()
        if problem.given is not None:
            shown = ranking.best_first[: min(_MOST_WITHIN, ranking.n_relevant or 0)]
            within = effects_within(drawn, effects, shown, self.alpha)
            if problem.checks is None:
                ranking = ranking.with_columns(tests_without_given(problem, related, **options))
        confounded = confounder_alerts(problem, related, **options) if related.sum() > FEWEST_GONE else []
        return ranking, within, [*_explained_alerts(problem), *confounded]

    def _checked_wish(self, n_features: int) -> Count:
        """The number of features that the method is to keep."""
        wish = self.n_features_to_select
        if not isinstance(wish, str):
            resolve_count(wish, n_features)
        if self.redundancy and wish == "sufficient":
            wrong = "changes the order, and then nobody knows how many features suffice"
            raise InputError("redundancy", wrong, "leave it out, or give a count, a share or 'auto'")
        return "relevant" if self.redundancy else wish

    def _chosen_method(self, supervision: Supervision) -> tuple[Method, str, Supervision]:
        """The method, why, and the target as the method takes it."""
        auto = self.method == "auto"
        name, because = choose(supervision) if auto else (self.method, say("because named"))
        if auto and supervision.has_pairs and not supervision.goes_with_pairs:
            given = "must_link" if len(supervision.pairs.must_link) else "cannot_link"
            wrong = f"cannot be used here: {supervision.given}, and no method takes both"
            raise InputError(given, wrong, "leave one of them out")
        method = get_method(name)
        if self.target != "ordered":
            supervision = supervision.taken_by(method.takes)
        method.require(supervision)
        return method, because, supervision

    def _drawn(self, problem: Problem, method: Method) -> Problem:
        """The rows that count, as many as the method can use; dense if it needs that."""
        if problem.sample_weight is not None:
            method.require_weights()
            require_weights(problem)
            problem = problem.counted
            problem = replace(problem, sample_weight=problem.uneven_weights)  # a method sees no common factor
        has_pairs, in_all = problem.supervision.has_pairs, problem.n_rows_in_all
        dense = bool(self.redundancy) or problem.given is not None or not method.estimator._takes_sparse
        dense = dense and sparse.issparse(problem.X)
        limits = [self.max_rows] if self.method == "auto" and self.max_rows is not None else []
        limits += [max(_FEWEST_DENSE_ROWS, _DENSE_CELLS // problem.n_features)] if dense else []
        if limits and not has_pairs and problem.n_rows > min(limits):  # pairs name rows by their position
            problem = problem.rows(_with_checked(problem, min(limits), self._seed))
            problem = replace(problem, n_rows_before=in_all)
        return problem.dense if dense else problem

    def _prepared(self, problem: Problem, method: Method) -> Problem:
        """The same rows without missing cells."""
        problem = problem.filled
        if not method.estimator._takes_nan or self.redundancy:  # tests of features sum squares
            check_squares(problem.X, names=problem.column_names)
        return problem.with_supervision(problem.supervision.certain())

    def _with_belief(self, problem: Problem, method: Method, wish: Count) -> Problem:
        """The same problem; if rows were checked, with what models believe of all rows as a proxy of the truth."""
        if problem.checks is None:
            return problem
        untested = f"with {wish!r}" if wish not in TESTED else "in a sparse table" if sparse.issparse(problem.X) else ""
        if not untested and wish not in getattr(method.estimator, "_tested", TESTED):
            untested = f"by {method.name}"
        if untested:
            remedy = "give a dense table, n_features_to_select='auto', and another method if you named one"
            raise InputError("checked", f"cannot be used: features are not tested {untested}", remedy, code="untested")
        options = ExpertOptions(random_state=self._seed, n_jobs=self.n_jobs)
        belief = believe(problem, "experts", True, options).supervision
        return problem.with_checks(replace(problem.checks, belief=belief))

    def _fitted(self, problem: Problem, method: Method, wish: Count, left_out: dict[str, str]) -> Selector:
        """The estimator of the method, fitted."""
        selector = self._estimator_of(method, wish)
        with warnings.catch_warnings():
            if not self.method_params:
                warnings.simplefilter("ignore", NeighborsCut)  # the user did not choose a number of neighbours
            try:
                return selector.fit_problem(problem)
            except InputError as error:
                if error.code == NOTHING_VARIES and left_out:
                    raise nothing_is_left(problem.feature_names, left_out) from None
                raise

    def _estimator_of(self, method: Method, wish: Count) -> Selector:
        """The estimator of the method, with the parameters that it shares with this one and ``method_params``."""
        shared = {name: getattr(self, name) for name in ("alpha", "n_jobs", "device")}
        selector: Selector = method.make(n_features_to_select=wish, random_state=self._seed, **shared)
        own, params = selector.get_params(), self.method_params or {}
        if self.device == "cuda" and "device" not in own:
            wrong = f"='cuda', but the method {method.name} works on the CPU only"
            raise InputError("device", wrong, "leave it out, or give 'auto'")
        for unknown in sorted(params.keys() - own.keys()):
            wrong = f"holds {unknown!r}, which is not a parameter of {type(selector).__name__}"
            raise InputError("method_params", wrong, f"its parameters are {', '.join(own)}")
        return selector.set_params(**params)

    def _without_repeats(self, problem: Problem, ranking: Ranking) -> Ranking:
        """Move relevant features that resemble better ones down, within the relevant ones."""
        if not self.redundancy:
            return ranking
        movable, wish = ranking.n_relevant or 0, self.n_features_to_select
        ranks = rank_without_repeats(problem, ranking.ranking, weight=self.redundancy, n_movable=movable)
        count, reason = int(ranking.support.sum()), ranking.reason
        if not isinstance(wish, str):
            count, reason = resolve_count(wish, problem.n_features)
        return replace(ranking, ranking=ranks, support=ranks <= count, reason=reason, n_sufficient=None)

    def _notes_on(self, whole: Problem, problem: Problem, selector: Selector) -> tuple[Note, ...]:
        """Notes on cells that were filled, on rows, on their groups and weights, and on the method."""
        notes: list[Note] = []
        if whole.n_missing:
            notes.append(note("missing cells", n=whole.n_missing, filled_with=whole.filled_with))
        if problem.n_rows < problem.n_rows_in_all:
            notes.append(note("sampled", n_rows=problem.n_rows, n_in_all=problem.n_rows_in_all))
        if problem.all_rows is not None:
            tested = int((~np.isnan(problem.all_rows.pvalues)).sum())
            notes.append(note("tested on all rows", n=tested, of=problem.n_features, n_rows=problem.all_rows.n_rows))
        is_tested = "pvalue" in selector.to_ranking().extras
        if problem.groups is not None:
            notes += notes_on_groups(problem, selector._keeps_groups_apart, is_tested)
        if problem.sample_weight is not None:
            notes.append(note("weights" if not is_tested else _WEIGHTS[selector._tests_any_weights]))
        notes += [] if problem.checks is None else [note("believe")]
        if problem.given is not None:
            names, percent = problem.given_names, 100 * explained_by_given(problem)
            facts = {"given": all_of(map(quoted, names)), "n": len(names)}
            notes += [note("given", **facts), note("given explains", **facts, percent=percent)]
        notes += getattr(selector, "_notes", ())
        return (*notes, note("sparse")) if sparse.issparse(whole.X) else tuple(notes)

    def _attributes(self, whole: Problem, problem: Problem, selector: Selector, findings: Findings) -> dict[str, Any]:
        """The attributes of the fitted selector, besides those of its ranking and of its target."""
        attributes = {f"{name}_": getattr(findings, name) for name in ("alerts", "method", "supervision")}
        attributes |= {f"{name}_": getattr(findings.ranking, name) for name in ("scores", "lower_is_better")}
        attributes |= {"findings_": findings, "selector_": selector, "n_sampled_": problem.n_rows}
        attributes |= {"n_missing_values_": whole.n_missing, "filled_with_": whole.filled_with}
        attributes["row_facts_"] = tuple(name for name in _ROW_FACTS if getattr(whole, name) is not None)
        if hasattr(selector, "at_the_line_"):
            attributes["at_the_line_"] = selector.at_the_line_[: whole.n_own]
        if whole.given is not None:
            attributes |= {"n_given_": findings.ranking.n_given, "given_share_": explained_by_given(problem)}
        return attributes | ({} if problem.groups is None else {"n_groups_": problem.n_groups})


def _with_checked(problem: Problem, most: int, seed: int) -> NDArray[np.int64]:
    """A sample of the rows that holds all checked ones."""
    rows = sample_rows(problem, most, seed)
    return rows if problem.checks is None else np.union1d(rows, np.flatnonzero(problem.checks.truth.labelled))


def _explained_alerts(problem: Problem) -> list[Alert]:
    """An alert if given columns explain nearly all of the target: nothing can be added to them."""
    if problem.given is None or (share := explained_by_given(problem)) < _NEARLY_ALL:
        return []
    return [Alert("explained", tuple(problem.given_names), {"percent": 100 * share})]


def _notes_beyond(ranking: Ranking, within: list[EffectsWithin]) -> list[Note]:
    """What it changed that columns are given, and whether effects differ between their levels."""
    words = ranking.extras.get("adjusting", np.empty(0, dtype=object))
    changed = {code: ranking.names[words == code].tolist() for code in ("only without", "only with")}
    given = all_of(map(quoted, ranking.given))
    facts = [(code, {"names": names, "n": len(names), "given": given}) for code, names in changed.items() if names]
    notes = [note(f"adjusting {code}", **about) for code, about in facts]
    unchanged = [note("adjusting nothing", given=given)] if len(words) and not facts else []
    return [*notes, *unchanged, *(one.note() for one in within)]


def _refuse_given_copies(problem: Problem, alerts: tuple[Alert, ...]) -> None:
    """Raise if a given column is the target in disguise: then nothing can be added to it."""
    given = set(problem.feature_names[problem.given_features].tolist())
    copies = [name for alert in alerts if alert.kind == "copy" for name in alert.features if name in given]
    if copies:
        found = f"names {quoted(copies[0])}, which is a copy of the target, or a recoding of it"
        raise InputError("given", found, "leave it out: nothing can be added to it")


def select_features(
    X: Any,
    y: Any = None,
    *,
    must_link: Any = None,
    cannot_link: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    checked: Any = None,
    given: Any = None,
    **options: Any,
) -> Ranking:
    """Rank the features of a table and choose among them, in one call.

    Parameters
    ----------
    X, y, must_link, cannot_link, groups, sample_weight, checked, given
        As in :meth:`FeatureSelector.fit`.
    **options
        Parameters of :class:`FeatureSelector`.

    Returns
    -------
    Ranking
        ``reason`` explains what was done and why; ``support`` marks the features kept.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dubio import select_features
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> ranking = select_features(X, y, n_features_to_select=2)
    >>> sorted(ranking.names[ranking.support])
    ['petal length (cm)', 'petal width (cm)']
    """
    facts = {"must_link": must_link, "cannot_link": cannot_link, "checked": checked, "given": given}
    selector = FeatureSelector(**options).fit(X, y, groups=groups, sample_weight=sample_weight, **facts)
    return selector.to_ranking()
