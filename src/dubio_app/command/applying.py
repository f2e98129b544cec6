"""``dubio apply``: the kept columns of the next table, and ``--save-selection``, which says what they are."""

from __future__ import annotations

from typing import Any

from dubio.errors import InputError, rows_named
from dubio.trust import Selection
from dubio.words import note, sentence
from dubio_app.command.options import Call
from dubio_app.command.output import print_paragraph, require_places, step, tell
from dubio_app.command.trust import Run
from dubio_app.files import frame_bytes, read_file
from dubio_app.whole_files import write_whole


def apply_selection(call: Call) -> None:
    """Read a selection and a table, write the kept columns, and print what is different."""
    selection = Selection.load(call.selection)
    if not selection.columns:
        raise InputError("selection", "keeps no column", "there is nothing to apply")
    require_places(call)
    with step(f"reading {call.table}"):
        file = read_file(call.table, call.reading)
    with rows_named(file.row_name):
        applied = selection.apply(file.frame, decimal=call.decimal)
    write_whole(call.save, frame_bytes(applied.table, call.save))
    written = note("applied", n=len(selection.columns), rows=len(applied.table), path=call.save)
    for one in (*applied.notes, written):
        print_paragraph(sentence(one))
    tell(list(file.notes), quiet=call.quiet)


def selection_of(run: Run) -> Selection:
    """The selection of a run, as it is saved."""
    call, question = run.call, run.question
    more: dict[str, Any] = {"target": question.asked, "options": call.settings(), "read": question.features}
    return Selection.of(run.selector, question.feature_table, anonymous=call.no_rows, **more)


def save_selection(run: Run) -> None:
    """Write the selection of a run."""
    write_whole(run.call.save_selection, selection_of(run).as_json())
    run.notes.append(f"{note('selection written', path=run.call.save_selection)}.")
