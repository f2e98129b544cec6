"""The laboratory: rerun every table and figure of the five papers, store each repetition, and report the results."""

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
