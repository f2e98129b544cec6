"""``dubio rank --stream``: tables larger than memory, read once, a batch of rows at a time."""

from __future__ import annotations

from typing import Any, get_args

from dubio.cli.errors import UserError
from dubio.cli.output import as_csv, as_json, print_text, records
from dubio.cli.progress import step
from dubio.cli.question import Wishes
from dubio.cli.ranking import RankOptions, print_ranking, tell
from dubio.scale import rank_stream
from dubio.scale.stream import Method


def rank_streamed(path: str, wishes: Wishes, options: RankOptions) -> None:
    """Rank by one pass over the rows, with one of the methods that need no more."""
    _refuse_what_needs_the_table(wishes, options)
    notes = []
    keep = None if options.keep == "auto" else options.keep
    if keep is None:
        notes.append(
            "how many features stand out needs the whole table: half of them are kept (--keep N says how many)."
        )
    with step(f"reading {path}") as advance:
        ranking = rank_stream(
            path,
            target=wishes.target,
            soft=list(wishes.soft) or None,
            method="weighted_laplacian" if options.method == "auto" else options.method,  # type: ignore[arg-type]
            exclude=list(wishes.ignore),
            n_features_to_select=keep,
            progress=lambda done, total: advance(done, total or 0),
        )
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


def _refuse_what_needs_the_table(wishes: Wishes, options: RankOptions) -> None:
    if not (wishes.target or wishes.soft):
        raise UserError("--stream needs --target or --soft: without labels the whole table must be compared.")
    if options.method != "auto" and options.method not in get_args(Method):
        raise UserError(
            f"--stream goes with --method {', '.join(get_args(Method))}; {options.method!r} needs the table."
        )
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
            raise UserError(f"--stream reads the table once and keeps none of it: leave out {option}.")
