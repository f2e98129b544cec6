"""``dubio audit --annotators``: what several people's votes say together, and who of them is how good."""

from __future__ import annotations

from typing import Any

import numpy as np

from dubio.alerts import find_alerts
from dubio.doubt.votes import VoteAudit, audit_votes
from dubio.errors import how_rows_count
from dubio.problem import read_problem
from dubio.table.matrix import check_squares
from dubio.words import note, paragraph, sentence
from dubio_app.command import output, trust, wording
from dubio_app.command.options import Call
from dubio_app.command.output import Rows, notes_from_warnings, plain, records, step
from dubio_app.command.question import Question, table_of
from dubio_app.command.trust import Run
from dubio_app.command.wording import percent
from dubio_app.files import TableFile, frame_bytes
from dubio_app.whole_files import write_whole

#: Rows for which the command says whom to ask.
_ASKED = 5


def audit_annotators(call: Call) -> None:
    """Read the table, audit its votes, and print annotators, votes that look wrong, and whom to ask."""
    with table_of(call) as file:
        run, alerts = audited_votes(file, call)
        if call.save_labels:
            save_labels(run)
        if call.report:
            with step("ranking"), notes_from_warnings(run.notes):
                run.findings = run.selector.fit_problem(run.problem).findings_
            trust.write_report(run)
        _print(run, alerts)


def audited_votes(file: TableFile, call: Call) -> tuple[Run, tuple[Any, ...]]:
    """The audit of the votes in a table, and what may make it wrong."""
    question = Question(file, call)
    notes = list(question.notes)
    with notes_from_warnings(notes):
        settings: dict[str, Any] = {"target": question.kind, "allow_nan": True, **question.fit}
        problem = read_problem(question.features, question.y, **settings)
        check_squares(problem.X, names=problem.column_names)
    alerts = find_alerts(problem)
    notes = [*(f"{line}." for line in wording.alert_lines(alerts, audit=True)), *notes]
    if problem.n_missing:
        notes.append(f"{note('missing cells', n=problem.n_missing, filled_with=problem.filled_with)}.")
    run = Run(question, problem, trust.make_selector(question), notes)
    with step("auditing the votes"), notes_from_warnings(notes):
        options = {"n_jobs": call.jobs, "random_state": call.seed}
        run.audit = audit_votes(problem.filled, index=question.row_names, **options)
    run.fingerprints = trust.look_for_fingerprints(run)
    return run, alerts


def save_labels(run: Run) -> None:
    """Write the table with the likely truth and its probability in place of the votes."""
    call, audit, table = run.call, run.audit, run.question.table
    sure = "probability" if audit.classes is not None else "standard deviation"
    rest = table.drop(columns=[name for name in call.annotators if name in table])
    saved = rest.assign(**{"likely": audit.likely, sure: audit.probability})
    write_whole(call.save_labels, frame_bytes(saved, call.save_labels))
    run.notes.append(f"{note('labels saved', path=call.save_labels)}.")


def _rows(run: Run) -> Rows:
    """One dictionary per row of the table: its name, its votes, and what is likely."""
    call, frame = run.call, run.audit.to_frame().reset_index(drop=True)
    frame.insert(0, "row", range(1, len(frame) + 1))
    for place, name in enumerate(call.id):
        frame.insert(1 + place, f"{name} (table)" if name in frame else name, run.question.table[name].to_numpy())
    return records(frame)


def _print(run: Run, alerts: tuple[Any, ...]) -> None:
    call, audit, rows = run.call, run.audit, _rows(run)
    if rows and (call.csv or call.json):
        run.notes.append(how_rows_count(1))
    if not output.print_answer(call, rows, lambda: _content(run, alerts, rows)):
        output.print_paragraph(paragraph(audit.notes()))
        _print_annotators(audit)
        _print_votes(run, rows)
        _print_whom_to_ask(run, rows)
        output.print_paragraph(how_rows_count(1))
    output.tell(run.notes, quiet=call.quiet)


def _content(run: Run, alerts: tuple[Any, ...], rows: Rows) -> dict[str, Any]:
    """The answer for JSON."""
    audit = run.audit
    return {
        "table": run.call.table,
        "target": run.question.asked_as_data,
        "agreement": plain(audit.agreement),
        "models": list(audit.models),
        "annotators": records(audit.annotators_frame().reset_index()),
        "sentences": [sentence(one) for one in audit.on_annotators()],
        "votes": records(_votes(run)),
        "errors_by_column": records(audit.errors_frame()),
        "alerts": wording.alert_records(alerts, audit=True),
        "notes": run.notes,
        "rows": rows,
    }


def _print_annotators(audit: VoteAudit) -> None:
    frame = audit.annotators_frame().reset_index()
    classes = audit.classes is not None
    shown = percent if classes else (lambda value: f"{value:.3g}")
    columns = [("annotator", "left"), ("votes", "right"), ("right" if classes else "spread", "right")]
    columns += [("from", "right"), ("to", "right"), *([] if classes else [("bias", "right")])]
    rows = [[row[0], row[1], *(shown(value) for value in row[2:])] for row in frame.itertuples(index=False)]
    output.print_table("Annotators, the best first, with intervals of 95 %", columns, rows)
    for one in audit.on_annotators():
        output.print_paragraph(sentence(one))


def _votes(run: Run) -> Any:
    """All votes as a frame, the most doubtful first, with rows counted from 1 and their names."""
    frame, call = run.audit.votes_frame(), run.call
    order = np.argsort(-run.audit.wrong, kind="stable")
    row = run.audit.row[order]
    names = {name: run.question.table[name].to_numpy()[row] for name in call.id if name not in frame}
    return frame.assign(row=row + 1, **names)


def _print_votes(run: Run, rows: Rows) -> None:
    """The votes that look wrong, the most doubtful first."""
    classes = run.audit.classes is not None
    frame = _votes(run)
    frame = frame if run.call.all else frame[frame["doubtful"]]
    wrong = "wrong" if classes else "standard deviations off"
    names = ["row", *(name for name in run.call.id if name in frame), "annotator", "said", "likely", wrong]
    shown = frame[names].head(run.call.top).to_dict("records")
    if not shown:
        return
    cells = [[percent(row[name]) if name == wrong and classes else row[name] for name in names] for row in shown]
    columns = [
        ("P(wrong)" if name == "wrong" else name, "right" if name in ("row", wrong) else "left") for name in names
    ]
    more = sentence(note("more rows", n=len(frame) - len(shown), total=len(frame))) if len(frame) > len(shown) else ""
    output.print_table("All votes" if run.call.all else "Votes that look wrong", columns, cells, more)


def _print_whom_to_ask(run: Run, rows: Rows) -> None:
    """The rows that are least sure, and whose vote would help most."""
    asked = [row for row in sorted(rows, key=lambda row: row["rank"] or np.inf) if row.get("ask")][:_ASKED]
    if not asked:
        return
    names = [
        "row",
        *(name for name in run.call.id if name in asked[0]),
        "votes",
        "likely",
        "probability",
        "ask",
        "gain",
    ]
    shares = {"probability", "gain"}
    cells = [[percent(row[name]) if name in shares else row[name] for name in names] for row in asked]
    columns = [(name, "right" if name in shares | {"row"} else "left") for name in names]
    output.print_table("Whom to ask next", columns, cells, sentence(note("what asking gains")))
