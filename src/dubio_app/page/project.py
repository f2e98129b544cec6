"""A project: a folder with a copy of the table, every decision, and the answers.

A decision is written whole and at once, so the page or the computer may stop at any moment. Each state has a number;
who decides names the number that they saw, so that two windows do not overwrite each other.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dubio.errors import InputError, quoted
from dubio_app.command.options import Option, options_of
from dubio_app.files import FORMATS
from dubio_app.whole_files import write_whole

#: The file of decisions, and the version of what it holds.
STATE, FORMAT = "project.json", 1
#: Earlier decisions that can be taken back.
_UNDO = 200
#: Files besides the table that the answer may use, and the options that name them.
MORE_FILES = {"corrections": "corrections.csv", "checked": "checked.csv", "pairs": "pairs.csv"}
#: Longest file name that is remembered, in letters.
_LONGEST_NAME = 120


class Conflict(Exception):
    """Another window has decided something since."""


def _choices() -> dict[str, Option]:
    """The options that can be decided on the page: those about the table and the question."""
    named = {one.name: one for one in options_of("rank") if one.flags}
    shown = {"json", "csv", "top", "quiet", "debug", "jobs", "stream", "report", "device", "paper", *MORE_FILES}
    return {name: one for name, one in named.items() if name not in shown and not one.value.startswith("OUT.")}


CHOICES = _choices()


def words_of(one: Option, value: Any) -> Iterator[str]:
    """An option and its value as words of the command line; a value may begin with a dash.

    >>> by_name = {one.name: one for one in options_of("rank")}
    >>> list(words_of(by_name["ignore"], ["a,b", "c"])), list(words_of(by_name["normalize"], True))
    (['--ignore=a,,b,c'], ['--normalize'])
    """
    values = [value] if isinstance(value, str) or not isinstance(value, list) else value
    if not one.value:
        yield from [one.flag] if value else []
    elif "," in one.value:
        yield f"{one.flag}={','.join(name.replace(',', ',,') for name in values)}"
    else:
        yield from (f"{one.flag}={each}" for each in values)


def _checked(name: str, value: Any) -> Any:
    """A value that can stand for an option; None takes the option away."""
    if name not in CHOICES:
        raise InputError("decision", f"names {quoted(name)}, which is no option of this page")
    one = CHOICES[name]
    if value is None or value == "" or value == [] or value is False:
        return None
    several = one.several or "," in one.value
    kinds: Any = list if several else str if one.value else bool
    if several and isinstance(value, str):
        value = [value]
    plain = isinstance(value, kinds) and (not several or all(isinstance(each, str) for each in value))
    if not plain and not (one.value and isinstance(value, int | float) and not isinstance(value, bool)):
        raise InputError("decision", f"has a {type(value).__name__} for {one.flag}")
    return value


class Project:
    """The folder of a project, and its state.

    The state holds ``version``, ``name`` (of the table as the user knows it), ``table`` (its file in the folder),
    ``options`` by name, ``files`` (those of :data:`MORE_FILES` that are there), and ``undo``: earlier options.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self.state: dict[str, Any] = {"format": FORMAT, "version": 0, "name": "", "table": "", "options": {}}
        self.state |= {"files": [], "undo": []}
        place = self.folder / STATE
        if place.is_file():
            self.state = self._read(place)
        elif any(self.folder.iterdir()):
            found = "holds other files than those of a project"
            raise InputError(quoted(str(self.folder)), found, "give the name of a new folder")

    @staticmethod
    def _read(place: Path) -> dict[str, Any]:
        try:
            state = json.loads(place.read_text(encoding="utf-8"))
            if state["format"] > FORMAT:
                raise InputError(quoted(str(place)), "is of a later version of dubio", "use that version")
            options = {name: value for name, value in state["options"].items() if name in CHOICES}
            return {**state, "options": options, "table": Path(str(state["table"])).name, "undo": list(state["undo"])}
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(quoted(str(place)), "cannot be read", "give the name of a new folder") from error

    @property
    def table(self) -> Path | None:
        """The copy of the table; None before there is one."""
        return self.folder / self.state["table"] if self.state["table"] else None

    def decide(self, version: int, options: Mapping[str, Any]) -> None:
        """Change some options; None takes one away."""
        changed = {name: _checked(name, value) for name, value in options.items()}
        with self._lock:
            self._require(version)
            merged = {**self.state["options"], **changed}
            self._keep(options={name: value for name, value in merged.items() if value is not None})

    def undo(self, version: int) -> None:
        """Take back the last decision about options."""
        with self._lock:
            self._require(version)
            if not self.state["undo"]:
                raise InputError("undo", "has nothing to take back")
            *rest, last = self.state["undo"]
            self._write({**self.state, "options": last, "undo": rest})

    def take_table(self, path: Path, name: str) -> None:
        """Move an uploaded file into the project as its table; earlier decisions about columns are taken back."""
        endings = [ending for ending in FORMATS if name.casefold().endswith(ending)]
        if not endings:
            known = ", ".join(sorted(FORMATS)[:12])
            raise InputError("file", f"{quoted(name)} has an ending that is not read", f"use one of {known}")
        with self._lock:
            place = self.folder / f"table{max(endings, key=len)}"
            before = self.table
            os.replace(path, place)
            if before is not None and before != place:
                before.unlink(missing_ok=True)
            for other in MORE_FILES.values():
                (self.folder / other).unlink(missing_ok=True)
            shown = Path(name.replace("\\", "/")).name[-_LONGEST_NAME:]
            self._write({**self.state, "name": shown, "table": place.name, "options": {}, "undo": [], "files": []})

    def take_file(self, kind: str, content: bytes) -> None:
        """Keep one of the further files: corrected labels, checked rows, pairs; without content, forget it."""
        with self._lock:
            place = self.folder / MORE_FILES[kind]
            if content:
                write_whole(place, content)
            else:
                place.unlink(missing_ok=True)
            files = sorted({*self.state["files"], kind} if content else {*self.state["files"]} - {kind})
            self._write({**self.state, "files": files})

    def words(self, command: str) -> list[str]:
        """The decisions as words of a command, with the table as this folder has it."""
        own = {one.name: one for one in options_of(command)}
        words = [command, self.state["table"]]
        for name, value in self.state["options"].items():
            words += words_of(own[name], value) if name in own else []
        for kind in self.state["files"]:
            words += [own[kind].flag, MORE_FILES[kind]] if kind in own else []
        return words

    def delete(self) -> None:
        """Remove the folder with everything in it."""
        with self._lock:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _require(self, version: int) -> None:
        if version != self.state["version"]:
            raise Conflict

    def _keep(self, options: dict[str, Any]) -> None:
        if options != self.state["options"]:
            undo = [*self.state["undo"], self.state["options"]][-_UNDO:]
            self._write({**self.state, "options": options, "undo": undo})

    def _write(self, state: dict[str, Any]) -> None:
        state = {**state, "version": self.state["version"] + 1}
        write_whole(self.folder / STATE, json.dumps(state, indent=1, ensure_ascii=False) + "\n")
        self.state = state
