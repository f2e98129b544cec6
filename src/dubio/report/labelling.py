"""What the page says about those who labelled the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from dubio.report.findings import Findings
from dubio.significance.fingerprints import annotators_in_words

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
