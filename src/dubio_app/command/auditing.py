"""``dubio audit``: which labels look wrong."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np

from dubio.alerts.find import find_alerts, left_out_by
from dubio.alerts.words import LEAKS
from dubio.doubt.audit import audit_problem
from dubio.doubt.audit_record import LabelAudit
from dubio.doubt.number_audit import NumberAudit, audit_numbers
from dubio.errors import counted, how_rows_count, listed, quoted, rows_named
from dubio.evidence.relations import linear_r2
from dubio.problem import Problem, read_problem
from dubio.table.matrix import check_squares
from dubio.target.classes import Classes
from dubio.target.numbers import Numbers
from dubio.trust.fingerprints import annotators_in_words
from dubio_app.command.alerting import alert_lines, alert_records, told_once
from dubio_app.command.labels import before_and_after, fingerprints_of, with_corrections
from dubio_app.command.output import (
    as_csv,
    as_json,
    notes_from_warnings,
    plain,
    print_table,
    print_text,
    records,
    step,
    tell,
)
from dubio_app.command.question import NEEDS_CLASSES, Question, Wishes, ask, how_read, target_named
from dubio_app.command.rank import ranked_labels, require_place, write_audit_report
from dubio_app.command.wording import UserError, listing
from dubio_app.files import TableFile, read_file

#: Number of features whose values are listed beside each doubtful label.
_N_TELLING = 3


def _read(question: Question) -> Problem:
    is_number = getattr(getattr(question.y, "dtype", None), "kind", "O") in "iuf"
    problem = read_problem(
        question.features,
        question.y,
        target="auto" if is_number and question.kind == "classes" else question.kind,
        missing_label=question.missing_label,
        allow_nan=True,
        **question.fit_arguments,
    )
    if isinstance(problem.supervision, Numbers) and question.kind != "numbers":
        raise UserError(
            f"target {quoted(question.asked)} holds {question.y.nunique()} different numbers, not classes: "
            f"{NEEDS_CLASSES}."
        )
    check_squares(problem.X, names=problem.column_names)
    return problem


@dataclass(frozen=True)
class AuditOptions:
    """All options of an audit, except those about the target and the features."""

    engine: Any = "transitions"
    every_row: bool = False
    identifiers: tuple[str, ...] = ()
    report: str | None = None
    corrections: str | None = None
    seed: int = 0
    jobs: int | None = None
    output: str = "table"
    top: int = 20
    quiet: bool = False
    command: str = ""


def audit_table(path: str, wishes: Wishes, options: AuditOptions) -> None:
    """Read the table, audit its labels, and print the doubtful ones."""
    require_place(options.report, path)
    require_place(options.report, options.corrections, "the file of corrections")
    with step(f"reading {path}"):
        file = read_file(path, wishes.reading)
    with rows_named(file.row_name), target_named(wishes.for_columns(file.frame.columns).target):
        _audit(path, file, wishes, options)


def _audit(path: str, file: TableFile, wishes: Wishes, options: AuditOptions) -> None:
    wishes = wishes.for_columns(file.frame.columns)
    question = with_corrections(ask(file, wishes), wishes, options.corrections)
    notes = list(question.notes)
    with notes_from_warnings(notes):
        problem = _read(question)
    notes += how_read(question.asked, problem.supervision)
    known = problem.supervision
    alone = known.classes[known.rows_per_class() == 1].tolist() if isinstance(known, Classes) else []
    if alone:
        each = "it is" if len(alone) == 1 else "they are"
        notes.append(
            f"{counted(len(alone), 'class', 'classes')} with only one row cannot be judged ({listing(alone)}): {each} "
            "treated as unlabelled."
        )
    if problem.n_missing:
        were = "was" if problem.n_missing == 1 else "were"
        count = counted(problem.n_missing, "missing value")
        notes.append(f"{count} in the table {were} filled with {problem.filled_with}.")
    alerts = find_alerts(problem)
    reasons, notes = told_once(left_out_by(alerts), notes)
    unused = listed(f"{quoted(name)} ({why})" for name, why in reasons.items())
    leaks = alert_lines(tuple(alert for alert in alerts if alert.kind in LEAKS), audit=True)
    notes = [*alert_lines(alerts, audit=True), *([f"left out: {unused}."] if unused else []), *notes]
    with step("auditing the labels"), notes_from_warnings(notes):
        found: LabelAudit | NumberAudit
        if isinstance(known, Numbers):
            found = audit_numbers(problem.filled, random_state=options.seed, n_jobs=options.jobs)
        else:
            found = audit_problem(problem.filled, options.engine, random_state=options.seed, n_jobs=options.jobs)
    marks = fingerprints_of(question, wishes, problem, options, notes, bool(options.report))
    if wishes.annotator:
        notes += [str(marks), annotators_in_words(marks)]
    mended = None
    if options.report or options.corrections:
        selector = ranked_labels(question, problem, options, notes)
        if options.corrections:
            mended = before_and_after(question, problem, selector, options, found)
            found = mended.audit or found  # one share of wrong labels, with what the corrections taught
        if options.report:
            findings = {"fingerprints": marks, "mended": mended, "selector": selector}
            write_audit_report(path, question, problem, found, options, notes, **findings)
    telling = _telling(problem.filled, found)
    rows = _rows(found, file.frame, options, telling)
    by_class = records(found.classes_frame().reset_index()) if isinstance(found, LabelAudit) else []
    if rows and options.output != "table":
        notes.append(how_rows_count(rows[0]["row"]))
    if options.output == "csv":
        print_text(as_csv(rows, _header(found, options, telling)))
    elif options.output == "json":
        content = {
            "table": path,
            "target": question.asked_as_data,
            "engine": found.engine,
            "assumption": found.assumption,
            "judged": found.judged,
            "skills": {name: plain(skill) for name, skill in found.skills.items()},
            "labels": int(found.labelled.sum()),
            "doubtful": int(found.doubtful.sum()),
            "error_rate": plain(found.error_rate),
            "classes": by_class,
            "alerts": alert_records(alerts, audit=True),
            "notes": notes,
            "rows": rows,
        }
        if mended is not None:
            content["corrections"] = mended.record()
        print_text(as_json(content))
    else:
        for line in leaks:  # beside what they make untrue, not among the notes
            print_text(fill(f"Alert: {line}", 80) + "\n")
        notes = [note for note in notes if note not in leaks]
        _print(found, question, rows, by_class, options, telling)
        if mended is not None:
            print_text(fill("Corrections: " + " ".join(mended.sentences()), 80) + "\n")
    tell(notes, options.quiet)


def _telling(problem: Problem, found: Any) -> list[str]:
    """The features that separate the labelled classes best: their values are listed beside each doubtful label."""
    if not found.judged:
        return []
    scores = linear_r2(problem)[0]
    best = np.argsort(-scores, kind="stable")[:_N_TELLING]
    return [str(problem.feature_names[j]) for j in best if scores[j] > 0]


def _header(found: Any, options: AuditOptions, telling: list[str]) -> list[str]:
    """The names of the columns: those of the audit first, then those of the table, which may have the same name."""
    return ["row", *found.columns, *_more_columns(found, options, telling)]


def _more_columns(found: Any, options: AuditOptions, telling: list[str]) -> list[str]:
    return list(dict.fromkeys(_column_name(found, name) for name in (*options.identifiers, *telling)))


def _column_name(found: Any, name: str) -> str:
    """A column of the table in the list; a name that the audit uses itself is marked."""
    return f"{name} (table)" if name in ("row", *found.columns) else name


def _rows(found: Any, frame: Any, options: AuditOptions, telling: list[str]) -> list[dict[str, Any]]:
    table = found.to_frame().reset_index(drop=True)
    table.insert(0, "row", range(1, len(table) + 1))  # as in corrections and pairs; see how_rows_count
    header = _header(found, options, telling)
    for name in (*options.identifiers, *telling):
        if name in frame.columns:
            table[_column_name(found, name)] = frame[name].to_numpy()
    if not options.every_row:
        table = table[table["doubtful"]]
        table = table.sort_values("rank", kind="stable")
    return records(table[[name for name in header if name in table.columns]])


def _print(
    found: Any,
    question: Question,
    rows: list[dict[str, Any]],
    by_class: list[dict[str, Any]],
    options: AuditOptions,
    telling: list[str],
) -> None:
    if not found.judged:
        print_text(fill(str(found), 80) + "\n" + _skills(found) + "\n")
        return
    more_names = [name for name in _more_columns(found, options, telling) if not rows or name in rows[0]]
    own = [name for name in found.columns if name not in ("doubtful", "rank")]
    side = {"given": "left", "suggested": "left"}
    columns = [("row", "right")]
    columns += [("P(wrong)" if name == "wrong" else name, side.get(name, "right")) for name in own]
    columns += [(name, "left") for name in more_names]
    shown = [(row["row"], *(_cell(name, row[name]) for name in (*own, *more_names))) for row in rows[: options.top]]
    hidden = len(rows) - len(shown)
    more = f"{counted(hidden, 'more row')}; --top {len(rows)} shows all. " if hidden > 0 else ""
    caption = fill(f"{more}{found}", 80) + "\n" + _skills(found)
    if shown:
        counted_rows = fill(f"{how_rows_count(rows[0]['row'])}", 80)
        what = "numbers" if isinstance(found, NumberAudit) else "labels"
        listed_rows = f"All {what}" if options.every_row else f"Doubtful {what}"
        print_table(f"{listed_rows} in {question.asked_in_quotes}", columns, shown, f"{counted_rows}\n{caption}")
    else:
        print_text(f"{caption}\n")
    if not by_class:
        return
    rates = [(row["class"], row["rows"], row["doubtful"], _percent(row["error rate"])) for row in by_class]
    names = [("class", "left"), ("rows", "right"), ("doubtful", "right"), ("error rate", "right")]
    print_table("Classes", names, rates)


def _skills(found: Any) -> str:
    """How well the experts know the classes, in one line."""
    if not found.skills:
        return ""
    said = ", ".join(f"{name} {round(skill, 2) + 0.0:.2f}" for name, skill in found.skills.items())  # never "-0.00"
    scale = "1 is perfect, 0 is guessing" + (", below 0 is worse than guessing" if "-" in said else "")
    return fill(f"Skill of the experts on rows they had not seen ({scale}): {said}.", 80)


def _cell(name: str, value: Any) -> Any:
    if name == "wrong":
        return _percent(value)
    return f"{value:.4g}" if isinstance(value, float) else value


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"
