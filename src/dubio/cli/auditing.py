"""``dubio audit``: which labels look wrong."""

from __future__ import annotations

from typing import Any

from dubio.cli.bars import step
from dubio.cli.notes import notes_from_warnings, tell
from dubio.cli.output import as_csv, as_json, plain, print_table, print_text, records
from dubio.cli.question import NEEDS_CLASSES, Question, Wishes, ask
from dubio.cli.wording import UserError, listing
from dubio.errors import counted, quoted
from dubio.noise import audit_problem
from dubio.problem import Problem, read_problem
from dubio.supervision import Classes, Numbers
from dubio.tables.files import read_parted_table
from dubio.tables.matrix import check_squares


def _read(question: Question) -> Problem:
    problem = read_problem(
        question.features, question.y, target="auto", missing_label=question.missing_label, allow_nan=True
    )
    if isinstance(problem.supervision, Numbers):
        raise UserError(
            f"target {quoted(question.asked)} holds {question.y.nunique()} different numbers, not classes: "
            f"{NEEDS_CLASSES}."
        )
    check_squares(problem.X, names=problem.names)
    return problem


def audit_table(
    path: str,
    wishes: Wishes,
    engine: Any,
    every_row: bool,
    seed: int,
    jobs: int | None,
    output: str,
    top: int,
    quiet: bool,
) -> None:
    """Read the table, audit its labels, and print the doubtful ones."""
    with step(f"reading {path}"):
        frame, separator = read_parted_table(path)
    question = ask(frame, wishes, path, separator)
    notes = list(question.notes)
    with notes_from_warnings(notes):
        problem = _read(question)
    known = problem.supervision
    assert isinstance(known, Classes)
    alone = known.classes[known.rows_per_class() == 1].tolist()
    if alone:
        each = "it is" if len(alone) == 1 else "they are"
        notes.append(
            f"{counted(len(alone), 'class', 'classes')} with only one row cannot be judged ({listing(alone)}): {each} "
            "treated as unlabelled."
        )
    if problem.n_missing:
        were = "was" if problem.n_missing == 1 else "were"
        notes.append(f"{counted(problem.n_missing, 'missing value')} in the table {were} filled with column medians.")
    with step("auditing the labels"), notes_from_warnings(notes):
        found = audit_problem(problem.filled, engine, random_state=seed, n_jobs=jobs)
    rows = _rows(found, every_row)
    by_class = records(found.classes_frame().reset_index())
    if output == "csv":
        print_text(as_csv(rows))
    elif output == "json":
        content = {
            "table": path,
            "target": question.asked,
            "engine": found.engine,
            "assumption": found.assumption,
            "labels": int(found.labelled.sum()),
            "doubtful": int(found.doubtful.sum()),
            "error_rate": plain(found.error_rate),
            "classes": by_class,
            "notes": notes,
            "rows": rows,
        }
        print_text(as_json(content))
    else:
        _print(found, question, rows, by_class, top)
    tell(notes, quiet)


def _rows(found: Any, every_row: bool) -> list[dict[str, Any]]:
    table = found.to_frame().reset_index(drop=True)
    table.insert(0, "row", range(len(table)))
    if not every_row:
        table = table[table["doubtful"]]
        table = table.sort_values("rank", kind="stable")
    return records(table[["row", "given", "suggested", "wrong", "doubtful", "rank"]])


def _print(
    found: Any, question: Question, rows: list[dict[str, Any]], by_class: list[dict[str, Any]], top: int
) -> None:
    columns = [("row", "right"), ("given", "left"), ("suggested", "left"), ("P(wrong)", "right")]
    shown = [(row["row"], row["given"], row["suggested"], _percent(row["wrong"])) for row in rows[:top]]
    hidden = len(rows) - len(shown)
    more = f"{counted(hidden, 'more row')}; --top {len(rows)} shows all. " if hidden > 0 else ""
    print_table(f"Doubtful labels in {question.asked}", columns, shown, f"{more}{found}")
    rates = [(row["class"], row["rows"], row["doubtful"], _percent(row["error rate"])) for row in by_class]
    names = [("class", "left"), ("rows", "right"), ("doubtful", "right"), ("error rate", "right")]
    print_table("Classes", names, rates)


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"
