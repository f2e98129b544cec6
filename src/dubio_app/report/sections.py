"""The sections of the page: each one is a function from the findings to what the template shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio import charts, feature_charts
from dubio.charts import Chart
from dubio.doubt.audit_record import LabelAudit
from dubio.errors import how_rows_count
from dubio.scores.consensus import likenesses
from dubio.table.scaling import fill_missing, standardize
from dubio.target.classes import Classes, Memberships, OfClasses
from dubio.target.intervals import Intervals
from dubio.target.knowledge import Supervision
from dubio.target.numbers import Numbers
from dubio.target.ordered import OrderedClasses, OrderedMemberships, in_words
from dubio.target.positives import Positives
from dubio.target.several import SeveralTargets
from dubio.trust.fingerprints import annotators_in_words
from dubio_app.report import tables
from dubio_app.report.findings import Findings, class_order
from dubio_app.report.svg import figure
from dubio_app.report.words import PAIR, SECTIONS

#: Most features in the answer, with bars, with drawings, and in heat maps; most bars of classes.
_CHIPS, _BARS, _DRAWN, _HEAT, _CLASSES = 40, 30, 6, 20, 30
#: Features with at least this correlation are called alike; most pairs of them.
_NEAR, _PAIRS = 0.7, 10
#: Smaller shares are shown as 0.
_SMALLEST_SHARE = 0.0005
#: Most annotators, classes of a confusion, and features that mark who labelled.
_SHOWN = 12

#: A part of a section; the template knows it by its key ("text", "items", "figure", "table" and others).
Part = dict[str, Any]
Places = NDArray[np.int64]


def page_content(findings: Findings) -> dict[str, Any]:
    """Everything the template needs."""
    made = {make.__name__[1:]: [part for part in make(findings) if any(part.values())] for make in _SECTIONS}
    sections = [(name, *SECTIONS[name], parts) for name, parts in made.items() if parts]
    data = {part["name"]: part["data"] for parts in made.values() for part in parts if "name" in part}
    return {"say": findings.say, "answer": _answer(findings), "sections": sections, "data": data}


# ---- the answer ------------------------------------------------------------------------------------------------------


def _answer(findings: Findings) -> dict[str, Any]:
    """The first section: the question, the answer, how sure it is, and what it does not say."""
    say, kept, enough = findings.say, findings.kept, findings.n_enough
    return {
        "title": say("title of labels" if findings.about_labels else "title", target=findings.target_name),
        "question": say(_question(findings)),
        "answer": _doubt(findings) if findings.about_labels and findings.audit else findings.ranking.headline(),
        "kept": [(name, 0 < enough <= place) for place, name in enumerate(kept[:_CHIPS])],
        "more": max(0, len(kept) - _CHIPS),
        "has_key": enough > 0,
        "surety": list(_surety(findings)),
        "alerts": [(_capital(alert["sentence"]), _capital(alert["remedy"])) for alert in findings.alerts],
        "limits": [say(code) for code in _limits(findings)],
        "explanation": findings.explanation,
        "notes": findings.notes,
    }


def _question(findings: Findings) -> str:
    """The code of the question that the page answers."""
    if findings.about_labels:
        return "question of labels"
    if findings.supervision.kind != "none":
        return "question"
    return "question of pairs" if findings.supervision.has_pairs else "question of groups"


def _doubt(findings: Findings) -> str:
    """How many labels are doubtful."""
    audit = findings.audit
    if not audit.judged:
        return findings.say("not judged")
    if audit.doubtful.any():
        return findings.say("doubtful")
    return audit.why_held_back() or findings.say("none doubtful")


def _surety(findings: Findings) -> Iterator[str]:
    """How sure the answer is."""
    say, audit = findings.say, findings.audit
    if findings.ranking.left_out:
        yield f"{findings.ranking.what_was_left_out()}."
    if not findings.stands_out:
        yield say("handed on")
    elif findings.alpha is not None:
        yield say("tested", alpha=100 * findings.alpha)
    if findings.stability is not None:
        yield _stable(findings)
    if audit is not None and not audit.judged:
        yield say("no skill", classes="classes" if isinstance(audit, LabelAudit) else "numbers")
    elif audit is not None:
        yield say("doubtful share", rate=100 * audit.error_rate) if audit.doubtful.any() else _doubt(findings)


def _stable(findings: Findings) -> str:
    """Whether resampling changes the choice."""
    stability = findings.stability
    how = findings.say(f"resampled {stability.resample}")
    facts = {"resampled": how, "draws": len(stability.rankings)}
    if findings.n_kept == findings.ranking.n_ranked:
        return findings.say("all kept")
    if not findings.n_kept:
        some = int(stability.selected.any(axis=1).sum())
        return findings.say("sometimes kept" if some else "never kept", some=some, **facts)
    index = stability.index
    word = "barely" if index.value < 0.4 else "moderately" if index.value < 0.75 else "very"
    value, low, high = (
        f"{round(number, 2) + 0.0:.2f}" for number in (index.value, index.low, index.high)
    )  # no "-0.00"
    return findings.say("stability", how=word, index=value, low=low, high=high, **facts)


def _limits(findings: Findings) -> Iterator[str]:
    """Codes of what the page does not say, so that nobody reads it into the answer."""
    known, tested = findings.supervision, findings.alpha is not None
    has_target = known.kind != "none"
    yield "cause" if has_target else "no meaning"
    yield "not measured"
    yield "no evidence" if tested else "not tested"
    if has_target and findings.evaluation is None:
        yield "several not evaluated" if known.kind == "several" else "not evaluated"
    if has_target and findings.audit is None:
        yield "not audited"
    if 0 < known.n_labelled < known.n_rows:
        yield "unlabelled"
    if tested and findings.problem.groups is None:
        yield "no groups"
    if findings.stability is None:
        yield "not resampled"


def _capital(clause: str) -> str:
    """A clause as a sentence."""
    return f"{clause[:1].upper()}{clause[1:]}."


# ---- the sections ----------------------------------------------------------------------------------------------------


def _figure(chart: Chart, caption: str = "") -> Part:
    return {"figure": figure(chart), "caption": caption}


def _data_table(name: str, caption: str, data: dict[str, Any]) -> Part:
    return {"name": name, "caption": caption, "data": data, "first_rows": tables.first_rows(data)}


def _table(caption: str, rows: list[Any], head: Sequence[Any] = (), n_texts: int = 1) -> Part:
    """A small table; its first ``n_texts`` columns are text, the others numbers."""
    return {"caption": caption, "head": head, "rows": rows, "n_texts": n_texts} if rows else {}


def _changes(findings: Findings) -> Iterator[Part]:
    if findings.mended is not None:
        yield {"items": findings.mended.sentences()}


def _ranking(findings: Findings) -> Iterator[Part]:
    say, ranking, table = findings.say, findings.ranking, tables.feature_table(findings)
    good = "low" if ranking.lower_is_better else "high"
    sentences = [say("bars", method=findings.method, does=findings.method_does, good=good)]
    if ranking.n_relevant or findings.is_unordered:
        sentences.append(say("related first" if ranking.n_relevant else "other order"))
    if findings.stability is not None:
        sentences.append(say("ranks", share=100 * findings.stability.confidence))
    yield {"text": " ".join(sentences)}
    yield _figure(charts.ranking_chart(ranking, findings.order[:_BARS], findings.stability, from_worst=True))
    tested = ranking.without_left_out()
    if "pvalue" in tested.extras:
        chance = _figure(charts.chance_chart(tested.extras["pvalue"], tested.support))
        yield from ({"heading": say("beside chance")}, {"text": say("chance")}, chance) if chance["figure"] else ()
    yield _data_table("features", say("all features", count=ranking.n_ranked), table)
    yield {"terms": [(one["label"], one["hint"]) for one in table["columns"] if one["hint"]]}


def _size(findings: Findings) -> Iterator[Part]:
    say, curve, path = findings.say, findings.curve, findings.path
    tested = say("size" if findings.stands_out else "no size")
    yield {"text": tested if curve.logarithmic else findings.ranking.reason}
    mark = say("related mark" if findings.keeps_the_related else "kept mark", count=curve.chosen or "none")
    yield _figure(charts.size_chart(curve, mark))
    if path is not None:
        yield {"text": say("path")}
        yield _figure(charts.size_chart(path, say("one enough" if path.chosen == 1 else "enough", count=path.chosen)))


def _evaluation(findings: Findings) -> Iterator[Part]:
    found = findings.evaluation
    if found is not None:
        yield {"text": found.verdict(), "kind": "verdict"}
        facts = {"model": findings.model, "numbers": found.numbers(), "folds": len(found.selected)}
        yield {"text": findings.say("evaluation", confidence=100 * found.confidence, **facts)}
        yield _figure(charts.evaluation_chart(found))


def _drawn(findings: Findings) -> Iterator[Part]:
    kinds = {"numbers": "drawn for numbers", "several": "drawn for several", "none": "drawn for nothing"}
    sentences = [findings.say(kinds.get(findings.supervision.kind, "drawn for classes"))]
    if findings.supervision.kind == "soft":
        sentences.append(findings.say("drawn for memberships"))
    yield {"text": " ".join(sentences)}
    yield {"figures": [_picture(findings, rank, int(j)) for rank, j in enumerate(findings.order[:_DRAWN], start=1)]}


def _picture(findings: Findings, rank: int, feature: int) -> Part:
    """A feature against the target; of several targets, against the one with the smallest p-value.

    If a feature serves any target, it serves this one.
    """
    name, known, extras = str(findings.ranking.names[feature]), findings.supervision, findings.ranking.extras
    if not isinstance(known, SeveralTargets):
        caption = findings.say("picture", rank=rank, name=_shorten(name, 80))
        return _figure(_feature_chart(findings, feature, name, findings.target_name, known), caption)
    pvalues = [float(extras.get(f"pvalue of {target}", np.ones(feature + 1))[feature]) for target in known.names]
    best = int(np.argmin(pvalues))
    served = _shorten(extras["serves"][feature], 50) if "serves" in extras else None
    code = "picture against" if served is None else "picture serves" if served else "picture serves none"
    if served and str(extras["serves"][feature]).endswith("?"):
        code = "picture serves unclear"
    target = known.names[best]
    facts = {"name": _shorten(name, 50), "against": _shorten(target, 50), "serves": served}
    chart = _feature_chart(findings, feature, name, target, known.parts[best])
    return _figure(chart, findings.say(code, rank=rank, **facts))


def _feature_chart(findings: Findings, feature: int, name: str, target: str, known: Supervision) -> Chart:
    """A feature against one target, or on its own if there is none."""
    values, levels = findings.table[:, feature], findings.levels(feature)
    if isinstance(known, Positives | Intervals):
        known = known.as_tested()
    if isinstance(known, Numbers):
        if levels:
            return feature_charts.number_by_category(name, values, levels, known.values, target)
        return feature_charts.number_by_number(name, values, known.values, target)
    memberships, classes, order = np.ones((len(values), 1)), [findings.say("all rows")], np.array([0])
    if isinstance(known, OfClasses):
        memberships, classes = known.memberships, [str(c) for c in known.classes.tolist()]
        order = class_order(known)
    if levels:
        return feature_charts.categories_by_class(name, values, levels, memberships, classes, order)
    return feature_charts.numbers_by_class(name, values, memberships, classes, order)


def _shorten(text: object, length: int) -> str:
    plain = str(text)
    return plain if len(plain) <= length else plain[: length - 1] + "…"


def _stability(findings: Findings) -> Iterator[Part]:
    if findings.stability is not None:
        yield {"text": findings.say("heat")}
        yield _figure(charts.rank_heat(findings.stability, findings.order[:_HEAT], len(findings.order)))


def _tolerance(findings: Findings) -> Iterator[Part]:
    found = findings.tolerance
    shown = np.asarray([j for j in findings.order if found is not None and found.kept[j]][:_BARS], dtype=np.int64)
    if len(shown):
        wrong = findings.say(f"wrong {found.flips if found.kind == 'hard' else found.kind}")
        worst = findings.say("no worst" if found.no_worst else f"worst {found.kind}", why=found.no_worst)
        yield {"text": f"{findings.say('tolerance', wrong=wrong, draws=found.n_draws)} {worst}"}
        yield _figure(charts.tolerance_chart(found, shown))


def _redundancy(findings: Findings) -> Iterator[Part]:
    say, top = findings.say, findings.order[:_HEAT]
    correlations, has_sign = _correlations(findings, top), _has_sign(findings, top)
    names = [str(findings.ranking.names[j]) for j in top]
    first, second = np.triu_indices(len(top), 1)
    strength = np.abs(correlations[first, second])
    near = [i for i in np.argsort(-strength, kind="stable")[:_PAIRS] if strength[i] >= _NEAR]
    pairs = [
        (names[a], names[b], say("sign", value=value) if has_sign[a, b] else say("no sign", value=abs(value)))
        for a, b, value in zip(first[near], second[near], correlations[first, second][near], strict=True)
    ]
    yield {"text": say("alike" if pairs else "not alike", near=_NEAR)}
    yield _table(say("alike table", near=_NEAR), pairs, PAIR, n_texts=2)
    yield _figure(charts.correlation_heat(names, correlations, has_sign))


def _correlations(findings: Findings, top: Places) -> NDArray[np.float64]:
    if findings.problem.has_wide_features:
        return likenesses(findings.problem.filled.features(top))
    columns = fill_missing(findings.table[:, top])
    unit = standardize(columns) / np.sqrt(len(columns))
    return np.asarray(unit.T @ unit)


def _has_sign(findings: Findings, top: Places) -> NDArray[np.bool_]:
    """Whether the correlation of two features has a direction: not if one holds categories, or has several columns."""
    columns = findings.problem.columns
    if columns is None:
        return np.ones((len(top), len(top)), dtype=bool)
    read = [columns.reading_of(int(j)) for j in top]
    categories = np.array([one is not None and one.kind == "category" for one in read], dtype=bool)
    signed = (columns.sizes[top] == 1) & ~categories
    return np.asarray(signed[:, None] & signed[None, :])


def _audit(findings: Findings) -> Iterator[Part]:
    say, audit = findings.say, findings.audit
    if audit is None or not audit.judged:
        yield {"text": "" if audit is None else str(audit)}
        return
    doubt = say("held back", why=audit.why_held_back()) if audit.why_held_back() else say("nearest")
    if audit.doubtful.any():
        doubt = f"{say('doubtful')} {audit.how_likely()}"
    yield {"text": f"{doubt} {say('assumption', assumption=audit.assumption)}"}
    if isinstance(audit, LabelAudit):
        names = [str(name) for name in audit.classes.tolist()]
        yield _figure(rates_chart(say("rates"), names, audit.error_rates))
    rows = tables.suspicious_rows(audit)
    yield {"text": how_rows_count(int(rows[0]) + 1) if len(rows) else ""}
    yield _data_table("suspects", say("suspects"), tables.suspects_table(findings, rows))


def rates_chart(title: str, names: list[str], rates: NDArray[np.float64]) -> Chart:
    """The estimated share of wrong labels of each class; a share that prints as 0 has no bar."""
    known = np.isfinite(rates)
    shares = np.where(known & (rates >= _SMALLEST_SHARE), rates, 0.0)
    shown = np.argsort(-shares, kind="stable")[:_CLASSES]
    labels = [f"{100 * shares[k]:.1f} %" if known[k] else "–" for k in shown]
    return charts.share_chart(title, [names[k] for k in shown], shares[shown], labels)


def _corrections(findings: Findings) -> Iterator[Part]:
    data = tables.corrections(findings)
    if data:
        yield {"name": "corrections", "data": data}


def _labellers(findings: Findings) -> Iterator[Part]:
    """Features with fingerprints, and how annotators confuse classes."""
    say, found = findings.say, findings.fingerprints
    if found is None:
        return
    yield {"text": say("labellers")}
    marked = [int(j) for j in findings.order if found.marked[j]][:_SHOWN]
    yield {"text": say("marked") if marked else str(found)}
    codes = ["marked kept" if findings.ranking.support[j] else "marked not kept" for j in marked]
    yield {"items": [say(code, mark=found.in_words(j)) for code, j in zip(codes, marked, strict=True)]}
    yield {"text": annotators_in_words(found)}
    truth, classes = "votes" if np.isfinite(found.agreement) else "experts", found.classes.tolist()[:_SHOWN]
    for name, table in list(zip(found.annotators, found.confusions, strict=False))[:_SHOWN]:
        counts = table[:_SHOWN, :_SHOWN].tolist()
        rows = [
            (one, *(f"{100 * count / sum(row):.0f} %" if sum(row) else "–" for count in row))
            for one, row in zip(classes, counts, strict=True)
        ]
        yield _table(say(f"truth of {truth}", name=name), rows, [say("class"), *classes])


def _labels(findings: Findings) -> Iterator[Part]:
    known = findings.supervision
    yield {"text": f"{known.describe()}."}
    yield _table(findings.say("counts"), _counts(known))
    if isinstance(known, OfClasses):
        totals = known.memberships.sum(axis=0)
        order = np.argsort(-totals, kind="stable")[:_CLASSES]
        names, labels = [str(known.classes.tolist()[k]) for k in order], [charts.tick_name(totals[k]) for k in order]
        yield _figure(charts.share_chart(findings.say("classes"), names, totals[order], labels))


def _counts(known: Supervision) -> list[tuple[str, str]]:
    """How the labels were read, as counts."""
    rows = [("rows", f"{known.n_rows:,}")]
    if isinstance(known, Classes):
        rows.append(("rows with one class each", f"{known.n_labelled:,}"))
    if isinstance(known, Memberships):
        certain = int((known.memberships[known.labelled].max(axis=1) >= 1 - 1e-9).sum())
        rows.append(("rows with class probabilities", f"{known.n_labelled:,}"))
        rows.append(("of these, rows with a certain class", f"{certain:,}"))
    if isinstance(known, Positives):
        rows.append((f"rows labelled {known.positive}", f"{known.n_labelled:,}"))
    if isinstance(known, Intervals):
        exact, censored = int(known.exact.sum()), int(known.censored.sum())
        rows.append(("rows with a known number", f"{exact:,}"))
        rows.append(("rows with a censored number", f"{censored:,}"))
        rows.append(("rows with other limits", f"{known.n_labelled - exact - censored:,}"))
    if isinstance(known, SeveralTargets):
        for name, part in zip(known.names, known.parts, strict=True):
            rows.append((f"rows with {name}", f"{part.n_labelled:,}"))
    if known.kind == "numbers":
        rows.append(("rows with a number", f"{known.n_labelled:,}"))
    if known.kind != "none":
        rows.append(("rows without a label", f"{known.n_rows - known.n_labelled:,}"))
    if isinstance(known, OfClasses):
        rows.append(("classes", f"{known.n_classes:,}"))
    if isinstance(known, OrderedClasses | OrderedMemberships):
        rows.append(("order of the classes", in_words(known.classes)))
    if known.has_pairs:
        rows.append(("must-link pairs", f"{len(known.pairs.must_link):,}"))
        rows.append(("cannot-link pairs", f"{len(known.pairs.cannot_link):,}"))
    return rows


def _again(findings: Findings) -> Iterator[Part]:
    for name, code in (("command", findings.command), ("python", findings.code)):
        if code:
            yield {"above": findings.say(name), "code": code}


#: In the order of the page; a section has the name of its function.
_SECTIONS = (
    *(_changes, _ranking, _size, _evaluation, _drawn, _stability, _tolerance, _redundancy),
    *(_audit, _corrections, _labellers, _labels, _again),
)
