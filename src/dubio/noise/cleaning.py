"""What a selection may rely on once the labels were doubted: rows to keep, memberships to use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputWarning, counted, warn
from dubio.noise.audit import Engine, audit_problem
from dubio.noise.audit_record import LabelAudit
from dubio.problem import Problem
from dubio.supervision import Classes

#: A class is never cleaned away: below this many trusted rows all its labels are kept.
_ROWS_TO_LEAVE = 2


@dataclass(frozen=True)
class CleanedLabels:
    """Labels after the audit, for the rows of the original table."""

    trusted: NDArray[np.bool_]
    """Rows that have a label which the audit does not doubt."""
    memberships: NDArray[np.float64]
    """(rows, classes) as the engine sees the true classes; zero rows without a label."""
    audit: LabelAudit | None
    """None if there was nothing to audit."""


def clean_labels(
    problem: Problem,
    engine: Engine,
    *,
    experts: Any = None,
    n_folds: int = 5,
    random_state: int | None = 0,
    n_jobs: int | None = None,
) -> CleanedLabels:
    """Audit the classes of a problem and say which to trust; see :func:`dubio.audit_labels`.

    The label of a class's only row cannot be judged by anybody and is trusted; if that leaves fewer than two classes
    to compare, nothing is audited and a warning says so.
    """
    known = problem.supervision
    assert isinstance(known, Classes)
    judged = known.rows_per_class() >= 2
    if np.count_nonzero(judged) < 2:
        n_judged = int(np.count_nonzero(judged))
        warn(
            InputWarning(
                "y",
                f"is not audited: {counted(n_judged, 'class has', 'classes have')} two rows or more, and two such "
                "classes are needed to doubt a label",
            )
        )
        return CleanedLabels(known.labelled.copy(), known.memberships.copy(), None)
    audit = audit_problem(problem, engine, experts=experts, n_folds=n_folds, random_state=random_state, n_jobs=n_jobs)
    trusted = known.labelled & ~audit.doubtful
    left = np.bincount(known.codes[trusted], minlength=known.n_classes)
    trusted |= known.labelled & np.isin(known.codes, np.flatnonzero(left < _ROWS_TO_LEAVE))
    softened = np.array(known.memberships)
    softened[np.ix_(audit.labelled, judged)] = audit.probabilities[audit.labelled]
    return CleanedLabels(trusted, softened, audit)
