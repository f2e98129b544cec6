"""The sections of the page: each one is a function from the findings to what the template shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio import charts, feature_charts
from dubio.charts import Chart
from dubio.doubt.audit_record import LabelAudit
from dubio.doubt.votes import VoteAudit
from dubio.errors import all_of, how_rows_count, quoted
from dubio.findings import how_sure, note_on_evaluation
from dubio.scores.consensus import likenesses
from dubio.table.matrix import fill_missing, standardize
from dubio.target.knowledge import Supervision
from dubio.trust.fingerprints import annotators_in_words
from dubio.trust.selection import FEWEST_ROWS, KeptColumn
from dubio.words import paragraph, sentence
from dubio_app.report import tables
from dubio_app.report.findings import Findings
from dubio_app.report.svg import figure

#: Most features in the answer, with bars, with drawings, and in heat maps; most bars of classes.
_CHIPS, _BARS, _DRAWN, _HEAT, _CLASSES = 40, 30, 6, 20, 30
_NEAR, _PAIRS = 0.7, 10  # features with at least this correlation are called alike; most pairs of them
_SMALLEST_SHARE = 0.0005  # smaller ones are shown as 0
_LEVELS = 8  # levels of a given category in a table
_LISTED = 200  # columns of a family
_SHOWN = 12  # annotators, classes of a confusion, and features that mark who labelled

#: A part of a section; the template knows it by its key ("text", "items", "figure", "table" and others).
Part = dict[str, Any]


def page_content(findings: Findings) -> dict[str, Any]:
    """Everything the template needs."""
    made = {name: [part for part in make(findings) if any(part.values())] for name, make in SECTIONS.items()}
    sections = [(name, findings.say(f"heading {name}"), parts) for name, parts in made.items() if parts]
    data = {part["name"]: part["data"] for parts in made.values() for part in parts if "name" in part}
    return {"say": findings.say, "answer": _answer(findings), "sections": sections, "data": data}


# ---- the answer ------------------------------------------------------------------------------------------------------


def _answer(findings: Findings) -> dict[str, Any]:
    """The first section: the question, the answer, how sure it is, and what it does not say."""
    say, kept, enough, known = findings.say, findings.kept, findings.n_enough, findings.supervision
    question = "question of pairs" if known.has_pairs and not known.n_labelled else known.question
    question = "question given" if findings.ranking.given else question
    question = "question of labels" if findings.about_labels else question
    about_audit = findings.about_labels and findings.audit is not None
    headline = findings.ranking.headline(about=findings.asked)
    return {
        "title": say("title of labels" if findings.about_labels else "title", target=findings.target_name),
        "question": say(question, given=all_of(map(quoted, findings.ranking.given))),
        "answer": _on_labels(findings) if about_audit else headline,
        "kept": [(name, 0 < enough <= place) for place, name in enumerate(kept[:_CHIPS])],
        "more": max(0, len(kept) - _CHIPS),
        "has_key": enough > 0,
        "surety": list(_surety(findings)),
        "alerts": [(sentence(alert["sentence"]), sentence(alert["remedy"])) for alert in findings.alerts],
        "limits": [say(code) for code in _limits(findings)],
        "explanation": findings.explanation,
        "notes": findings.notes,
    }


def _surety(findings: Findings) -> Iterator[str]:
    """How sure the answer is, and one sentence about the labels unless they are the answer."""
    yield from map(sentence, findings.beyond)
    yield from map(sentence, how_sure(findings.ranking, findings.alpha, findings.stability))
    if findings.audit is not None and not findings.about_labels:
        yield _on_labels(findings)


def _on_labels(findings: Findings) -> str:
    """What the front says about the labels, in one sentence."""
    clauses = [findings.audit.headline(), *findings.doubtful_along()]
    return sentence("; ".join(map(str, clauses)))


def _limits(findings: Findings) -> list[str]:
    """Codes of what the page does not say, so that nobody reads it into the answer."""
    known, tested = findings.supervision, findings.alpha is not None
    has_target = known.has_target
    limits = {
        "cause" if has_target else "no meaning": True,
        "not measured": True,
        "no evidence" if tested else "not tested": True,
        "several not evaluated" if known.targets else "not evaluated": has_target and findings.evaluation is None,
        "not audited": has_target and findings.audit is None,
        "unlabelled": 0 < known.n_labelled < known.n_rows,
        "no groups": tested and findings.problem.groups is None,
        "not resampled": findings.stability is None,
    }
    return [code for code, is_so in limits.items() if is_so]


# ---- the sections ----------------------------------------------------------------------------------------------------


def _fewest(findings: Findings) -> int:
    """Fewest rows of a class that is shown."""
    return FEWEST_ROWS if findings.no_rows else 0


def _figure(chart: Chart, caption: str = "") -> Part:
    return {"figure": figure(chart), "caption": caption}


def _data_table(name: str, caption: str, data: dict[str, Any]) -> Part:
    return {"name": name, "caption": caption, "data": data, "first_rows": tables.first_rows(data)}


def _table(caption: str, rows: list[Any], head: Sequence[Any] = (), n_texts: int = 1) -> Part:
    """A small table; its first ``n_texts`` columns are text, the others numbers."""
    return {"caption": caption, "head": head, "rows": rows, "n_texts": n_texts} if rows else {}


def _changes(findings: Findings) -> Iterator[Part]:
    if findings.corrected is not None:
        yield {"items": findings.corrected.sentences()}


def _people(findings: Findings) -> Iterator[Part]:
    """How good each annotator is, which votes look wrong, and whom to ask next."""
    say, audit = findings.say, findings.audit
    if not isinstance(audit, VoteAudit):
        return
    hidden = "rows without votes" if findings.no_rows else None
    yield {"text": paragraph([one for one in audit.notes() if hidden is None or not one.code.startswith(hidden)])}
    yield _figure(charts.annotators_chart(audit))
    if findings.no_rows and _says_rare(audit):  # the sentences and charts name the classes
        return
    yield {"items": [sentence(one) for one in audit.on_annotators()][:_SHOWN]}
    if audit.classes is not None and len(audit.classes) <= _SHOWN:
        best = np.argsort(-audit.quality, kind="stable")[:_SHOWN]
        yield from (_figure(charts.votes_chart(audit, int(e))) for e in best if audit.n_votes[e])
    if findings.no_rows:
        return
    wrong, asked = tables.doubtful_votes(audit), tables.whom_to_ask(audit)
    off = "P(wrong)" if audit.classes is not None else "standard deviations off"
    yield _table(say("doubtful votes"), wrong, ["row", "annotator", "said", "likely", off], n_texts=4)
    yield _table(say("whom to ask"), asked, ["row", "votes", "likely", "ask", "gain"], n_texts=4)


def _says_rare(audit: VoteAudit) -> bool:
    """Whether a class was said of too few rows to be named where no row may be recognised."""
    said = audit.said.astype(str)
    classes = [] if audit.classes is None else audit.classes.tolist()
    return any(len(np.unique(audit.row[said == str(one)])) < FEWEST_ROWS for one in classes)


def _ranking(findings: Findings) -> Iterator[Part]:
    say, ranking, table = findings.say, findings.ranking, tables.feature_table(findings)
    good = "Lower" if ranking.lower_is_better else "Higher"
    code = "intervals" if ranking.scores_are_places and "effect" in ranking.extras else "bars"
    sentences = [say(code, method=findings.method, does=findings.method_does, good=good)]
    scores = ranking.scores[findings.order] * (-1.0 if ranking.lower_is_better else 1.0)
    if ranking.n_relevant or (np.diff(scores[np.isfinite(scores)]) > 0).any():  # not in the order of the scores
        first = "related first" if ranking.about_truth is None else "truth first"
        sentences.append(sentence(say(first if ranking.n_relevant else "other order")))
    if findings.stability is not None:
        sentences.append(say("ranks", share=100 * findings.stability.confidence))
    yield {"text": " ".join(sentences)}
    yield _figure(
        charts.ranking_chart(ranking, findings.order[ranking.n_given :][:_BARS], findings.stability, from_worst=True)
    )
    tested = ranking.without_left_out()
    if "pvalue" in tested.extras:
        chance = _figure(charts.chance_chart(tested.extras["pvalue"], tested.support))
        yield from ({"heading": say("beside chance")}, {"text": say("chance")}, chance) if chance["figure"] else ()
    yield _data_table("features", say("all features", count=ranking.n_ranked), table)
    yield {"terms": [(one["label"], one["hint"]) for one in table["columns"] if one["hint"]]}


def _beyond(findings: Findings) -> Iterator[Part]:
    """What it changes that columns are given, and the effects within the levels of those that are categories."""
    ranking = findings.ranking
    if "adjusting" in ranking.extras:
        yield {"text": findings.say("beyond")}
        yield _figure(charts.adjusting_chart(ranking, findings.order[ranking.n_given :][:_BARS]))
    for within in findings.within:
        enough = [level for level, n in enumerate(within.n_rows.tolist()) if n >= _fewest(findings)][:_LEVELS]
        head = ["feature", *(f"{within.levels[k]} ({within.n_rows[k]})" for k in enough), "q-value"]
        rows = []
        for j, name in enumerate(within.features[:_BARS]):
            cells = [
                _effect_cell(findings, *(ends[k, j] for ends in (within.effect, within.low, within.high)))
                for k in enough
            ]
            rows.append((name, *cells, f"{within.qvalue[j]:.2g}" if np.isfinite(within.qvalue[j]) else "–"))
        yield _table(findings.say("effects within", given=within.given), rows, head)


def _effect_cell(findings: Findings, effect: float, low: float, high: float) -> str:
    if high - low >= 1.0:
        return findings.say("too few rows")
    return findings.say("ends of effect", effect=100 * effect, low=100 * low, high=100 * high)


def _families(findings: Findings) -> Iterator[Part]:
    """One line for each family, which opens."""
    say, ranking = findings.say, findings.ranking
    families = ranking.families
    if len(families) == ranking.n_relevant:  # each column is its own
        return
    yield {"text": say("families open")}
    head = [tables.COLUMNS[key][0] for key in ("rank", "feature", "effect", "pvalue")]
    for members in families[:_BARS]:
        first, rest = int(members[0]), {}
        extras, name = ranking.extras, str(ranking.names[first])
        others = say("family others", n=len(members) - 1) if len(members) > 1 else ""
        others += say("family region", region=extras["region"][first]) if "region" in extras else ""
        beyond = say(f"family {extras['beyond'][first]}", qvalue=extras["beyond_qvalue"][first])
        line = say("family", head=name, others=others, qvalue=extras["family_qvalue"][first], beyond=beyond)
        rows = [
            (
                int(ranking.ranking[j]),
                str(ranking.names[j]),
                f"{100 * extras['effect'][j]:.0f} %" if "effect" in extras else "",
                f"{extras['pvalue'][j]:.2g}",
            )
            for j in members[:_LISTED]
        ]
        rest = _table(say("family members", head=name), rows, head, n_texts=2)
        yield {"line": line, **rest} if len(members) > 1 else {"items": [line]}
    if len(families) > _BARS:
        yield {"text": say("more families", n=len(families) - _BARS)}


def _size(findings: Findings) -> Iterator[Part]:
    say, curve, path = findings.say, findings.curve, findings.path
    tested = say("size" if findings.stands_out else "no size")
    yield {"text": tested if curve.logarithmic else findings.ranking.reason}
    mark = say("related mark" if findings.keeps_the_related else "kept mark", count=curve.chosen or "none")
    yield _figure(charts.size_chart(curve, mark))
    if path is not None:
        yield {"text": say("path" if findings.ranking.losses is None else "path of the ranking")}
        yield _figure(charts.size_chart(path, say("one enough" if path.chosen == 1 else "enough", count=path.chosen)))


def _evaluation(findings: Findings) -> Iterator[Part]:
    found = findings.evaluation
    if found is not None:
        yield {"text": found.verdict(), "kind": "verdict"}
        yield {"text": sentence(note_on_evaluation(found, findings.model))}
        yield _figure(charts.evaluation_chart(found))


def _drawn(findings: Findings) -> Iterator[Part]:
    known = findings.supervision
    if findings.no_rows:
        yield {"text": findings.say("drawn without rows", fewest=FEWEST_ROWS)}
        yield {"figures": [_figure(_bins_of(findings, j)) for j in findings.order[:_DRAWN].tolist()]}
        return
    values, classes, _ = known.as_drawn()
    drawn = "several" if known.targets else "numbers" if values.ndim == 1 else "classes" if classes else "nothing"
    sentences = [findings.say(f"drawn for {drawn}")]
    if drawn == "classes" and (values.max(axis=1) < 1.0)[known.labelled].any():
        sentences.append(findings.say("drawn for memberships"))
    yield {"text": " ".join(sentences)}
    yield {"figures": [picture(findings, rank, int(j)) for rank, j in enumerate(findings.order[:_DRAWN], start=1)]}


def picture(findings: Findings, rank: int, feature: int) -> Part:
    """A feature against the target; of several targets, against the one with the smallest p-value.

    If a feature serves any target, it serves this one.
    """
    name, known, extras = str(findings.ranking.names[feature]), findings.supervision, findings.ranking.extras
    target, part, code, facts = findings.target_name, known, "picture", {"name": _shorten(name, 80)}
    if known.targets:
        pvalues = [float(extras.get(f"pvalue of {one}", np.ones(feature + 1))[feature]) for one in known.targets]
        target, part = list(known.targets.items())[int(np.argmin(pvalues))]
        served = extras["serves"][feature] if "serves" in extras else None
        code = "picture against" if served is None else "picture serves" if served else "picture serves none"
        code = "picture serves unclear" if served == f"{target}?" else code
        facts = {"name": _shorten(name, 50), "against": _shorten(target, 50), "serves": _shorten(served, 50)}
    chart = _feature_chart(findings, feature, name, target, part)
    return _figure(chart, findings.say(code, rank=rank, **facts))


def _feature_chart(findings: Findings, feature: int, name: str, target: str, known: Supervision) -> Chart:
    """A feature against one target, or on its own if there is none."""
    values, levels = findings.table[:, feature], findings.levels(feature)
    drawn, classes, order = known.as_drawn()
    target = findings.say(known.drawn_as, target=target)
    if drawn.ndim == 1:
        if levels:
            return feature_charts.number_by_category(name, values, levels, drawn, target)
        return feature_charts.number_by_number(name, values, drawn, target)
    classes = classes or [findings.say("all rows")]
    if levels:
        return feature_charts.categories_by_class(name, values, levels, drawn, classes, order)
    return feature_charts.numbers_by_class(name, values, drawn, classes, order)


def _bins_of(findings: Findings, feature: int) -> Chart:
    """How many rows have each category, or lie between two limits; of each there are enough rows to hide one."""
    name, values, levels = str(findings.ranking.names[feature]), findings.table[:, feature], findings.levels(feature)
    chart = charts.share_chart(name, *KeptColumn.anonymous_of(name, values, levels).in_bins())
    return replace(chart, small=True)


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
        wrong = findings.say(f"wrong {found.kind} {found.flips}")
        worst = sentence(findings.say("no worst" if found.no_worst else f"worst {found.kind}", why=found.no_worst))
        yield {"text": f"{findings.say('tolerance', wrong=wrong, draws=found.n_draws)} {worst}"}
        yield _figure(charts.tolerance_chart(found, shown))


def _redundancy(findings: Findings) -> Iterator[Part]:
    say, top = findings.say, findings.order[:_HEAT]
    if findings.problem.has_wide_features:
        correlations = likenesses(findings.problem.filled.features(top))
    else:
        unit = standardize(fill_missing(findings.table[:, top])) / np.sqrt(len(findings.table))
        correlations = np.asarray(unit.T @ unit)
    has_sign = _has_sign(findings, top)
    names = [str(findings.ranking.names[j]) for j in top]
    first, second = np.triu_indices(len(top), 1)
    strength = np.abs(correlations[first, second])
    near = [i for i in np.argsort(-strength, kind="stable")[:_PAIRS] if strength[i] >= _NEAR]
    pairs = [
        (names[a], names[b], say("sign", value=value) if has_sign[a, b] else say("no sign", value=abs(value)))
        for a, b, value in zip(first[near], second[near], correlations[first, second][near], strict=True)
    ]
    yield {"text": say("alike pairs" if pairs else "not alike", near=_NEAR)}
    yield _table(say("alike table", near=_NEAR), pairs, ("feature", "and", "correlation"), n_texts=2)
    yield _figure(charts.correlation_heat(names, correlations, has_sign))


def _has_sign(findings: Findings, top: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the correlation of two features has a direction: not if one holds categories, or has several columns."""
    columns = findings.problem.columns
    if columns is None:
        return np.ones((len(top), len(top)), dtype=bool)
    read = [columns.reading_of(int(j)) for j in top]
    values = np.bincount(columns.feature_of, weights=columns.roles != "missing", minlength=columns.n_features)[top]
    signed = (values == 1) & [one is None or one.kind != "category" for one in read]
    return np.asarray(signed[:, None] & signed[None, :])


def _audit(findings: Findings) -> Iterator[Part]:
    say, audit = findings.say, findings.audit
    if isinstance(audit, VoteAudit):
        return
    if audit is None or not audit.judged:
        yield {"text": "" if audit is None else str(audit)}
        return
    yield {"text": str(audit) if audit.doubtful.any() else f"{audit} {sentence(say('nearest'))}"}
    if isinstance(audit, LabelAudit) and audit.anchored:
        counts = np.bincount(audit.codes[audit.labelled], minlength=len(audit.classes))
        common = np.flatnonzero(counts >= _fewest(findings))
        names = [str(name) for name in audit.classes[common].tolist()]
        yield _figure(rates_chart(say("rates"), names, audit.error_rates[common]))
    if findings.no_rows:
        return
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
    if not findings.no_rows and (data := tables.corrections(findings)):
        yield {"name": "corrections", "data": data}


def _labellers(findings: Findings) -> Iterator[Part]:
    """Features with fingerprints, and how annotators confuse classes."""
    say, found = findings.say, findings.fingerprints
    if found is None or findings.no_rows:
        return
    yield {"text": say("labellers")}
    marked = [int(j) for j in findings.order if found.marked[j]][:_SHOWN]
    yield {"text": say("marked" if marked else "no mark")}
    codes = ["marked kept" if findings.ranking.support[j] else "marked not kept" for j in marked]
    yield {"items": [say(code, mark=found.in_words(j)) for code, j in zip(codes, marked, strict=True)]}
    yield {"text": annotators_in_words(found)}
    truth, classes = "votes" if np.isfinite(found.agreement) else "models", found.classes.tolist()[:_SHOWN]
    for name, table in list(zip(found.annotators, found.confusions, strict=False))[:_SHOWN]:
        counts = table[:_SHOWN, :_SHOWN].tolist()
        shares = [[f"{100 * count / sum(row):.0f} %" if sum(row) else "–" for count in row] for row in counts]
        rows = [(one, *row) for one, row in zip(classes, shares, strict=True)]
        yield _table(say(f"truth of {truth}", name=name), rows, [say("class"), *classes])


def _labels(findings: Findings) -> Iterator[Part]:
    known = findings.supervision
    yield {"text": f"{known.describe()}."}
    if not findings.no_rows:
        yield _table(findings.say("counts"), known.counts())
    memberships, names, _ = known.as_drawn()
    if names:
        totals = memberships.sum(axis=0)
        order = np.argsort(-totals, kind="stable")[:_CLASSES]
        order = order[totals[order] >= _fewest(findings)]
        classes, labels = [names[k] for k in order], [charts.tick_name(totals[k]) for k in order]
        yield _figure(charts.share_chart(findings.say("classes"), classes, totals[order], labels))


def _again(findings: Findings) -> Iterator[Part]:
    shown = {"command": findings.command, "python": findings.code}
    yield from ({"above": findings.say(name), "code": code} for name, code in shown.items() if code)


#: The sections by their names, in the order of the page. Their titles are in :mod:`dubio.words`.
_MADE = (
    _changes,
    _people,
    _ranking,
    _beyond,
    _families,
    _size,
    _evaluation,
    _drawn,
    _stability,
    _tolerance,
    _redundancy,
    _audit,
    _corrections,
)
SECTIONS = {make.__name__[1:]: make for make in (*_MADE, _labellers, _labels, _again)}
