"""The tables of the page, as columns of plain values that its script sorts, searches and decides about."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.charts import figures
from dubio.doubt.audit_record import LabelAudit, OrderedAudit
from dubio.feature_charts import colour_of
from dubio.words import COLUMNS
from dubio_app.report.findings import Findings

Rows = NDArray[np.int64]

_MOST, _MOST_CORRECTED = 1000, 20_000  # doubtful rows in the table, and on the page on which labels are corrected
_FEW, _FEW_CORRECTED = 10, 25  # rows that are shown if no label is doubtful
_VOTES = 20  # votes that look wrong, and rows for which it is said whom to ask
#: Features whose values are shown beside each doubtful row, and the quantiles shown of each class.
_BESIDE, _QUANTILES = 5, (0.05, 0.25, 0.5, 0.75, 0.95)


#: Columns of the features that are only shown if somebody asks for all.
_MORE = frozenset(
    {
        "kept",
        "pvalue",
        "family",
        "family_qvalue",
        "beyond_qvalue",
        "beyond",
        "difference",
        "effect_level",
        "doubt",
        "rank from",
        "rank to",
    }
)


def as_json(tables: dict[str, Any]) -> str:
    """JSON that is safe inside a script element: it cannot end the element or start another one."""
    packed = json.dumps(tables, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return packed.translate({ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"})


def first_rows(table: dict[str, Any], count: int = 25) -> list[tuple[str, ...]]:
    """The first rows as text, for readers without JavaScript and for printing."""
    columns = table["columns"]
    return list(zip(*([_cell(value, one["kind"]) for value in one["values"][:count]] for one in columns), strict=True))


def _cell(value: Any, kind: str) -> str:
    if value is None or kind == "yes":
        return "–" if value is None else "yes" if value else ""
    return f"{value:g} %" if kind == "percent" else figures(value) if isinstance(value, float) else str(value)


def _titled(label: str, kind: str, values: Sequence[Any], hint: str = "") -> dict[str, Any]:
    return {"label": label, "kind": kind, "hint": hint, "values": values, "more": False}


def _column(key: str, values: Sequence[Any], kind: str) -> dict[str, Any]:
    return _titled(COLUMNS[key][0], kind, values, COLUMNS[key][1]) | {"key": key, "more": key in _MORE}


def _numbers(key: str, values: NDArray[Any], digits: int = 4, kind: str = "number") -> dict[str, Any]:
    return _column(key, _rounded(values, digits), kind)


def _texts(key: str, values: Any, kind: str = "text") -> dict[str, Any]:
    return _column(key, [str(value) for value in values], kind)


def _rounded(values: NDArray[Any], digits: int = 4) -> list[float | int | None]:
    """Rounded numbers, whole numbers without a decimal point; None for values that are not finite."""
    out: list[float | int | None] = []
    for value in np.asarray(values, dtype=np.float64).tolist():
        if not np.isfinite(value):
            out.append(None)
        elif value == int(value) and abs(value) < 1e15:
            out.append(int(value))
        else:
            out.append(float(f"{value:.{digits}g}"))
    return out


def feature_table(findings: Findings) -> dict[str, Any]:
    """Every feature that could be used, best first."""
    ranking, order, sure = findings.ranking, findings.order, findings.stability
    digits = 3 if findings.no_rows else 4
    extras, marks, tolerance = ranking.extras, findings.fingerprints, findings.tolerance
    columns = [
        _numbers("rank", ranking.ranking[order]),
        _texts("feature", ranking.names[order]),
        _texts("line", [ranking.line_of(int(j)) for j in order], "word"),
        _column("kept", ranking.support[order].astype(int).tolist(), "yes"),
    ]
    if not ranking.scores_are_places:
        direction = "score low" if ranking.lower_is_better else "score high"
        columns.append(_numbers(direction, ranking.scores[order], digits))
    values = {key: found[order] for key, found in extras.items() if key in COLUMNS}
    columns += [_of_ranking(key, own) for key, own in values.items()]
    if marks is not None:
        columns.append(_numbers("doubt", marks.doubt[order], 3))
        columns += [_texts("annotator", marks.annotator[order])] if marks.annotators else []
    if tolerance is not None:
        columns.append(_numbers("tolerance", 100 * tolerance.random[order], 3, "percent"))
    if sure is not None:
        ranks = {"rank from": sure.rank_low, "rank to": sure.rank_high}
        columns += [_numbers(key, np.round(ends[order])) for key, ends in ranks.items()]
        columns.append(_numbers("kept in", 100 * sure.frequency[order], 3, "percent"))
        if sure.forecast is not None:
            columns.append(_numbers("fresh", 100 * sure.forecast.frequency[order], 2, "percent"))
    return {"noun": "features", "columns": columns}


#: Columns that are shown in percent.
_SHARES = (
    *("effect", "effect_low", "effect_high"),
    *("effect_corrected", "effect_corrected_low", "effect_corrected_high"),
)


def _of_ranking(key: str, values: NDArray[Any]) -> dict[str, Any]:
    """A column of the ranking."""
    if values.dtype == object:
        return _texts(key, values)
    return _numbers(key, 100 * values, 2, "percent") if key in _SHARES else _numbers(key, values, 3)


def suspects_table(findings: Findings, rows: Rows) -> dict[str, Any]:
    """Doubtful rows with their labels, and the cells of the top features."""
    audit = findings.audit
    columns = [_numbers("row", rows + 1)]
    for name, values in findings.identifiers.items():
        columns.append(_titled(name, "text", [str(values[i]) for i in rows.tolist()]))
    if isinstance(audit, LabelAudit):
        columns.append(_texts("given label", audit.classes[audit.codes[rows]]))
        columns.append(_texts(_other(audit), audit.classes[_other_classes(audit, rows)]))
        columns.append(_doubts(audit, rows))
        columns += [_numbers("steps", audit.steps[rows], 2)] if isinstance(audit, OrderedAudit) else []
    else:
        numbers = {"given number": audit.given, "predicted": audit.predicted, "low": audit.low, "high": audit.high}
        columns += [_numbers(key, values[rows]) for key, values in numbers.items()]
        columns.append(_doubts(audit, rows))
    for j in findings.order[:_BESIDE].tolist():
        cells, name = findings.cells(j, rows), str(findings.ranking.names[j])
        values = _rounded(findings.table[rows, j])
        if cells is None:
            columns.append(_titled(name, "number", values))
        elif findings.holds_numbers(j):  # as they are written, in the order of the numbers
            columns.append({**_titled(name, "written", cells), "keys": values})
        else:
            columns.append(_titled(name, "text", cells))
    return {"noun": "rows", "columns": columns}


def _doubts(audit: Any, rows: Rows) -> dict[str, Any]:
    """The probability that each row is wrong, or without an anchor how much the models disagree."""
    if audit.anchored:
        return _numbers("wrong", 100 * audit.wrong[rows], kind="percent")
    return _numbers("disagreement", audit.disagreement[rows], 2)


def suspicious_rows(audit: Any, most: int = _MOST, few: int = _FEW) -> Rows:
    """Doubtful rows, most doubtful first; if no label is doubtful, the few that are nearest to it."""
    ranked = np.flatnonzero(audit.rank > 0)
    ranked = ranked[np.argsort(audit.rank[ranked], kind="stable")]
    doubtful = ranked[audit.doubtful[ranked]]
    return doubtful[:most] if len(doubtful) else ranked[:few]


def doubtful_votes(audit: Any) -> list[tuple[Any, ...]]:
    """The votes that look wrong, the most doubtful first: row, annotator, what was said, what is likely, how wrong."""
    order = np.argsort(-audit.wrong, kind="stable")
    shown = order[audit.doubtful_votes[order]][:_VOTES]
    row = audit.row[shown]
    wrong = audit.wrong[shown].tolist()
    off = [f"{100 * one:.0f} %" if audit.classes is not None else figures(one) for one in wrong]
    people = [audit.annotators[e] for e in audit.who[shown]]
    said = [_written(value) for value in audit.said[shown].tolist()]
    likely = [_written(value) for value in audit.likely[row].tolist()]
    return list(zip((row + 1).tolist(), people, said, likely, off, strict=True))


def whom_to_ask(audit: Any) -> list[tuple[Any, ...]]:
    """The rows that are least sure: their votes, what is likely, and whose vote would help most, by how much."""
    rows = [row for row in np.argsort(audit.rank, kind="stable").tolist() if audit.ask[row] is not None][:_VOTES]
    said = audit.votes_in_words()
    return [(i + 1, said[i], _written(audit.likely[i]), audit.ask[i], f"{100 * audit.gain[i]:.0f} %") for i in rows]


def _written(value: Any) -> str:
    return figures(value) if isinstance(value, float) else str(value)


def corrections(findings: Findings) -> dict[str, Any]:
    """Doubtful rows for the page on which labels are corrected; empty if no classes were audited or judged."""
    audit = findings.audit
    if not isinstance(audit, LabelAudit) or not audit.judged:
        return {}
    rows, together = _cards(findings, suspicious_rows(audit, _MOST_CORRECTED, _FEW_CORRECTED))
    names, table = findings.ranking.names, findings.table
    ids = next(iter(findings.identifiers.values()), None)
    classes = [str(name) for name in audit.classes.tolist()]
    _, known, order = findings.supervision.as_drawn()
    doubts = _doubts(audit, rows)
    drawn = list(dict.fromkeys([*(known[k] for k in order), *classes]))  # others come after those of the target
    content: dict[str, Any] = {
        "classes": classes,
        "colours": [colour_of(drawn.index(name)) for name in classes],
        "rows": (rows + 1).tolist(),
        "ids": None if ids is None else [str(ids[i]) for i in rows.tolist()],
        "given": audit.codes[rows].tolist(),
        "suggested": _other_classes(audit, rows).tolist(),
        "called": COLUMNS[_other(audit)][0],
        "measure": doubts["label"],
        "doubts": [_cell(value, doubts["kind"]) for value in doubts["values"]],
        "features": [
            {
                "name": str(names[j]),
                "values": _rounded(table[rows, j]),
                "shown": findings.cells(j, rows),
                "spread": [] if findings.levels(j) else _spread(table[:, j], audit),
                "shares": _shares(table[:, j], len(findings.levels(j)), audit),
            }
            for j in findings.order[:_BESIDE].tolist()
        ],
    }
    if together is not None:
        content["together"] = [(own + 1).tolist() for own in together]
        content["names"] = None if ids is None else [[str(ids[i]) for i in own.tolist()] for own in together]
    content["key"] = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]
    return content


def _cards(findings: Findings, rows: Rows) -> tuple[Rows, list[Rows] | None]:
    """The rows with a card each, of a group with one label only the first; and the rows that each stands for."""
    groups, codes = findings.problem.groups, findings.audit.codes
    if groups is None:
        return rows, None
    cards: dict[int, Rows] = {}
    seen: set[int] = set()
    for row in rows.tolist():
        own = np.flatnonzero((groups == groups[row]) & (codes >= 0))
        of_all = bool((codes[own] == codes[row]).all())
        if not of_all or int(groups[row]) not in seen:
            cards[row] = own if of_all else np.array([row])
        seen.add(int(groups[row]))
    return np.array([*cards], dtype=np.int64), [*cards.values()]


def _shares(values: NDArray[np.float64], n_levels: int, audit: LabelAudit) -> list[list[float]]:
    """The share of each category in each class, in percent, from the labels that are not doubtful."""
    if not n_levels:
        return []
    trusted = ~audit.doubtful & np.isfinite(values)
    parts = [values[trusted & (audit.codes == k)].astype(np.int64) for k in range(len(audit.classes))]
    counts = [np.bincount(own, minlength=n_levels) for own in parts]
    return [(100 * own / max(1, own.sum())).round(1).tolist() for own in counts]


def _other_classes(audit: LabelAudit, rows: Rows) -> Rows:
    """What each label most likely should be if it is wrong: what the audit suggests, if that is another class."""
    given, others = audit.codes[rows], np.array(audit.probabilities[rows])
    others[np.arange(len(rows)), given] = -1.0
    suggested = audit.suggested_codes[rows]
    return np.where(suggested == given, others.argmax(axis=1), suggested)


def _other(audit: LabelAudit) -> str:
    """What these classes are called: a label that is not doubtful has no suggestion."""
    return "suggested" if audit.doubtful.any() else "next likely"


def _spread(values: NDArray[np.float64], audit: LabelAudit) -> list[list[float | int | None]]:
    """Quantiles of a feature in each class, from the labels that are not doubtful."""
    trusted = ~audit.doubtful & np.isfinite(values)
    parts = [values[trusted & (audit.codes == k)] for k in range(len(audit.classes))]
    return [_rounded(np.quantile(own, _QUANTILES)) if len(own) else [None] * len(_QUANTILES) for own in parts]
