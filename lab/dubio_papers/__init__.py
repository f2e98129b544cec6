"""The laboratory: rerun every table and figure of the five papers, store each repetition, and report the results."""

from typing import TYPE_CHECKING

from dubio._lazy import lazy_names

if TYPE_CHECKING:
    from dubio_papers.experiment import PAPERS, Cell, Curves, Experiment, Finding, Table, grid
    from dubio_papers.pages import write_report
    from dubio_papers.registry import all_experiments, choose
    from dubio_papers.runner import run_experiments
    from dubio_papers.summary import ExperimentSummary, summarize

__all__ = [
    "PAPERS",
    "Cell",
    "Curves",
    "Experiment",
    "ExperimentSummary",
    "Finding",
    "Table",
    "all_experiments",
    "choose",
    "grid",
    "run_experiments",
    "summarize",
    "write_report",
]

_HOMES = {
    "experiment": "PAPERS Cell Curves Experiment Finding Table grid",
    "pages": "write_report",
    "registry": "all_experiments choose",
    "runner": "run_experiments",
    "summary": "ExperimentSummary summarize",
}

if not TYPE_CHECKING:  # type checkers and editors see the imports above
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)
