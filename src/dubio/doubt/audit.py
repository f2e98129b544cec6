"""The label audit: which labels are doubtful, what they may be instead, and how often each class is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dubio.alerts.of_rows import contradicting_rows
from dubio.checks import seed_of
from dubio.doubt.anchor import Anchor
from dubio.doubt.audit_record import LabelAudit, disagreement_of, in_order, skill_of
from dubio.doubt.checked_anchor import anchor_of
from dubio.doubt.engines import FLOOR, confident_count, fit_transitions, pool_experts
from dubio.doubt.experts import OutOfFold, content_order, judged_codes, out_of_fold, places, require_judges
from dubio.doubt.noise_model import membership_model
from dubio.doubt.number_audit import NumberAudit, audit_numbers
from dubio.doubt.votes import VoteAudit, audit_votes
from dubio.errors import InputError, counted, listed, name_row
from dubio.kernels.threads import resolve_threads
from dubio.methods.parameters import documented
from dubio.problem import Problem, read_problem
from dubio.progress import listener_of, listening
from dubio.table.matrix import check_squares
from dubio.table.read import read_any_table
from dubio.table.rows import read_groups
from dubio.target.classes import SoftLabels, is_whole
from dubio.target.knowledge import Supervision
from dubio.target.label_values import CorrectedLabels, GivenByRow
from dubio.target.numbers import Numbers
from dubio.target.ordered import OrderedClasses, OrderedLabels
from dubio.target.reader import Target, has_order, numbers_of, read_supervision
from dubio.target.several import SeveralLabels
from dubio.target.voted import Voted, VotesByRow

Floats = NDArray[np.float64]
Engine = Literal["transitions", "pooled", "confident", "lnt"]

ASSUMPTIONS: dict[str, str] = {
    "transitions": (
        "each pair of classes has its own rate of error, the same for all rows of a class, and the experts are "
        "right about most rows; if wrong labels gather near the border of two classes, the rates are too low, and if "
        "many rows look like another class though no label is wrong, they are too high"
    ),
    "pooled": (
        "every label is wrong with the same probability, every other class is equally likely, and the experts are "
        "right about most rows; if wrong labels gather near the border of two classes or always go to one class, the "
        "order of doubt still holds, but the rates are too low"
    ),
    "confident": (
        "whether a label is wrong depends only on its class, not on the row, and the experts are sure of most rows of "
        "each class; where classes overlap, the rates are too high"
    ),
    "lnt": (
        "each true class has its own error rate, every other class is equally likely, and rows of a class lie near "
        "each other; this is good enough to select features, but it is a weak detector of wrong labels"
    ),
}
#: Share of the labels doubted by confident learning that the engine "transitions" flags. With all of them, more labels
#: would be flagged at a lower precision than by other tools.
_FLAGGED = 0.95
#: A label that is less probable than this is flagged in any case.
_CLEAR = 0.25
#: From so many columns per labelled row on, labels are flagged only with so much evidence (in nats) of errors.
_EVIDENCE = ((1.0, 5.0), (0.25, 0.3))
#: Standard deviation of the seeded noise that prevents distances of zero in the LNT model, as in its paper.
_JITTER = 1e-3


@documented
def audit_labels(
    X: Any,
    y: Any,
    *,
    engine: Engine = "transitions",
    experts: Any = None,
    probabilities: ArrayLike | None = None,
    n_folds: int = 5,
    target: Target = "auto",
    missing_label: Any = "auto",
    random_state: int | None = 0,
    n_jobs: int | None = None,
    progress: bool | Callable[[str, int, int], None] = False,
    groups: Any = None,
    sample_weight: Any = None,
    given: Any = None,
    share: float | tuple[float, float] | None = None,
    checked: Any = None,
) -> LabelAudit | NumberAudit | VoteAudit:
    """Find doubtful labels in a table: experts judge every row without having seen it.

    A forest and two Gaussian classifiers predict each row while it is held out. They are pooled log-linearly,
    with weights fitted to the observed labels. Nothing is trained on the result, so no label can confirm itself.

    Parameters
    ----------
    X : array-like (n_rows, n_features)
        The table; columns may be of any type, and missing cells are filled. (Experts of your own get numbers as they
        are, with NaN for missing cells.) May be None if ``probabilities`` are given.
    y : array-like (n_rows,)
        One class per row; for rows without a label, one is suggested. Or the votes of several annotators
        (:func:`dubio.votes`): the audit is then of the votes and of who gave them.
    engine : {"transitions", "pooled", "confident", "lnt"}, default="transitions"
        ``"transitions"``: each pair of classes has its own rate of error
        (:func:`dubio.doubt.engines.fit_transitions`). The probabilities are the mean of the posterior under this
        model and of the experts' opinion without the label; confident learning decides how many labels are flagged, and
        the rates are the mean of both.
        ``"pooled"``: posterior of the true class under one uniform flip rate.
        ``"confident"``: confident learning on the pooled probabilities; it flags rows and counts errors by class.
        ``"lnt"``: the k-nearest-neighbour model of :func:`dubio.estimate_memberships` on the scaled table (it needs
        the distances of all pairs of rows, but no experts).
    {experts}
    probabilities : array (n_rows, n_classes) or (n_experts, n_rows, n_classes), optional
        Ready out-of-fold probabilities in place of experts, with columns in the order of the sorted classes. They must
        come from models that have not seen the row; this function cannot check that.
    {n_folds}
    target : {"auto", "classes", "ordered", "numbers"}
        What ``y`` holds. "ordered": classes with an order, so that a near miss is less suspicious than a far one
        (:class:`~dubio.doubt.audit_record.OrderedAudit`). "auto": an order if ``y`` has one
        (:func:`dubio.ordered_classes`). "numbers": gross errors in a numeric target
        (:func:`dubio.doubt.number_audit.audit_numbers`); so "auto" reads numbers that are not whole.
    {missing_label}
    random_state : int or None, default=0
        Seed of the folds, and of experts without a seed. The order of the rows does not matter.
    {n_jobs}
    progress : bool or callable, default=False
        True shows the progress on standard error; a callable gets ``(what, done, total)``.
    groups : array-like (n_rows,), optional
        Which rows belong together, such as the visits of one patient. Whole groups are held out, so that no row is
        judged by experts who have seen another row of its group.
    sample_weight : array-like (n_rows,), optional
        How much the experts learn from each row; only the ratios matter. A row of weight 0 counts as a row without a
        label. Each label is judged alike, and the rates count rows.
    given : str, int, a list of these, or a table (n_rows, any), optional
        Columns that are known already, as in :meth:`FeatureSelector.fit`. The experts see them like all others.
    share : float or (float, float), optional
        The share of wrong labels, if you know it, or from where to where it reaches. It anchors the audit: each label
        gets the probability that it is wrong (:class:`dubio.doubt.anchor.Anchor`). Without, the audit says how much the
        models disagree with each label, and no more: wrong labels and classes that overlap look alike.
    checked : CheckedRows, optional
        The truth of rows that were drawn at random (:func:`dubio.checked_rows`). They anchor the audit too: the share
        of wrong labels in each class, with its interval, and the columns along which labels are wrong more often
        (:class:`dubio.doubt.checked_anchor.CheckedAnchor`). For classes only.

    Returns
    -------
    LabelAudit
        What the experts think of each label; of numbers, a :class:`~dubio.doubt.number_audit.NumberAudit`; of votes, a
        :class:`~dubio.doubt.votes.VoteAudit`.

    Notes
    -----
    Memory grows with rows times experts times classes, except with ``engine="lnt"``. The audit knows only the features.
    It cannot see a wrong label on a row that looks like the wrong class. And it doubts the right label of an unusual
    row that does not look like its class. Look at the rows before you change them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from dubio import audit_labels
    >>> X, y = load_iris(return_X_y=True)
    >>> y[[3, 60]] = [2, 0]  # two wrong labels
    >>> audit = audit_labels(X, y)
    >>> np.flatnonzero(audit.rank <= 2), audit.suggested[[3, 60]]
    (array([ 3, 60]), array([0, 1]))
    """
    if checked is not None and share is not None:
        raise InputError("checked", "is given together with share", "give one of them")
    used = {"groups": groups, "sample_weight": sample_weight, "given": given, "checked": checked}
    _check_together(engine, experts=experts, probabilities=probabilities, **used)
    anchor = None if share is None else Anchor.of(share)
    how: dict[str, Any] = {"target": reads_as(y, target, missing_label), "missing_label": missing_label}
    if probabilities is not None:
        n_rows = _count_rows(y if X is None else X, "y" if X is None else "X")
        supervision = _require_classes(read_supervision(y, n_rows, **how))
        said = read_probabilities(probabilities, n_rows, supervision.classes)
        # columns come in sorted order, as in predict_proba; a categorical may declare another order
        said = said[:, :, np.argsort(np.argsort(supervision.classes))]
        given_by = OutOfFold(tuple(f"given {e}" for e in range(len(said))), said, np.empty(0, dtype=np.int64), 0)
        together = read_groups(groups, n_rows)
        audit = judge(supervision, supervision.codes, given_by, engine, _index_of(X, y), groups=together)
        return audit if anchor is None else audit.with_anchor(anchor)
    if X is None:
        raise InputError("X", "is None", "give a table, or probabilities")
    resolve_threads(n_jobs)
    if not isinstance(n_folds, Integral) or n_folds < 2:
        raise InputError("n_folds", f"={n_folds!r}", "give at least 2, so that rows can be held out")
    options: dict[str, Any] = {"n_folds": n_folds, "n_jobs": n_jobs, "index": _index_of(X, y), "anchor": anchor}
    options["random_state"] = None if random_state is None else seed_of(random_state)
    # experts of one's own may have their own way with missing cells
    read = read_any_table(X, was_missing=experts is None)
    problem = read_problem(read, y, groups=groups, sample_weight=sample_weight, given=given, checked=checked, **how)
    if experts is None:
        problem = problem.filled
        check_squares(problem.X, names=problem.column_names)
    problem = _without_weightless_labels(problem)
    if isinstance(problem.supervision, Voted):
        with listening(listener_of(progress, with_name=True)):
            return _audit_votes(problem, engine, experts, **options)
    require_anchored(problem)
    of_numbers = isinstance(problem.supervision, Numbers)
    for name, value in (("experts", experts), ("engine", None if engine == "transitions" else engine)):
        if of_numbers and value is not None:
            raise InputError(name, "cannot be used: the target is numeric", "leave it out")
    if not of_numbers:
        known = _require_classes(problem.supervision)
        if engine != "lnt":  # this model needs nobody to compare a row with
            require_judges(known, problem.groups)
    with listening(listener_of(progress, with_name=True)):
        if of_numbers:
            return audit_numbers(problem, **options)
        audit = audit_problem(problem, engine, experts=experts, codes=problem.supervision.codes, **options)
    return audit if checked is None else anchored_by_checks(audit, problem)


def require_anchored(problem: Problem) -> None:
    """Raise if rows were checked, and the audit of this target can make nothing of them."""
    if problem.checks is not None and problem.supervision.given_codes is None:
        raise InputError("checked", f"cannot anchor this audit: {problem.supervision.given}", "leave it out")


def anchored_by_checks(audit: LabelAudit, problem: Problem) -> LabelAudit:
    """The audit of a problem with checked rows, anchored by them."""
    return audit.with_anchor(anchor_of(problem.filled, audit.disagreement, audit.codes))


def _check_together(
    engine: Any, *, experts: Any, probabilities: Any, groups: Any, sample_weight: Any, given: Any, checked: Any
) -> None:
    """Raise if some of the arguments cannot be given together."""
    if not isinstance(engine, str) or engine not in ASSUMPTIONS:
        raise InputError("engine", f"={engine!r}", f"give one of {', '.join(map(repr, ASSUMPTIONS))}")
    if engine == "lnt" and (experts is not None or probabilities is not None):
        wrong = "experts" if experts is not None else "probabilities"
        raise InputError(wrong, "cannot be used with engine='lnt', which models the rows themselves", "leave them out")
    if engine == "lnt" and groups is not None:
        cannot = "cannot be used with engine='lnt', which looks at all near rows"
        raise InputError("groups", cannot, "use another engine")
    if sample_weight is not None and (engine == "lnt" or probabilities is not None):
        raise InputError("sample_weight", "says what experts learn from, and none are trained here", "leave it out")
    others = {"experts": experts, "given": given, "checked": checked}
    unused = [name for name, value in others.items() if value is not None]
    if probabilities is not None and unused:
        raise InputError(unused[0], "is given together with probabilities", "give one of them")


def _audit_votes(problem: Problem, engine: str, experts: Any, anchor: Anchor | None, **options: Any) -> VoteAudit:
    for name, value in (("share", anchor), ("engine", None if engine == "transitions" else engine)):
        if value is not None:
            raise InputError(name, "cannot be used: several votes per row say how often they are wrong", "leave it out")
    return audit_votes(problem, experts=experts, **options)


def audit_problem(
    problem: Problem,
    engine: Engine = "transitions",
    *,
    index: Any = None,
    codes: NDArray[np.int64] | None = None,
    anchor: Anchor | None = None,
    **options: Any,
) -> LabelAudit:
    """The same as :func:`audit_labels`, for a problem; the experts are trained once per problem.

    If a class has only one row, its label cannot be judged and counts as missing. ``options`` are ``experts``,
    ``n_folds``, ``random_state`` and ``n_jobs``.
    """
    audit = _audit_classes(_without_weightless_labels(problem), engine, index, codes, **options)
    if len(rows := contradicting_rows(problem)):
        contradicts = np.zeros(len(audit), dtype=bool)
        contradicts[rows] = audit.labelled[rows]
        if (decided := problem.supervision.confirmed) is not None:
            contradicts &= ~decided
        audit = replace(audit, contradicts=contradicts, doubtful=audit.doubtful | (contradicts & audit.judged))
    return audit if anchor is None else audit.with_anchor(anchor)


def _audit_classes(
    problem: Problem, engine: Engine, index: Any, codes: NDArray[np.int64] | None, **options: Any
) -> LabelAudit:
    supervision = _require_classes(problem.supervision)
    codes = judged_codes(supervision, problem.groups) if codes is None else codes
    if not (codes >= 0).any():
        found, remedy = "has fewer than two classes with at least two labelled rows each", "label more rows"
        raise InputError("y", found, f"an audit compares the rows of a class: {remedy}", code="alone")
    supervision.with_codes(codes).require_enough()
    if engine == "lnt":
        order = content_order(problem.X, codes)
        space, rng = problem.standardized_table[order], np.random.RandomState(options.get("random_state", 0))
        space += _JITTER * rng.standard_normal(space.shape)
        judged = Problem(space, supervision.with_codes(codes).rows(order))
        model = membership_model(judged, random_state=rng, n_jobs=options.get("n_jobs"))
        posterior = model.memberships[np.argsort(order)]
        nobody: dict[str, Any] = {"expert_names": (), "expert_weights": np.empty(0), "n_folds": 0}
        return _record(supervision, codes, posterior, engine, flip_rate=None, index=index, **nobody)
    per_row = problem.n_columns / supervision.n_labelled
    needed = next((evidence for columns, evidence in _EVIDENCE if per_row >= columns), -np.inf)
    facts: dict[str, Any] = {"groups": problem.groups, "weights": problem.uneven_weights}
    return judge(supervision, codes, out_of_fold(problem, **options), engine, index, needed=needed, **facts)


def judge(
    supervision: Supervision,
    codes: NDArray[np.int64],
    experts: OutOfFold,
    engine: str,
    index: Any,
    *,
    needed: float = -np.inf,
    groups: NDArray[np.int64] | None = None,
    weights: Floats | None = None,
) -> LabelAudit:
    """Make the audit from the experts' predictions for rows they have not seen."""
    kept, known = places(codes, supervision.n_classes)
    said = np.ascontiguousarray(experts.probabilities[:, :, kept])
    stacked = pool_experts(said, known, flips=False, row_weights=weights)
    rows = np.flatnonzero(known >= 0)
    y = known[rows]
    shares = np.bincount(y) / len(y)
    # each expert is mixed with a little of the class shares, so that one sure mistake does not cost everything
    mixed = [(expert[rows, y] + FLOOR * shares[y]) / (1.0 + FLOOR) for expert in (*said, stacked.opinions)]
    losses = [-np.log(np.maximum(own, 1e-12)) for own in mixed]
    together, named = None if groups is None else groups[rows], zip((*experts.names, "pool"), losses, strict=True)
    skills, judged = skill_of(-np.log(shares[y]), dict(named), together)
    posterior, pooling, rate, flags = stacked.opinions, stacked.weights, None, True
    if engine == "pooled":
        pool = pool_experts(said, known, flips=True, row_weights=weights)
        posterior, pooling, rate = pool.memberships, pool.weights, pool.flip_rate
    elif engine == "transitions":
        model = fit_transitions(said, known)
        posterior, pooling = model.memberships, model.weights
        # with many columns, experts often misjudge rows whose label is right: flag only if errors explain the labels
        flags = model.evidence > needed
    record = _record(
        supervision,
        codes,
        posterior,
        engine,
        stacked.opinions,
        flip_rate=rate,
        expert_names=experts.names,
        expert_weights=pooling,
        n_folds=experts.n_folds,
        index=index,
        judged=judged,
        held_back=judged and not flags,
        skills=skills,
    )
    if supervision.confirmed is not None:
        record = _trusting(record, supervision.confirmed & record.labelled)
    if not (judged and flags):
        record = replace(record, doubtful=np.zeros(len(codes), dtype=bool))
    return record


def _trusting(record: LabelAudit, confirmed: NDArray[np.bool_]) -> LabelAudit:
    """The same audit, in which the labels that a person decided are certain."""
    probabilities = np.array(record.probabilities)
    probabilities[confirmed] = np.eye(len(record.classes))[record.codes[confirmed]]
    # of the errors counted for two classes, as many are left as of the probabilities of such errors
    claimed, left = np.zeros_like(record.joint), np.zeros_like(record.joint)
    np.add.at(claimed, record.codes[record.labelled], record.probabilities[record.labelled])
    np.add.at(left, record.codes[record.labelled], probabilities[record.labelled])
    joint = record.joint * left / np.maximum(claimed, 1e-300)
    np.fill_diagonal(joint, 0.0)
    np.fill_diagonal(joint, record.joint.sum(axis=1) - joint.sum(axis=1))
    disagreement = np.where(confirmed, 0.0, record.disagreement)
    return replace(
        record,
        disagreement=disagreement,
        probabilities=probabilities,
        joint=joint,
        doubtful=record.doubtful & ~confirmed,
    )


def _record(
    supervision: Supervision,
    codes: NDArray[np.int64],
    posterior: Floats,
    engine: str,
    opinions: Floats | None = None,
    **more: Any,
) -> LabelAudit:
    """The audit record for the classes that could be judged, from their posterior."""
    kept, codes = places(codes, supervision.n_classes)
    labelled = codes >= 0
    doubtful = np.zeros(len(codes), dtype=bool)
    joint = np.zeros((len(kept), len(kept)))
    np.add.at(joint, codes[labelled], posterior[labelled])
    if engine in ("confident", "transitions"):
        assert opinions is not None
        found = confident_count(opinions[labelled], codes[labelled])
        if engine == "confident":
            joint, doubtful[labelled] = found.joint, found.doubtful
        else:
            joint = (joint + found.joint) / 2
            posterior = (posterior + opinions) / 2
            rows = np.flatnonzero(labelled)
            own = posterior[rows, codes[rows]]
            doubtful[rows[np.argsort(own, kind="stable")[: round(_FLAGGED * found.doubtful.sum())]]] = True
            doubtful[rows[own < _CLEAR]] = True
    else:
        doubtful[labelled] = posterior[labelled].argmax(axis=1) != codes[labelled]
    record = LabelAudit(
        engine=engine,
        assumption=ASSUMPTIONS[engine],
        classes=supervision.classes[kept],
        codes=codes,
        disagreement=disagreement_of(posterior, codes),
        probabilities=posterior,
        doubtful=doubtful,
        joint=joint,
        **more,
    )
    return in_order(record) if isinstance(supervision, OrderedClasses) else record


def read_probabilities(probabilities: ArrayLike, n_rows: int, classes: NDArray[Any]) -> Floats:
    """Validate given probabilities and return them as (experts, rows, classes)."""
    try:
        said = np.array(probabilities, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("probabilities", "holds what is no number", "give the probability of each class") from None
    if said.ndim == 2:
        said = said[None]
    if said.ndim != 3 or said.shape[1:] != (n_rows, len(classes)):
        shown = listed(map(repr, classes.tolist()))
        raise InputError(
            "probabilities",
            f"has shape {np.shape(probabilities)}, but y has {n_rows} rows and {len(classes)} classes ({shown})",
            f"give shape ({n_rows}, {len(classes)}), columns in that order, or (experts, {n_rows}, {len(classes)})",
        )
    wrong = np.flatnonzero(~np.isfinite(said).all(axis=(0, 2)) | (said < 0).any(axis=(0, 2)))
    if len(wrong):
        found = f"has negative or missing values in {counted(len(wrong), 'row')}, first in {name_row(int(wrong[0]))}"
        raise InputError("probabilities", found, "every row needs a prediction from a model that has not seen it")
    sums = said.sum(axis=2)
    wrong = np.flatnonzero((np.abs(sums - 1.0) > 1e-3).any(axis=0))
    if len(wrong):
        where = f"{name_row(int(wrong[0]))} ({counted(len(wrong), 'such row')})"
        raise InputError("probabilities", f"sum to {sums[:, wrong[0]].tolist()}, not to 1, in {where}")
    return said / sums[:, :, None]


def _require_classes(supervision: Supervision) -> Supervision:
    """Raise unless the supervision has one class per row, which an audit needs."""
    if supervision.given_codes is None:
        found, remedy = supervision.no_audit
        raise InputError("y", found.format(supervision), remedy)
    supervision.require_enough()
    return supervision


def reads_as(y: Any, target: Target, missing_label: Any = "auto") -> Target:
    """How the target of an audit is read: with its order if it has one, as numbers if they are not whole."""
    if not isinstance(target, str) or target != "auto":  # what is no word is refused by the reader
        return target
    if isinstance(y, OrderedLabels) or has_order(y):
        return "ordered"
    if isinstance(y, VotesByRow):
        return "auto"
    if isinstance(y, GivenByRow | SoftLabels | CorrectedLabels):
        return "classes"
    try:
        is_table = isinstance(y, SeveralLabels) or np.ndim(y) == 2
    except ValueError:  # rows of different lengths
        is_table = True
    if is_table:  # the reader says what cannot be audited
        return "auto"
    found = numbers_of(y, missing_label=missing_label)
    if found is None or (is_whole(found.values[np.isfinite(found.values)]) and not found.of_time):
        return "classes"
    return "numbers"


def _without_weightless_labels(problem: Problem) -> Problem:
    """The same problem, in which rows of weight 0 have no label."""
    weight, known = problem.sample_weight, problem.supervision
    if weight is None or (weight > 0).all() or known.given_codes is None:
        return problem
    return problem.with_supervision(known.with_codes(np.where(weight > 0, known.codes, -1)))


def _count_rows(table: Any, name: str) -> int:
    try:
        shape = np.shape(table)
    except ValueError:
        raise InputError(name, "has rows of different lengths", "give every row the same number of cells") from None
    if not shape:
        raise InputError(name, f"is a {type(table).__name__}", "give one row per case")
    return int(shape[0])


def _index_of(X: Any, y: Any) -> Any:
    """The row names of the table or of the labels; None if there are none."""
    found = (getattr(source, "index", None) for source in (X, y))
    return next((index for index in found if index is not None and not callable(index)), None)
