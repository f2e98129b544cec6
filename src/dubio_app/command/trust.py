"""One run of a command, and what it finds out about how far the answer can be trusted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
from sklearn.base import clone

from dubio.doubt.anchor import Anchor
from dubio.doubt.audit import anchored_by_checks, audit_problem
from dubio.doubt.audit_record import LabelAudit
from dubio.doubt.number_audit import FEWEST_AUDITED, audit_numbers
from dubio.doubt.votes import VoteAudit, audit_votes
from dubio.errors import InputError
from dubio.problem import Problem
from dubio.ranking import Ranking
from dubio.sampling import sample_rows
from dubio.target.knowledge import Supervision
from dubio.target.ordered import ordered_classes
from dubio.trust import BeforeAndAfter, compare, fingerprints
from dubio.trust.resampling import problem_stability
from dubio.trust.selection import FEWEST_ROWS
from dubio.trust.tolerance import problem_tolerance
from dubio.words import note
from dubio_app.command import wording
from dubio_app.command.options import Call, UserError
from dubio_app.command.output import notes_from_warnings, step
from dubio_app.command.question import Question, without_marks
from dubio_app.whole_files import write_whole

if TYPE_CHECKING:
    from dubio.pipelines.evaluation import SelectionEvaluation

# Cells (labelled rows, or all, times features) up to which a report shows without being asked:
_TOLERANCE_CELLS = 30_000  # how wrong the labels may be
_FINGERPRINT_CELLS = 200_000  # fingerprints
MOST_EVALUATED = 5_000  # rows of a sample of larger tables: the models are fitted some five hundred times


@dataclass
class Run:
    """One run of a command: the question, the table as it was read, and everything that was found."""

    question: Question
    problem: Problem
    selector: Any
    notes: list[str]
    findings: Any = None
    stability: Any = None
    tolerance: Any = None
    fingerprints: Any = None
    corrected: BeforeAndAfter | None = None
    evaluation: SelectionEvaluation | None = None
    audit: Any = None

    @property
    def call(self) -> Call:
        """The call that asked."""
        return self.question.call

    def without_rare(self, ranking: Ranking) -> Ranking:
        """A ranking without the names of rare classes and of categories."""
        return ranking.without_rare(common_classes(self.problem.supervision.certain()))


def common_classes(known: Supervision) -> dict[str, float]:
    """The classes that enough rows share to be named where no row may be recognised, the largest first."""
    return {name: n for name, n in counts_of_classes(known).items() if n >= FEWEST_ROWS}


def counts_of_classes(known: Supervision) -> dict[str, float]:
    """The classes with their number of rows, the largest first; none for numbers."""
    memberships, names, _ = known.as_drawn()
    totals = memberships.sum(axis=0) if names else []
    return {names[k]: float(totals[k]) for k in np.argsort(-np.asarray(totals), kind="stable").tolist()}


def make_selector(question: Question) -> Any:
    """The selector of a ranking; that of an audit has its defaults."""
    from dubio.selector import FeatureSelector

    reading = {"target": question.kind, "missing_label": question.missing_label}
    return FeatureSelector(**question.call.arguments("rank"), **reading)


@contextmanager
def _in_threads(what: str) -> Iterator[None]:
    """A step that runs parts of the table side by side; warnings about the parts are not shown."""
    # processes start slowly and would outlive Ctrl-C
    with step(what), notes_from_warnings([]), joblib.parallel_config(backend="threading"):
        yield


def resample(run: Run) -> Any:
    """How far the ranks move, and how often each feature is kept, on resampled rows; reports and papers show it."""
    draws = run.call.stability
    if draws is None and run.call.is_in_depth:
        draws = _usual_draws(run)
    if not draws:
        return None
    if draws < 2:
        raise InputError("n_draws", "needs at least 2 resamples, or 0 for none")
    with _in_threads("resampling"):
        selector, jobs = clone(run.selector).set_params(n_jobs=1), run.call.jobs or -1
        return problem_stability(selector, run.problem, n_draws=draws, random_state=run.call.seed, n_jobs=jobs)


def _usual_draws(run: Run) -> int:
    """The default number of resamples: fewer for larger tables."""
    cells = run.problem.n_rows * run.problem.n_features
    if hasattr(run.selector.selector_, "subsets_"):  # the cost of a search grows with the square of the cells
        return 20 if cells <= 3_000 else 10 if cells <= 15_000 else 5
    return 50 if cells <= 20_000 else 30 if cells <= 200_000 else 15


def tolerate(run: Run) -> Any:
    """How wrong the labels may be, if it was asked for, or for a report or a paper if it takes little time."""
    call, problem, ranking = run.call, run.problem, run.selector.to_ranking()
    cheap = call.is_in_depth and problem.supervision.n_labelled * problem.n_features <= _TOLERANCE_CELLS
    if call.tolerance is False or not (call.tolerance or cheap):
        return None
    if not problem.supervision.form:
        if call.tolerance:
            raise InputError("tolerance", "asks how wrong labels may be", "give one --target with classes or numbers")
        return None
    if ranking.n_relevant == 0:
        return None
    relevant = None if ranking.n_relevant is None else ranking.is_related
    problem = problem.dense
    with step("how wrong the labels may be"), notes_from_warnings(run.notes):
        more = {"alpha": call.alpha, "together": bool(call.tolerance), "random_state": call.seed, "n_jobs": call.jobs}
        return problem_tolerance(problem, relevant=relevant, **more)


def look_for_fingerprints(run: Run) -> Any:
    """Features related to how the rows were labelled: if annotators are named, or if the table of a report is small."""
    call, table = run.call, run.question.table
    if isinstance(run.audit, VoteAudit):
        return None  # the audit of votes says on which rows annotators err
    problem = run.problem.with_supervision(run.problem.supervision.certain())
    cheap = call.is_in_depth and problem.n_rows * problem.n_features <= _FINGERPRINT_CELLS
    problem = problem.dense if cheap or call.annotator else problem
    settings = {"alpha": 0.05, "random_state": call.seed, "n_jobs": call.jobs}
    with step("who labelled the rows"), notes_from_warnings(run.notes):
        if len(call.annotators) > 1 and cheap:
            votes = fingerprints.read_votes(without_marks(table[list(call.annotators)], call.unlabelled, []))
            return fingerprints.vote_fingerprints(problem, votes, list(call.annotators), **settings)
        if not problem.supervision.can_be_judged or not (call.annotator or cheap):
            return None
        who = fingerprints.read_annotators(table[call.annotator], problem.n_rows) if call.annotator else None
        return fingerprints.row_fingerprints(problem, who, **settings)


def who_labelled(run: Run) -> list[str]:
    """The fingerprints of a named annotator in sentences; none if nobody is named."""
    found = run.fingerprints if run.call.annotator else None
    return [] if found is None else [str(found), fingerprints.annotators_in_words(found)]


def before_and_after(run: Run) -> BeforeAndAfter | None:
    """Rank, and audit, with the labels as they were, and compare; None without corrections."""
    if run.call.corrections is None:
        return None
    given, order = run.question.y.given, run.question.y.order
    given = ordered_classes(given, order) if order else given
    with step("ranking with the labels as they were"), notes_from_warnings([]):
        before = clone(run.selector)
        old = before.read_problem(run.question.features, given, **run.question.fit)
        before.fit_problem(old)
    with step("auditing before and after"), notes_from_warnings([]):
        audits = [audit_of(one, run.call) if one.supervision.can_be_judged else None for one in (old, run.problem)]
    return compare(run.question.y, before.to_ranking(), run.selector.to_ranking(), *audits)


def audit_of(problem: Problem, call: Call) -> Any:
    """The audit of the labels or the numbers, with what is known of wrong ones."""
    settings = call.arguments("audit")
    share = settings.pop("share")
    if share is not None and problem.checks is not None:
        raise UserError("give --share or --checked, not both: checked rows say how many labels are wrong.")
    known = problem.supervision
    audit = _AUDITS[known.form or known.believed][0](problem.filled, settings)
    if problem.checks is not None and isinstance(audit, LabelAudit):
        return anchored_by_checks(audit, problem)
    return audit if share is None else audit.with_anchor(Anchor.of(share))


#: The audit of each form of a target that has one, the fewest labels that a report audits unasked, and whether it is
#: made without a report too: who of several annotators is right is part of the answer.
_AUDITS: dict[str, tuple[Callable[[Problem, dict[str, Any]], Any], int, bool]] = {
    "hard": (lambda problem, settings: audit_problem(problem, **settings), 1, False),
    "numbers": (
        lambda problem, settings: audit_numbers(problem, **_without(settings, "engine")),
        FEWEST_AUDITED,
        False,
    ),
    "votes": (lambda problem, settings: audit_votes(problem, **_without(settings, "engine")), 1, True),
}


def _without(settings: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in settings.items() if key != name}


def audit_labels(run: Run) -> Any:
    """The audit of votes, or for a report that of labels or numbers; None if there is none for this target."""
    if run.corrected is not None:  # the labels were audited before
        return run.corrected.audit
    known = run.selector.supervision_
    _, fewest, unasked = _AUDITS.get(known.form or known.believed, (None, np.inf, False))
    if known.n_labelled < fewest or not (unasked or run.call.is_in_depth):
        return None
    with step("auditing the target"), notes_from_warnings(run.notes):
        return audit_of(run.problem.with_supervision(known), run.call)


def evaluate(run: Run) -> SelectionEvaluation | None:
    """Nested cross-validation of the selection; None if it was not asked for."""
    call, problem = run.call, run.problem.counted
    if call.evaluate is None:
        return None
    from dubio.pipelines.evaluation import evaluate_problem, usual_model  # with many models of scikit-learn

    reads = problem.supervision.certain().reads
    if problem.n_rows > MOST_EVALUATED:
        run.notes.append(f"{note('evaluated on', n=MOST_EVALUATED, n_in_all=problem.n_rows)}.")
        problem = problem.rows(sample_rows(problem, MOST_EVALUATED, call.seed))
    if reads == "numbers" and call.evaluate == "logistic":
        run.notes.append(f"{note('ridge')}.")
    model = usual_model(call.evaluate, reads, random_state=call.seed)
    try:
        with _in_threads(f"evaluating with {wording.model_of(run)}"):
            selector, jobs = clone(run.selector).set_params(n_jobs=1), call.jobs or -1
            return evaluate_problem(selector, model, problem, random_state=call.seed, n_jobs=jobs)
    except InputError as error:
        if error.code == "few for folds":
            raise
        raise UserError(f"--evaluate: some parts of the table cannot be ranked alone: {error}") from error


def write_report(run: Run) -> None:
    """Write the page of a run."""
    from dubio_app.report import render_report
    from dubio_app.report.pdf import is_pdf, printed

    call = run.call
    with step("writing the report"):
        page = render_report(findings_of(run))
        write_whole(call.report, printed(page) if is_pdf(call.report) else page)
    run.notes.append(f"{note('report written', path=call.report)}.")


def findings_of(run: Run) -> Any:
    """Everything that the page of a run shows."""
    from dubio_app.report.findings import gather_problem, written_cells

    call, question, selector = run.call, run.question, run.selector
    found = ("stability", "audit", "tolerance", "fingerprints", "corrected", "evaluation", "notes")
    more: dict[str, Any] = {name: getattr(run, name) for name in found}
    explained = {f"{one}." for one in (*selector.findings_.columns, *selector.findings_.notes)}
    more["notes"] = [one for one in run.notes if one not in explained]  # the explanation stands beside them
    if run.evaluation is not None:
        more["model"] = wording.model_of(run)
    asking = (alert for alert in run.findings.alerts if not alert.asks_nothing)
    about_labels = call.command == "audit"
    if call.no_rows:
        ranking = run.without_rare(selector.to_ranking().without_handed_on())
        ranking = replace(ranking, left_out=run.findings.ranking.left_out)
        more |= {"notes": (), "explanation": run.findings.explanation(), "ranking": ranking, "no_rows": True}
    ranking = more.get("ranking", selector.to_ranking().without_handed_on())
    if (meanings := question.meanings(ranking.names)) is not None:
        more["ranking"] = ranking.with_columns({"label": meanings})
    return gather_problem(
        selector,
        run.problem.with_supervision(selector.supervision_),
        table_name="standard input" if call.table == "-" else Path(call.table).name,
        target_name=question.asked,
        asked=question.asked_in_quotes,
        code="" if call.no_rows else question.python(),
        command=call.words,
        alerts=wording.alert_records(asking, audit=about_labels, dropped=call.drop_leaks),
        identifiers={} if call.no_rows else {name: question.table[name].tolist() for name in call.id},
        written={} if call.no_rows else written_cells(question.table),
        about_labels=about_labels,
        **more,
    )
