"""The commands and their options as plain records, read from the code: for the reference and for shell completion."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_type_hints

import typer


@dataclass(frozen=True)
class Option:
    """One option or argument of a command."""

    flags: tuple[str, ...]  # empty for an argument
    value: str  # what follows it; empty for a switch
    choices: tuple[str, ...]
    help: str
    default: str
    required: bool

    @property
    def is_file(self) -> bool:
        """Whether its value is the name of a file or folder."""
        return self.value in ("FILE", "TABLE", "OUT.html", "OUT.csv", "PATH", "FOLDER")


@dataclass(frozen=True)
class Command:
    """One command, such as ``dubio rank``."""

    name: str
    help: str
    options: tuple[Option, ...]
    is_group: bool

    @property
    def short(self) -> str:
        """The first sentence of its help."""
        return " ".join(self.help.split("\n\n")[0].split())

    @property
    def flags(self) -> list[str]:
        """All its options."""
        return [flag for option in self.options for flag in option.flags]


def all_commands(app: typer.Typer) -> list[Command]:
    """The command itself, and every command under it. Typer's annotations are read, which no version of it changes."""
    return list(_commands(app, "dubio"))


def _commands(app: Any, name: str) -> Iterator[Command]:
    callback = app.registered_callback
    own = () if callback is None else _options(callback.callback)
    yield Command(name, str(app.info.help), (*own, _HELP), True)
    for one in app.registered_commands:
        full = f"{name} {one.name or one.callback.__name__}"
        yield Command(full, _text(one.callback), (*_options(one.callback), _HELP), False)
    for group in app.registered_groups:
        yield from _commands(group.typer_instance, f"{name} {group.typer_instance.info.name}")


_HELP = Option(("-h", "--help"), "", (), "Show the help of this command.", "", False)


def _options(function: Any) -> tuple[Option, ...]:
    hints = get_type_hints(function, include_extras=True)
    signature = inspect.signature(function).parameters
    return tuple(_option(name, hints[name], parameter.default) for name, parameter in signature.items())


def _option(name: str, hint: Any, default: Any) -> Option:
    kinds, info = _kinds(get_args(hint)[0]), get_args(hint)[1]
    required = default is inspect.Parameter.empty
    is_argument = isinstance(info, typer.models.ArgumentInfo)
    switch = not is_argument and bool in kinds
    choices = tuple(one.value for kind in kinds if issubclass(kind, Enum) for one in kind)
    # in an annotation, Typer keeps the first flag where the default of a plain option would stand
    declared = [flag for flag in (info.default, *(info.param_decls or ())) if isinstance(flag, str)] or [f"--{name}"]
    flags = tuple(flag for flags in declared for flag in flags.split("/"))
    value = "" if switch else info.metavar or "|".join(choices) or _VALUES[kinds[0]]
    shown = not (switch or required or default is None)
    return Option(
        () if is_argument else flags,
        value,
        choices,
        str(info.help),
        str(getattr(default, "value", default)) if shown else "",
        required,
    )


_VALUES = {str: "TEXT", int: "N", float: "NUMBER", Path: "PATH"}


def _kinds(hint: Any) -> list[type]:
    """The types inside ``str | None`` or ``list[str] | None``."""
    if isinstance(hint, type) and not get_args(hint):
        return [] if hint is type(None) else [hint]
    return [kind for part in get_args(hint) for kind in _kinds(part)]


def _text(function: Any) -> str:
    """The docstring, without the mark for text that is not to be wrapped."""
    return inspect.cleandoc(function.__doc__ or "").replace("\b\n", "").strip()
