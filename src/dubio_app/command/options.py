"""Every option of the command, declared once.

An entry of :data:`OPTIONS` is all that an option needs. From it come its help and its row in the reference, its name in
messages, the argument of the library that it sets and the Python code that repeats the call, what a stream can do with
it, and which other options it needs or excludes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace
from typing import Annotated, Any, Literal

from dubio.errors import InputError

#: What the value of an option is read as, by what stands for it in the help.
_TYPES = {"N": int, "DRAWS": int, "NUMBER": float, "SHARE": float}


class UserError(Exception):
    """A mistake that the user can correct. Its text is one line that says how."""


@dataclass(frozen=True)
class Option:
    """One option of the command, or one argument.

    Attributes
    ----------
    usage : str
        How it is written: ``"--target -t COL"``, ``"--json"``, ``"--stream/--no-stream"``; ``"TABLE"`` is an argument.
        Names that are separated by commas make a tuple.
    help : str
        What it means, in one or two sentences.
    default : object
        Its value if it is not given.
    commands, required : str
        The commands that have it, and those that cannot do without it.
    choices : tuple of str
        The values that can be given.
    least, most : int or None
        The limits of a number.
    several : bool
        Whether it may be repeated.
    read : callable or None
        From the text to the value.
    columns : "", "target", "fact", "unused" or "feature"
        What its columns are: the target, a fact about the rows, neither feature nor target, features.
    argument : str
        The arguments of the library that it sets, so that messages about them name this option. Empty: its own name.
    passed : "", "make" or "fit"
        Whether its value is the argument itself: of the selector or the audit, or a column that is passed to ``fit``.
    code : "changed", "always" or "never"
        When the Python code that repeats the call shows the argument.
    holds : str
        What the target holds if the option is given; ``"="``: what its value says.
    needs : tuple of str
        The option that it needs (or several, one of which it needs), and what it says about that option. What needs a
        target goes with one only.
    excludes : str
        The options that it cannot be combined with.
    stream : "yes", "sample" or "no"
        Whether it can be used when rows are read only once, or at least when a sample of them is ranked.
    only : tuple of str
        The values that this concerns; empty: all.
    """

    usage: str
    help: str = ""
    default: Any = None
    commands: str = "rank"
    required: str = ""
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None
    several: bool = False
    read: Callable[[Any], Any] | None = None
    columns: Literal["", "target", "fact", "unused", "feature"] = ""
    argument: str = ""
    passed: Literal["", "make", "fit"] = ""
    code: Literal["changed", "always", "never"] = "changed"
    holds: str = ""
    needs: tuple[str, ...] = ()
    excludes: str = ""
    stream: Literal["yes", "sample", "no"] = "yes"
    only: tuple[str, ...] = ()

    def means(self, text: str) -> Option:
        """The same option with its help."""
        return replace(self, help=text)

    @property
    def flags(self) -> list[str]:
        """How it can be written, the long name first; none for an argument."""
        return [word for word in self.usage.split(" ") if word.startswith("-")]

    @property
    def flag(self) -> str:
        """Its long name, as messages give it."""
        return self.usage.split(" ")[0].split("/")[0]

    @property
    def name(self) -> str:
        """Its name in the code of the command: ``--save-table`` is ``save_table``."""
        return self.flag.removeprefix("--").replace("-", "_").lower()

    @property
    def value(self) -> str:
        """What follows it; empty for a switch."""
        last = self.usage.split(" ")[-1]
        return "|".join(self.choices) if last.startswith("-") else last

    @property
    def unset(self) -> Any:
        """Its value if it is not given."""
        if self.several or "," in self.value:
            return ()
        return False if self.default is None and not self.value and "/" not in self.usage else self.default

    def is_required(self, command: str) -> bool:
        """Whether a command cannot do without it."""
        return (not self.flags and self.default is None) or command in self.required.split()

    def parameter(self, command: str) -> inspect.Parameter:
        """The option as a parameter of a function, as Typer reads it."""
        import typer

        kind: Any = _TYPES.get(self.value, str) if self.value else bool
        kind = list[str] if self.unset == () else kind
        default = inspect.Parameter.empty if self.is_required(command) else None if self.unset == () else self.unset
        more: dict[str, Any] = {"help": self.help, "metavar": self.value or None}
        declared: Any = typer.Argument(**more)
        if self.flags:
            more |= {"min": self.least, "max": self.most, "show_default": self.unset is not None}
            offer = self._completed if self.choices else None
            declared = typer.Option(*self.flags, autocompletion=offer, **more)
        kind = kind | None if default is None else kind
        annotation: Any = Annotated[kind, declared]
        return inspect.Parameter(self.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)

    def _completed(self, incomplete: str) -> list[str]:
        return [choice for choice in self.choices if choice.startswith(incomplete)]

    def value_of(self, given: Any) -> Any:
        """The value of the option, from what Typer has read."""
        if given == "" and self.columns:
            raise UserError(f"{self.flag} is empty: give a name.")
        if "," in self.value:
            return names_in(given or ())
        if given is None or (self.columns and not given):
            return self.unset
        if self.choices:
            from dubio.checks import require_choice  # NumPy is not needed for the help

            require_choice(self.name, given, self.choices)
        return tuple(given) if self.several else given if self.read is None else self.read(given)


def names_in(values: Iterable[str]) -> tuple[str, ...]:
    """Names separated by commas. A comma inside a name is written twice."""
    parts = [part.replace("\0", ",").strip() for value in values for part in value.replace(",,", "\0").split(",")]
    return tuple(part for part in parts if part)


def _number_to_keep(text: str) -> Any:
    wish = text.strip().casefold()
    if wish in ("auto", "relevant", "sufficient"):
        return wish
    with suppress(ValueError):
        if wish.isdigit() and int(wish) >= 1:
            return int(wish)
        share = float(wish[:-1]) / 100 if wish.endswith("%") else 0.0 if wish.isdigit() else float(wish)
        if 0 < share <= 1:
            return share
    remedy = "give a number of features (10), a share (30% or 0.3), relevant or sufficient"
    raise InputError("n_features_to_select", f"={text!r}", remedy)


def _share_of_wrong(text: str) -> float | tuple[float, float]:
    with suppress(ValueError):
        ends = [float(end.removesuffix("%")) / (100 if end.endswith("%") else 1) for end in text.split("-")]
        if len(ends) <= 2 and all(0 <= end < 1 for end in ends) and ends[0] <= ends[-1]:
            return ends[0] if len(ends) == 1 else (ends[0], ends[1])
    raise InputError(
        "share", f"={text!r}", "give the share of wrong labels (10% or 0.1), or from where to where (5%-15%)"
    )


def _nonzero(number: int) -> int:
    if number == 0:
        raise InputError("n_jobs", "=0", "give a number of threads, or -1 for all processors", code="parameter n_jobs")
    return number


_BOTH, _WORK = "rank audit", "rank audit demo"
_ASKS = "rank audit check"
_READ, _FILES = f"{_ASKS} look", f"{_ASKS} look apply"
_KINDS = ("auto", "classes", "numbers", "ordered")
_WHO = "says who gave the class in --target"
_LIMITS = "give both (an empty cell means no limit)"
_CENSORED = "the event says whether the time is exact or censored"
# options that need at least a sample of the rows, those that need the whole table, and arguments of the selector
_of_sample, _of_all = partial(Option, stream="sample"), partial(Option, stream="no")
_to_make = partial(Option, passed="make")

#: All options, in the order of the help.
OPTIONS = (
    Option("--version", commands="dubio").means("Print the version."),
    Option("TABLE", default="", commands="open").means("The table; it can also be chosen on the page."),
    Option("--project FOLDER", commands="open").means(
        "Where the project is kept: a copy of the table, every decision, the answers. By default beside the table."
    ),
    Option("--no-browser", commands="open").means("Print the address, and do not open the browser."),
    Option("FOLDER", commands="rerun").means("Folder that dubio rank --paper wrote."),
    Option("--table PATH", commands="rerun").means("Where the table is now, if it moved."),
    Option("SELECTION", commands="apply").means("File that dubio rank --save-selection wrote."),
    Option("TABLE", commands=_FILES).means(
        "CSV, TSV (also .gz), Excel, JSON lines, Parquet or Feather file; - reads CSV from standard input."
    ),
    Option("--target -t COL", commands=_ASKS, columns="target").means(
        "Column with the class or the number; A,B for several targets (rank only)."
    ),
    Option("--soft A,B,C", commands="rank check", columns="target").means(
        "Columns with the probability of each class."
    ),
    _of_sample("--normalize", needs=("soft", "divides each row of the --soft columns by its sum")).means(
        "Divide each row of the --soft columns by its sum."
    ),
    _of_sample("--confidence COL", columns="fact", needs=("target", "says how sure the class in --target is")).means(
        "Column that says how sure the target is, from 0 to 1."
    ),
    _of_sample("--annotators A,B,C", commands=_ASKS, columns="target").means(
        "Columns with the class, or the number, that each annotator gave."
    ),
    _of_all("--votes FILE", commands=_ASKS, excludes="target soft annotators").means(
        "File with one line per vote (row, who, label), in place of --annotators; --id names the column with the rows."
    ),
    Option("--combine", choices=("average", "dawid-skene", "columns"), default="average").means(
        "How the votes of the annotators are combined; dawid-skene estimates how reliable each of them is, and columns "
        "also uses what the other columns say about each row, as numbers and ordered classes always do."
    ),
    _of_all("--annotator COL", commands=_BOTH, columns="fact", argument="annotators", needs=("target", _WHO)).means(
        "Column that says who labelled each row: shows which features are related to the person."
    ),
    _of_all(
        "--corrections FILE", commands=_BOTH, needs=("target", "changes the classes in --target"), excludes="confidence"
    ).means(
        "Labels that were corrected on the page of a report (corrections.csv): use them, and show before and after."
    ),
    _of_all(
        "--checked FILE",
        commands=_ASKS,
        several=True,
        excludes="pairs",
    ).means(
        "Rows that were drawn by dubio check and judged: says which columns are related to the truth. May be repeated."
    ),
    Option("--rows N", commands="check", least=1).means(
        "Number of rows, or of groups, to draw; by default a forecast from the audit."
    ),
    Option("--by", commands="check", choices=("random", "class", "doubtful"), default="random").means(
        "Draw all rows alike, as many of each class, or those more often whose label the models disagree with."
    ),
    Option("--draw OUT.csv", commands="check").means(
        "Where to write the drawn rows, with their chances and an empty column for what is true; by default beside the "
        "page, or check.csv."
    ),
    Option("--page OUT.html", commands="check").means("Write a page on which a person judges the rows blindly."),
    _of_all("--pairs FILE", argument="must_link cannot_link", excludes="groups").means(
        "File with pairs of rows: row, row, must or cannot. Rows are named by the column of --id; without it they are "
        "numbers, and 1 is the first row under the header."
    ),
    _of_sample("--regression", holds="numbers").means("The target is a number (by default, this is detected)."),
    Option("--classes", holds="classes").means("The target is a class, even if it looks like a number."),
    _of_sample("--target-kind", choices=_KINDS, default="auto", commands=_ASKS, holds="=", only=_KINDS[2:]).means(
        "What the target holds; ordered: classes with an order."
    ),
    _of_sample(
        "--order LOWEST,...,HIGHEST",
        commands=_ASKS,
        holds="ordered",
        needs=("target annotators votes", "names the classes of the target"),
    ).means("The order of the classes; implies --target-kind ordered."),
    _of_sample(
        "--positive VALUE", holds="positives", needs=("target", "is a value of --target"), excludes="confidence"
    ).means("Only rows with this value are labelled; all others may have it or not."),
    Option("--prior SHARE", needs=("positive", "is the share of positive rows among the others")).means(
        "Share of positive rows among the others, from 0 to 1, if you know it."
    ),
    _of_all("--low COL", columns="target", needs=("high", _LIMITS)).means(
        "Column with the lowest number that the target may be; an empty cell means no limit."
    ),
    _of_all("--high COL", columns="target", needs=("low", _LIMITS)).means(
        "Column with the highest number; an empty cell means no limit."
    ),
    _of_all("--time COL", columns="target", needs=("event", _CENSORED)).means(
        "Column with the time until an event, or until the end of observation."
    ),
    _of_all("--event COL", columns="target", needs=("time", _CENSORED)).means(
        "Column that says whether the event happened: yes or no. If not, the time is censored."
    ),
    _of_sample("--unlabelled VALUE", commands=_ASKS, several=True).means(
        "Target value that means 'no label'. May be repeated."
    ),
    _of_all("--groups COL", commands=_ASKS, columns="fact", passed="fit").means(
        "Column that says which rows belong together, such as the patient. It is not used as a feature."
    ),
    _of_sample("--weights COL", commands=_BOTH, columns="fact", argument="sample_weight", passed="fit").means(
        "Column with the weight of each row. It is not used as a feature."
    ),
    _of_sample("--given A,B", commands=_BOTH, columns="feature", passed="fit", excludes="pairs").means(
        "Columns that are known already, such as age or site: the other columns are judged by what they add to these."
    ),
    Option("--ignore A,B", commands=_READ, columns="unused", argument="exclude").means("Columns to leave out."),
    _of_sample("--nominal A,B", commands=_READ, columns="feature").means(
        "Columns of categories, even if they look like numbers."
    ),
    _of_sample("--ordinal COL=LEVELS", commands=_READ, several=True).means(
        "Values of a feature in their order, such as stage=I,II,III,IV. May be repeated."
    ),
    _of_all("--codebook FILE", commands=_READ).means(
        "What the columns mean: a table with the columns column, label, type, unit, levels, order, missing."
    ),
    Option("--id A,B", commands=_FILES, columns="unused").means(
        "Columns that name a row, as they are written (007). They are not used as features, and are kept in outputs."
    ),
    Option("--sep MARK", commands=_FILES).means(
        "What separates the columns of a text file: a character, tab or space."
    ),
    Option("--decimal MARK", commands=_FILES).means("The decimal mark: . or ,"),
    Option("--encoding NAME", commands=_FILES).means("Encoding of a text file, such as utf-8 or cp1252."),
    Option("--na VALUE", commands=_FILES, several=True).means(
        "Cell that means 'missing', such as -999. May be repeated."
    ),
    Option("--sheet NAME", commands=_FILES).means("Sheet of a workbook."),
    _of_all("--header-row N", commands=_FILES, least=1).means(
        "Row with the names of the columns, counted from 1; rows above it are skipped."
    ),
    _to_make("--method -m NAME", default="auto").means("auto, or a name from `dubio methods`."),
    _to_make(
        "--keep -k N|relevant|sufficient", default="relevant", read=_number_to_keep, argument="n_features_to_select"
    ).means(
        "How many features to keep: a number, a share (30%), relevant (all features related to the target), or "
        "sufficient (as many of these as predict it as well)."
    ),
    _to_make("--alpha NUMBER", default=0.05).means("Share of false discoveries to allow."),
    _of_sample("--redundancy NUMBER", passed="make").means(
        "Move down features that resemble better ones. Give a weight, for example 1."
    ),
    _of_sample("--drop-leaks", passed="make").means(
        "Leave out features that are suspected to be copies of the target, or separate its classes completely."
    ),
    _to_make(
        "--engine",
        choices=("transitions", "pooled", "confident", "lnt"),
        default="transitions",
        commands="audit",
        excludes="annotators votes",
    ).means("How the models judge the labels."),
    _to_make("--share 10%|5%-15%", commands="audit", read=_share_of_wrong, excludes="annotators votes").means(
        "Share of wrong labels, if you know it, or from where to where it reaches. Each label then gets the "
        "probability that it is wrong."
    ),
    Option("--all", commands="audit").means("List every row, not only those to look at first."),
    _of_sample("--stability DRAWS", least=0, argument="n_draws").means(
        "Number of resamples, to show how far the ranks move; 0 for none."
    ),
    _of_sample("--tolerance/--no-tolerance").means(
        "Show how many labels may be wrong before a feature is no longer kept. A report shows it for small tables."
    ),
    _of_sample("--evaluate", choices=("logistic", "forest", "svm")).means(
        "Say what the selection is worth to this model: its accuracy on rows it has not seen, with the kept features, "
        "with all and with random ones."
    ),
    _to_make(
        "--seed N",
        default=0,
        commands=f"{_WORK} check",
        least=0,
        most=2**32 - 1,
        argument="random_state",
        code="always",
    ).means("Seed of random numbers: the same seed gives the same answer."),
    _to_make("--jobs -j N", commands=_WORK, read=_nonzero, argument="n_jobs", code="never").means(
        "Number of threads, or -1 for all processors. The answer does not depend on it."
    ),
    _of_sample(
        "--device", choices=("cpu", "cuda", "auto"), default="cpu", passed="make", code="never", only=("cuda",)
    ).means("Where distances are computed: cuda is a GPU, auto uses it for large tables."),
    _of_sample("--report -r OUT.html", commands=_BOTH).means(
        "Write a report: a web page, or a PDF if the name ends in .pdf (Chromium prints it)."
    ),
    Option("--report -r OUT.html", default="dubio-demo.html", commands="demo").means("Where to write the report."),
    _of_all("--save-table OUT.csv").means("Write a table with only the kept columns and the target."),
    Option(
        "--save-labels OUT.csv", commands="audit", needs=("annotators votes", "writes what the votes say together")
    ).means("Write the table with the likely class or number of each row, and how sure it is, in place of the votes."),
    _of_all("--save-selection OUT.json").means(
        "Write which columns were kept and what they held, without any row: dubio apply uses it on the next table."
    ),
    _of_all("--paper FOLDER").means(
        "Write what a paper needs: methods, results, tables, figures, a checklist, and what dubio rerun repeats."
    ),
    _of_all("--no-rows").means(
        "Write no row, no name of a row and nothing that fewer than five rows share into reports, kits and selections."
    ),
    Option("--save OUT.csv", commands="apply", required="apply").means("Where to write the kept columns."),
    Option("--stream/--no-stream").means(
        "Read the table once, in batches of rows. Default for folders and for tables of 1 GB or more."
    ),
    Option("--json", commands="rank audit look methods", excludes="csv").means("Print JSON."),
    Option("--csv", commands="rank audit look methods").means("Print CSV."),
    Option("--top N", default=20, commands="rank audit look", least=1).means(
        "Number of rows to print; CSV and JSON have all rows."
    ),
    Option("--quiet -q", commands=_FILES).means("Print no notes and no progress on standard error, only errors."),
    Option("--debug", commands="dubio rank audit check look apply methods demo").means(
        "Show the traceback of an error."
    ),
)


#: Bytes in memory from which on a table is streamed by default.
LARGE = 2**30
#: The options that name files which are read.
READ_FILES = ("table", *(one.name for one in OPTIONS if one.value == "FILE"))
#: The options that do not change the answer.
_HOW_TO_WRITE = {one.flag for one in OPTIONS if one.value.startswith("OUT.")}
_HOW_TO_WRITE |= {"--jobs", "--json", "--csv", "--top", "--quiet", "--debug", "--paper"}


def options_of(command: str) -> list[Option]:
    """The options of a command."""
    return [one for one in OPTIONS if command in one.commands.split()]


_named: ContextVar[Mapping[str, str] | None] = ContextVar("what options are called", default=None)


@contextmanager
def options_named(names: Mapping[str, str]) -> Iterator[None]:
    """Inside this block, messages call options like this: by what people click, for example."""
    token = _named.set(names)
    try:
        yield
    finally:
        _named.reset(token)


def names_of_arguments() -> dict[str, str]:
    """What the arguments of the library, and the options in the code of the command, are called in messages."""
    others = _named.get() or {}
    own = {one.name: others.get(one.name, one.flag) for one in OPTIONS}
    own |= {argument: own[one.name] for one in OPTIONS for argument in one.argument.split()}
    return own | ({one.flag: own[one.name] for one in OPTIONS if one.flags} if others else {})


class Call(SimpleNamespace):
    """One call of the command: the value of each option, by its name.

    >>> from dubio_app.command.options import Call
    >>> call = Call("rank", target="grape", keep=3, alpha=0.1)
    >>> call.groups is None, call.code_of("rank")
    (True, ['n_features_to_select=3', 'alpha=0.1', 'random_state=0'])
    """

    def __init__(self, command: str = "rank", **given: Any) -> None:
        own_last = sorted(OPTIONS, key=lambda one: command in one.commands.split())
        values: dict[str, Any] = {"targets": (), "words": "", **{one.name: one.unset for one in own_last}, **given}
        super().__init__(command=command, **values)

    def chosen(self) -> dict[str, Option]:
        """The options that were given, by their names."""
        return {one.name: one for one in options_of(self.command) if getattr(self, one.name) != one.unset}

    def settings(self) -> dict[str, Any]:
        """The options that were given and may change the answer, by their names, without the files that are read."""
        given = {name: getattr(self, name) for name, one in self.chosen().items() if one.flag not in _HOW_TO_WRITE}
        return {name: value for name, value in given.items() if name not in READ_FILES}

    @property
    def is_in_depth(self) -> bool:
        """Whether a report or a paper asks for all that can be found out in a short time."""
        return bool(self.report or self.paper)

    def check(self) -> None:
        """Raise if options contradict or exclude each other, or need others."""
        given = self.chosen()
        for one in options_of(self.command):
            if one.is_required(self.command) and not getattr(self, one.name):
                raise UserError(f"{one.flag} is empty: give a name.")
        targets: dict[frozenset[str], str] = {}
        for name, one in given.items():
            if one.columns == "target":  # two options that need each other are one way to say it
                targets.setdefault(frozenset((name, *one.needs[:1])), one.flag)
        if len(targets) > 1:
            all_say = f"{' and '.join(targets.values())} {'both' if len(targets) == 2 else 'all'} say"
            raise UserError(f"{all_say} what the target is: give only one of them.")
        kinds = {one.flag: self._held(one) for one in given.values() if one.holds}
        if len(set(kinds.values())) > 1:
            raise UserError(f"{' and '.join(kinds)} contradict each other: give one of them.")
        for one in given.values():
            if one.needs and not given.keys() & set(one.needs[0].split()):
                pair = [each.flag for each in OPTIONS if {each.name, *each.needs[:1]} == {one.name, one.needs[0]}]
                if len(pair) == 2:  # each needs the other
                    raise UserError(f"{' and '.join(pair)} belong together: {one.needs[1]}.")
                flags = {each.name: each.flag for each in OPTIONS} | dict(_named.get() or {})
                needed = " or ".join(flags[name] for name in one.needs[0].split())
                raise UserError(f"{one.flag} {one.needs[1]}: give {needed} too.")
            for other in (name for name in given if name in one.excludes.split()):
                raise UserError(f"{one.flag} and {given[other].flag} cannot be combined: give one of them.")

    def _held(self, one: Option) -> str:
        return getattr(self, one.name) if one.holds == "=" else one.holds

    @property
    def holds(self) -> Any:
        """What the target holds, as the options say: "auto", "classes", "numbers" or "ordered"."""
        return next((self._held(one) for one in self.chosen().values() if one.holds), "auto")

    @property
    def reading(self) -> Any:
        """How the file is to be read: columns that name rows stay as they are written (007)."""
        from dubio.streams.text_files import HowToRead

        return HowToRead(self.sep, self.decimal, self.encoding, self.na, self.sheet, self.id, self.header_row)

    def for_columns(self, columns: Iterable[Any]) -> Call:
        """The same call; ``--target A,B`` names several targets, unless a column has just this name."""
        if self.target is None or "," not in self.target or self.target in set(columns):
            return self
        names = tuple(name.strip() for name in self.target.split(",") if name.strip())
        one = names[0] if len(names) == 1 else None
        return Call(**{**vars(self), "target": one, "targets": () if one else names})

    def columns_of(self, *roles: str) -> dict[str, list[str]]:
        """The columns of the table that options with these roles name, by the option."""
        own = {one: getattr(self, one.name) for one in options_of(self.command) if one.columns in roles}
        named = {one.flag: names or (self.targets if one.name == "target" else ()) for one, names in own.items()}
        return {flag: [names] if isinstance(names, str) else list(names) for flag, names in named.items() if names}

    def names_of(self, role: str) -> list[str]:
        """The columns of the table that options with this role name."""
        return [name for names in self.columns_of(role).values() for name in names]

    def arguments(self, command: str) -> dict[str, Any]:
        """The arguments of the selector (``"rank"``) or of the audit (``"audit"``)."""
        return {one.argument or one.name: getattr(self, one.name) for one in _made(command)}

    def code_of(self, command: str, *more: str) -> list[str]:
        """The same arguments in Python code, without those that have their default; ``more`` come before the last."""
        code: dict[str, list[str]] = {"changed": [], "always": [], "never": []}
        for one in _made(command):
            value = getattr(self, one.name)
            if one.code == "always" or value != one.unset:
                code[one.code].append(f"{one.argument or one.name}={value!r}")
        return [*code["changed"], *more, *code["always"]]

    def not_in_a_stream(self) -> list[str]:
        """The options, as they were given, that cannot be used when rows are read only once."""
        cannot = ("no",) if self.method == "auto" else ("no", "sample")
        given = [(one, getattr(self, one.name)) for one in self.chosen().values() if one.stream in cannot]
        found = [(one, value) for one, value in given if value and (not one.only or value in one.only)]
        return [f"{one.flag} {value}" if one.only else one.flag for one, value in found]


def _made(command: str) -> list[Option]:
    return [one for one in options_of(command) if one.passed == "make"]
