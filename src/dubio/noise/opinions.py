"""The pooled opinion of the experts of a problem, and how they are trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.noise.experts import MOST_TRAINED, judged_codes, out_of_fold, places
from dubio.noise.pooled import pool_experts
from dubio.problem import Problem
from dubio.supervision import Classes, Numbers

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ExpertOptions:
    """How the experts are trained."""

    experts: Any = None
    n_folds: int = 5
    random_state: int | None = 0
    n_jobs: int | None = None

    @property
    def for_audit(self) -> dict[str, Any]:
        """The options as arguments."""
        return dict(vars(self))


def expert_seconds(problem: Problem) -> float:
    """About how long the experts take to learn and to judge every row (:func:`dubio.progress.pace` times that).

    Measured with 300 to 4,000 rows and 10 to 1,000 columns. Forests take the most, and they look at about the square
    root of the columns; of many columns, the experts see the best ones and the principal components.
    """
    n, seen = problem.n_rows, np.sqrt(problem.n_columns)
    if isinstance(problem.supervision, Numbers):
        return float(6e-4 * n * min(seen, 11.0))
    return float(1e-4 * n + min(n, MOST_TRAINED) * (5e-5 + 5.5e-5 * seen))


def pooled_opinions(problem: Problem, options: ExpertOptions) -> Floats:
    """(rows, classes): the experts' opinion of every row, pooled; no expert has seen the label of the row it judges."""
    supervision = problem.supervision
    assert isinstance(supervision, Classes)

    def pool() -> Floats:
        said = out_of_fold(problem, **options.for_audit)
        kept, known = places(judged_codes(supervision, problem.groups), supervision.n_classes)
        opinions = np.zeros((supervision.n_rows, supervision.n_classes))
        judged = np.ascontiguousarray(said.probabilities[:, :, kept])
        pooled = pool_experts(judged, known, flips=False, row_weights=problem.uneven_weights)
        opinions[:, kept] = pooled.opinions
        return opinions

    return problem.once(("pooled opinions", id(options.experts), options.n_folds, options.random_state), pool)
