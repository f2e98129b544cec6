"""WLS paper, Tables 1 to 5: how many relevant features can be found with an unsure annotator's labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from dubio.errors import counted
from dubio.scores.weighted import weighted_laplacian_score
from dubio.simulate import unsure_annotator
from dubio_papers.claims import enough
from dubio_papers.datasets.artificial import Problem, make_circle, make_spheres, make_squares, make_y4, make_y5
from dubio_papers.experiment import Experiment, Finding, Point, Table, grid, printed_table
from dubio_papers.judges import best_first

METHODS = ("WLS", "y_max", "y_error")
MAKERS: dict[str, Any] = {
    "spheres": make_spheres,
    "squares": make_squares,
    "circle": make_circle,
    "Y4": make_y4,
    "Y5": make_y5,
}


def run(parameters: Mapping[str, Any], random: np.random.Generator, *, problem: str) -> dict[str, float]:
    """Percentage of relevant features among the best ranked, for three ways to read the annotator's answers."""
    state = np.random.RandomState(random.bit_generator)
    made: Problem = MAKERS[problem](random_state=state)
    expert = unsure_annotator(made.y, parameters["mu"], random_state=state)
    found = {}
    for method, labels in zip(METHODS, (expert.memberships, expert.y_max, expert.y_error), strict=True):
        order = best_first(weighted_laplacian_score(made.X, labels), low_is_good=True)
        found[method] = 100 * float(np.mean(order[: made.n_relevant] < made.n_relevant))
    return found


def findings(summary: Any) -> list[Finding]:
    """In the paper, WLS is always better than both others."""
    cells = [cell for cell in summary.cells if enough(summary, cell.key)]
    ahead = sum(cell.measures["WLS"].mean >= max(cell.measures[m].mean for m in METHODS[1:]) for cell in cells)
    held = None if not cells else ahead == len(cells)
    return [
        Finding(
            "WLS finds at least as many relevant features as the two other methods.",
            held,
            f"This is so for {ahead} of {counted(len(cells), 'value')} of mu.",
            tuple(
                Point(f"mu = {cell.title}, over {other}", cell.measures["WLS"].mean - cell.measures[other].mean)
                for cell in cells
                for other in METHODS[1:]
            ),
            scale="relevant features found by WLS, minus the other method (points)",
        )
    ]


def table(number: int, problem: str, mus: Sequence[float], rows: Sequence[Sequence[float]], note: str) -> Experiment:
    cells = grid(full=1000, quick=100, seconds=0.01, label="{mu}", mu=mus)
    title = f"Table {number}: relevant features found, {problem}"
    return Experiment(
        name=f"wls-table-{number}",
        paper="wls",
        title=title,
        about="Percentage of relevant features among the best ranked, by the annotator's mean doubt mu (variance 0.1). "
        "The paper has 50 repetitions. " + note,
        cells=cells,
        protocol=partial(run, problem=problem),
        displays=(
            Table(
                title + " (%)",
                METHODS,
                printed_table([cell.key for cell in cells], METHODS, rows),
                digits=2,
                printed_repetitions=50,
                row_header="mu",
            ),
        ),
        findings=findings,
    )


EXPERIMENTS = (
    table(
        1,
        "spheres",
        (0.3, 0.35, 0.4, 0.45),
        [(100, 99.33, 96.67), (98, 93.33, 92), (97.33, 90, 88.67), (91.33, 80, 80)],
        "",
    ),
    table(2, "squares", (0.35, 0.4, 0.45, 0.5), [(100, 98, 96), (99, 94, 96), (99, 93, 90), (96, 81, 78)], ""),
    table(3, "circle", (0.25, 0.3, 0.35, 0.4), [(100, 100, 92), (97, 97, 87), (89, 85, 74), (80, 72, 64)], ""),
    table(
        4,
        "Y4",
        (0.25, 0.3, 0.35, 0.4),
        [(95.5, 94.5, 88.5), (95, 89, 87), (89.5, 82.5, 82), (84.5, 75, 74)],
        "Equation 11 as printed has three relevant features, but the steps of the printed table need four. We use "
        "cos(2 f1) cos(2 f2) exp(2 f3) exp(2 f4). We chose this formula afterwards, because it reproduces the table.",
    ),
    table(
        5,
        "Y5",
        (0.25, 0.3, 0.35, 0.4),
        [(96.8, 93.6, 91.6), (94, 90, 84.8), (84.8, 79.2, 74.4), (76.4, 72.4, 59.6)],
        "Equation 12 is used as printed. It is symmetric in f3 around 1/2, so a criterion based on class means can "
        "find f3 only by chance. The printed table cannot come from the printed equation.",
    ),
)
