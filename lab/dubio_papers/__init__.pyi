# ruff: isort: skip_file
from dubio_papers.experiment import (
    PAPERS as PAPERS,
    Cell as Cell,
    Curves as Curves,
    Experiment as Experiment,
    Finding as Finding,
    Table as Table,
    grid as grid,
)
from dubio_papers.pages import write_report as write_report
from dubio_papers.registry import all_experiments as all_experiments, choose as choose
from dubio_papers.runner import run_experiments as run_experiments
from dubio_papers.summary import ExperimentSummary as ExperimentSummary, summarize as summarize
