"""What the page needs so that a person can look at doubtful labels again and decide."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.noise import LabelAudit
from dubio.report.findings import Findings

#: Most rows that are listed, and how many are listed if no label is doubtful.
_MOST_ROWS, _FEWEST_ROWS = 20_000, 25
#: Number of features whose values are shown beside each row, and the quantiles shown of each class.
_TELLING, _QUANTILES = 5, (0.05, 0.25, 0.5, 0.75, 0.95)


def mending(findings: Findings) -> dict[str, Any]:
    """Doubtful rows, most doubtful first, with telling values; empty if no classes were audited or judged."""
    audit = findings.audit
    if not isinstance(audit, LabelAudit) or not audit.judged:
        return {}
    ranks = audit.rank
    labelled = np.flatnonzero(ranks > 0)
    rows = labelled[np.argsort(ranks[labelled], kind="stable")]
    doubtful = rows[audit.doubtful[rows]]
    rows = (doubtful if len(doubtful) else rows[:_FEWEST_ROWS])[:_MOST_ROWS]
    probabilities = np.array(audit.probabilities[rows])
    probabilities[np.arange(len(rows)), audit.codes[rows]] = -1.0
    telling = [j for j in findings.order[:_TELLING].tolist() if _is_one_column(findings, j)]
    names = list(findings.identifiers)
    ids = [str(value) for value in findings.identifiers[names[0]]] if names else []
    content: dict[str, Any] = {
        "classes": [str(name) for name in audit.classes.tolist()],
        "rows": (rows + 1).tolist(),
        "ids": [ids[i] for i in rows] if ids else None,
        "given": audit.codes[rows].tolist(),
        "suggested": probabilities.argmax(axis=1).tolist(),
        "wrong": [round(float(100 * value)) for value in audit.wrong[rows]],
        "features": [
            {
                "name": str(findings.ranking.names[j]),
                "values": _rounded(findings.table[rows, j]),
                "spread": _spread(findings.table[:, j], audit),
            }
            for j in telling
        ],
    }
    content["key"] = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]
    return content


def _is_one_column(findings: Findings, feature: int) -> bool:
    """Whether a feature is one column of numbers, so that its values can be compared."""
    return len(findings.problem.columns_of(np.array([feature]))) == 1


def _spread(values: NDArray[np.float64], audit: Any) -> list[list[float | None]]:
    """Quantiles of a feature in each class, from the labels that are not doubtful."""
    found: list[list[float | None]] = []
    for k in range(len(audit.classes)):
        own = values[(audit.codes == k) & ~audit.doubtful]
        own = own[np.isfinite(own)]
        nothing: list[float | None] = [None] * len(_QUANTILES)
        found.append(_rounded(np.quantile(own, _QUANTILES)) if len(own) else nothing)
    return found


def _rounded(values: NDArray[np.float64]) -> list[float | None]:
    return [float(f"{value:.4g}") if np.isfinite(value) else None for value in values.tolist()]
