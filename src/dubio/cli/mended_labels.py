"""``--corrections``: labels that a person mended, and what this changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sklearn.base import clone

from dubio.cli.bars import step
from dubio.cli.notes import notes_from_warnings
from dubio.cli.question import Question, Wishes
from dubio.cli.wording import UserError
from dubio.noise import audit_problem
from dubio.problem import Problem
from dubio.significance import Mended, compare
from dubio.supervision import Classes, apply_corrections


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
