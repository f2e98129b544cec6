"""Doubtful labels in the report, and the page on which they are corrected."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.doubt.audit_record import LabelAudit
from dubio.trust.fingerprints import annotators_in_words
from dubio_app.report.charts import colours_of
from dubio_app.report.findings import Findings

#: Most annotators and classes whose confusions are shown.
_SHOWN = 12


def labellers(findings: Findings) -> dict[str, Any]:
    """Features with fingerprints, and how annotators confuse classes; empty if this was not looked at."""
    found = findings.fingerprints
    if found is None:
        return {}
    marked = [j for j in findings.order if found.marked[j]]
    kept = findings.ranking.support
    return {
        "said": "" if marked else str(found),
        "marked": [
            {"words": found.in_words(int(j)), "kept": "kept" if kept[j] else "not kept"} for j in marked[:_SHOWN]
        ],
        "annotators": annotators_in_words(found),
        "classes": [str(name) for name in found.classes.tolist()[:_SHOWN]],
        "truth": "most likely by all votes" if np.isfinite(found.agreement) else "most likely to the experts",
        "confusions": [
            {"name": name, "rows": [_shares(row) for row in table[:_SHOWN, :_SHOWN]]}
            for name, table in zip(found.annotators[:_SHOWN], found.confusions, strict=False)
        ],
    }


def _shares(row: Any) -> list[str]:
    """One row of a confusion matrix in percent."""
    total = float(row.sum())
    return [f"{100 * value / total:.0f} %" if total else "–" for value in row.tolist()]


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
    telling = [j for j in findings.order[:_TELLING].tolist() if _is_one_column(findings, j)]
    names = list(findings.identifiers)
    ids = [str(value) for value in findings.identifiers[names[0]]] if names else []
    classes = [str(name) for name in audit.classes.tolist()]
    content: dict[str, Any] = {
        "classes": classes,
        "colours": colours_of(classes, findings.supervision),
        "rows": (rows + 1).tolist(),
        "ids": [ids[i] for i in rows] if ids else None,
        "given": audit.codes[rows].tolist(),
        "suggested": other_classes(audit, rows).tolist(),
        "called": other_name(audit),
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


def other_classes(audit: LabelAudit, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """What each label most likely should be if it is wrong: what the audit suggests, if that is another class."""
    given, others = audit.codes[rows], np.array(audit.probabilities[rows])
    others[np.arange(len(rows)), given] = -1.0
    places = {name: place for place, name in enumerate(audit.classes.tolist())}
    suggested = np.array([places[name] for name in audit.suggested[rows].tolist()], dtype=np.int64)
    return np.where(suggested == given, others.argmax(axis=1), suggested)


def other_name(audit: LabelAudit) -> str:
    """What these classes are called: a label that is not doubtful has no suggestion."""
    return "suggested label" if audit.doubtful.any() else "next likely label"


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
