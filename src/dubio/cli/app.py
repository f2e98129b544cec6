"""The commands and their options. Each command answers one question about a table."""

from __future__ import annotations

import shlex
import sys
from enum import StrEnum
from typing import Annotated, Any

import typer

from dubio import __version__
from dubio.cli.wording import UserError
from dubio_papers.command import app as papers

app = typer.Typer(
    name="dubio",
    help="Feature selection when the labels are in doubt: soft, wrong, missing, pairwise or mostly unknown.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(papers)


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
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no notes on standard error.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


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
        bool, typer.Option("--drop-leaks", help="Leave out features that are suspected to be copies of the target.")
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
    from dubio.cli.rank import RankOptions, rank_table
    from dubio.cli.streaming import is_to_be_streamed, rank_streamed

    if regression and classes:
        raise UserError("--regression and --classes contradict each other: give one of them.")
    kind = _kind(target_kind, order, regression=regression, classes=classes)
    wishes = _wishes(
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
        how=_how(sep, decimal, encoding, na, sheet),
    )
    options = RankOptions(
        method=method,
        keep=_count(keep),
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
        output=_output(as_json, as_csv),
        top=top,
        quiet=quiet,
        command=shlex.join(["dubio", *sys.argv[1:]]),
    )
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
    from dubio.cli.auditing import AuditOptions, audit_table

    if not target.strip():
        raise UserError("--target is empty: give the column with the class.")
    wishes = _wishes(
        target=target,
        annotator=annotator,
        kind=_kind(target_kind, order),
        order=order,
        only_classes=True,
        unlabelled=unlabelled,
        groups=groups,
        weights=weights,
        ignore=ignore,
        nominal=nominal,
        identifiers=identifiers,
        how=_how(sep, decimal, encoding, na, sheet),
    )
    options = AuditOptions(
        engine=engine.value,
        every_row=every_row,
        identifiers=wishes.identifiers,
        report=report,
        corrections=corrections,
        seed=seed,
        jobs=jobs,
        output=_output(as_json, as_csv),
        top=top,
        quiet=quiet,
        command=shlex.join(["dubio", *sys.argv[1:]]),
    )
    audit_table(table, wishes, options)


@app.command()
def methods(as_json: AsJson = False, as_csv: AsCsv = False, debug: Debug = False) -> None:
    """List the methods: what each needs and what it does."""
    from dubio.cli.output import as_csv as csv_text
    from dubio.cli.output import as_json as json_text
    from dubio.cli.output import print_table, print_text
    from dubio.methods import METHODS

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
    form = _output(as_json, as_csv)
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
    from dubio.demo import show

    show(report, seed=seed, jobs=jobs)


def _kind(kind: Kind, order: list[str] | None, *, regression: bool = False, classes: bool = False) -> str:
    """What the target holds, from the options that say so; they must agree."""
    said = {"--regression": "numbers" if regression else "", "--classes": "classes" if classes else ""}
    said |= {"--target-kind": "" if kind == Kind.auto else kind.value, "--order": "ordered" if order else ""}
    given = {option: value for option, value in said.items() if value}
    if len(set(given.values())) > 1:
        raise UserError(f"{' and '.join(given)} contradict each other: give one of them.")
    return next(iter(given.values()), "auto")


def _output(as_json: bool, as_csv: bool) -> str:
    if as_json and as_csv:
        raise UserError("--json and --csv cannot be combined: give one of them.")
    return "json" if as_json else "csv" if as_csv else "table"


def _count(text: str) -> Any:
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


def _how(sep: str | None, decimal: str | None, encoding: str | None, na: list[str] | None, sheet: str | None) -> Any:
    from dubio.tables.text_files import HowToRead

    return HowToRead(sep, decimal, encoding, tuple(na or ()), sheet)


def _wishes(**options: Any) -> Any:
    from dubio.cli.question import Wishes

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
