"""Who labelled the rows: the options ``--annotator`` and ``--annotators``, and what they show."""

from __future__ import annotations

from typing import Any

from dubio.cli.bars import step
from dubio.cli.notes import notes_from_warnings
from dubio.cli.question import Question, Wishes, hide
from dubio.problem import Problem
from dubio.significance.fingerprints import read_annotators, read_votes, row_fingerprints, vote_fingerprints
from dubio.supervision import Classes

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
