"""Who labelled the rows, and labels that were corrected."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sklearn.base import clone

from dubio.doubt.audit import audit_problem
from dubio.problem import Problem
from dubio.target.classes import Classes
from dubio.target.corrections import apply_corrections
from dubio.trust.fingerprints import read_annotators, read_votes, row_fingerprints, vote_fingerprints
from dubio.trust.mended import Mended, compare
from dubio_app.command.output import notes_from_warnings, step
from dubio_app.command.question import Question, Wishes, hide
from dubio_app.command.wording import UserError

#: Cells (rows times features) up to which a report looks for fingerprints without being asked.
_CELLS = 200_000


def fingerprints_of(
    question: Question, wishes: Wishes, problem: Problem, options: Any, notes: list[str], report: bool
) -> Any:
    """Features related to how the rows were labelled: if annotators are named, or for the report of a small table."""
    known = problem.supervision
    cheap = report and problem.n_rows * problem.n_features <= _CELLS
    seeds = {"alpha": 0.05, "random_state": options.seed, "n_jobs": options.jobs}
    with step("who labelled the rows"), notes_from_warnings(notes):
        if wishes.annotators and cheap and len(wishes.annotators) > 1:
            votes = read_votes(hide(question.table[list(wishes.annotators)], wishes.unlabelled, []))
            return vote_fingerprints(problem, votes.codes, list(wishes.annotators), **seeds)
        if not isinstance(known, Classes) or not (wishes.annotator or cheap):
            return None
        if (known.rows_per_class() >= 2).sum() < 2:
            return None
        who = read_annotators(question.table[wishes.annotator], problem.n_rows) if wishes.annotator else None
        return row_fingerprints(problem, who, **seeds)


def with_corrections(question: Question, wishes: Wishes, path: str | None) -> Question:
    """The same question with corrected labels."""
    if path is None:
        return question
    if not wishes.target or wishes.confidence:
        raise UserError("--corrections changes the classes of one --target: give --target, without --confidence.")
    ids = question.table[wishes.identifiers[0]] if wishes.identifiers else None
    if ids is not None and ids.duplicated().any():  # several rows of a patient: the file has their numbers, too
        ids = None
    mended = apply_corrections(question.y, path, ids)
    identified = f", ids=table[{wishes.identifiers[0]!r}]" if ids is not None else ""
    code = [*question.code, f"y = apply_corrections(y, {path!r}{identified})"]
    return replace(question, y=mended, kind="classes", code=code)


def before_and_after(question: Question, problem: Problem, selector: Any, options: Any, audit: Any = None) -> Mended:
    """Rank, and audit, with the labels as they were, and compare."""
    corrected = question.y
    with step("ranking with the labels as they were"), notes_from_warnings([]):
        before = clone(selector)
        old = before.read_problem(question.features, corrected.given, **question.fit_arguments)
        before.fit_problem(old)
    with step("auditing before and after"), notes_from_warnings([]):
        audits = [_audited(old, options), audit if audit is not None else _audited(problem, options)]
    return compare(corrected, before.to_ranking(), selector.to_ranking(), *audits)


def _audited(problem: Problem, options: Any) -> Any:
    known = problem.supervision
    if not isinstance(known, Classes) or (known.rows_per_class() >= 2).sum() < 2:
        return None
    engine: Any = getattr(options, "engine", "transitions")  # only an audit has a choice
    return audit_problem(problem.filled, engine, random_state=options.seed, n_jobs=options.jobs)
