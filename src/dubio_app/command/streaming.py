"""``dubio rank`` for tables too large for memory: they are read once, in batches of rows.

By default a sample of rows is drawn, and the ranking is that of the sample. Methods that need only one pass over the
rows can be requested by name; they use all rows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dubio.errors import InputError, all_of, counted_from_1, quoted, rows_named
from dubio.streams.sample import draw_rows
from dubio.streams.sources import Piece, is_number, open_source
from dubio.streams.stream import rank_stream, require_same_columns, streamed_methods
from dubio.streams.text_files import arrow_to_pandas
from dubio.target.classes import is_whole
from dubio.words import note
from dubio_app.command import options
from dubio_app.command.options import Call, UserError
from dubio_app.command.output import print_answer, records, require_places, step, tell
from dubio_app.command.question import counts_rows, is_counter
from dubio_app.command.rank import answer_of, print_ranking, rank_frame
from dubio_app.files import TableFile, table_format, tidy
from dubio_app.files.spectra import is_folder_of_spectra

_FEW = 20  # different numbers in the first rows of a target that is taken for classes, at most
_FIRST_ROWS = 65_536  # rows that are read to see what a column holds


def is_to_be_streamed(call: Call) -> bool:
    """Whether the table is a folder, or is large and one pass over its rows answers the question."""
    path = Path(call.table)
    if path.is_dir() and is_folder_of_spectra(call.table):
        return False
    if path.is_dir() or not path.is_file() or _what_needs_the_table(call, "") is not None:
        return path.is_dir()
    try:
        piece = open_source(call.table, call.reading)[0]
    except (ValueError, ImportError):  # not a file for streams, or a broken one: loading it reports the error
        return False
    size = path.stat().st_size if piece.n_rows is None else 8 * piece.n_rows * len(piece.types)
    if size < options.LARGE or not {*call.soft, *([call.target] if call.target else [])} <= piece.types.keys():
        return False
    return call.method == "auto" or call.target is None or _holds_classes(piece, call)


def _holds_classes(piece: Piece, call: Call) -> bool:
    """Whether the first rows of the target hold only a few values. Other targets are checked when loaded."""
    import pyarrow as pa

    known, kind = _first_rows(piece, [call.target])[call.target].dropna(), piece.types[call.target]
    values = known.unique()
    if len(values) == len(known) or not is_number(kind) or pa.types.is_boolean(kind) or call.holds == "classes":
        return len(values) < len(known)
    return len(values) <= _FEW and is_whole(values.astype(float))


def _first_rows(piece: Piece, names: list[str]) -> Any:
    """The first rows of a file, as a frame."""
    import pandas as pd

    batch = next(iter(piece.read(names, _FIRST_ROWS)), None)
    return pd.DataFrame({name: [] for name in names}) if batch is None else batch.select(names).to_pandas()


def _not_features(piece: Piece, apart: set[Any], notes: list[str]) -> list[str]:
    """Columns that are left out also when a table is loaded: text, and columns that count the rows."""
    names = [name for name in piece.types if name not in apart]
    text = [name for name in names if not is_number(piece.types[name])]
    suspects = [name for name in names if name not in text and is_counter(name or "unnamed_")]
    some = _first_rows(piece, suspects) if suspects else {}
    counters = [name for name in suspects if counts_rows(some[name], name or "unnamed_")]
    for code, those in (("without numbers", text), ("only count", counters)):
        notes += [f"{note(code, n=len(those), names=those)}."] if those else []
    return text + counters


def rank_streamed(call: Call) -> None:
    """Rank with one pass over the rows: a sample of them, or all by a method that needs only one pass."""
    asked = bool(call.stream)
    if (reason := _what_needs_the_table(call, "--stream" if asked else _what(call.table))) is not None:
        raise UserError(reason)
    require_places(call)
    if call.method == "auto":
        rank_sample(call)
        return
    pieces = open_source(call.table, call.reading)
    if call.for_columns(pieces[0].types).targets:
        raise UserError(f"--method {call.method} with --stream takes one --target: leave out --method or --stream.")
    notes = list(pieces[0].notes)
    exclude = [*call.ignore, *call.id]
    if not asked:
        notes.append(f"{note('read once', what=_what(call.table))}.")
        exclude += _not_features(pieces[0], {call.target, *call.soft, *exclude}, notes)
    keep = None if isinstance(call.keep, str) else call.keep
    notes += [f"{note('half kept')}."] if keep is None else []
    try:
        with step(f"reading {call.table}"), rows_named(counted_from_1):
            # in a file, an unlabelled cell is empty: no label means "missing"
            what: dict[str, Any] = {"target": call.target, "soft": list(call.soft) or None, "missing_label": None}
            ranking = rank_stream(pieces, method=call.method, exclude=exclude, n_features_to_select=keep, **what)
    except InputError as error:
        if asked or Path(call.table).is_dir():
            raise
        remedy = "if the table fits in memory, --no-stream loads it and fills missing cells"
        raise InputError(error.argument, error.found, remedy) from error
    rows = records(ranking.to_frame())
    content = {"table": call.table, "target": call.target or list(call.soft) or ""}
    content |= answer_of(ranking, rows, ranking.method, ranking.reason) | {"notes": notes, "features": rows}
    if not print_answer(call, rows, lambda: content):
        asked_for = all_of(map(quoted, [call.target] if call.target else call.soft))
        how = [note("by method in a stream", method=ranking.method), note("kept because", reason=ranking.reason)]
        print_ranking(asked_for, rows, ranking, [], how, call.top)
    tell(notes, quiet=call.quiet)


def rank_sample(call: Call) -> None:
    """Draw a sample of rows in one pass, and rank the features as if the sample were the table."""
    pieces = open_source(call.table, call.reading)
    require_same_columns(pieces)
    types = pieces[0].types
    labels = [name for name in call.for_columns(types).names_of("target") if name in types]
    with step(f"drawing rows from {call.table}"):
        drawn = draw_rows(pieces, [name for name in types if name not in labels], labels, seed=call.seed)
    frame = tidy(arrow_to_pandas(drawn.table.select(list(types))), call.table, call.na)
    file = TableFile(frame, pieces[0].separator, pieces[0].notes, _reading_code(call.table, pieces[0]))
    with rows_named(lambda row: f"row {row + 1} of the sample"):
        rank_frame(file, call, drawn)


def _reading_code(path: str, piece: Piece) -> str:
    if Path(path).is_dir():
        return f"pyarrow.dataset.dataset({path!r}).to_table().to_pandas()"
    reader = {"parquet": "pd.read_parquet", "feather": "pd.read_feather"}.get(table_format(path), "pd.read_csv")
    arguments = f", sep={piece.separator!r}" if piece.separator != "," else ""
    return f"{reader}({path!r}{arguments})"


def _what(path: str) -> str:
    return "a folder" if Path(path).is_dir() else "a large table (--no-stream loads it)"


def _what_needs_the_table(call: Call, what: str) -> str | None:
    """Why one pass over the rows cannot answer the question; None if it can."""
    if call.method != "auto" and call.method not in streamed_methods():
        able = ", ".join(streamed_methods())
        return f"--method {call.method} needs the whole table: with {what}, use one of {able}."
    if call.method != "auto" and not (call.target or call.soft):
        return f"{what} needs --target or --soft: without labels, the method needs the whole table."
    named = all_of(call.not_in_a_stream())
    once = f"{named} cannot be used with {what}, because rows are read only once"
    return f"{once}: leave out {named}, or load one file." if named else None
