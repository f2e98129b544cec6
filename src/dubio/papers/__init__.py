"""The laboratory: every table and figure of the five papers, rerun, stored repetition by repetition, and reported."""

from dubio.papers.experiment import PAPERS, Cell, Curves, Experiment, Finding, Table, grid
from dubio.papers.registry import all_experiments, choose
from dubio.papers.report import write_report
from dubio.papers.runner import run_experiments
from dubio.papers.summary import ExperimentSummary, summarize

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
