"""``dubio rank`` of tables too large for memory, read once, a batch of rows at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dubio.cli.bars import step
from dubio.cli.notes import tell
from dubio.cli.output import as_csv, as_json, print_text, records
from dubio.cli.question import Wishes, counts_rows, is_counter
from dubio.cli.rank import RankOptions, print_ranking
from dubio.cli.wording import UserError, listing
from dubio.errors import InputError, counted
from dubio.scale import rank_stream
from dubio.scale.sources import Piece, is_number, open_source
from dubio.scale.stream import streamed_methods

#: Bytes of a table, as numbers in memory, from which it is streamed unless told otherwise.
LARGE = 2**30
#: Distinct numbers among the first rows of a target up to which they are taken for classes.
_FEW = 20
_FIRST_ROWS = 65_536


def is_to_be_streamed(path: str, wishes: Wishes, options: RankOptions) -> bool:
    """Whether the table is a folder, or large and asked a question that one pass over its rows can answer."""
    if Path(path).is_dir():
        return True
    if not Path(path).is_file() or _what_needs_the_table(wishes, options):
        return False
    try:
        pieces = open_source(path)
    except (ValueError, ImportError):  # a kind of file that is not streamed, or a broken one: told in the usual way
        return False
    types, n_rows = pieces[0].types, pieces[0].n_rows
    size = Path(path).stat().st_size if n_rows is None else 8 * n_rows * len(types)
    if size < LARGE or not {*wishes.soft, *([wishes.target] if wishes.target else [])} <= types.keys():
        return False
    return wishes.target is None or _holds_classes(pieces[0], wishes)


def _holds_classes(piece: Piece, wishes: Wishes) -> bool:
    """Whether the target has a few values, as far as its first rows tell; anything else is told of when loaded."""
    import pyarrow as pa

    assert wishes.target is not None
    kind = piece.types[wishes.target]
    known = _first_rows(piece, [wishes.target])[wishes.target].dropna()
    values = known.unique()
    if len(values) == len(known):
        return False
    if not is_number(kind) or pa.types.is_boolean(kind) or wishes.kind == "classes":
        return True
    numbers = values.astype(np.float64)
    return len(values) <= _FEW and bool((numbers == np.floor(numbers)).all())


def _first_rows(piece: Piece, names: list[str]) -> Any:
    """Some rows of a file, as a frame."""
    import pandas as pd

    batch = next(iter(piece.read(names, _FIRST_ROWS)), None)
    return pd.DataFrame({name: [] for name in names}) if batch is None else batch.select(names).to_pandas()


def _not_features(piece: Piece, apart: set[Any], notes: list[str]) -> list[str]:
    """Columns to leave out, as they are when a table is loaded: text, and numbers of rows."""
    names = [name for name in piece.types if name not in apart]
    text = [name for name in names if not is_number(piece.types[name])]
    if text:
        notes.append(f"{counted(len(text), 'column')} without numbers left out: {listing(text)}.")
    suspects = [name for name in names if name not in text and is_counter(name or "unnamed_")]
    some = _first_rows(piece, suspects) if suspects else {}
    counters = [name for name in suspects if counts_rows(some[name], name or "unnamed_")]
    if counters:
        notes.append(f"columns that only number the rows were left out: {listing(counters)}.")
    return text + counters


def rank_streamed(path: str, wishes: Wishes, options: RankOptions, *, asked: bool = True) -> None:
    """Rank by one pass over the rows, with one of the methods that need no more."""
    reason = _what_needs_the_table(wishes, options, "--stream" if asked else _what(path))
    if reason:
        raise UserError(reason)
    notes = []
    exclude = list(wishes.ignore)
    if not asked:
        notes.append(f"{_what(path)} is read once, a batch of rows at a time.")
        exclude += _not_features(open_source(path)[0], {wishes.target, *wishes.soft, *exclude}, notes)
    keep = None if options.keep == "auto" else options.keep
    if keep is None:
        notes.append(
            "which features stand out can only be told from the whole table, so half of them are kept (--keep N sets "
            "the number)."
        )
    try:
        with step(f"reading {path}"):
            ranking = rank_stream(
                path,
                target=wishes.target,
                soft=list(wishes.soft) or None,
                method="weighted_laplacian" if options.method == "auto" else options.method,
                exclude=exclude,
                n_features_to_select=keep,
                missing_label=None,  # what is unlabelled is empty in a file
            )
    except InputError as error:
        if asked or Path(path).is_dir():
            raise
        raise InputError(
            error.argument,
            error.found,
            "--no-stream loads the table, if it fits in memory, and fills missing cells",
        ) from error
    rows = records(ranking.to_frame())
    if options.output == "csv":
        print_text(as_csv(rows))
    elif options.output == "json":
        content: dict[str, Any] = {
            "table": path,
            "target": wishes.target or ", ".join(wishes.soft),
            "method": ranking.method,
            "explanation": ranking.reason,
            "lower_is_better": bool(ranking.lower_is_better),
            "kept": [row["feature"] for row in rows if row["kept"]],
            "notes": notes,
            "features": rows,
        }
        print_text(as_json(content))
    else:
        print_ranking(
            wishes.target or ", ".join(wishes.soft), rows, f"{ranking.method}: {ranking.reason}.", options.top
        )
    tell(notes, options.quiet)


def _what(path: str) -> str:
    return "a folder" if Path(path).is_dir() else "a large table (--no-stream loads it)"


def _what_needs_the_table(wishes: Wishes, options: RankOptions, what: str = "--stream") -> str | None:
    """Why one pass over the rows does not answer the question; None if it does."""
    if not (wishes.target or wishes.soft):
        return f"{what} needs --target or --soft: without labels the whole table must be compared."
    if wishes.target and wishes.soft:
        return "--target and --soft both say what the target is: give one of them."
    if options.method != "auto" and options.method not in streamed_methods():
        able = ", ".join(streamed_methods())
        return f"{what} goes with --method {able}; {options.method!r} needs the whole table."
    for option, given in (
        ("--report", options.report),
        ("--save-table", options.save_table),
        ("--stability", options.draws),
        ("--redundancy", options.redundancy),
        ("--pairs", wishes.pairs),
        ("--annotators", wishes.annotators),
        ("--confidence", wishes.confidence),
        ("--nominal", wishes.nominal),
        ("--unlabelled", wishes.unlabelled),
        ("--normalize", wishes.normalize),
        ("--regression", wishes.kind == "numbers"),
    ):
        if given:
            return f"{what} is read once and not kept: leave out {option}, or load one file."
    return None
