"""Turn findings into the content of the page: charts, and tables as compact columns of data."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.curves import Curve
from dubio.doubt.audit_record import OrderedAudit
from dubio.doubt.number_audit import NumberAudit
from dubio.errors import how_rows_count
from dubio.scores.redundancy import likenesses
from dubio.table.scaling import fill_missing, standardize
from dubio.target.classes import OfClasses
from dubio.target.intervals import Intervals
from dubio.target.knowledge import Supervision
from dubio.target.numbers import Numbers
from dubio.target.positives import Positives
from dubio.target.several import SeveralTargets
from dubio_app.report import charts as feature_charts
from dubio_app.report import words
from dubio_app.report.charts import (
    chance_chart,
    class_order,
    correlation_heat,
    evaluation_chart,
    interval_bars,
    rank_heat,
    ranking_bars,
    share_bars,
    size_chart,
)
from dubio_app.report.findings import Findings
from dubio_app.report.labels import labellers, mending, other_classes, other_name
from dubio_app.report.svg import both, figures, shorten, tick_name

_TOP_CHIPS = 40
_TOP_BARS = 30
_TOP_DRAWN = 6
_TOP_HEAT = 20
_MAX_ROWS = 1000
_NEAR = 0.7
#: Smaller shares are shown as 0.
_SMALLEST_SHARE = 0.0005


def page_content(findings: Findings) -> dict[str, Any]:
    """Everything the template needs."""
    order = findings.order
    top = order[:_TOP_HEAT]
    audit = _audit(findings)
    tables = {"features": _feature_table(findings)}
    if audit:
        tables["suspects"] = audit.pop("table")
    mend = mending(findings)
    if mend:
        tables["mending"] = mend
    correlations, has_sign = _correlations(findings, top), _has_sign(findings, top)
    names = [str(findings.ranking.names[j]) for j in top]
    return {
        "findings": findings,
        "question": words.question(findings),
        "answer": words.answer(findings),
        "surety": words.surety(findings),
        "kept": findings.kept[:_TOP_CHIPS],
        "n_enough": findings.n_enough,
        "n_more_kept": max(0, findings.n_kept - _TOP_CHIPS),
        "unordered": _is_unordered(findings),
        "bars": _bars(findings, order[:_TOP_BARS]),
        "size": _curve(findings.curve, words.chosen(findings)),
        "path": _curve(findings.path, words.enough(findings.path.chosen)) if findings.path is not None else "",
        "drawn": _drawn(findings, order[:_TOP_DRAWN]),
        "drawn_words": words.drawn(findings),
        "heat": _heat(findings, top),
        "correlation": both(lambda narrow: correlation_heat(names, correlations, has_sign, narrow=narrow)),
        "chance": _chance(findings),
        "evaluation": _evaluation(findings),
        "limits": words.limits(findings),
        "alike": _alike(findings, top, correlations, has_sign),
        "near": _NEAR,
        "audit": audit,
        "labels": words.labels_table(findings),
        "classes": _classes(findings),
        "tolerance": _tolerance(findings),
        "labellers": labellers(findings),
        "tolerance_words": words.tolerance(findings),
        "legend": [(one["label"], one["hint"]) for one in tables["features"]["columns"] if one["hint"]],
        "tables": tables,
        "first_rows": {name: _first_rows(table, 25) for name, table in tables.items() if "columns" in table},
        "mend": bool(mend),
        "changes": findings.mended.sentences() if findings.mended is not None else [],
        "data": tables_json(tables),
    }


def _curve(curve: Curve, said: str) -> str:
    about = (said, curve.label, curve.threshold, curve.logarithmic)
    return both(lambda narrow: size_chart(curve.sizes, curve.values, curve.chosen, *about, narrow=narrow))


def _chance(findings: Findings) -> str:
    """The p-values beside those that chance would give; empty if the features were not tested."""
    ranking = findings.ranking.without_left_out()
    if "pvalue" not in ranking.extras:
        return ""
    return both(lambda narrow: chance_chart(ranking.extras["pvalue"], ranking.support, narrow=narrow))


def _evaluation(findings: Findings) -> dict[str, Any]:
    """What the selection is worth to a model; empty if it was not evaluated."""
    found = findings.evaluation
    if found is None:
        return {}
    return {
        "model": findings.model,
        "numbers": found.numbers(),
        "verdict": found.verdict(),
        "chart": both(lambda narrow: evaluation_chart(found, narrow=narrow)),
        "folds": len(found.selected),
        "confidence": f"{100 * found.confidence:g}",
    }


def tables_json(tables: dict[str, Any]) -> str:
    """JSON that is safe inside a script element: it cannot end the element or start another one."""
    packed = json.dumps(tables, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character, code in (
        ("<", "\\u003c"),
        (">", "\\u003e"),
        ("&", "\\u0026"),
        ("\u2028", "\\u2028"),
        ("\u2029", "\\u2029"),
    ):
        packed = packed.replace(character, code)
    return packed


def _column(label: str, values: list[Any], kind: str, hint: str = "") -> dict[str, Any]:
    return {"label": label, "kind": kind, "hint": hint, "values": values}


def _numbers(values: NDArray[Any], digits: int = 4) -> list[float | int | None]:
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


def _feature_table(findings: Findings) -> dict[str, Any]:
    ranking = findings.ranking
    order = findings.order
    direction = "low is good" if ranking.lower_is_better else "high is good"
    columns = [
        _column("rank", _numbers(ranking.ranking[order]), "number", "1 is best"),
        _column("feature", [str(ranking.names[j]) for j in order], "text"),
        _column(
            "line", [ranking.line_of(int(j)) for j in order], "word", "sufficient, related to the target, or neither"
        ),
        _column("kept", [int(ranking.support[j]) for j in order], "yes"),
        _column("score", _numbers(ranking.scores[order]), "number", direction),
    ]
    for key, label, hint in (
        ("pvalue", "p-value", "probability of a score this good by chance"),
        ("qvalue", "q-value", "share of false discoveries if the features with this q-value or a smaller one are kept"),
    ):
        if key in ranking.extras:
            columns.append(_column(label, _numbers(ranking.extras[key][order], 3), "number", hint))
    if "serves" in ranking.extras:
        hint = "the targets that it is related to; ?: it is not clear which"
        columns.append(_column("serves", [str(ranking.extras["serves"][j]) for j in order], "text", hint))
    if findings.fingerprints is not None:
        hint = "q-value of the test whether labels are more doubtful where the feature is high, or low"
        columns.append(_column("doubt", _numbers(findings.fingerprints.doubt[order], 3), "number", hint))
        if findings.fingerprints.annotators:
            whose = [str(findings.fingerprints.annotator[j]) for j in order]
            columns.append(_column("annotator", whose, "text", "whose labels the feature marks"))
    if findings.tolerance is not None:
        hint = "share of labels that may be wrong at random before it is kept in fewer than half of the draws"
        columns.append(_column("tolerance", _numbers(100 * findings.tolerance.random[order], 3), "percent", hint))
    sure = findings.stability
    if sure is not None:
        columns += [
            _column("rank from", _numbers(np.round(sure.rank_low[order])), "number", "low end of its rank interval"),
            _column("rank to", _numbers(np.round(sure.rank_high[order])), "number", "high end of its rank interval"),
            _column(
                "kept in",
                _numbers(100 * sure.frequency[order], 3),
                "percent",
                "share of the resamples in which it is kept",
            ),
        ]
    return {"noun": "features", "columns": columns}


def _tolerance(findings: Findings) -> str:
    """A bar for each kept feature: how many labels may be wrong."""
    found = findings.tolerance
    if found is None:
        return ""
    shown = np.asarray([j for j in findings.order if found.kept[j]][:_TOP_BARS], dtype=np.int64)
    if not len(shown):
        return ""
    label = {"hard": "wrong labels at random", "soft": "flattened by", "numbers": "gross errors"}[found.kind]
    names = [str(findings.ranking.names[j]) for j in shown]
    numbers = (found.random[shown], found.low[shown], found.high[shown])
    said = [found.worst_in_words(int(j)) for j in shown]
    title = "How wrong the labels may be before each feature is no longer kept"
    return both(lambda narrow: interval_bars(names, *numbers, said, label, title, narrow=narrow))


def _first_rows(table: dict[str, Any], count: int) -> list[list[str]]:
    """The first rows as text, for readers without JavaScript and for printing."""
    rows: list[list[str]] = []
    for i in range(min(count, len(table["columns"][0]["values"]))):
        rows.append([_cell(column["values"][i], column["kind"]) for column in table["columns"]])
    return rows


def _cell(value: Any, kind: str) -> str:
    if value is None:
        return "–"
    if kind == "yes":
        return "yes" if value else ""
    if kind == "percent":
        return f"{value:g} %"
    return figures(value) if isinstance(value, float) else str(value)


def _merits(findings: Findings, shown: NDArray[np.int64]) -> NDArray[np.float64]:
    """Lengths of the bars: the best feature shown has a full bar, the worst none."""
    scores = findings.ranking.scores[shown] * (-1.0 if findings.ranking.lower_is_better else 1.0)
    finite = np.isfinite(scores)
    if not finite.any():
        return np.zeros(len(scores))
    low, high = scores[finite].min(), scores[finite].max()
    merits = np.ones(len(scores)) if high == low else (scores - low) / (high - low)
    return np.where(finite, merits, 0.0)


def _is_unordered(findings: Findings) -> bool:
    """Whether a feature has a better score than one that comes before it, as in a search."""
    scores = findings.ranking.scores[findings.order] * (-1.0 if findings.ranking.lower_is_better else 1.0)
    scores = scores[np.isfinite(scores)]
    return bool((np.diff(scores) > 0).any())


def _bars(findings: Findings, shown: NDArray[np.int64]) -> str:
    ranking, sure = findings.ranking, findings.stability
    intervals = None if sure is None else (sure.rank_low[shown], sure.rank_median[shown], sure.rank_high[shown])
    names, labels = [str(ranking.names[j]) for j in shown], [figures(float(ranking.scores[j])) for j in shown]
    drawn = (names, _merits(findings, shown), labels, ranking.support[shown], intervals, len(findings.order))
    return both(lambda narrow: ranking_bars(*drawn, narrow=narrow))


def _drawn(findings: Findings, shown: NDArray[np.int64]) -> list[dict[str, str]]:
    """Charts of the top features against the labels, or on their own if there are no labels."""
    pictures = []
    for rank, j in enumerate(shown.tolist(), start=1):
        name, known = str(findings.ranking.names[j]), findings.supervision
        target, caption = findings.target_name, shorten(name, 80)
        if isinstance(known, SeveralTargets):
            best, about = _served(findings, known, j)
            target, known = known.names[best], known.parts[best]
            caption = f"{shorten(name, 50)}, against {shorten(target, 50)}{about}"
        picture = _picture(findings, j, name, target, known)
        pictures.append({"name": caption, "rank": str(rank), "svg": picture})
    return pictures


def _served(findings: Findings, known: SeveralTargets, feature: int) -> tuple[int, str]:
    """The place of the target against which a feature is drawn, the one with the smallest p-value; and what it serves.

    If a feature serves any target, it serves this one.
    """
    extras = findings.ranking.extras
    if "serves" not in extras:
        return 0, ""
    best = int(np.argmin([float(extras[f"pvalue of {name}"][feature]) for name in known.names]))
    serves = str(extras["serves"][feature])
    if serves.endswith("?"):
        return best, "; it is not clear which target it serves"
    return best, f"; serves {shorten(serves, 50)}" if serves else "; serves no target"


def _picture(findings: Findings, feature: int, name: str, target: str, known: Supervision) -> str:
    values, levels = findings.table[:, feature], findings.levels(feature)
    if isinstance(known, Positives | Intervals):
        known = known.as_tested()
    if isinstance(known, Numbers):
        if levels:
            return feature_charts.number_by_category(name, values, levels, known.values, target)
        return feature_charts.number_by_number(name, values, known.values, target)
    memberships, classes, order = np.ones((len(values), 1)), ["all rows"], np.array([0])
    if isinstance(known, OfClasses):
        memberships, classes = known.memberships, [str(c) for c in known.classes.tolist()]
        order = class_order(known)
    if levels:
        return feature_charts.categories_by_class(name, values, levels, memberships, classes, order)
    return feature_charts.numbers_by_class(name, values, memberships, classes, order)


def _heat(findings: Findings, top: NDArray[np.int64]) -> str:
    sure = findings.stability
    if sure is None:
        return ""
    n_ranks = min(len(top), _TOP_HEAT)
    ranks = sure.rankings[:, top]
    shares = np.stack([(ranks == r).mean(axis=0) for r in range(1, n_ranks + 1)], axis=1)
    columns = [str(r) for r in range(1, n_ranks + 1)]
    if n_ranks < len(findings.order):
        shares = np.column_stack([shares, (ranks > n_ranks).mean(axis=0)])
        columns.append(f">{n_ranks}")
    names = [str(findings.ranking.names[j]) for j in top]
    return both(lambda narrow: rank_heat(names, shares, columns, narrow=narrow))


def _correlations(findings: Findings, top: NDArray[np.int64]) -> NDArray[np.float64]:
    if findings.problem.has_wide_features:
        return likenesses(findings.problem.filled.features(top))
    columns = fill_missing(findings.table[:, top])
    unit = standardize(columns) / np.sqrt(len(columns))
    return np.asarray(unit.T @ unit)


def _has_sign(findings: Findings, top: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the correlation of two features has a direction: not if one holds categories, or has several columns."""
    columns = findings.problem.columns
    if columns is None:
        return np.ones((len(top), len(top)), dtype=bool)
    read = [columns.reading_of(int(j)) for j in top]
    categories = np.array([one is not None and one.kind == "category" for one in read], dtype=bool)
    signed = (columns.sizes[top] == 1) & ~categories
    return np.asarray(signed[:, None] & signed[None, :])


def _alike(
    findings: Findings, top: NDArray[np.int64], correlations: NDArray[np.float64], has_sign: NDArray[np.bool_]
) -> list[dict[str, str]]:
    first, second = np.triu_indices(len(top), 1)
    strength = np.abs(correlations[first, second])
    best = np.argsort(-strength, kind="stable")[:10]
    names = findings.ranking.names
    return [
        {
            "first": str(names[top[first[i]]]),
            "second": str(names[top[second[i]]]),
            "correlation": f"{correlations[first[i], second[i]]:.2f}"
            if has_sign[first[i], second[i]]
            else f"{strength[i]:.2f} (no direction)",
        }
        for i in best
        if strength[i] >= _NEAR
    ]


def _classes(findings: Findings) -> str:
    known = findings.supervision
    if not isinstance(known, OfClasses):
        return ""
    totals = known.memberships.sum(axis=0)
    order = np.argsort(-totals, kind="stable")[:30]
    names = [str(known.classes.tolist()[k]) for k in order]
    labels = [tick_name(totals[k]) for k in order]
    return both(lambda narrow: share_bars(names, totals[order], labels, "Rows of each class", narrow=narrow))


def _audit(findings: Findings) -> dict[str, Any]:
    audit = findings.audit
    if audit is None:
        return {}
    if isinstance(audit, NumberAudit):
        return _number_audit(findings, audit)
    names = [str(name) for name in audit.classes.tolist()]
    rates = audit.error_rates
    top = findings.order[:5]
    ranks = audit.rank
    labelled = np.flatnonzero(ranks > 0)
    rows = labelled[np.argsort(ranks[labelled], kind="stable")]
    doubtful = int(audit.doubtful.sum())
    rows = (rows[audit.doubtful[rows]] if doubtful else rows[:10])[:_MAX_ROWS]
    given = [names[c] for c in audit.codes[rows]]
    columns = [
        _column("row", _numbers(rows + 1), "number", "counted from 1"),
        *(_column(name, [str(values[i]) for i in rows], "text") for name, values in findings.identifiers.items()),
        _column("given label", given, "text"),
        _column(
            other_name(audit),
            [names[c] for c in other_classes(audit, rows)],
            "text",
            "the class it most likely has if the given label is wrong",
        ),
        _column("P(wrong)", _numbers(100 * audit.wrong[rows]), "percent", "probability that the label is wrong"),
    ]
    if isinstance(audit, OrderedAudit):
        columns.append(
            _column("steps", _numbers(audit.steps[rows], 2), "number", "how many classes it is off, expected")
        )
    columns += [_cells(findings, j, rows) for j in top.tolist()]
    return {
        "judged": audit.judged,
        "said": str(audit),
        "likely": audit.how_likely(),
        "held_back": audit.why_held_back(),
        "rates": _rates(names, rates),
        "assumption": audit.assumption,
        "doubtful": doubtful,
        "labelled": int(audit.labelled.sum()),
        "what": "labels",
        "rows_count": how_rows_count(int(rows[0]) + 1) if len(rows) else "",
        "table": {"noun": "rows", "columns": columns},
    }


def _cells(findings: Findings, feature: int, rows: NDArray[np.int64]) -> dict[str, Any]:
    """A column with the cells of a feature in some rows."""
    name, words = str(findings.ranking.names[feature]), findings.cells(feature, rows)
    if words is None:
        return _column(name, _numbers(findings.table[rows, feature]), "number")
    return _column(name, words, "text")


def _rates(names: list[str], rates: NDArray[np.float64]) -> str:
    """The estimated share of wrong labels of each class."""
    known = np.isfinite(rates)
    rates = np.where(known & (rates >= _SMALLEST_SHARE), rates, 0.0)
    shown = np.argsort(-rates, kind="stable")[:30]
    labels = [f"{100 * rates[k]:.1f} %" if known[k] else "–" for k in shown]
    title = "Estimated share of wrong labels by given class"
    shares = rates[shown]
    return both(lambda narrow: share_bars([names[k] for k in shown], shares, labels, title, narrow=narrow))


def _number_audit(findings: Findings, audit: NumberAudit) -> dict[str, Any]:
    rows = np.flatnonzero(audit.rank > 0)
    rows = rows[np.argsort(audit.rank[rows], kind="stable")]
    doubtful = int(audit.doubtful.sum())
    rows = (rows[audit.doubtful[rows]] if doubtful else rows[:10])[:_MAX_ROWS]
    columns = [
        _column("row", _numbers(rows + 1), "number", "counted from 1"),
        *(
            _column(name, [str(values[i]) for i in rows.tolist()], "text")
            for name, values in findings.identifiers.items()
        ),
        _column("given number", _numbers(audit.given[rows]), "number"),
        _column("predicted", _numbers(audit.predicted[rows]), "number", "by experts that had not seen the row"),
        _column("from", _numbers(audit.low[rows]), "number", "the interval should hold nine of ten right numbers"),
        _column("to", _numbers(audit.high[rows]), "number", "the interval should hold nine of ten right numbers"),
        _column("P(wrong)", _numbers(100 * audit.wrong[rows]), "percent", "probability that the number is wrong"),
    ]
    top = findings.order[:5]
    columns += [_cells(findings, j, rows) for j in top.tolist()]
    return {
        "judged": audit.judged,
        "said": str(audit),
        "likely": audit.how_likely(),
        "held_back": audit.why_held_back(),
        "rates": "",
        "assumption": audit.assumption,
        "doubtful": doubtful,
        "labelled": int(audit.labelled.sum()),
        "what": "numbers",
        "rows_count": how_rows_count(int(rows[0]) + 1) if len(rows) else "",
        "table": {"noun": "rows", "columns": columns},
    }
