"""The command: its subcommands, its reference, and what completes them in a shell."""

from __future__ import annotations

import inspect
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer

from dubio import __version__
from dubio_app.command.options import (
    Annotator,
    AsCsv,
    AsJson,
    Combine,
    Corrections,
    Debug,
    DecimalMark,
    Device,
    DeviceOption,
    Encoding,
    Engine,
    Groups,
    Identifiers,
    Ignore,
    Jobs,
    Kind,
    Missing,
    Model,
    Nominal,
    Order,
    Quiet,
    Seed,
    Sep,
    Sheet,
    Shell,
    Table,
    Target,
    TargetKind,
    Top,
    Unlabelled,
    Weights,
    how_to_read,
    number_to_keep,
    output_form,
    target_kind_of,
    wishes_of,
)
from dubio_app.command.wording import EXIT_CODES, UserError


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


app = typer.Typer(
    name="dubio",
    help="Feature selection when the labels are in doubt: soft, wrong, missing, pairwise or mostly unknown.",
    epilog="Exit codes: " + "; ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items()) + ".",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _further in sorted(entry_points(group="dubio.commands"), key=lambda entry: entry.name):
    app.add_typer(_further.load(), name=_further.name)  # `dubio papers`, where the laboratory is installed


@app.callback(invoke_without_command=True)
def _version(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False, debug: Debug = False
) -> None:
    if version:
        typer.echo(f"dubio {__version__}")
        raise typer.Exit()


@app.command()
def rank(
    table: Table,
    target: Target = None,
    soft: Annotated[
        list[str] | None, typer.Option("--soft", metavar="A,B,C", help="Columns with the probability of each class.")
    ] = None,
    normalize: Annotated[
        bool, typer.Option("--normalize", help="Divide each row of the --soft columns by its sum.")
    ] = False,
    confidence: Annotated[
        str | None, typer.Option("--confidence", metavar="COL", help="Column that says how sure the target is, 0 to 1.")
    ] = None,
    annotators: Annotated[
        list[str] | None,
        typer.Option("--annotators", metavar="A,B,C", help="Columns with the class that each annotator gave."),
    ] = None,
    annotator: Annotator = None,
    corrections: Corrections = None,
    combine: Annotated[
        Combine, typer.Option("--combine", help="How the annotators' votes are combined.")
    ] = Combine.average,
    pairs: Annotated[
        str | None,
        typer.Option(
            "--pairs",
            metavar="FILE",
            help="File with pairs of rows: row, row, must or cannot. Rows are named by the column of --id; without it "
            "they are numbers, and 1 is the first row under the header.",
        ),
    ] = None,
    regression: Annotated[
        bool, typer.Option("--regression", help="The target is a number (by default, this is detected).")
    ] = False,
    classes: Annotated[
        bool, typer.Option("--classes", help="The target is a class, even if it looks like a number.")
    ] = False,
    target_kind: TargetKind = Kind.auto,
    order: Order = None,
    positive: Annotated[
        str | None,
        typer.Option(
            "--positive", metavar="VALUE", help="Only rows with this value are labelled; all others may have it or not."
        ),
    ] = None,
    prior: Annotated[
        float | None,
        typer.Option("--prior", metavar="SHARE", help="Share of positive rows among the others, 0 to 1, if known."),
    ] = None,
    low: Annotated[
        str | None, typer.Option("--low", metavar="COL", help="Column with the lowest number that the target may be.")
    ] = None,
    high: Annotated[
        str | None, typer.Option("--high", metavar="COL", help="Column with the highest number; empty: no limit.")
    ] = None,
    time: Annotated[
        str | None, typer.Option("--time", metavar="COL", help="Column with a time until an event or the end.")
    ] = None,
    event: Annotated[
        str | None,
        typer.Option("--event", metavar="COL", help="Column that says whether it happened: yes or no."),
    ] = None,
    unlabelled: Unlabelled = None,
    groups: Groups = None,
    weights: Weights = None,
    ignore: Ignore = None,
    nominal: Nominal = None,
    identifiers: Identifiers = None,
    sep: Sep = None,
    decimal: DecimalMark = None,
    encoding: Encoding = None,
    na: Missing = None,
    sheet: Sheet = None,
    method: Annotated[str, typer.Option("--method", "-m", help="auto, or a name from `dubio methods`.")] = "auto",
    keep: Annotated[
        str,
        typer.Option(
            "--keep",
            "-k",
            metavar="N|relevant|sufficient",
            help="How many features to keep: a number, a share (30%), relevant (all features related to the target), "
            "or sufficient (as many of these as predict it as well).",
        ),
    ] = "relevant",
    alpha: Annotated[float, typer.Option("--alpha", help="Share of false discoveries to allow.")] = 0.05,
    redundancy: Annotated[
        float | None,
        typer.Option(
            "--redundancy", help="Move down features that resemble better ones. Give a weight, for example 1."
        ),
    ] = None,
    drop_leaks: Annotated[
        bool,
        typer.Option(
            "--drop-leaks",
            help="Leave out features that are suspected to be copies of the target, or separate its classes "
            "completely.",
        ),
    ] = False,
    draws: Annotated[
        int | None,
        typer.Option(
            "--stability",
            metavar="DRAWS",
            min=0,
            help="Number of resamples, to show how far the ranks move; 0 for none.",
        ),
    ] = None,
    tolerance: Annotated[
        bool | None,
        typer.Option(
            "--tolerance/--no-tolerance",
            help="Show how many labels may be wrong before a feature is no longer kept. A report shows it for small "
            "tables.",
            show_default=False,
        ),
    ] = None,
    evaluate: Annotated[
        Model | None,
        typer.Option(
            "--evaluate",
            help="Say what the selection is worth to this model: its accuracy on rows it has not seen, with the kept "
            "features, with all and with random ones.",
        ),
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    device: DeviceOption = Device.cpu,
    report: Annotated[
        str | None, typer.Option("--report", metavar="OUT.html", help="Write a report (a web page).")
    ] = None,
    save_table: Annotated[
        str | None,
        typer.Option(
            "--save-table", metavar="OUT.csv", help="Write a table with only the kept columns and the target."
        ),
    ] = None,
    stream: Annotated[
        bool | None,
        typer.Option(
            "--stream/--no-stream",
            help="Read the table once, in batches of rows. Default for folders and for tables of 1 GB or more.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    top: Top = 20,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Rank the columns of a table and say which to keep.

    You can give classes or numbers (some may be missing), class probabilities, the votes of several annotators,
    pairs of rows, or no target at all. By default, dubio chooses the method and the number of features from this.

    \b
    Examples:
      dubio rank patients.csv --target diagnosis --report patients.html
      dubio rank wine.parquet --soft p_red,p_white --keep 5 --json
      dubio rank scans.csv.gz --annotators ann,bob,eve --save-table small.csv
      dubio rank songs.tsv --pairs pairs.csv
      dubio rank visits.csv --target ill --groups patient
    """
    from dubio_app.command.output import hushed
    from dubio_app.command.rank import RankOptions, rank_table
    from dubio_app.command.streaming import is_to_be_streamed, rank_streamed

    if regression and classes:
        raise UserError("--regression and --classes contradict each other: give one of them.")
    kind = target_kind_of(target_kind, order, regression=regression, classes=classes)
    wishes = wishes_of(
        target=target,
        soft=soft,
        normalize=normalize,
        annotators=annotators,
        confidence=confidence,
        annotator=annotator,
        combine=combine.value,
        pairs=pairs,
        kind=kind,
        order=order,
        positive=positive,
        prior=prior,
        low=low,
        high=high,
        time=time,
        event=event,
        unlabelled=unlabelled,
        groups=groups,
        weights=weights,
        ignore=ignore,
        nominal=nominal,
        identifiers=identifiers,
        how=how_to_read(sep, decimal, encoding, na, sheet),
    )
    options = RankOptions(
        method=method,
        keep=number_to_keep(keep),
        alpha=alpha,
        redundancy=redundancy,
        drop_leaks=drop_leaks,
        draws=draws,
        tolerance=tolerance,
        evaluate=None if evaluate is None else evaluate.value,
        corrections=corrections,
        seed=seed,
        jobs=jobs,
        device=device.value,
        report=report,
        save_table=save_table,
        output=output_form(as_json, as_csv),
        top=top,
        quiet=quiet,
        command=shlex.join(["dubio", *sys.argv[1:]]),
    )
    with hushed(quiet):
        if stream or (stream is None and is_to_be_streamed(table, wishes, options)):
            rank_streamed(table, wishes, options, asked=bool(stream))
        else:
            rank_table(table, wishes, options)


@app.command()
def audit(
    table: Table,
    target: Annotated[str, typer.Option("--target", "-t", metavar="COL", help="Column with the class.")],
    annotator: Annotator = None,
    target_kind: TargetKind = Kind.auto,
    order: Order = None,
    corrections: Corrections = None,
    unlabelled: Unlabelled = None,
    groups: Groups = None,
    weights: Weights = None,
    ignore: Ignore = None,
    nominal: Nominal = None,
    engine: Annotated[Engine, typer.Option("--engine", help="How wrong labels are found.")] = Engine.transitions,
    every_row: Annotated[bool, typer.Option("--all", help="List every row, not only the doubtful ones.")] = False,
    identifiers: Identifiers = None,
    sep: Sep = None,
    decimal: DecimalMark = None,
    encoding: Encoding = None,
    na: Missing = None,
    sheet: Sheet = None,
    report: Annotated[str | None, typer.Option("--report", "-r", metavar="FILE", help="Write an HTML report.")] = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    top: Top = 20,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """List the labels that look wrong, the most suspicious first.

    Each label is judged by experts: classifiers that did not see this row when they were trained. Row 1 is the first
    row under the header. Look at a row before you change its label: an unusual row may look wrong although its label
    is right.

    \b
    Examples:
      dubio audit patients.csv --target diagnosis
      dubio audit patients.csv -t diagnosis --csv > doubtful.csv
    """
    from dubio_app.command.auditing import AuditOptions, audit_table
    from dubio_app.command.output import hushed

    if not target.strip():
        raise UserError("--target is empty: give the column with the class.")
    wishes = wishes_of(
        target=target,
        annotator=annotator,
        kind=target_kind_of(target_kind, order),
        order=order,
        only_classes=True,
        unlabelled=unlabelled,
        groups=groups,
        weights=weights,
        ignore=ignore,
        nominal=nominal,
        identifiers=identifiers,
        how=how_to_read(sep, decimal, encoding, na, sheet),
    )
    options = AuditOptions(
        engine=engine.value,
        every_row=every_row,
        identifiers=wishes.identifiers,
        report=report,
        corrections=corrections,
        seed=seed,
        jobs=jobs,
        output=output_form(as_json, as_csv),
        top=top,
        quiet=quiet,
        command=shlex.join(["dubio", *sys.argv[1:]]),
    )
    with hushed(quiet):
        audit_table(table, wishes, options)


@app.command()
def methods(as_json: AsJson = False, as_csv: AsCsv = False, debug: Debug = False) -> None:
    """List the methods: what each needs and what it does."""
    from dubio.methods.register import METHODS
    from dubio_app.command.output import as_csv as csv_text
    from dubio_app.command.output import as_json as json_text
    from dubio_app.command.output import print_table, print_text

    rows: list[dict[str, Any]] = [
        {
            "method": method.name,
            "needs": method.needs,
            "does": method.does,
            "kind": "search" if method.is_search else "ranking",
            "estimator": method.estimator.__name__,
        }
        for method in METHODS.values()
    ]
    form = output_form(as_json, as_csv)
    if form == "json":
        print_text(json_text({"methods": rows}))
    elif form == "csv":
        print_text(csv_text(rows))
    else:
        shown = [(row["method"], row["needs"], row["does"], row["kind"]) for row in rows]
        names = ("method", "needs", "does", "kind")
        print_table("Methods (auto chooses among them)", [(name, "left") for name in names], shown)


@app.command()
def demo(
    report: Annotated[
        str, typer.Option("--report", metavar="OUT.html", help="Where to write the report.")
    ] = "dubio-demo.html",
    seed: Seed = 0,
    jobs: Jobs = None,
    debug: Debug = False,
) -> None:
    """Rank an example table with doubtful labels and write its report."""
    from dubio_app.demo import show

    show(report, seed=seed, jobs=jobs)


@app.command()
def completion(
    shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")], debug: Debug = False
) -> None:
    """Print the script that completes commands and options in a shell.

    \b
    Examples:
      eval "$(dubio completion bash)"
      dubio completion fish | source
    """

    typer.echo(completion_script(shell.value, app), nl=False)


_BEGINNING = """\
# Reference of the command

Every command and option. The page is made from the code; [the command](command.md) explains what they are for.
"""

_STREAMS = """\
## Output

The answer goes to standard output: a table for people, `--json` or `--csv` for programs. Notes, warnings and progress
go to standard error, and `--quiet` leaves them out. Progress is shown on a terminal only. The same seed gives the same
bytes. Files are written completely or not at all.
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
