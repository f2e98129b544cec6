"""``dubio rank`` for tables too large for memory: they are read once, in batches of rows.

By default a sample of rows is drawn, and the ranking is that of the sample. Methods that need only one pass over the
rows can be requested by name; they use all rows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dubio.errors import InputError, counted, quoted, rows_named
from dubio.streams.sample import draw_rows
from dubio.streams.sources import Piece, is_number, open_source
from dubio.streams.stream import rank_stream, require_same_columns, streamed_methods
from dubio.streams.text_files import arrow_to_pandas
from dubio_app.command.output import as_csv, as_json, print_text, records, step, tell
from dubio_app.command.question import Wishes, counts_rows, is_counter, joined
from dubio_app.command.rank import RankOptions, print_ranking, rank_frame
from dubio_app.command.wording import UserError, listing
from dubio_app.files import TableFile, table_format, tidy

#: Tables that need at least so many bytes in memory are streamed by default.
LARGE = 2**30
#: A target with at most so many different numbers in its first rows is taken for classes.
_FEW = 20
_FIRST_ROWS = 65_536


def is_to_be_streamed(path: str, wishes: Wishes, options: RankOptions) -> bool:
    """Whether the table is a folder, or is large and one pass over its rows answers the question."""
    if Path(path).is_dir():
        return True
    if not Path(path).is_file() or _what_needs_the_table(wishes, options):
        return False
    try:
        pieces = open_source(path, wishes.reading)
    except (ValueError, ImportError):  # not a file for streams, or a broken one: loading it reports the error
        return False
    types, n_rows = pieces[0].types, pieces[0].n_rows
    size = Path(path).stat().st_size if n_rows is None else 8 * n_rows * len(types)
    if size < LARGE or not {*wishes.soft, *([wishes.target] if wishes.target else [])} <= types.keys():
        return False
    return options.method == "auto" or wishes.target is None or _holds_classes(pieces[0], wishes)


def _holds_classes(piece: Piece, wishes: Wishes) -> bool:
    """Whether the first rows of the target hold only a few values. Other targets are checked when loaded."""
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
    """The first rows of a file, as a frame."""
    import pandas as pd

    batch = next(iter(piece.read(names, _FIRST_ROWS)), None)
    return pd.DataFrame({name: [] for name in names}) if batch is None else batch.select(names).to_pandas()


def _not_features(piece: Piece, apart: set[Any], notes: list[str]) -> list[str]:
    """Columns that are left out also when a table is loaded: text, and columns that count the rows."""
    names = [name for name in piece.types if name not in apart]
    text = [name for name in names if not is_number(piece.types[name])]
    if text:
        notes.append(f"{counted(len(text), 'column')} without numbers {_were(text)} left out: {listing(text)}.")
    suspects = [name for name in names if name not in text and is_counter(name or "unnamed_")]
    some = _first_rows(piece, suspects) if suspects else {}
    counters = [name for name in suspects if counts_rows(some[name], name or "unnamed_")]
    if counters:
        count = "counts" if len(counters) == 1 else "count"
        notes.append(
            f"{counted(len(counters), 'column')} that only {count} the rows {_were(counters)} left out: "
            f"{listing(counters)}."
        )
    return text + counters


def rank_streamed(path: str, wishes: Wishes, options: RankOptions, *, asked: bool = True) -> None:
    """Rank with one pass over the rows, by a method that needs only one pass."""
    reason = _what_needs_the_table(wishes, options, "--stream" if asked else _what(path))
    if reason:
        raise UserError(reason)
    if options.method == "auto":
        rank_sample(path, wishes, options)
        return
    pieces = open_source(path, wishes.reading)
    if wishes.for_columns(pieces[0].types).targets:
        raise UserError(f"--method {options.method} with --stream takes one --target: leave out --method or --stream.")
    notes = list(pieces[0].notes)
    exclude = [*wishes.ignore, *wishes.identifiers]
    if not asked:
        notes.append(f"{_what(path)} is read once, in batches of rows.")
        exclude += _not_features(pieces[0], {wishes.target, *wishes.soft, *exclude}, notes)
    keep = None if isinstance(options.keep, str) else options.keep
    if keep is None:
        notes.append(
            "half of the features are kept, because only a test on the whole table can tell which features stand out "
            "(--keep N sets the number)."
        )
    try:
        with step(f"reading {path}"), rows_named(lambda row: f"row {row + 1}, counted from 1"):
            ranking = rank_stream(
                pieces,
                target=wishes.target,
                soft=list(wishes.soft) or None,
                method=options.method,
                exclude=exclude,
                n_features_to_select=keep,
                missing_label=None,  # in a file, an unlabelled cell is empty
            )
    except InputError as error:
        if asked or Path(path).is_dir():
            raise
        raise InputError(
            error.argument,
            error.found,
            "if the table fits in memory, --no-stream loads it and fills missing cells",
        ) from error
    rows = records(ranking.to_frame())
    if options.output == "csv":
        print_text(as_csv(rows))
    elif options.output == "json":
        content: dict[str, Any] = {
            "table": path,
            "target": wishes.target or list(wishes.soft) or "",
            "method": ranking.method,
            "explanation": ranking.reason,
            "lower_is_better": bool(ranking.lower_is_better),
            "kept": [row["feature"] for row in rows if row["kept"]],
            "notes": notes,
            "features": rows,
        }
        print_text(as_json(content))
    else:
        how = [f"Method: {ranking.method}, on all rows", f"Kept: {ranking.reason}"]
        names = [wishes.target] if wishes.target else list(wishes.soft)
        print_ranking(joined(map(quoted, names)) if names else "", rows, ranking, [], how, options.top)
    tell(notes, options.quiet)


def rank_sample(path: str, wishes: Wishes, options: RankOptions) -> None:
    """Draw a sample of rows in one pass, and rank the features as if the sample were the table."""
    pieces = open_source(path, wishes.reading)
    require_same_columns(pieces)
    wishes = wishes.for_columns(pieces[0].types)
    named = [wishes.target] if wishes.target else [*wishes.targets, *wishes.soft, *wishes.annotators]
    labels = [name for name in named if name in pieces[0].types]
    others = [name for name in pieces[0].types if name not in labels]
    with step(f"drawing rows from {path}"):
        drawn = draw_rows(pieces, others, labels, seed=options.seed)
    frame = tidy(arrow_to_pandas(drawn.table.select(list(pieces[0].types))), path, wishes.how.missing)
    file = TableFile(frame, pieces[0].separator, pieces[0].notes, _reading_code(path, pieces[0]))
    with rows_named(lambda row: f"row {row + 1} of the sample"):
        rank_frame(path, file, wishes, options, drawn=drawn)


def _reading_code(path: str, piece: Piece) -> str:
    if Path(path).is_dir():
        return f"pyarrow.dataset.dataset({path!r}).to_table().to_pandas()"
    reader = {"parquet": "pd.read_parquet", "feather": "pd.read_feather"}.get(table_format(path), "pd.read_csv")
    arguments = f", sep={piece.separator!r}" if piece.separator != "," else ""
    return f"{reader}({path!r}{arguments})"


def _were(names: list[str]) -> str:
    return "was" if len(names) == 1 else "were"


def _what(path: str) -> str:
    return "a folder" if Path(path).is_dir() else "a large table (--no-stream loads it)"


def _what_needs_the_table(wishes: Wishes, options: RankOptions, what: str = "--stream") -> str | None:
    """Why one pass over the rows cannot answer the question; None if it can."""
    if wishes.target and wishes.soft:
        return "--target and --soft both say what the target is: give only one of them."
    sampled = options.method == "auto"
    if not sampled and options.method not in streamed_methods():
        able = ", ".join(streamed_methods())
        return f"--method {options.method} needs the whole table: with {what}, use one of {able}."
    if not sampled and not (wishes.target or wishes.soft):
        return f"{what} needs --target or --soft: without labels, the method needs the whole table."
    for option, given, needs_all in (
        ("--save-table", options.save_table, True),
        ("--pairs", wishes.pairs, True),
        ("--report", options.report, False),
        ("--stability", options.draws, False),
        ("--tolerance", options.tolerance, False),
        ("--evaluate", options.evaluate, False),
        ("--redundancy", options.redundancy, False),
        ("--device cuda", options.device == "cuda", False),
        ("--drop-leaks", options.drop_leaks, False),
        ("--annotators", wishes.annotators, False),
        ("--confidence", wishes.confidence, False),
        ("--annotator", wishes.annotator, True),
        ("--groups", wishes.groups, True),
        ("--weights", wishes.weights, False),
        ("--corrections", options.corrections, True),
        ("--nominal", wishes.nominal, False),
        ("--unlabelled", wishes.unlabelled, False),
        ("--normalize", wishes.normalize, False),
        ("--regression", wishes.kind == "numbers", False),
        ("--positive", wishes.positive, False),
        ("--low and --high", wishes.low or wishes.high, True),
        ("--time and --event", wishes.time or wishes.event, True),
        ("--target-kind ordered", wishes.kind == "ordered", False),
    ):
        if given and (needs_all or not sampled):
            once = f"{option} cannot be used with {what}, because rows are read only once"
            return f"{once}: leave out {option}, or load one file."
    return None
