"""The pieces of work behind the page, each in a process of its own: they call what the commands call."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dubio.alerts import find_alerts
from dubio.doubt.audit_record import LabelAudit
from dubio.errors import InputError
from dubio.findings import how_sure
from dubio.table.matrix import fill_missing, standardize
from dubio.table.read import column_readings, read_any_table
from dubio.words import Note, note, sentence, spoken
from dubio_app.command import trust
from dubio_app.command.applying import write_kept
from dubio_app.command.checking import rows_to_check
from dubio_app.command.look import reading_of_columns
from dubio_app.command.options import Call, UserError, options_named
from dubio_app.command.output import notes_from_warnings, plain, progress_goes_to
from dubio_app.command.question import Question, declared, table_of
from dubio_app.command.rank import content_of, examined, ranked, rows_of, write_files
from dubio_app.command.run import call_command
from dubio_app.command.trust import Run
from dubio_app.command.voting import audited_votes, save_labels
from dubio_app.files import frame_bytes
from dubio_app.page.wording import NAMES, PAGE, alert_record, problem_records
from dubio_app.report import tables
from dubio_app.report.sections import picture
from dubio_app.whole_files import write_whole

#: What a job tells the server: a kind ("progress", "part", "notes", "problems", "done") and its content.
Tell = Callable[[str, Any], None]
#: What answers questions after the work.
Answering = Callable[[dict[str, Any]], Any]

#: Rows and columns of the table that are shown, bars of a small picture, and points of a curve.
_ROWS, _COLUMNS, _BARS, _POINTS = 8, 60, 12, 400
#: Features with at least this correlation are called alike; most that are listed.
_NEAR, _MOST_ALIKE = 0.7, 12
#: The best features, whose pictures are there when the project is opened again.
_PICTURES = 30
#: Most letters of a cell that are shown.
_LONGEST = 60


def run(job: str, words: Sequence[str], tell: Tell, more: dict[str, Any]) -> Answering | None:
    """Do a piece of work; what can go wrong with a table is told, each problem with what can be clicked."""
    found: list[Answering] = []

    def work(call: Call) -> None:
        found.extend(one for one in [JOBS[job](call, tell, **more)] if one is not None)

    def listen(what: str, part: str, done: int, total: int | None) -> None:
        tell("progress", {"what": what, "part": part, "done": done, "total": total})

    sys.argv = ["dubio", *words]  # the report shows the command
    with options_named(NAMES), spoken(PAGE), progress_goes_to(listen):
        try:
            call_command(list(words), work)
        except (UserError, ValueError, OSError, ImportError, MemoryError) as error:
            tell("problems", problem_records(error))
            return None
        except Exception as error:
            text = f"{type(error).__name__}: {error}. This is a fault of dubio: please report it."
            tell("problems", [{"text": text, "column": "", "clicks": []}])
            return None
    tell("done", None)
    return found[0] if found else None


# ---- the table -------------------------------------------------------------------------------------------------------


def look(call: Call, tell: Tell) -> None:
    """How each column is read, with a small picture, and the first rows."""
    with table_of(call) as file:
        shown = file.frame.iloc[:_ROWS, :_COLUMNS]
        rows = [[_cell(value) for value in row] for row in shown.itertuples(index=False)]
        first = {"names": [str(name) for name in shown.columns], "rows": rows}
        size = {"n_rows": len(file.frame), "n_columns": len(file.frame.columns)}
        tell("part", {"first": {**first, **size, "notes": list(file.notes)}})
        table, _ = declared(file.frame, call)
        readings = column_readings(table, decimal=call.decimal)
        pictures = _pictures(table, [one.name for one in readings if not one.problems], call)
        columns = []
        for one, row in zip(readings, reading_of_columns(file, table, readings, call), strict=True):
            problems = [record for problem in one.problems for record in problem_records(problem)]
            kept = ("column", "read_as", "unit", "gaps", "examples", "left_out")
            columns.append({**{name: row[name] for name in kept}, "kind": one.kind, "problems": problems})
            columns[-1] |= {"picture": pictures.get(one.name, []), "meaning": file.labels.get(str(one.name), "")}
    tell("part", {"columns": columns})


def _cell(value: Any) -> str:
    value = plain(value)
    text = "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _pictures(table: Any, names: list[Any], call: Call) -> dict[Any, list[int]]:
    """How many rows have each category, or lie in each part of the range of a column."""
    if not names:
        return {}
    with suppress(InputError):
        found = read_any_table(table[names], decimal=call.decimal)
        if found.columns is None:
            return {}
        pictures = {}
        for feature in range(found.columns.n_features):
            reading, own = found.columns.reading_of(feature), found.columns.of(feature)
            levels = own[found.columns.roles[own] == "level"]
            if reading is None or not len(own):
                continue
            if len(levels):
                counts = np.nansum(np.asarray(found.matrix)[:, levels], axis=0)[:_BARS]
            else:
                values = np.asarray(found.matrix)[:, own[0]]
                finite = values[np.isfinite(values)]
                counts = np.histogram(finite, _BARS)[0] if len(finite) else np.zeros(0)
            pictures[reading.name] = [int(count) for count in counts]
        return pictures
    return {}


# ---- the question ----------------------------------------------------------------------------------------------------


def ask(call: Call, tell: Tell) -> None:
    """What is known of the target, and what may make the answer wrong, before anything is ranked."""
    with table_of(call) as file:
        question = Question(file, call)
        notes = list(question.notes)
        selector = trust.make_selector(question)
        with notes_from_warnings(notes):
            problem = selector.read_problem(question.features, question.y, **question.fit)
        known = problem.supervision
        counts = [[name, str(count)] for name, count in known.counts()]
        shown = {"text": f"{known.describe()}.", "counts": counts, "notes": notes, **_picture_of_target(known)}
        tell("part", {"target": shown})
        alerts = [alert_record(alert, call) for alert in find_alerts(problem) if not alert.asks_nothing]
        tell("part", {"alerts": alerts, "sizes": [problem.n_rows, problem.n_features]})


def _picture_of_target(known: Any) -> dict[str, Any]:
    """How many rows each class has, or how the numbers are spread."""
    values, names, order = known.as_drawn()
    if names:
        totals = np.nansum(values, axis=0)
        return {"classes": [[str(names[k]), float(f"{totals[k]:.1f}")] for k in list(order)[:_BARS]]}
    if values.ndim == 1 and np.isfinite(values).any():
        return {"numbers": [int(count) for count in np.histogram(values[np.isfinite(values)], 2 * _BARS)[0]]}
    return {}


# ---- the answer ------------------------------------------------------------------------------------------------------


def answer(call: Call, tell: Tell, *, decided: str) -> Answering:
    """Rank the columns and write the files; the answer is told as soon as there is something to read."""
    with table_of(call) as file:
        run = ranked(file, call)
        ranking = run.selector.to_ranking()
        tell("part", {"first": _headline(run)})
        if not call.no_rows:  # the list of features, before it is known how far it can be trusted
            tell("part", {"early": _content(run, trust.findings_of(run), {}, decided)})
        examined(run)
        findings = trust.findings_of(run)
        people = _people(file, call)
        content = _content(run, findings, people, decided)
        content["changes"] = content["changes"] or _changes(content)
        tell("part", {"answer": content})
        notes, folder = list(run.notes), Path(call.paper)  # without those on files: the page lists them
        if (folder / "run.toml").is_file():
            shutil.rmtree(folder)
        write_files(run)
        if ranking.nothing_stands_out:
            Path(call.save_table).unlink(missing_ok=True)
        _write_labels(run)
        if not people:
            Path("likely.csv").unlink(missing_ok=True)
        rows = rows_of(run)
        told = content_of(run, run.findings.ranking.without_left_out(), rows)
        names = [str(ranking.names[j]) for j in ranking.order[:_PICTURES]]
        pictures = {"decided": decided, "features": {name: _about(findings, {"feature": name}) for name in names}}
        write_whole("pictures.json", json.dumps(pictures, ensure_ascii=False))
        write_whole("answer.json", json.dumps({**content, "told": told}, ensure_ascii=False, allow_nan=False))
    tell("notes", notes)
    return partial(_about, findings)


def _headline(run: Run) -> dict[str, Any]:
    """The answer before it is known how far it can be trusted."""
    full = run.findings.ranking
    kept = full.without_handed_on()
    names = [str(kept.names[j]) for j in kept.order[kept.n_given : kept.n_ranked] if kept.support[j]]
    sure = how_sure(kept, run.call.alpha if full.n_relevant is not None else None)
    headline = full.headline(about=run.question.asked_in_quotes)
    return {"headline": headline, "sure": _in_sentences(sure), "kept": names[:40]}


def _in_sentences(notes: Iterable[Note]) -> list[str]:
    """Notes as sentences, but for that on what Python does if nothing stands out."""
    return [sentence(one) for one in notes if one.code != "handed on"]


def _content(run: Run, findings: Any, people: dict[str, Any], decided: str) -> dict[str, Any]:
    """What the page shows of the answer."""
    ranking = findings.ranking
    line = {name: getattr(ranking, name) for name in ("n_given", "n_kept", "n_relevant", "n_sufficient", "n_ranked")}
    curves = {"curve": _curve(findings.curve), "path": _curve(findings.path)}
    changes = [] if run.corrected is None else run.corrected.sentences()
    audit = findings.audit
    about = "" if audit is None else str(audit)
    return {
        **_headline(run),
        "sure": _in_sentences([*how_sure(ranking, findings.alpha, findings.stability), *findings.doubtful_along()]),
        "of": run.call.table,
        "kept_all": findings.kept,
        "decided": decided,
        "table": tables.feature_table(findings),
        "line": {**line, **curves, "alpha": findings.alpha},
        "alerts": [alert_record(one, run.call) for one in run.findings.alerts if not one.asks_nothing],
        "changes": changes,
        "left_out": ranking.left_out,
        "explanation": findings.explanation,
        "tolerance": "" if findings.tolerance is None else findings.tolerance.kind,
        "labels": {} if findings.no_rows else tables.corrections(findings),
        "audit": about,
        "people": people,
        "code": run.question.python(),
    }


def _changes(content: dict[str, Any]) -> list[str]:
    """What is different from the answer before, to the same table and after other decisions."""
    try:
        before = json.loads(Path("answer.json").read_text(encoding="utf-8"))
        if before["of"] != content["of"] or before["decided"] == content["decided"]:
            return []
        earlier, now = before["kept_all"], content["kept_all"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    came = [name for name in now if name not in set(earlier)]
    went = [name for name in earlier if name not in set(now)]
    told = [note("kept since", n=len(came), names=came)] if came else []
    told += [note("kept before", n=len(went), names=went)] if went else []
    return [sentence(one) for one in told or [note("kept as before")]]


def _curve(curve: Any) -> dict[str, Any] | None:
    if curve is None:
        return None
    few = slice(0, _POINTS)
    sizes = [int(size) for size in curve.sizes[few]]
    return {"label": curve.label, "sizes": sizes, "values": [plain(float(value)) for value in curve.values[few]]}


def _people(file: Any, call: Call) -> dict[str, Any]:
    """How good each annotator is, and whom to ask next; the likely truth goes into a file."""
    if len(call.annotators) < 2:
        return {}
    given = {name: getattr(call, name) for name in ("annotators", "groups", "weights", "given", "ignore", "nominal")}
    given |= {name: getattr(call, name) for name in ("ordinal", "id", "unlabelled", "target_kind", "decimal", "seed")}
    voted = Call("audit", table=call.table, save_labels="likely.csv", **given)
    with suppress(InputError, UserError):  # votes that can be averaged, but not audited
        run, _ = audited_votes(file, voted)
        save_labels(run)
        audit = run.audit
        asked = tables.whom_to_ask(audit)
        head = ["row", "votes", "likely", "ask", "gain"]
        sentences = [sentence(one) for one in [*audit.notes(), *audit.on_annotators()]]
        return {"sentences": sentences[:30], "head": head, "rows": [list(map(str, row)) for row in asked]}
    return {}


def _write_labels(run: Run) -> None:
    """Every label: as it was given, what is likely, and what was decided."""
    place = Path("labels.csv")
    if not isinstance(run.audit, LabelAudit) or run.call.no_rows:
        place.unlink(missing_ok=True)
        return
    table = run.audit.to_frame().reset_index(drop=True)
    for name in [*run.call.id, *run.question.target_names]:
        if name not in table and name in run.question.table:
            table.insert(0, name, run.question.table[name].to_numpy())
    decided = getattr(run.question.y, "labels", None)
    if decided is not None:
        table["corrected"] = decided
    table.insert(0, "row", range(1, len(table) + 1))
    write_whole(place, frame_bytes(table, place.name))


def _about(findings: Any, question: dict[str, Any]) -> dict[str, Any]:
    """A feature: its picture, and the features that are like it."""
    names = [str(name) for name in findings.ranking.names]
    name = str(question.get("feature", ""))
    if name not in names:
        return {}
    feature = names.index(name)
    rank = int(findings.ranking.ranking[feature])
    made = picture(findings, rank, feature) if not findings.no_rows else {}
    return {
        "picture": str(made.get("figure", "")),
        "caption": made.get("caption", ""),
        "alike": _alike(findings, feature),
    }


def _alike(findings: Any, feature: int) -> list[list[Any]]:
    """The features that are much like one, with their correlations."""
    unit = findings.problem.once("standardized as drawn", lambda: _standardized(findings.table))
    near = np.nan_to_num(unit.T @ unit[:, feature])
    order = [j for j in np.argsort(-np.abs(near), kind="stable").tolist() if j != feature and abs(near[j]) >= _NEAR]
    return [[str(findings.ranking.names[j]), round(float(near[j]), 2)] for j in order[:_MOST_ALIKE]]


def _standardized(table: Any) -> Any:
    with np.errstate(invalid="ignore"):
        return standardize(fill_missing(table)) / np.sqrt(len(table))


# ---- labels, and the next table --------------------------------------------------------------------------------------


def draw(call: Call, tell: Tell) -> None:
    """Draw rows for a person to judge, without their labels."""
    with table_of(call) as file:
        drawn = rows_to_check(file, call)
    cards = [asdict(card) for card in drawn.cards]
    tell("part", {"cards": cards, "classes": drawn.classes, "file": drawn.file, "notes": drawn.question.notes})


def apply(call: Call, tell: Tell) -> None:
    """The kept columns of the next table."""
    tell("part", {"applied": [sentence(one) for one in write_kept(call)[0]]})


JOBS: dict[str, Callable[..., Answering | None]] = {
    "look": look,
    "ask": ask,
    "answer": answer,
    "draw": draw,
    "apply": apply,
}
