"""Write docs/command_reference.md from the code: ``python tools/command_reference.py``."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import typer

from dubio_app.command.app import make_app
from dubio_app.command.wording import EXIT_CODES

_BEGINNING = """\
# Reference of the command

Every command and option. The page is made from the code; [the command](command.md) explains what they are for.
"""

_END = """\
## Output

The answer goes to standard output: a table for people, `--json` or `--csv` for programs. Notes, warnings and progress
go to standard error, and `--quiet` leaves them out. Progress is shown on a terminal only. The same seed gives the same
bytes. Files are written completely or not at all.

## Exit codes

| code | meaning |
|---:|---|
{codes}

## Completion in the shell

`dubio --install-completion` sets up the shell in which it is called (bash, zsh, fish or PowerShell): the Tab key then
completes commands and options. `dubio --show-completion` prints the script, if you would rather install it yourself.
"""


def reference(app: typer.Typer) -> str:
    """The page of the user guide with every command and option."""
    codes = "\n".join(f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items())
    return "\n".join([_BEGINNING, *_sections(app, "dubio"), _END.format(codes=codes)])


def _sections(app: typer.Typer, name: str) -> Iterator[str]:
    """One section per command. Typer's annotations are read, which no version of it changes."""
    callback = app.registered_callback
    yield _section(f"{name} COMMAND", str(app.info.help), None if callback is None else callback.callback)
    for one in app.registered_commands:
        called = one.name or getattr(one.callback, "__name__", "")
        yield _section(f"{name} {called}", inspect.getdoc(one.callback) or "", one.callback)
    for group in app.registered_groups:
        assert group.typer_instance is not None
        yield from _sections(group.typer_instance, f"{name} {group.typer_instance.info.name}")


def _section(usage: str, text: str, function: Any) -> str:
    """What a command does, how it is called, and a table of its options."""
    rows, arguments = [], []
    for parameter in [] if function is None else inspect.signature(function).parameters.values():
        kind, info = get_args(get_type_hints(function, include_extras=True)[parameter.name])
        required = parameter.default is parameter.empty
        value = info.metavar or next((word for type_, word in _VALUES if type_ in (kind, *get_args(kind))), "TEXT")
        if isinstance(info, typer.models.ArgumentInfo):
            names = "argument"
            arguments.append(value if required else f"[{value}]")
        else:  # in an annotation, Typer keeps the first flag where the default of a plain option would stand
            flags = [flag for flag in (info.default, *(info.param_decls or ())) if isinstance(flag, str)]
            names = ", ".join(f"`{flag}`" for flag in "/".join(flags or [f"--{parameter.name}"]).split("/"))
        said = [str(info.help), "Required." if required and names != "argument" else ""]
        if value and not required and parameter.default is not None:
            said.append(f"Default: `{parameter.default}`.")
        rows.append(f"| {names}{f' `{_cell(value)}`' if value else ''} | {_cell(' '.join(said))} |")
    paragraphs = []
    for part in text.replace("\b\n", "").strip().split("\n\n"):
        first, *others = (line.strip() for line in part.strip().splitlines())
        paragraphs.append("\n".join(["```text", *others, "```"]) if first == "Examples:" else _cell(part))
    called = "\n".join(["```text", " ".join([usage, *arguments, "[OPTIONS]"]), "```"])
    table = ["| | |", "|---|---|", *rows, "| `-h`, `--help` | Show the help of this command. |"]
    return "\n\n".join([f"## {usage.removesuffix(' COMMAND')}", *paragraphs, called, "\n".join(table)]) + "\n"


#: What follows an option, by the type of its value; nothing follows a switch.
_VALUES = ((bool, ""), (int, "N"), (float, "NUMBER"), (Path, "PATH"))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


PAGE = Path(__file__).parents[1] / "docs" / "command_reference.md"

if __name__ == "__main__":
    PAGE.write_text(reference(make_app()), encoding="utf-8")
    print(PAGE)
