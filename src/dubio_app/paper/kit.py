"""The files of a paper kit, written whole into one folder."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dubio.trust.selection import versions
from dubio.words import note
from dubio_app.command.applying import selection_of
from dubio_app.command.options import READ_FILES, Call
from dubio_app.command.output import Rows, as_csv, step
from dubio_app.command.trust import Run
from dubio_app.paper.account import Account
from dubio_app.paper.checklist import checklist
from dubio_app.paper.documents import word_file
from dubio_app.paper.figures import figures_of
from dubio_app.paper.text import bibliography, methods, results
from dubio_app.report.svg import printable
from dubio_app.whole_files import write_whole


def write_kit(run: Run, rows: Rows, recorded: Mapping[str, Any] | None = None) -> None:
    """Write the kit of a run; ``recorded`` are the places of files as an earlier kit recorded them."""
    folder = Path(run.call.paper)
    with step("writing the paper kit"):
        for name, content in kit_files(run, rows, recorded):
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            write_whole(place, content)
    if not (folder / "paper.docx").is_file():
        run.notes.append(f"{note('no word file')}.")
    run.notes.append(f"{note('kit written', path=run.call.paper)}.")


def kit_files(run: Run, rows: Rows, recorded: Mapping[str, Any] | None = None) -> Iterator[tuple[str, bytes | str]]:
    """Each file of the kit with its name. run.toml comes last: a folder with it is whole."""
    account = Account.of(run, rows)
    written = {"methods.md": methods(account), "results.md": results(account), "checklist.md": checklist(account)}
    pages = {name: printable(page) for name, page in written.items()}
    yield from pages.items()
    yield "references.bib", bibliography(account)
    yield "tables/features.csv", as_csv(account.rows)
    left_out = [{"column": name, "reason": why} for name, why in account.left_out.items()]
    yield "tables/left_out.csv", as_csv(left_out, ("column", "reason"))
    yield "tables/classes.csv", as_csv([{"class": name, "rows": n} for name, n in account.classes], ("class", "rows"))
    yield from ((f"figures/{name}", content) for name, content in figures_of(run, account))
    if (paper := word_file(*pages.values())) is not None:
        yield "paper.docx", paper
    yield "selection.json", selection_of(run).as_json()
    yield "run.toml", run_record(run, recorded)


def run_record(run: Run, recorded: Mapping[str, Any] | None = None) -> str:
    """All that repeats a run, as TOML: options, files with their hashes, versions."""
    call = run.call
    paths = {name: getattr(call, name) for name in READ_FILES if getattr(call, name)}
    places = recorded or {name: _each(path, lambda one: _place(one, call.paper)) for name, path in paths.items()}
    lines = ["# dubio rerun repeats the analysis with these settings.", "[options]", *_lines(call.settings())]
    lines += ["", "[files]", *_lines(places), "", "[hashes]"]
    lines += _lines({name: _each(path, file_hash) for name, path in paths.items()})
    lines += ["", "[versions]", *_lines(environment()), ""]
    return "\n".join(lines)


def environment() -> dict[str, str]:
    """The versions of the libraries, and the kind of machine: another processor may round in another way."""
    return versions() | {"machine": f"{platform.system()} {platform.machine()}"}


def as_list(paths: Any) -> list[str]:
    """One path or several, as a list."""
    return [paths] if isinstance(paths, str) else list(paths)


def _each(paths: Any, change: Callable[[str], str]) -> Any:
    """A path, or each of several, changed."""
    return change(paths) if isinstance(paths, str) else [change(one) for one in paths]


def _place(path: str, folder: str) -> str:
    """Where a file is, seen from the folder of the kit."""
    return path if path == "-" else Path(os.path.relpath(path, folder)).as_posix()


def _lines(values: Mapping[str, Any]) -> list[str]:
    """TOML; its strings, numbers and lists are written as in JSON."""
    return [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in values.items()]


def file_hash(path: str) -> str:
    """The SHA-256 hash of a file; "" of standard input."""
    if path == "-":
        return ""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def call_of(record: Mapping[str, Any], folder: Path, paths: Mapping[str, str]) -> Call:
    """The call that a record repeats, with the files at their recorded places or at the given ``paths``."""
    options = {name: tuple(value) if isinstance(value, list) else value for name, value in record["options"].items()}
    places = {name: _each(place, lambda one: str(folder / one)) for name, place in record["files"].items()}
    return Call("rank", **options, **places | dict(paths))
