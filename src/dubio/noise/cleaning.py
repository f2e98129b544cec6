"""What a selection may rely on once the labels were doubted: rows to keep, memberships to use."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.noise.audit import Engine, audit_labels
from dubio.noise.audit_record import LabelAudit
from dubio.noise.experts import Progress
from dubio.supervision import Supervision

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
    X: Any,
    supervision: Supervision,
    engine: Engine,
    *,
    experts: Any = None,
    n_folds: int = 5,
    random_state: int | None = 0,
    n_jobs: int | None = None,
    progress: bool | Progress = False,
) -> CleanedLabels:
    """Audit hard labels and say which to trust; see :func:`dubio.audit_labels`.

    The label of a class's only row cannot be judged by anybody and is trusted; if that leaves fewer than two classes
    to compare, nothing is audited and a warning says so.
    """
    codes, memberships = supervision.codes, supervision.memberships
    classes = supervision.classes
    assert codes is not None and memberships is not None and classes is not None
    counts = np.bincount(codes[codes >= 0], minlength=len(classes))
    judged = np.flatnonzero(counts >= 2)
    if len(judged) < 2:
        warnings.warn(
            f"the labels are not audited: {len(judged)} class(es) have two rows or more, and two such classes are "
            "needed to doubt a label.",
            UserWarning,
            stacklevel=2,
        )
        return CleanedLabels(supervision.labelled.copy(), memberships.copy(), None)
    labels = np.full(len(codes), None, dtype=object)
    shown = np.isin(codes, judged)
    labels[shown] = classes[codes[shown]]
    audit = audit_labels(
        X,
        labels,
        engine=engine,
        experts=experts,
        n_folds=n_folds,
        missing_label=None,
        random_state=random_state,
        n_jobs=n_jobs,
        progress=progress,
    )
    trusted = supervision.labelled & ~audit.doubtful
    left = np.bincount(codes[trusted], minlength=len(classes))
    trusted |= supervision.labelled & np.isin(codes, np.flatnonzero(left < _ROWS_TO_LEAVE))
    softened = np.array(memberships)
    column = {name: k for k, name in enumerate(classes.tolist())}
    columns = np.array([column[name] for name in audit.classes.tolist()])
    softened[shown] = 0.0
    softened[np.ix_(shown, columns)] = audit.probabilities[shown]
    return CleanedLabels(trusted, softened, audit)
