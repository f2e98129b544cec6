"""A project: a folder with a copy of the table, every decision, and the answers.

A decision is written whole and at once, so the page or the computer may stop at any moment. Each state has a number;
who decides names the number that they saw, so that two windows do not overwrite each other. A change keeps what it
replaced, and so every change can be taken back.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import json
import os
import secrets
import shutil
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dubio.errors import InputError, quoted
from dubio_app.command.options import Option, options_of
from dubio_app.files import FORMATS
from dubio_app.whole_files import write_whole

#: The file of decisions, the file that an open project holds, and the version of what the decisions look like.
STATE, LOCK, FORMAT = "project.json", ".open", 2
#: Judged rows from which on they are used: with fewer, nothing can be said.
FEWEST_CHECKED = 10
#: Changes that can be taken back.
_UNDO = 500
#: Longest name that is remembered, in letters.
_LONGEST_NAME = 120
#: Files besides the table that the answer may use: pairs of rows, rows that were drawn to be checked, what the page
#: shows of them, and rows that others have checked.
MORE_FILES = {"pairs": ".csv", "draw": ".csv", "cards": ".json", "checked": ".csv"}
#: Files that a project makes of its decisions before a command reads them, and of its answers.
_DECIDED = ("corrections.csv", "judged.csv")
_ANSWERS = ("answer.json", "pictures.json", "report.html", "selection.json")
_TABLES = ("kept.csv", "labels.csv", "likely.csv", "next.csv")
#: What a state holds besides its number and the changes that can be taken back.
_EMPTY: dict[str, Any] = {"title": "", "kind": "", "name": "", "table": "", "options": {}, "labels": {}}
_EMPTY |= {"checks": {}, "files": {}}
#: Words of the user beside the options: a name for the project, and the card of the question.
_WORDS = ("title", "kind")
#: The columns of a file of corrections after the row, and what a decision may be.
_CORRECTION = ("id", "given", "decision", "label")
_DECISIONS = ("right", "change", "unsure")


class Conflict(Exception):
    """Another window has decided something since."""


def _choices() -> dict[str, Option]:
    """The options that can be decided on the page: those about the table and the question."""
    named = {one.name: one for one in options_of("rank") if one.flags}
    hidden = {"json", "csv", "top", "quiet", "debug", "jobs", "stream", "report", "device", "paper"}
    hidden |= {"pairs", "checked", "corrections"}  # which a project makes of its own decisions
    return {name: one for name, one in named.items() if name not in hidden and not one.value.startswith("OUT.")}


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

    The state holds ``version``, ``title``, ``kind`` (of the question), ``name`` (of the table as the user knows it),
    ``table`` (its file in the folder), ``options`` by name, ``labels`` (decisions by the number of the row), ``checks``
    (what was found in rows that were drawn), ``files`` (those of :data:`MORE_FILES` that are there), and ``undo``: what
    earlier changes replaced.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._held: Any = None
        self.state: dict[str, Any] = {"format": FORMAT, "version": 0, **_EMPTY, "undo": []}
        place = self.folder / STATE
        if place.is_file():
            self.state = self._read(place)
        elif any(not _is_ours(one.name) for one in self.folder.iterdir()):
            found = "holds other files than those of a project"
            raise InputError(quoted(str(self.folder)), found, "give the name of a new folder")
        else:
            self._write(self.state)

    @staticmethod
    def _read(place: Path) -> dict[str, Any]:
        try:
            state = json.loads(place.read_text(encoding="utf-8"))
            if state["format"] > FORMAT:
                raise InputError(quoted(str(place)), "is of a later version of dubio", "use that version")
            sections = {name: type(empty)(state.get(name, empty)) for name, empty in _EMPTY.items() if name != "files"}
            sections["options"] = {name: one for name, one in sections["options"].items() if name in CHOICES}
            sections["table"] = Path(sections["table"]).name
            files = state.get("files", {})
            files = {kind: Path(str(files[kind])).name for kind in files if kind in MORE_FILES} if files else {}
            undo = list(state["undo"]) if state["format"] == FORMAT else []
            return {"format": FORMAT, "version": int(state["version"]), **sections, "files": files, "undo": undo}
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(quoted(str(place)), "cannot be read", "give the name of a new folder") from error

    def hold(self) -> None:
        """Keep others from opening the project while this process has it, and remove what a kill left behind."""
        handle = os.open(self.folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if os.name == "nt":
                import msvcrt

                getattr(msvcrt, "locking")(handle, getattr(msvcrt, "LK_NBLCK"), 1)  # noqa: B009
            else:
                import fcntl

                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(handle)
            remedy = "use the page that is open, or end it first (Ctrl-C where it was started)"
            raise InputError(quoted(str(self.folder)), "is open already", remedy) from error
        self._held = handle
        self._write_decided()
        for one in self.folder.iterdir():
            if one.name.startswith(".") and one.name != LOCK and one.is_file() and _is_ours(one.name):
                one.unlink(missing_ok=True)

    def release(self) -> None:
        """Let others open the project."""
        if self._held is not None:
            os.close(self._held)
            self._held = None

    @property
    def table(self) -> Path | None:
        """The copy of the table; None before there is one."""
        return self.folder / self.state["table"] if self.state["table"] else None

    @property
    def decided(self) -> str:
        """A fingerprint of all decisions: the same decisions, the same answer."""
        parts = {name: self.state[name] for name in ("table", "options", "labels", "checks", "files")}
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]

    # Decisions

    def decide(self, version: int, options: Mapping[str, Any] | None = None, **words: Any) -> None:
        """Change some options, the title, or the kind of question; None takes an option away."""
        changed = {name: _checked(name, value) for name, value in (options or {}).items()}
        more = {name: str(word)[:_LONGEST_NAME] for name, word in words.items() if name in _WORDS and word is not None}
        self._change(version, {"options": changed, **more})

    def label(self, version: int, rows: Mapping[str, Any]) -> None:
        """Decide about labels: for each row (from 1) what it was given, and that this is right, wrong or unsure."""
        changed: dict[str, Any] = {}
        for row, entry in rows.items():
            _require_row(row)
            if entry is None:
                changed[row] = None
                continue
            parts = {name: entry.get(name, "") for name in _CORRECTION}
            if not all(isinstance(part, str) for part in parts.values()) or parts["decision"] not in _DECISIONS:
                raise InputError("decision", f"about row {row} is none")
            if row in self.state["labels"]:  # an audit after a correction shows the corrected label
                parts["given"] = self.state["labels"][row]["given"]
            if parts["decision"] == "change" and parts["label"] == parts["given"]:
                parts["decision"] = "right"
            changed[row] = parts
        self._change(version, {"labels": changed})

    def check(self, version: int, rows: Mapping[str, Any]) -> None:
        """Keep what was found in rows that were drawn; an empty text says that nobody can decide."""
        for row, value in rows.items():
            _require_row(row)
            if value is not None and not isinstance(value, str):
                raise InputError("decision", f"about row {row} is none")
        self._change(version, {"checks": dict(rows)})

    def undo(self, version: int) -> None:
        """Take back the last change."""
        with self._lock:
            self._require(version)
            if not self.state["undo"]:
                raise InputError("undo", "has nothing to take back")
            *rest, last = self.state["undo"]
            self._write({**_patched(self.state, last)[0], "undo": rest})

    # Files

    def take_table(self, path: Path, name: str) -> None:
        """Move an uploaded file into the project as its table; decisions about an earlier table are taken back."""
        endings = [ending for ending in FORMATS if name.casefold().endswith(ending)]
        if not endings:
            read = ", ".join(sorted(FORMATS)[:12])
            raise InputError("file", f"{quoted(name)} has an ending that is not read", f"use one of {read}")
        with self._lock:
            place = self.folder / f"table-{secrets.token_hex(3)}{max(endings, key=len)}"
            os.replace(path, place)  # under a new name: until the state names it, nothing has changed
            shown = Path(name.replace("\\", "/")).name[-_LONGEST_NAME:]
            patch = {**_EMPTY, "title": self.state["title"], "name": shown, "table": place.name}
            patch = {one: dict.fromkeys(self.state[one]) if value == {} else value for one, value in patch.items()}
            self._apply(patch)

    def take_file(self, kind: str, content: bytes, version: int | None = None) -> None:
        """Keep one of the further files; without content, forget it."""
        name = f"{kind}-{secrets.token_hex(3)}{MORE_FILES[kind]}" if content else None
        if name:
            write_whole(self.folder / name, content)
        self._change(self.state["version"] if version is None else version, {"files": {kind: name}})

    def take_corrections(self, content: bytes) -> None:
        """Decisions about labels from a file of corrections."""
        try:
            entries = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
            rows = {entry["row"]: {name: entry[name] for name in _CORRECTION} for entry in entries}
        except (UnicodeDecodeError, csv.Error, KeyError, TypeError) as error:
            raise InputError("the file", "has no decisions about labels", "give a corrections.csv") from error
        self.label(self.state["version"], rows)

    def take_draw(self, version: int, file: str, content: Mapping[str, Any]) -> None:
        """Keep rows that were drawn: their file, and what a person sees of them beside earlier ones."""
        cards = [*self.cards(), *content["cards"]]
        made = {"draw": file, "cards": json.dumps({"classes": content["classes"], "cards": cards}, ensure_ascii=False)}
        names = {kind: f"{kind}-{secrets.token_hex(3)}{MORE_FILES[kind]}" for kind in made}
        for kind, name in names.items():
            write_whole(self.folder / name, made[kind])
        self._change(version, {"files": names})

    def _write_decided(self) -> None:
        """Write the decisions about rows as the files that a command reads."""
        rows = sorted(self.state["labels"].items(), key=lambda one: int(one[0]))
        if rows:
            lines = [[row, *(entry[name] for name in _CORRECTION)] for row, entry in rows]
            write_whole(self.folder / _DECIDED[0], _as_csv(["row", *_CORRECTION], lines))
        found = sorted(self.state["checks"].items(), key=lambda one: int(one[0]))
        if found:
            names = {
                str(row): name for card in self.cards() for row, name in zip(card["rows"], card["names"], strict=True)
            }
            lines = [[row, names.get(row, ""), value] for row, value in found]
            write_whole(self.folder / _DECIDED[1], _as_csv(["row", "id", "value"], lines))

    def drawn(self) -> dict[str, Any]:
        """The rows that were drawn to be checked, without their labels, and the classes to choose from."""
        name = self.state["files"].get("cards")
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            found = json.loads((self.folder / name).read_text(encoding="utf-8")) if name else {}
            return {"cards": list(found["cards"]), "classes": list(found["classes"])}
        return {"cards": [], "classes": []}

    def cards(self) -> list[dict[str, Any]]:
        """The rows that were drawn to be checked, without their labels."""
        return list(self.drawn()["cards"])

    def words(self, command: str) -> list[str]:
        """The decisions as words of a command, with the table as this folder has it."""
        own = {one.name: one for one in options_of(command)}
        words = [command, self.state["table"]]
        for name, value in self.state["options"].items():
            words += words_of(own[name], value) if name in own else []
        files, one_target = self.state["files"], "target" in self.state["options"]
        if "pairs" in files and "pairs" in own:
            words += ["--pairs", files["pairs"]]
        if self.state["labels"] and one_target and "corrections" in own:
            words += ["--corrections", _DECIDED[0]]
        n_judged = sum(bool(value) for value in self.state["checks"].values())
        judged = [files["draw"], _DECIDED[1]] if "draw" in files and n_judged >= FEWEST_CHECKED else []
        judged += [files["checked"]] if "checked" in files else []
        if judged and one_target and "checked" in own:
            words += [word for name in judged for word in ("--checked", name)]
        return words

    def delete(self) -> list[str]:
        """Remove everything that the project wrote, and the folder; return what else lies in it, and so stays."""
        with self._lock:
            self.release()
            for one in list(self.folder.iterdir()) if self.folder.is_dir() else []:
                if one.name == "paper" and one.is_dir() and (one / "run.toml").is_file():
                    shutil.rmtree(one, ignore_errors=True)
                elif one.is_file() and _is_ours(one.name):
                    one.unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                self.folder.rmdir()
            return sorted(one.name for one in self.folder.iterdir()) if self.folder.is_dir() else []

    # How a change is written

    def _require(self, version: int) -> None:
        if version != self.state["version"]:
            raise Conflict

    def _change(self, version: int, patch: Mapping[str, Any]) -> None:
        with self._lock:
            self._require(version)
            self._apply(patch)

    def _apply(self, patch: Mapping[str, Any]) -> None:
        state, before = _patched(self.state, patch)
        if before:
            self._write({**state, "undo": [*self.state["undo"], before][-_UNDO:]})

    def _write(self, state: dict[str, Any]) -> None:
        state = {**state, "version": self.state["version"] + 1}
        write_whole(self.folder / STATE, json.dumps(state, indent=1, ensure_ascii=False) + "\n")
        before, self.state = self.state, state
        if any(before[name] != state[name] for name in ("labels", "checks")):
            self._write_decided()


def _patched(state: dict[str, Any], patch: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The state with some entries changed (None takes one away), and the patch that takes this back.

    >>> _patched({"name": "", "options": {"target": "a"}}, {"options": {"target": None, "id": ["b"]}})
    ({'name': '', 'options': {'id': ['b']}}, {'options': {'target': 'a', 'id': None}})
    """
    changed: dict[str, Any] = {}
    before: dict[str, Any] = {}
    for section, wish in patch.items():
        now = state[section]
        if not isinstance(now, dict):
            if now != wish:
                changed[section], before[section] = wish, now
            continue
        different = {key: value for key, value in wish.items() if now.get(key) != value}
        if different:
            merged = {**now, **different}
            changed[section] = {key: value for key, value in merged.items() if value is not None}
            before[section] = {key: now.get(key) for key in different}
    return {**state, **changed}, before


def _require_row(row: Any) -> None:
    if not (isinstance(row, str) and row.isascii() and row.isdigit() and 0 < len(row) < 12 and int(row) > 0):
        raise InputError("decision", f"names {quoted(row)}, which is no row")


def _as_csv(header: list[str], lines: list[list[str]]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([header, *lines])
    return buffer.getvalue()


def _is_ours(name: str) -> bool:
    """Whether a file is one that a project writes."""
    fixed = (STATE, LOCK, *_DECIDED, *_ANSWERS, *_TABLES)
    begins = ["table-", "table.", ".table", ".upload.", ".copy", *(f".{one}." for one in fixed)]
    begins += [start for kind in MORE_FILES for start in (f"{kind}-", f".{kind}-")]
    return name in fixed or name.startswith(tuple(begins))
