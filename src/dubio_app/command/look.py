"""``dubio look``: how each column of a table is read, and what is wrong with it. Nothing is ranked."""

from __future__ import annotations

from typing import Any

from dubio.alerts import find_alerts
from dubio.findings import left_out_by, not_told_yet
from dubio.problem import read_problem
from dubio.table.read import column_readings, read_any_table
from dubio.table.reading import ColumnReading, notes_of
from dubio.words import note, say, sentence
from dubio_app.command import output
from dubio_app.command.options import Call
from dubio_app.command.output import print_answer, tell
from dubio_app.command.question import counts_rows, declared, is_number, table_of
from dubio_app.command.wording import in_command_words
from dubio_app.files import TableFile, require_columns


def look_at_table(call: Call) -> None:
    """Read the table and print the reading of each column."""
    with table_of(call) as file:
        for option, names in call.columns_of("unused", "feature").items():
            require_columns(file.frame, names, option, file.sheets)
        table, _ = declared(file.frame, call)
        readings = column_readings(table, decimal=call.decimal)
        why = _reasons(file, table, readings, call)
        rows = reading_of_columns(file, table, readings, call, why)
        content = {"table": call.table, "rows": len(table), "columns": rows, "notes": list(file.notes)}
        if not print_answer(call, [{**row, "problems": " ".join(row["problems"])} for row in rows], lambda: content):
            _print(call, rows)
        tell([*file.notes, *(f"{one}." for one in not_told_yet(notes_of(tuple(readings)), why))], quiet=call.quiet)


def reading_of_columns(
    file: TableFile, table: Any, readings: list[ColumnReading], call: Call, why: dict[str, str] | None = None
) -> list[dict[str, Any]]:
    """How each column is read, in words, and why it is left out."""
    why = _reasons(file, table, readings, call) if why is None else why
    return [{**_row(one, file), "left_out": why.get(str(one.name), "")} for one in readings]


def _reasons(file: TableFile, table: Any, readings: list[ColumnReading], call: Call) -> dict[str, str]:
    """Why columns are left out, by their names."""
    apart = dict.fromkeys([*call.ignore, *call.id], "named by --ignore or --id")
    apart |= {file.subject: "names the subject of a row"} if file.subject else {}
    apart |= dict.fromkeys(file.unused, "no feature, by the file or its codebook")
    numbers = [name for name in table.columns if is_number(table[name])]
    counters = {name: say("counted rows") for name in numbers if counts_rows(table[name], name)}
    left = {str(one.name): one.left_out for one in readings if one.left_out}
    rest = [one.name for one in readings if not one.problems and one.name not in {**apart, **counters}]
    if rest and len(table) > 1:
        features = read_any_table(table[rest], decimal=call.decimal)
        alerts = find_alerts(read_problem(features, None, allow_nan=True))
        columns = [] if features.columns is None else notes_of(features.columns.read)
        left |= left_out_by(alerts, columns=columns)
    return left | counters | apart


def _row(one: ColumnReading, file: TableFile) -> dict[str, Any]:
    """The reading of a column as data: in words, and what is wrong in the words of the command."""
    facts: dict[str, Any] = {"n": len(one.levels), "levels": " < ".join(one.levels[:8]), "first": one.first}
    return {
        "column": str(one.name),
        "read_as": say("read as problem" if one.problems else f"read as {one.kind}", **facts),
        "meaning": file.labels.get(str(one.name), ""),
        "unit": one.unit or file.units.get(str(one.name), ""),
        "gaps": None if one.problems else one.n_missing,
        "examples": ", ".join(one.examples),
        "problems": [in_command_words(problem) for problem in one.problems],
    }


def _print(call: Call, rows: list[dict[str, Any]]) -> None:
    names = (
        "column",
        *(["meaning"] if any(row["meaning"] for row in rows) else []),
        "read_as",
        "unit",
        "gaps",
        "examples",
        "left_out",
    )
    labels = {"read_as": "read as", "left_out": "left out because"}
    columns = [(labels.get(name, name), "right" if name == "gaps" else "left") for name in names]
    shown = [[row[name] for name in names] for row in rows[: call.top]]
    more = (
        [sentence(note("more features", n=len(rows) - len(shown), total=len(rows)))] if len(rows) > len(shown) else []
    )
    output.print_table(say("table looked at", table=call.table), columns, shown, " ".join(more))
    problems = [problem for row in rows for problem in row["problems"]]
    if problems:
        output.print_text(say("columns with problems", n=len(problems)) + "\n")
        output.print_text("".join(f"  - {output.visible(problem)}\n" for problem in problems))
