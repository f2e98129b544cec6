"""``dubio audit``: which labels to look at first."""

from __future__ import annotations

from typing import Any

import numpy as np

from dubio.alerts import find_alerts
from dubio.doubt.audit import require_anchored
from dubio.doubt.audit_record import LabelAudit
from dubio.errors import InputError, how_rows_count
from dubio.evidence.evidence import Evidence
from dubio.evidence.relations import linear_r2
from dubio.findings import LEAKS, left_out_by, not_told_yet
from dubio.problem import Problem, read_problem
from dubio.table.matrix import check_squares
from dubio.table.reading import notes_of
from dubio.words import note, say, sentence
from dubio_app.command import output, trust, wording
from dubio_app.command.options import Call, UserError
from dubio_app.command.output import Rows, notes_from_warnings, paragraph, plain, records, step
from dubio_app.command.question import Question, read_notes, table_of
from dubio_app.command.trust import Run
from dubio_app.command.voting import audit_annotators
from dubio_app.command.wording import percent

_N_TELLING = 3  # features whose values are listed beside each doubtful label
_LEFT = {"given", "suggested"}  # columns of an audit that hold classes


def audit_table(call: Call) -> None:
    """Read the table, audit its labels, and print the doubtful ones."""
    if call.annotators or call.votes:
        audit_annotators(call)
        return
    if not call.target:
        raise UserError("an audit needs to know what it is about: give --target, or --annotators or --votes.")
    with table_of(call) as file:
        question = Question(file, call)
        notes = list(question.notes)
        with notes_from_warnings(notes):
            problem = _read(question)
        alerts = find_alerts(problem)
        columns = [] if problem.columns is None else notes_of(problem.columns.read)
        reasons = left_out_by(alerts, columns=columns)
        left_out = [say("because of", name=name, why=why) for name, why in reasons.items()]
        notes = [
            *(f"{line}." for line in wording.alert_lines(alerts, audit=True)),
            *([f"{say('left out alone', columns=left_out)}."] if reasons else []),
            *notes,
            *(f"{one}." for one in not_told_yet(columns, reasons)),
            *read_notes(question.asked, problem.supervision),
        ]
        if alone := problem.supervision.lonely_classes:
            notes.append(f"{note('lonely', n=len(alone), names=alone)}.")
        if problem.n_missing:
            notes.append(f"{note('missing cells', n=problem.n_missing, filled_with=problem.filled_with)}.")
        run = Run(question, problem, trust.make_selector(question), notes)
        with step("auditing the labels"), notes_from_warnings(notes):
            run.audit = trust.audit_of(problem, call)
        run.fingerprints = trust.look_for_fingerprints(run)
        notes += trust.who_labelled(run)
        if call.report or call.corrections:
            with step("ranking"), notes_from_warnings(notes):
                run.findings = run.selector.fit_problem(problem).findings_
            run.corrected = trust.before_and_after(run)
            if run.corrected is not None:  # one audit, with what the corrections taught
                run.audit = run.corrected.audit or run.audit
            if call.report:
                trust.write_report(run)
        _print(run, alerts)


def _read(question: Question) -> Problem:
    numeric = getattr(getattr(question.y, "dtype", None), "kind", "O") in "iuf"
    settings = {"missing_label": question.missing_label, "allow_nan": True, **question.fit}
    settings["target"] = "auto" if numeric and question.kind == "classes" else question.kind
    problem = read_problem(question.features, question.y, **settings)
    if problem.supervision.reads == "numbers" and question.kind != "numbers":
        raise InputError("y", f"holds {question.y.nunique()} different numbers, not classes", wording.NEEDS_CLASSES)
    require_anchored(problem)
    check_squares(problem.X, names=problem.column_names)
    return problem


def _list(run: Run) -> Any:
    """Every row as a frame: what the audit says, then columns of the table, marked if they have the same name.

    These are the columns that name rows, and the features that separate the labelled classes best.
    """
    audit, telling = run.audit, []
    if audit.judged:
        scores = linear_r2(Evidence.of(run.problem.filled, within=False))[0]
        best = np.argsort(-scores, kind="stable")[:_N_TELLING]
        telling = [str(run.problem.feature_names[j]) for j in best if scores[j] > 0]
    table = audit.to_frame().reset_index(drop=True)
    table.insert(0, "row", range(1, len(table) + 1))  # as in corrections and pairs; see how_rows_count
    own, cells = ["row", *audit.columns], run.question.table
    more = {f"{name} (table)" if name in own else name: cells[name].to_numpy() for name in (*run.call.id, *telling)}
    return table.assign(**more)[[*own, *more]]


def _print(run: Run, alerts: tuple[Any, ...]) -> None:
    """Print the answer and the notes."""
    call, audit, notes, listed_rows = run.call, run.audit, run.notes, _list(run)
    header = [str(name) for name in listed_rows.columns]
    if not call.all:
        listed_rows = listed_rows[listed_rows["doubtful"]].sort_values("rank", kind="stable")
    rows = records(listed_rows)
    by_class = records(audit.classes_frame().reset_index()) if isinstance(audit, LabelAudit) else []
    if rows and (call.csv or call.json):
        notes.append(how_rows_count(rows[0]["row"]))
    if not output.print_answer(call, rows, lambda: _content(run, alerts, rows, by_class), header):
        leaks = wording.alert_lines(
            (alert for alert in alerts if alert.kind in (*LEAKS, "contradicting rows")), audit=True
        )
        for line in leaks:  # beside what they make untrue, not among the notes
            output.print_paragraph(sentence(note("alert", alert=line)))
        notes = [one for one in notes if one not in [f"{line}." for line in leaks]]
        _print_tables(run, rows, by_class, header)
        if run.corrected is not None:
            output.print_paragraph("Corrections: " + " ".join(run.corrected.sentences()))
    output.tell(notes, quiet=call.quiet)


def _content(run: Run, alerts: tuple[Any, ...], rows: Rows, by_class: Rows) -> dict[str, Any]:
    """The answer for JSON."""
    audit = run.audit
    content = {
        "table": run.call.table,
        "target": run.question.asked_as_data,
        **{name: getattr(audit, name) for name in ("engine", "judged", "anchored")},
        "skills": {name: plain(skill) for name, skill in audit.skills.items()},
        "labels": int(audit.labelled.sum()),
        "doubtful": int(audit.doubtful.sum()),
        "share_low": plain(audit.share_low),
        "share_high": plain(audit.share_high),
        **({"error_rate": plain(audit.error_rate)} if audit.anchored else {}),
        "classes": by_class,
        "alerts": wording.alert_records(alerts, audit=True),
        "notes": run.notes,
        "rows": rows,
    }
    return content | ({} if run.corrected is None else {"corrections": run.corrected.record()})


def _print_tables(run: Run, rows: Rows, by_class: Rows, header: list[str]) -> None:
    audit, call = run.audit, run.call
    skills = paragraph(wording.skills_of(audit))
    if not (audit.judged or audit.doubtful.any()):
        output.print_paragraph(str(audit))
        output.print_text(f"{skills}\n")
        return
    names, numbers = [name for name in header if name not in ("doubtful", "rank")], {"row", *audit.columns} - _LEFT
    columns = [("P(wrong)" if name == "wrong" else name, "right" if name in numbers else "left") for name in names]
    shown = [[_as_shown(name, row[name]) for name in names] for row in rows[: call.top]]
    hidden = [sentence(note("more rows", n=len(rows) - len(shown), total=len(rows)))] if len(rows) > len(shown) else []
    caption = f"{paragraph(' '.join([*hidden, str(audit)]))}\n{skills}"
    if shown:
        title = f"All {audit.noun}" if call.all else f"{audit.noun.capitalize()} to look at first"
        title = f"{title}: {run.question.asked_in_quotes}"
        output.print_table(title, columns, shown, f"{paragraph(how_rows_count(rows[0]['row']))}\n{caption}")
    else:
        output.print_text(f"{caption}\n")
    if by_class:
        shares = ["error rate"] if audit.anchored else []
        names = ["class", "rows", "doubtful"]
        counts = [(*map(row.get, names), *(percent(row[name]) for name in shares)) for row in by_class]
        sides = [("class", "left"), *((name, "right") for name in ("rows", "doubtful", *shares))]
        output.print_table("Classes", sides, counts)


def _as_shown(name: str, value: Any) -> Any:
    """A cell of the list: a probability in percent, a disagreement with two digits."""
    if name == "wrong":
        return percent(value)
    return f"{value:.2f}" if name == "disagreement" and value is not None else value
