"""``dubio rerun``: the analysis of a paper kit once more, and what is different."""

from __future__ import annotations

import csv
import io
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dubio.errors import InputError, quoted
from dubio.words import Note, note, sentence
from dubio_app.command.options import Call
from dubio_app.command.output import print_paragraph
from dubio_app.command.question import table_of
from dubio_app.command.rank import rows_of, run_of
from dubio_app.paper.kit import as_list, call_of, environment, file_hash, write_kit

#: Files whose bytes depend on the machine's fonts and libraries for drawing.
_NOT_COMPARED = (".pdf",)


def rerun(call: Call) -> None:
    """Repeat the analysis of a kit, and print whether every file is the same, or what changed."""
    folder = Path(call.folder)
    record = read_record(folder)
    given = {"table": call.table} if call.table else {}
    again = call_of(record, folder, given)
    changes = list(_changes(record, again))
    with tempfile.TemporaryDirectory() as fresh:
        again.paper, again.quiet = fresh, True
        with table_of(again) as file:
            run = run_of(file, again)
            write_kit(run, rows_of(run, shared=again.no_rows), record["files"])
        differing = sorted(_differing(folder, Path(fresh)))
        moved = list(_moved(folder, Path(fresh))) if differing else []
    for one in [*changes, *moved, note("rerun differs" if differing else "rerun the same", names=differing)]:
        print_paragraph(sentence(one))


def read_record(folder: Path) -> dict[str, Any]:
    """The settings of a kit."""
    try:
        record = tomllib.loads((folder / "run.toml").read_text(encoding="utf-8"))
        if not all(isinstance(record[part], dict) for part in ("options", "files", "hashes", "versions")):
            raise KeyError
    except (OSError, ValueError, KeyError) as error:
        remedy = "give the folder that dubio rank --paper wrote"
        raise InputError(quoted(str(folder)), "holds no run.toml of a paper kit", remedy) from error
    if record["files"].get("table") == "-":
        raise InputError("table", "was read from standard input", "name the file: --table PATH", code="stdin")
    return record


def _changes(record: dict[str, Any], again: Call) -> Iterator[Note]:
    """The files and versions that are not those of the record."""
    for name, before in record["hashes"].items():
        for path, hashed in zip(as_list(getattr(again, name)), as_list(before), strict=True):
            if file_hash(path) != hashed:
                yield note("rerun changed file", what=name, path=path)
    now = environment()
    for name, before in record["versions"].items():
        if now.get(name) != before:
            yield note("rerun changed version", name=name, before=before, now=now.get(name, "none"))


def _differing(folder: Path, fresh: Path) -> Iterator[str]:
    """The files whose bytes differ, or that are in only one of the two folders."""
    names = {
        path.relative_to(base).as_posix() for base in (folder, fresh) for path in base.rglob("*") if path.is_file()
    }
    for name in names:
        old, new = folder / name, fresh / name
        own = old.is_file() and not new.is_file() and not _is_of_a_kit(name)
        if not own and not name.endswith(_NOT_COMPARED) and _bytes(old) != _bytes(new):
            yield name


def _is_of_a_kit(name: str) -> bool:
    return name.startswith(("tables/", "figures/")) or "/" not in name


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _moved(folder: Path, fresh: Path) -> Iterator[Note]:
    """How far the answer moved: features that came in and went out, and the largest change of rank."""
    before, after = _features(folder), _features(fresh)
    kept = [{name for name, row in rows.items() if row["kept"] == "true"} for rows in (before, after)]
    ranks = [(abs(int(row["rank"]) - int(after[name]["rank"])), name) for name, row in before.items() if name in after]
    far, name = max(ranks, default=(0, ""))
    came, went = sorted(kept[1] - kept[0]), sorted(kept[0] - kept[1])
    if came:
        yield note("rerun came in", names=came)
    if went:
        yield note("rerun went out", names=went)
    if far:
        yield note("rerun ranks", far=far, name=name)
    if not (came or went or far):
        yield note("rerun same answer")


def _features(folder: Path) -> dict[str, dict[str, str]]:
    try:
        text = (folder / "tables" / "features.csv").read_text(encoding="utf-8")
    except OSError:
        return {}
    return {row["feature"]: row for row in csv.DictReader(io.StringIO(text))}
