"""The commands, made from the table of options."""

from __future__ import annotations

import inspect
import shlex
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import typer

from dubio import __version__
from dubio_app.command import options
from dubio_app.command.options import Call
from dubio_app.command.wording import EXIT_CODES


def rank(call: Call) -> None:
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
    from dubio_app.command.rank import rank_table

    run = rank_table
    if call.stream or (call.stream is None and not _is_small_text(call.table)):
        from dubio_app.command.streaming import is_to_be_streamed, rank_streamed  # which import what streams need

        run = rank_streamed if call.stream or is_to_be_streamed(call) else rank_table
    with hushed(call.quiet):
        run(call)


def _is_small_text(table: str) -> bool:
    """Whether a table is a text file that is not large, which is never streamed unless this is asked for."""
    path = Path(table)
    return path.suffix.lower() in (".csv", ".tsv", ".txt") and path.is_file() and path.stat().st_size < options.LARGE


def audit(call: Call) -> None:
    """List the rows in which models disagree with the label, the largest disagreement first.

    Each label is judged by models that did not see this row when they were trained. Row 1 is the first row under the
    header. Look at a row before you change its label: where classes overlap, models disagree with right labels too.

    \b
    Examples:
      dubio audit patients.csv --target diagnosis
      dubio audit patients.csv -t diagnosis --csv > doubtful.csv
    """
    from dubio_app.command.auditing import audit_table
    from dubio_app.command.output import hushed

    with hushed(call.quiet):
        audit_table(call)


def check(call: Call) -> None:
    """Draw rows at random for a person to judge, without their labels.

    What is found in them says which columns are related to the truth, and which only to how rows were labelled. Nobody
    may pick these rows: they are drawn by chance, and the chances are written down.

    \b
    Examples:
      dubio check patients.csv --target diagnosis --rows 60 --page check.html
      dubio rank patients.csv --target diagnosis --checked check_judged.csv
      dubio check patients.csv --target diagnosis --rows 40 --page more.html --checked check_judged.csv
      dubio rank patients.csv --target diagnosis --checked more.csv --checked more_judged.csv
    """
    from dubio_app.command.checking import check_table
    from dubio_app.command.output import hushed

    with hushed(call.quiet):
        check_table(call)


def apply(call: Call) -> None:
    """Take the kept columns from the next table, and say what is different in it.

    The table needs only the kept columns, in any order and format. Text is read as numbers, dates or categories, as in
    the first table. Nothing is written if a column is missing or cannot be read as before.

    \b
    Examples:
      dubio rank patients.csv --target diagnosis --save-selection selection.json
      dubio apply selection.json next_month.xlsx --save kept.csv
    """
    from dubio_app.command.applying import apply_selection
    from dubio_app.command.output import hushed

    with hushed(call.quiet):
        apply_selection(call)


def look(call: Call) -> None:
    """Show how each column of a table is read, what is left out and what is wrong. Nothing is ranked.

    \b
    Examples:
      dubio look patients.xlsx
      dubio look patients.xlsx --sheet labs --json
    """
    from dubio_app.command.look import look_at_table
    from dubio_app.command.output import hushed

    with hushed(call.quiet):
        look_at_table(call)


def rerun(call: Call) -> None:
    """Repeat the analysis of a paper kit, and say whether anything is different.

    \b
    Examples:
      dubio rank patients.csv --target diagnosis --paper paper
      dubio rerun paper
      dubio rerun paper --table /data/patients.csv
    """
    from dubio_app.command.output import hushed
    from dubio_app.paper.rerun import rerun as repeat

    with hushed(quiet=False):
        repeat(call)


def open(call: Call) -> None:
    """Open a page in the browser with everything: table, question, answer, labels, and what to take away.

    The page is served on this computer only. A project is a folder with a copy of the table and every decision; opened
    again, it goes on where it was.

    \b
    Examples:
      dubio open
      dubio open patients.xlsx --project study
    """
    from dubio_app.page.opening import open_page

    open_page(call)


def methods(call: Call) -> None:
    """List the methods: what each needs and what it does."""
    from dubio.methods.register import METHODS
    from dubio_app.command.output import print_answer, print_table

    names = ("method", "needs", "does", "kind", "estimator")
    kinds = {True: "search", False: "ranking"}
    found = [(one.name, one.needs, one.does, kinds[one.is_search], one.estimator.__name__) for one in METHODS.values()]
    rows = [dict(zip(names, one, strict=True)) for one in found]
    if not print_answer(call, rows, lambda: {"methods": rows}):
        columns = [(name, "left") for name in names[:-1]]
        print_table("Methods (auto chooses among them)", columns, [one[:-1] for one in found])


def demo(call: Call) -> None:
    """Rank an example table with doubtful labels and write its report."""
    from dubio_app.demo import show

    show(call.report, seed=call.seed, jobs=call.jobs)


def version(call: Call) -> None:
    """Print the version."""
    if call.version:
        typer.echo(f"dubio {__version__}")
        raise typer.Exit()


def make_app(instead: Callable[[Call], None] | None = None) -> typer.Typer:
    """The command with its subcommands; ``dubio papers`` is there where the laboratory is installed.

    ``instead`` gets every call in place of the work of its command.
    """
    app = typer.Typer(
        name="dubio",
        help="Feature selection when the labels are in doubt: soft, wrong, missing, pairwise or mostly unknown.",
        epilog="Exit codes: " + "; ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items()) + ".",
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(_function("dubio", version))
    for work in (open, rank, audit, check, look, apply, rerun, methods, demo):
        app.command(work.__name__)(_function(work.__name__, instead or work))
    for further in sorted(entry_points(group="dubio.commands"), key=lambda entry: entry.name):
        app.add_typer(further.load(), name=further.name)
    return app


def _function(command: str, work: Callable[[Call], None]) -> Callable[..., None]:
    """A function whose parameters are the options of a command, as Typer wants it."""
    own = options.options_of(command)
    parameters = [one.parameter(command) for one in own]

    def function(**given: Any) -> None:
        values = {one.name: one.value_of(given[one.name]) for one in own}
        call = Call(command, words=shlex.join(["dubio", *sys.argv[1:]]), **values)
        call.check()
        work(call)

    function.__doc__ = work.__doc__
    function.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return function
