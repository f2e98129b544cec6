"""The options that commands share, and how they become the wishes of a user."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from dubio_app.command.wording import UserError


class Combine(StrEnum):
    """How the votes of annotators become probabilities."""

    average = "average"
    dawid_skene = "dawid-skene"


class Engine(StrEnum):
    """How the audit finds wrong labels."""

    transitions = "transitions"
    pooled = "pooled"
    confident = "confident"
    lnt = "lnt"


class Device(StrEnum):
    """Where distances are computed."""

    cpu = "cpu"
    cuda = "cuda"
    auto = "auto"


class Model(StrEnum):
    """The model that a selection is evaluated with."""

    logistic = "logistic"
    forest = "forest"
    svm = "svm"


class Shell(StrEnum):
    """The shells that can be completed."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


class Kind(StrEnum):
    """What the target holds."""

    auto = "auto"
    classes = "classes"
    numbers = "numbers"
    ordered = "ordered"


Table = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="CSV, TSV (also .gz), Excel, JSON lines, Parquet or Feather file; - reads CSV from standard input.",
    ),
]


def _nonzero(value: int | None) -> int | None:
    if value == 0:
        raise UserError("--jobs 0: give a number of threads, or -1 for all processors.")
    return value


Target = Annotated[
    str | None,
    typer.Option("--target", "-t", metavar="COL", help="Column with the class or the number; A,B for several targets."),
]
TargetKind = Annotated[
    Kind, typer.Option("--target-kind", help="What the target holds; ordered: classes with an order.")
]
Order = Annotated[
    list[str] | None,
    typer.Option("--order", metavar="LOWEST,...,HIGHEST", help="The order of the classes; implies ordered."),
]
Unlabelled = Annotated[
    list[str] | None,
    typer.Option("--unlabelled", metavar="VALUE", help="Target value that means 'no label'. May be repeated."),
]
Groups = Annotated[
    str | None,
    typer.Option(
        "--groups",
        metavar="COL",
        help="Column that says which rows belong together, such as the patient. It is no feature.",
    ),
]
Weights = Annotated[
    str | None,
    typer.Option("--weights", metavar="COL", help="Column with the weight of each row. It is no feature."),
]
Ignore = Annotated[list[str] | None, typer.Option("--ignore", metavar="A,B", help="Columns to leave out.")]
Nominal = Annotated[
    list[str] | None,
    typer.Option("--nominal", metavar="A,B", help="Columns of categories, even if they look like numbers."),
]
Identifiers = Annotated[
    list[str] | None,
    typer.Option("--id", metavar="A,B", help="Columns that name a row. They are no features, and are kept in outputs."),
]
Sep = Annotated[
    str | None,
    typer.Option("--sep", metavar="MARK", help="What separates the columns of a text file: a character, tab or space."),
]
DecimalMark = Annotated[str | None, typer.Option("--decimal", metavar="MARK", help="The decimal mark: . or ,")]
Encoding = Annotated[
    str | None, typer.Option("--encoding", metavar="NAME", help="Encoding of a text file, such as utf-8 or cp1252.")
]
Missing = Annotated[
    list[str] | None,
    typer.Option("--na", metavar="VALUE", help="Cell that means 'missing', such as -999. May be repeated."),
]
Sheet = Annotated[str | None, typer.Option("--sheet", metavar="NAME", help="Sheet of an Excel file.")]
Seed = Annotated[
    int,
    typer.Option("--seed", min=0, max=2**32 - 1, help="Seed of random numbers: the same seed gives the same answer."),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        callback=_nonzero,
        help="Number of threads, or -1 for all processors. The answer does not depend on it.",
    ),
]
DeviceOption = Annotated[
    Device,
    typer.Option("--device", help="Where distances are computed: cuda is a GPU, auto takes it for large tables."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print CSV.")]
Top = Annotated[
    int, typer.Option("--top", min=1, metavar="N", help="Number of rows to print; CSV and JSON have all rows.")
]
Annotator = Annotated[
    str | None,
    typer.Option(
        "--annotator", metavar="COL", help="Column that says who labelled each row: shows features that mark somebody."
    ),
]
Corrections = Annotated[
    str | None,
    typer.Option(
        "--corrections",
        metavar="FILE",
        help="Labels mended on the page of a report (corrections.csv): use them, and show before and after.",
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print no notes and no progress on standard error, only errors.")
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


def target_kind_of(kind: Kind, order: list[str] | None, *, regression: bool = False, classes: bool = False) -> str:
    """What the target holds, from the options that say so; they must agree."""
    said = {"--regression": "numbers" if regression else "", "--classes": "classes" if classes else ""}
    said |= {"--target-kind": "" if kind == Kind.auto else kind.value, "--order": "ordered" if order else ""}
    given = {option: value for option, value in said.items() if value}
    if len(set(given.values())) > 1:
        raise UserError(f"{' and '.join(given)} contradict each other: give one of them.")
    return next(iter(given.values()), "auto")


def output_form(as_json: bool, as_csv: bool) -> str:
    if as_json and as_csv:
        raise UserError("--json and --csv cannot be combined: give one of them.")
    return "json" if as_json else "csv" if as_csv else "table"


def number_to_keep(text: str) -> Any:
    wish = text.strip().casefold()
    if wish in ("auto", "relevant", "sufficient"):
        return wish
    try:
        if wish.endswith("%"):
            share = float(wish[:-1]) / 100
        elif wish.isdigit() and int(wish) >= 1:
            return int(wish)
        else:
            share = float(wish)
        if 0 < share <= 1:
            return share
    except ValueError:
        pass
    raise UserError(f"--keep {text!r}: give a number of features (10), a share (30% or 0.3), relevant or sufficient.")


def how_to_read(
    sep: str | None, decimal: str | None, encoding: str | None, na: list[str] | None, sheet: str | None
) -> Any:
    from dubio.streams.text_files import HowToRead

    return HowToRead(sep, decimal, encoding, tuple(na or ()), sheet)


def wishes_of(**options: Any) -> Any:
    from dubio_app.command.question import Wishes

    lists = ("soft", "annotators", "ignore", "nominal", "identifiers", "order")
    given: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in options.items()
        if value or (name in ("positive", "prior") and value is not None)
    }
    for name in lists:
        if name in given:
            given[name] = _names(given[name])
    return Wishes(**given)


def _names(values: tuple[str, ...]) -> tuple[str, ...]:
    """Names separated by commas. A comma inside a name is written twice."""
    names: list[str] = []
    for value in values:
        parts = value.replace(",,", "\0").split(",")
        names += [part.replace("\0", ",").strip() for part in parts if part.strip()]
    return tuple(names)
