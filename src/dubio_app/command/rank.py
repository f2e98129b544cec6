"""``dubio rank``: from a file to the ranking."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from dubio.doubt.votes import VoteAudit
from dubio.errors import InputError
from dubio.findings import BEYOND, how_sure, not_told_yet, note_on_evaluation
from dubio.target.label_values import CorrectedLabels
from dubio.words import capital, note, say, sentence
from dubio_app.command import output, trust, wording
from dubio_app.command.applying import save_selection
from dubio_app.command.options import Call
from dubio_app.command.output import Rows, notes_from_warnings, print_answer, records, step, tell, terminal_width
from dubio_app.command.question import Question, read_notes, table_of
from dubio_app.command.trust import Run
from dubio_app.files import TableFile, frame_bytes
from dubio_app.whole_files import write_whole

if TYPE_CHECKING:
    from dubio.streams.sample import DrawnRows

_NARROW = 80  # letters: on a terminal with fewer, some columns are left out
#: What the columns of the table are called, if not by their own names.
_LABELS = {"kept": "line", "qvalue": "q", "rank_low": "rank from", "rank_high": "to", "frequency": "kept in"}
_LABELS |= {"q_truth": "q (truth)", "worst_case": "worst case", "fresh": "fresh samples"}
_LABELS |= {"label": "meaning", "effect_of": "on", "effect_level": "category", "adjusting": "related"}
_LABELS |= {"effect_corrected": "corrected"}
#: Columns that are only in CSV and JSON.
_NOT_PRINTED = {"rank_median", "pvalue", "relevant", "sufficient", "kept", "tolerance_low", "tolerance_high"}
_NOT_PRINTED |= {"p_truth", "effect_low", "effect_high", "difference", "pvalue_without"}
_NOT_PRINTED |= {"effect_corrected_low", "effect_corrected_high"}
_NOT_PRINTED |= {"family_head", "family_qvalue", "beyond_qvalue", "beyond", "region"}


def rank_table(call: Call) -> None:
    """Read the table, rank its features, and write the results."""
    with table_of(call) as file:
        rank_frame(file, call)


def rank_frame(file: TableFile, call: Call, drawn: DrawnRows | None = None) -> None:
    """Rank the features of a table in memory, which may be a sample ``drawn`` of the rows of the file."""
    run = run_of(file, call, drawn)
    write_files(run)
    _print(run)


def write_files(run: Run) -> None:
    """Write the files that a call asks for."""
    call = run.call
    if call.report:
        trust.write_report(run)
    if call.save_table:
        _save_table(run)
    if call.save_selection:
        save_selection(run)
    if call.paper:
        from dubio_app.paper.kit import write_kit  # which draws with matplotlib

        write_kit(run, rows_of(run, shared=call.no_rows))


def run_of(file: TableFile, call: Call, drawn: DrawnRows | None = None) -> Run:
    """Rank the features, and find out how far the answer can be trusted."""
    return examined(ranked(file, call, drawn))


def ranked(file: TableFile, call: Call, drawn: DrawnRows | None = None) -> Run:
    """Rank the features."""
    question = Question(file, call)
    notes = list(question.notes)
    if drawn is not None:
        from dubio.streams.sample import refuse_infinity

        names = [str(name) for name in question.features.names or () if name in drawn.columns]
        refuse_infinity(drawn, names)
    selector = trust.make_selector(question)
    with step("ranking"), notes_from_warnings(notes):
        problem = selector.read_problem(question.features, question.y, **question.fit)
        known = problem.supervision.certain()
        if call.evaluate is not None and not known.form:  # before the work starts
            raise InputError("evaluate", f"needs classes, probabilities or numbers, but {known.given}")
        if drawn is not None:
            from dubio.streams.sample import with_tests_of_all_rows

            problem = with_tests_of_all_rows(problem, drawn, question.target_names, question.missing_label)
        selector.fit_problem(problem)
    findings = selector.findings_
    notes += read_notes(question.asked, problem.supervision)
    if drawn is not None:
        from dubio.streams.sample import with_all_rows

        labels = [name for name in question.target_names if name in drawn.columns]
        findings, of_sample = with_all_rows(findings, drawn, names, labels), findings
        notes += [f"{one}." for one in findings.notes[: len(findings.notes) - len(of_sample.notes)]]
        notes += [f"{say('no stream')}."] if findings is not of_sample else []
    notes += [f"{one}." for one in not_told_yet(findings.columns, findings.ranking.left_out)]
    return Run(question, problem, selector, notes, findings)


def examined(run: Run) -> Run:
    """Find out how far the answer can be trusted."""
    run.stability, run.tolerance = trust.resample(run), trust.tolerate(run)
    run.corrected = trust.before_and_after(run)
    run.audit = trust.audit_labels(run)
    run.fingerprints = trust.look_for_fingerprints(run)
    run.evaluation = trust.evaluate(run)
    if run.call.no_rows:
        run.findings = run.findings.without_cells(trust.common_classes(run.problem.supervision.certain()))
    return run


def _save_table(run: Run) -> None:
    """Write the target and the kept features."""
    call, question, ranking = run.call, run.question, run.selector.to_ranking()
    saved = f"{wording.saved_table(call.save_table, ranking)}."
    if ranking.nothing_stands_out:
        tell([saved], quiet=False)  # a missing file is said even with --quiet
        return
    facts = {name for name in (call.confidence, call.groups, call.weights) if name}
    chosen = {str(name) for name in ranking.names[ranking.support]} | {*question.target_names, *call.id} | facts
    table = question.table[[name for name in question.table.columns if name in chosen]]
    if isinstance(question.y, CorrectedLabels):  # the table has the labels that were used
        table = table.assign(**{question.target_names[0]: question.y.labels})
    write_whole(call.save_table, frame_bytes(table, call.save_table))
    run.notes.append(saved)


def rows_of(run: Run, *, shared: bool = False) -> Rows:
    """One dictionary per feature that was ranked, best first, with what was found about it.

    ``shared``: without the names of rare classes and of categories.
    """
    ranking, order = run.selector.to_ranking(), run.selector.to_ranking().order
    if shared:
        ranking = run.without_rare(ranking)
    columns = {} if run.tolerance is None else run.tolerance.columns()
    columns |= run.fingerprints.columns() if trust.who_labelled(run) else {}
    meanings = run.question.meanings(ranking.names)
    columns |= {} if meanings is None else {"label": meanings}
    frame = ranking.without_handed_on().with_columns(columns).to_frame()
    if run.stability is not None:
        for name in ("rank_low", "rank_median", "rank_high", "frequency"):
            frame[name] = getattr(run.stability, name)[order]
        if run.stability.forecast is not None:
            frame["fresh"] = run.stability.forecast.frequency[order]
    return records(frame)[: run.findings.ranking.n_ranked]


def _print(run: Run) -> None:
    """Print the answer and the notes."""
    call, selector, notes = run.call, run.selector, run.notes
    full = run.findings.ranking
    ranking = full.without_left_out()
    rows = rows_of(run)
    evaluated, alerts = [], wording.alert_lines(run.findings.alerts, dropped=call.drop_leaks)
    if run.evaluation is not None:  # the answer names the sufficient features first: say which ones the folds keep
        wishes = {"relevant": "related to the target", "sufficient": "that suffice"} if ranking.n_relevant else {}
        kept = wishes.get(call.keep, "selected")
        worth = sentence(note_on_evaluation(run.evaluation, wording.model_of(run), kept))
        evaluated = [worth, run.evaluation.verdict(), *run.evaluation.about_truth()]
    if print_answer(call, rows, lambda: content_of(run, ranking, rows)):
        tell([*map(sentence, alerts), *evaluated, *notes] if call.csv else notes, quiet=call.quiet)
        return
    alpha = call.alpha if full.n_relevant is not None else None
    sure: list[Any] = [*selector.findings_.beyond]
    sure += list(how_sure(full.without_handed_on(), alpha, run.stability))
    close = getattr(selector, "at_the_line_", np.zeros(len(full.names), dtype=bool))
    sure += [note("at the line", names=full.names[close].tolist())] if close.any() else []
    sure += [*evaluated, *(say("alert", alert=line) for line in alerts)]
    hidden = {f"pvalue of {name}" for name in run.question.target_names}
    print_ranking(run.question.asked_in_quotes, rows, full, sure, _how(run), call.top, hidden)
    tell(notes, quiet=call.quiet)


def _how(run: Run) -> list[Any]:
    """How the answer was found, in sentences."""
    selector = run.selector
    how: list[Any] = [selector.supervision_.describe(), note("by method", method=selector.method_)]
    how += [capital(one) for one in selector.findings_.notes if one.code not in BEYOND]
    ranking = selector.to_ranking()
    how += [note("related first" if ranking.about_truth is None else "truth first")] if ranking.n_relevant else []
    how += [] if run.tolerance is None else wording.tolerance_columns(run.tolerance)
    how += [] if run.corrected is None else run.corrected.sentences()
    how += run.audit.on_annotators() if isinstance(run.audit, VoteAudit) else []
    return [*how, *trust.who_labelled(run)]


def content_of(run: Run, ranking: Any, rows: Rows) -> dict[str, Any]:
    """The answer for JSON."""
    selector, call = run.selector, run.call
    content: dict[str, Any] = {
        "table": call.table,
        "target": run.question.asked_as_data,
        "labels": selector.supervision_.describe(),
        **answer_of(ranking, rows, selector.method_, selector.explanation_),
        **{name: getattr(ranking, name) for name in ("n_relevant", "n_sufficient", "most_by_chance", "left_out")},
        "alerts": wording.alert_records(run.findings.alerts, dropped=call.drop_leaks),
        "notes": run.notes,
        "features": rows,
    }
    if ranking.given:
        content |= {"given": list(ranking.given), "given_share": selector.given_share_}
        content["effects_within"] = [one for within in selector.effects_within_ for one in within.record()]
    if run.stability is not None:
        content["stability"] = _agreement(run.stability)
    if run.corrected is not None:
        content["corrections"] = run.corrected.record()
    if run.evaluation is not None:
        ridge = call.evaluate == "logistic" and run.evaluation.measure == "R2"
        content["evaluation"] = {"model": "ridge" if ridge else call.evaluate, **run.evaluation.record()}
    return content


def answer_of(ranking: Any, rows: Rows, method: str, explanation: str) -> dict[str, Any]:
    """What JSON says about every ranking, also about that of a stream."""
    kept = [row["feature"] for row in rows if row["kept"]]
    lower = bool(ranking.lower_is_better)
    return {"method": method, "explanation": explanation, "lower_is_better": lower, "kept": kept}


def print_ranking(
    asked: str, rows: Rows, ranking: Any, sure: list[Any], how: list[Any], top: int, hidden: Collection[str] = ()
) -> None:
    """The answer, how sure it is, the best features as a table without ``hidden`` columns, and how it was found."""
    for line in (ranking.headline(about=asked), *map(sentence, sure)):
        output.print_paragraph(line)
    if not rows:  # no feature varies: the alerts name the columns
        return
    hidden = _NOT_PRINTED.union(hidden, ranking.details, {"score"} if ranking.scores_are_places else ())
    if terminal_width() < _NARROW:
        hidden |= {"score", "rank_low", "rank_high"}
    if all(row.get("worst_case") is None for row in rows):  # no bound is known, as with groups
        hidden.add("worst_case")
    one_effect = "effect_of" in rows[0] and not ranking.details  # of two classes: the caption names it
    hidden |= {"effect_of"} if one_effect else set()
    names = [name for name in rows[0] if name not in hidden]
    names.insert(names.index("feature") + 1, "kept")
    if "label" in names:
        names.insert(2, names.pop(names.index("label")))
    left = ("feature", "label", "kept", "serves", "verdict", "direction", "effect_of", "effect_level", "adjusting")
    columns = [(_LABELS.get(name, name), "left" if name in left else "right") for name in names]
    shown = [[_shown(name, row, ranking) for name in names] for row in rows[:top]]
    caption = [note("more features", n=len(rows) - len(shown), total=len(rows))] if len(rows) > len(shown) else []
    if "effect" in names:
        code = "effects on one" if one_effect else "effects on" if "effect_of" in names else "effects"
        caption.append(note(code, of=rows[0].get("effect_of")))
    caption += [note("scores", direction="low" if ranking.lower_is_better else "high")] if "score" in names else []
    text = "\n".join(output.paragraph(sentence(one)) for one in [*caption, *how])
    title = say("ranked table", asked=asked) if asked else say("table without a target")
    output.print_table(title, columns, shown, text)


def _agreement(stability: Any) -> dict[str, Any]:
    """The agreement of the resamples, and the forecast for fresh samples."""
    found, forecast = stability.index, stability.forecast
    agreement = {"index": None if found is None else found.value, "draws": len(stability.rankings)}
    if forecast is not None:
        agreement["forecast"] = {"value": forecast.agreement, "low": forecast.low, "high": forecast.high}
    return agreement


def _shown(name: str, row: dict[str, Any], ranking: Any) -> Any:
    value = row[name]
    if name == "kept":
        return ranking.line_of(int(ranking.order[row["rank"] - 1]))
    if value is None:
        return None
    if name == "effect":
        return say("effect and interval", **{key: 100 * row[key] for key in ("effect", "effect_low", "effect_high")})
    if name in ("frequency", "fresh", "tolerance", "effect_corrected"):
        return f"{100 * value:.0f} %"
    if name == "worst_case" and value == int(value):
        return int(value)
    form = {"qvalue": ".2g", "q_truth": ".2g", "doubt": ".2g", "rank_low": ".0f", "rank_high": ".0f"}.get(name)
    return value if form is None else format(value, form)
