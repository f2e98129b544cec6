"""The reference of the command, in Markdown, made from the code (``tools/command_reference.py`` writes it)."""

from __future__ import annotations

import typer

from dubio.cli.described import Command, Option, all_commands
from dubio.cli.wording import EXIT_CODES

_BEGINNING = """\
# Reference of the command

Every command and option. The page is made from the code; [the command](command.md) explains what they are for.
"""

_STREAMS = """\
## Output

The answer goes to standard output: a table for people, `--json` or `--csv` for programs. Notes, warnings and progress
go to standard error, and `--quiet` leaves them out. Progress is shown on a terminal only; how long work of more than
10 s will take is said in any case. The same seed gives the same bytes. Files are written completely or not at all.
"""

_COMPLETION = """\
## Completion in the shell

| shell | put this into | |
|---|---|---|
| bash | `~/.bashrc` | `eval "$(dubio completion bash)"` |
| zsh | `~/.zshrc`, after `compinit` | `eval "$(dubio completion zsh)"` |
| fish | `~/.config/fish/config.fish` | `dubio completion fish \\| source` |
"""


def reference(app: typer.Typer) -> str:
    """The whole page."""
    codes = "\n".join(f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items())
    parts = [_BEGINNING, *map(_section, all_commands(app)), _STREAMS]
    parts += [f"## Exit codes\n\n| code | meaning |\n|---:|---|\n{codes}\n", _COMPLETION]
    return "\n".join(parts)


def _section(command: Command) -> str:
    arguments = [option for option in command.options if not option.flags]
    usage = " ".join(
        [command.name, *(["COMMAND"] if command.is_group else []), *(_argument(one) for one in arguments), "[OPTIONS]"]
    )
    lines = [f"## {command.name}", "", *_paragraphs(command.help), "```text", usage, "```", "", "| | |", "|---|---|"]
    lines += [_row(option) for option in command.options]
    return "\n".join(lines) + "\n"


def _argument(option: Option) -> str:
    return option.value if option.required else f"[{option.value}]"


def _paragraphs(text: str) -> list[str]:
    """Paragraphs on one line each; examples as a block."""
    lines: list[str] = []
    for part in text.split("\n\n"):
        first, _, rest = part.strip().partition("\n")
        if first.strip() == "Examples:":
            lines += ["```text", *(line.strip() for line in rest.splitlines()), "```", ""]
        elif part.strip():
            lines += [_cell(part), ""]
    return lines


def _row(option: Option) -> str:
    names = ", ".join(f"`{flag}`" for flag in option.flags) or "argument"
    value = f" `{_cell(option.value)}`" if option.value else ""
    said = _cell(option.help)
    if option.required and option.flags:
        said += " Required."
    if option.default:
        said += f" Default: `{option.default}`."
    return f"| {names}{value} | {said} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
