"""`dubio papers`: list, run and report the papers' experiments."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:  # imported only when needed, so that `dubio rank` starts fast
    from dubio_papers.experiment import Experiment

app = typer.Typer(
    name="papers",
    help="Rerun the tables and figures of the five papers that dubio is based on.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

_DEFAULT = Path("papers-results")


@app.command("list")
def list_experiments() -> None:
    """List every experiment: what it shows, how long it takes, and which data it needs (and if they are available)."""
    from dubio_papers.registry import all_experiments

    for experiment in all_experiments().values():
        typer.echo(f"{experiment.name:<24} {experiment.title}")
        typer.echo(f"{'':<24} {_size(experiment)}")
        if experiment.datasets:
            typer.echo(f"{'':<24} data: {', '.join(_availability(name) for name in experiment.datasets)}")


@app.command()
def run(
    names: Annotated[
        list[str] | None, typer.Argument(help="Experiments by name, paper (wls, lnt, ...) or pattern; default: all.")
    ] = None,
    full: Annotated[bool, typer.Option("--full/--quick", help="As many repetitions as the paper, or a few.")] = False,
    jobs: Annotated[int, typer.Option(min=-64, help="Repetitions at the same time; -1 = all cores.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder for results; those in it are not run again.")] = _DEFAULT,
    cells: Annotated[str, typer.Option(help="Only cells whose key matches this, such as 'dataset=iris*'.")] = "*",
    offline: Annotated[bool, typer.Option("--offline", help="Never download a table; use those at hand.")] = False,
) -> None:
    """Run experiments. You can stop at any time; the same command continues from there.

    Tables that are not at hand are downloaded from OpenML, which is said before, unless --offline is given.
    """
    from dubio_papers.datasets.load import where
    from dubio_papers.registry import choose
    from dubio_papers.runner import run_experiments

    try:
        chosen = choose(names or [])
        if offline:
            os.environ["DUBIO_OFFLINE"] = "1"
        elif far := sorted({one for each in chosen for one in each.datasets if where(one) == "OpenML"}):
            _say(f"downloading from OpenML, unless --offline is given: {', '.join(far)}")
        run_experiments(chosen, out, full=full, n_jobs=jobs, cells=cells, say=_say)
    except (ValueError, RuntimeError) as error:
        _fail(error)
    except KeyboardInterrupt:
        _say("stopped; run the same command again to continue")
        raise typer.Exit(130) from None


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="Folder with results, or with results.json.")] = _DEFAULT,
    out: Annotated[Path | None, typer.Option(help="Where to write the pages; by default in the same folder.")] = None,
    complete: Annotated[
        bool, typer.Option("--complete", help="Show only cells with all repetitions of a full run.")
    ] = False,
    onto: Annotated[
        Path | None,
        typer.Option(help="Folder of earlier pages to renew: what was not run again keeps its numbers."),
    ] = None,
) -> None:
    """Write index.html, README.md, results.json, the figures and the data."""
    from dubio_papers.pages import write_report

    try:
        html, markdown = write_report(folder, out, complete_only=complete, onto=onto)
    except ValueError as error:
        _fail(error)
    typer.echo(f"{html}\n{markdown}")


def _size(experiment: Experiment) -> str:
    from dubio_papers.run_progress import duration

    if experiment.sources:
        return f"uses the results of {', '.join(experiment.sources)}"
    quick, full = (duration(experiment.seconds(size)) for size in (False, True))
    counts = [sum(cell.repetitions(size) for cell in experiment.cells) for size in (False, True)]
    return f"quick: {counts[0]} repetitions, about {quick}; full: {counts[1]}, about {full} on one core"


def _availability(name: str) -> str:
    from dubio_papers.datasets.load import where

    source = where(name)
    if source is None:
        return f"{name} (unavailable)"
    return f"{name} (needs a download)" if source == "OpenML" else name


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _fail(error: Exception) -> None:
    _say(f"dubio papers: {error}")
    raise typer.Exit(2)


if __name__ == "__main__":
    app()
