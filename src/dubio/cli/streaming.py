"""``dubio rank`` of tables too large for memory, read once, a batch of rows at a time: ``--stream``, or found out."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

from dubio.cli.errors import UserError
from dubio.cli.notes import tell
from dubio.cli.output import as_csv, as_json, print_text, records
from dubio.cli.progress import step
from dubio.cli.question import Wishes
from dubio.cli.ranking import RankOptions, print_ranking
from dubio.scale import rank_stream
from dubio.scale.sources import Piece, is_number, open_source
from dubio.scale.stream import Method

#: Bytes of a table, as numbers in memory, from which it is streamed unless told otherwise.
LARGE = 2**30
#: Distinct numbers among the first rows of a target up to which they are taken for classes.
_FEW = 50


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
    return wishes.target is None or wishes.kind == "classes" or _holds_classes(pieces[0], wishes.target)


def _holds_classes(piece: Piece, target: str) -> bool:
    import pyarrow as pa

    if not is_number(piece.types[target]) or pa.types.is_boolean(piece.types[target]):
        return True
    first = next(iter(piece.read([target], 65_536)), None)
    return first is None or len(first.select([target]).column(0).unique()) <= _FEW


def rank_streamed(path: str, wishes: Wishes, options: RankOptions, *, asked: bool = True) -> None:
    """Rank by one pass over the rows, with one of the methods that need no more."""
    reason = _what_needs_the_table(wishes, options)
    if reason:
        raise UserError(reason)
    notes = []
    exclude = list(wishes.ignore)
    if not asked:
        what = "the folder" if Path(path).is_dir() else "the table is large (--no-stream loads it): it"
        notes.append(f"{what} is read once, a batch of rows at a time.")
        kept_apart = {wishes.target, *wishes.soft, *exclude}
        types = open_source(path)[0].types
        text = [name for name in types if name not in kept_apart and not is_number(types[name])]
        if text:
            shown = ", ".join(text[:8]) + (f" and {len(text) - 8} more" if len(text) > 8 else "")
            notes.append(f"{len(text)} column(s) without numbers are left out: {shown}.")
        exclude += text
    keep = None if options.keep == "auto" else options.keep
    if keep is None:
        notes.append(
            "how many features stand out needs the whole table: half of them are kept (--keep N says how many)."
        )
    try:
        with step(f"reading {path}") as advance:
            ranking = rank_stream(
                path,
                target=wishes.target,
                soft=list(wishes.soft) or None,
                method="weighted_laplacian" if options.method == "auto" else options.method,  # type: ignore[arg-type]
                exclude=exclude,
                n_features_to_select=keep,
                progress=lambda done, total: advance(done, total or 0),
            )
    except ValueError as error:
        if asked or Path(path).is_dir() or "contains NaN" not in str(error):
            raise
        raise ValueError(f"{error} With --no-stream medians are filled in, if the table fits in memory.") from error
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


def _what_needs_the_table(wishes: Wishes, options: RankOptions) -> str | None:
    """Why one pass over the rows does not answer the question; None if it does."""
    if not (wishes.target or wishes.soft):
        return "--stream needs --target or --soft: without labels the whole table must be compared."
    if options.method != "auto" and options.method not in get_args(Method):
        return f"--stream goes with --method {', '.join(get_args(Method))}; {options.method!r} needs the table."
    for option, given in (
        ("--report", options.report),
        ("--save-table", options.save_table),
        ("--stability", options.draws),
        ("--redundancy", options.redundancy),
        ("--pairs", wishes.pairs),
        ("--experts", wishes.experts),
        ("--confidence", wishes.confidence),
        ("--nominal", wishes.nominal),
        ("--unlabelled", wishes.unlabelled),
        ("--normalize", wishes.normalize),
        ("--regression", wishes.kind == "numbers"),
    ):
        if given:
            return f"--stream reads the table once and keeps none of it: leave out {option}."
    return None
