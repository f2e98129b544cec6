"""An experiment as data: a grid of cells, a protocol to repeat in each cell, what the paper prints, how to show it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

PAPERS: dict[str, str] = {
    "wls": "Doquire and Verleysen (2012), Handling imprecise labels in feature selection with graph Laplacian",
    "lnt": "Frenay, Doquire and Verleysen (2014), Estimating mutual information for feature selection in the presence "
    "of label noise",
    "csfs": "Hindawi, Allab and Benabdeslem (2011), Constraint selection based semi-supervised feature selection",
    "ssfrfs": "Jensen, Vluymans, Mac Parthalain, Cornelis and Saeys (2015), Semi-supervised fuzzy-rough feature "
    "selection",
    "ssls": "Doquire and Verleysen (2013), A graph Laplacian based approach to semi-supervised feature selection for "
    "regression problems",
}

#: What one repetition measures: numbers and curves. The curve named "x" holds the x values of the other curves.
Measures = Mapping[str, float | Sequence[float]]
Protocol = Callable[[Mapping[str, Any], np.random.Generator], Measures]


@dataclass(frozen=True)
class Cell:
    """One cell of the grid.

    Attributes
    ----------
    parameters : mapping
        The parameters of the protocol. They are part of the seed, so renaming one changes the random draws.
    full, quick : int
        Number of repetitions in a full and in a quick run; 0 leaves the cell out.
    seconds : float
        Approximate time of a repetition, for estimates before anything is measured.
    dataset : str, optional
        The real table that the cell needs.
    label : str
        The name on the pages; if empty, the key.
    """

    parameters: Mapping[str, Any]
    full: int
    quick: int
    seconds: float = 0.01
    dataset: str | None = None
    label: str = ""

    @property
    def key(self) -> str:
        """The name of the cell: its parameters in their order."""
        return ",".join(f"{name}={value}" for name, value in self.parameters.items())

    @property
    def title(self) -> str:
        return self.label or self.key

    def repetitions(self, full: bool) -> int:
        return self.full if full else self.quick


@dataclass(frozen=True)
class Table:
    """Cells as rows, measures as columns; ``printed[cell key][measure]`` is the number in the paper."""

    title: str
    measures: tuple[str, ...]
    printed: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    digits: int = 1
    #: Number of repetitions behind a printed number; 0 means a fact: our number must round to it.
    printed_repetitions: int = 1
    #: Number of decimals of a printed number.
    printed_digits: int = 2
    #: False if the paper measured something else; then its numbers are shown but not judged.
    comparable: bool = True
    row_header: str = ""
    #: Keys of the cells to show; all if empty.
    cells: tuple[str, ...] = ()
    #: Measures, and keys of cells, that the score card leaves out: another protocol than the one that the paper states,
    #: or a printed number that is counted elsewhere.
    beside: tuple[str, ...] = ()


@dataclass(frozen=True)
class Curves:
    """One chart per cell, one line per measure."""

    title: str
    measures: tuple[str, ...]
    x_label: str
    y_label: str


Display = Table | Curves


@dataclass(frozen=True)
class Point:
    """A number that a claim is judged by, and its standard error; ``label`` is empty if the claim has one number."""

    label: str
    value: float
    error: float | None = None


@dataclass(frozen=True)
class Finding:
    """What our numbers say about a claim.

    Attributes
    ----------
    claim : str
        The claim of the paper.
    holds : bool or None
        None if it is undecided.
    numbers : str
        Our numbers, in words.
    points : tuple of Point
        The same numbers for the figure of the claim.
    against : float or None
        Where the figure has a line: the value that the points must reach or stay below.
    scale : str
        What the points measure.
    group : str
        Claims are counted group by group in the verdict.
    cannot_hold : bool
        Whether the claim cannot hold on this table, whatever the method does.
    of_paper : bool
        False for a check of ours that the paper does not claim.
    """

    claim: str
    holds: bool | None
    numbers: str
    points: tuple[Point, ...] = ()
    against: float | None = 0.0
    scale: str = "gain"
    group: str = ""
    cannot_hold: bool = False
    of_paper: bool = True


@dataclass(frozen=True)
class Experiment:
    """One table or figure of a paper.

    Attributes
    ----------
    name : str
        Short and unique; also the name of its results file, and part of every seed.
    paper : str
        A key of :data:`PAPERS`.
    title, about : str
        What it is, and what is done, including how we read unclear points of the paper.
    protocol : callable
        ``protocol(parameters, random)`` runs one repetition. None if ``derive`` is given.
    cells, displays
        The grid, and how it is shown.
    findings : callable, optional
        ``findings(summary)`` judges the paper's claims by our numbers.
    remarks : callable, optional
        ``remarks(summary)`` returns sentences for the verdict, made from our numbers.
    sources, derive
        For an experiment without its own repetitions: ``derive(summaries of the sources)`` returns, for each cell key,
        its measures and the number of repetitions behind them.
    """

    name: str
    paper: str
    title: str
    about: str
    cells: tuple[Cell, ...]
    displays: tuple[Display, ...]
    protocol: Protocol | None = None
    findings: Callable[[Any], list[Finding]] | None = None
    remarks: Callable[[Any], list[str]] | None = None
    sources: tuple[str, ...] = ()
    derive: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None

    def __post_init__(self) -> None:
        if self.paper not in PAPERS:
            raise ValueError(f"experiment {self.name!r}: paper must be one of {', '.join(PAPERS)}, got {self.paper!r}.")
        if (self.protocol is None) == (self.derive is None):
            raise ValueError(f"experiment {self.name!r} needs either a protocol or a derivation.")
        keys = [cell.key for cell in self.cells]
        if len(set(keys)) < len(keys):
            raise ValueError(f"experiment {self.name!r} has two cells with the same key.")

    @property
    def datasets(self) -> tuple[str, ...]:
        """The real tables that it needs, each once."""
        return tuple(dict.fromkeys(cell.dataset for cell in self.cells if cell.dataset))

    def seconds(self, full: bool) -> float:
        """Approximate time of a run on one processor."""
        return sum(cell.repetitions(full) * cell.seconds for cell in self.cells)


def grid(*, full: int, quick: int, seconds: float = 0.01, label: str = "", **values: Sequence[Any]) -> tuple[Cell, ...]:
    """Cells for all combinations of the values; a value called ``dataset`` is also the table that the cell needs.

    ``label`` is a format string over the parameters.

    >>> [cell.key for cell in grid(full=50, quick=5, mu=(0.3, 0.4))]
    ['mu=0.3', 'mu=0.4']
    """
    cells: list[dict[str, Any]] = [{}]
    for name, choices in values.items():
        cells = [{**cell, name: choice} for cell in cells for choice in choices]
    return tuple(
        Cell(cell, full, quick, seconds, cell.get("dataset"), label.format(**cell) if label else "") for cell in cells
    )


def printed_table(
    keys: Sequence[str], measures: Sequence[str], rows: Sequence[Sequence[float | None]]
) -> dict[str, dict[str, float]]:
    """Printed values by cell and measure, from the rows of the table in the paper; None if nothing is printed."""
    return {
        key: {measure: value for measure, value in zip(measures, row, strict=True) if value is not None}
        for key, row in zip(keys, rows, strict=True)
    }


Size = Literal["quick", "full"]
