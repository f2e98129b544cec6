"""Shell completion: scripts for bash, zsh and fish that know every command and option, and start no Python."""

from __future__ import annotations

import shlex

import typer

from dubio.cli.described import Command, Option, all_commands


def completion_script(shell: str, app: typer.Typer) -> str:
    """The script of a shell, to be sourced by it."""
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](all_commands(app))


def _inner(commands: list[Command], group: Command) -> list[Command]:
    """The commands right under a group."""
    depth = group.name.count(" ") + 1
    return [one for one in commands if one.name.startswith(f"{group.name} ") and one.name.count(" ") == depth]


def _bash(commands: list[Command]) -> str:
    """``$path`` is the command so far; the option before the cursor decides what follows."""
    words, values = [], []
    for command in commands:
        inner = [one.name.split(" ")[-1] for one in _inner(commands, command)]
        words.append(f"    {shlex.quote(command.name)}) words={shlex.quote(' '.join([*inner, *command.flags]))} ;;")
        for option in command.options:
            if option.flags and option.value:
                pattern = "|".join(shlex.quote(f"{command.name} {flag}") for flag in option.flags)
                chosen = f'COMPREPLY=( $(compgen -W {shlex.quote(" ".join(option.choices))} -- "$now") ); return'
                values.append(f"    {pattern}) {chosen if option.choices else 'return'} ;;")
    names = "|".join(shlex.quote(one.name) for one in commands if one.name != "dubio")
    return "\n".join(
        [
            "# completion of dubio for bash",
            "_dubio() {",
            '  local now="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" path=dubio words= i',
            "  for ((i = 1; i < COMP_CWORD; i++)); do",
            f'    case "$path ${{COMP_WORDS[i]}}" in {names}) path="$path ${{COMP_WORDS[i]}}" ;; esac',
            "  done",
            "  COMPREPLY=()",
            '  case "$path $before" in',
            *values,
            "  esac",
            '  case "$path" in',
            *words,
            "  esac",
            '  if [[ "$now" == -* || "$path" == dubio || "$path" == "dubio papers" ]]; then',
            '    COMPREPLY=( $(compgen -W "$words" -- "$now") )',
            "  fi",
            "}",
            "complete -o default -F _dubio dubio",  # files, where nothing else fits
            "",
        ]
    )


def _zsh(commands: list[Command]) -> str:
    lines = ["#compdef dubio", "# completion of dubio for zsh"]
    for command in reversed(commands):
        function = "_" + command.name.replace(" ", "_")
        lines += [f"{function}() {{", *_zsh_body(commands, command, function), "}"]
    lines += ["compdef _dubio dubio", ""]
    return "\n".join(lines)


def _zsh_body(commands: list[Command], command: Command, function: str) -> list[str]:
    specs = [shlex.quote(spec) for option in command.options for spec in _zsh_specs(option)]
    inner = _inner(commands, command)
    if not inner:
        return ["  _arguments \\", *(f"    {spec} \\" for spec in specs[:-1]), f"    {specs[-1]}"]
    names = " ".join(shlex.quote(f"{one.name.split(' ')[-1]}:{one.short.replace(':', ' ')}") for one in inner)
    cases = [f"      {one.name.split(' ')[-1]}) {function}_{one.name.split(' ')[-1]} ;;" for one in inner]
    return [
        "  local context state line",
        "  local -a names",
        f"  names=({names})",
        "  _arguments -C \\",
        *(f"    {spec} \\" for spec in specs),
        "    '1: :->command' '*:: :->rest'",
        "  case $state in",
        "    command) _describe command names ;;",
        "    rest) case $line[1] in",
        *cases,
        "    esac ;;",
        "  esac",
    ]


def _zsh_specs(option: Option) -> list[str]:
    said = " ".join(option.help.split()).replace("[", "(").replace("]", ")").replace(":", " ")
    follows = ""
    if option.value:
        what = f"({' '.join(option.choices)})" if option.choices else "_files" if option.is_file else " "
        follows = f":{option.value.split('|')[0].replace(':', ' ')}:{what}"
    if not option.flags:
        return [f"*:{option.value}:_files"]
    return [f"*{flag}[{said}]{follows}" for flag in option.flags]


def _fish(commands: list[Command]) -> str:
    lines = ["# completion of dubio for fish", "complete -c dubio -f"]
    for command in commands:
        place = _fish_place(commands, command)
        for one in _inner(commands, command):
            name = one.name.split(" ")[-1]
            lines.append(f"complete -c dubio -n {_fish_quote(place)} -a {name} -d {_fish_quote(one.short)}")
        if not command.is_group:
            lines.append(f"complete -c dubio -n {_fish_quote(place)} -F")
        for option in command.options:
            if option.flags:
                lines.append(f"complete -c dubio -n {_fish_quote(place)}{_fish_option(option)}")
    return "\n".join([*lines, ""])


def _fish_place(commands: list[Command], command: Command) -> str:
    """The condition under which a command is the one being written."""
    parts = command.name.split(" ")[1:]
    seen = [f"__fish_seen_subcommand_from {part}" for part in parts]
    inner = " ".join(one.name.split(" ")[-1] for one in _inner(commands, command))
    if inner:
        seen.append(f"not __fish_seen_subcommand_from {inner}")
    return "; and ".join(seen)


def _fish_option(option: Option) -> str:
    flags = "".join(f" -l {flag[2:]}" if flag.startswith("--") else f" -s {flag[1:]}" for flag in option.flags)
    value = ""
    if option.choices:
        value = f" -x -a {_fish_quote(' '.join(option.choices))}"
    elif option.value:
        value = " -r -F" if option.is_file else " -r -f"
    return f"{flags}{value} -d {_fish_quote(' '.join(option.help.split()))}"


def _fish_quote(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
