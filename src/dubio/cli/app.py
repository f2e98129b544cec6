"""The commands. Each answers one question about a table."""

from __future__ import annotations

import shlex
import sys
from typing import Annotated, Any

import typer

from dubio import __version__
from dubio.cli.options import (
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
from dubio.cli.wording import EXIT_CODES, UserError
from dubio_papers.command import app as papers

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
app.add_typer(papers)


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
    from dubio.cli.bars import hushed
    from dubio.cli.rank import RankOptions, rank_table
    from dubio.cli.streaming import is_to_be_streamed, rank_streamed

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
    from dubio.cli.auditing import AuditOptions, audit_table
    from dubio.cli.bars import hushed

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
    from dubio.demo import show

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
    from dubio.cli.completion import completion_script

    typer.echo(completion_script(shell.value, app), nl=False)
