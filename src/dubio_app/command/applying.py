"""``dubio apply``: the kept columns of the next table, and ``--save-selection``, which says what they are."""

from __future__ import annotations

from typing import Any

from dubio.errors import InputError, rows_named
from dubio.trust import Selection
from dubio.words import Note, note, sentence
from dubio_app.command.options import Call
from dubio_app.command.output import print_paragraph, require_places, step, tell
from dubio_app.command.trust import Run
from dubio_app.files import TableFile, frame_bytes, read_file, require_columns
from dubio_app.whole_files import write_whole


def apply_selection(call: Call) -> None:
    """Read a selection and a table, write the kept columns, and print what is different."""
    require_places(call)
    notes, file = write_kept(call)
    for one in notes:
        print_paragraph(sentence(one))
    tell(list(file.notes), quiet=call.quiet)


def write_kept(call: Call) -> tuple[list[Note], TableFile]:
    """Write the columns that name the rows and the kept columns of the next table; what is different in it."""
    selection = Selection.load(call.selection)
    if not selection.columns:
        raise InputError("selection", "keeps no column", "there is nothing to apply")
    with step(f"reading {call.table}"):
        file = read_file(call.table, call.reading)
    for option, names in call.columns_of("unused").items():
        require_columns(file.frame, names, option, file.sheets)
    with rows_named(file.row_name):
        kept, notes = selection.apply(file.frame, decimal=call.decimal)
    names = [name for name in dict.fromkeys(call.id) if name not in kept]
    write_whole(call.save, frame_bytes(file.frame[names].join(kept), call.save))
    return [*notes, note("applied", n=len(selection.columns), rows=len(kept), path=call.save)], file


def selection_of(run: Run) -> Selection:
    """The selection of a run, as it is saved."""
    call, question = run.call, run.question
    more: dict[str, Any] = {"target": question.asked, "options": call.settings(), "read": question.features}
    return Selection.of(run.selector, question.feature_table, anonymous=call.no_rows, **more)


def save_selection(run: Run) -> None:
    """Write the selection of a run."""
    write_whole(run.call.save_selection, selection_of(run).as_json())
    run.notes.append(f"{note('selection written', path=run.call.save_selection)}.")
