"""All experiments, found in the modules of ``dubio_papers.experiments``."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from fnmatch import fnmatch
from functools import cache

from dubio_papers import experiments as _experiments
from dubio_papers.experiment import PAPERS, Experiment


@cache
def all_experiments() -> dict[str, Experiment]:
    """Every experiment by name, ordered by paper.

    To add one, write a module in ``dubio_papers.experiments`` with a tuple ``EXPERIMENTS``.
    """
    found: dict[str, Experiment] = {}
    for module in pkgutil.iter_modules(_experiments.__path__):
        for experiment in importlib.import_module(f"{_experiments.__name__}.{module.name}").EXPERIMENTS:
            if experiment.name in found:
                raise ValueError(f"two experiments have the name {experiment.name!r}.")
            found[experiment.name] = experiment
    order = {paper: place for place, paper in enumerate(PAPERS)}
    return dict(sorted(found.items(), key=lambda item: (order[item[1].paper], item[0])))


def choose(names: Sequence[str]) -> list[Experiment]:
    """Experiments by name, paper or pattern; all of them if no name is given. Sources of derived ones are included."""
    everything = all_experiments()
    chosen: dict[str, None] = {}
    for name in names or ["*"]:
        matching = [key for key, e in everything.items() if fnmatch(key, name) or e.paper == name]
        if not matching:
            raise ValueError(
                f"there is no experiment {name!r}. The experiments are {', '.join(everything)}; "
                f"the papers are {', '.join(PAPERS)}."
            )
        for key in matching:
            for source in everything[key].sources:
                chosen[source] = None
            chosen[key] = None
    return [everything[key] for key in everything if key in chosen]
