"""What a selection may use after an audit of the labels: rows to keep, and memberships."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputWarning, counted, warn
from dubio.noise.audit import Engine, audit_problem
from dubio.noise.audit_record import LabelAudit
from dubio.noise.experts import units_per_class
from dubio.problem import Problem
from dubio.supervision import Classes

#: Cleaning never removes a whole class: if fewer rows than this would stay trusted, all its labels are kept.
_ROWS_TO_LEAVE = 2


@dataclass(frozen=True)
class CleanedLabels:
    """Labels after the audit, for the rows of the original table."""

    trusted: NDArray[np.bool_]
    """Rows whose label the audit does not doubt."""
    memberships: NDArray[np.float64]
    """(rows, classes): the engine's estimate of the true classes; rows without a label are zero."""
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
    """Audit the labels of a problem and decide which to trust; see :func:`dubio.audit_labels`.

    If a class has only one row, its label cannot be judged and is trusted. If fewer than two classes are left to
    compare, nothing is audited, with a warning.
    """
    known = problem.supervision
    assert isinstance(known, Classes)
    judged = units_per_class(known, problem.groups) >= 2
    if np.count_nonzero(judged) < 2:
        n_judged = int(np.count_nonzero(judged))
        warn(
            InputWarning(
                "y",
                f"is not audited: {counted(n_judged, 'class has', 'classes have')} at least two rows, but an audit "
                "needs two such classes",
            )
        )
        return CleanedLabels(known.labelled.copy(), known.memberships.copy(), None)
    audit = audit_problem(problem, engine, experts=experts, n_folds=n_folds, random_state=random_state, n_jobs=n_jobs)
    trusted = known.labelled & ~audit.doubtful
    if known.confirmed is not None:
        trusted |= known.confirmed
    left = np.bincount(known.codes[trusted], minlength=known.n_classes)
    trusted |= known.labelled & np.isin(known.codes, np.flatnonzero(left < _ROWS_TO_LEAVE))
    softened = np.array(known.memberships)
    softened[np.ix_(audit.labelled, judged)] = audit.probabilities[audit.labelled]
    return CleanedLabels(trusted, softened, audit)
