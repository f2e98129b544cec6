"""``dubio rank``: from a file to the ranking."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import fill
from typing import Any, Literal

import joblib
import numpy as np
from scipy import sparse
from sklearn.base import clone

from dubio.alerts.find import left_out_by
from dubio.doubt.audit import audit_problem
from dubio.doubt.number_audit import FEWEST_AUDITED, audit_numbers
from dubio.errors import counted, listed, quoted, rows_named
from dubio.kernels.gpu import DeviceName
from dubio.problem import Problem
from dubio.streams.sample import DrawnRows, refuse_infinity, vary_outside, words_of_all_rows
from dubio.target.classes import Classes
from dubio.target.corrections import CorrectedLabels
from dubio.target.memberships import Memberships
from dubio.target.numbers import Numbers
from dubio.target.several import SeveralTargets
from dubio.trust.fingerprints import annotators_in_words
from dubio.trust.resampling import problem_stability
from dubio.trust.tolerance import problem_tolerance
from dubio.whole_files import write_whole
from dubio_app.command.alerting import alert_lines, alert_records, of_the_sample, told_once
from dubio_app.command.evaluating import WORDS, evaluation_of, evaluation_record, in_words, require_evaluable
from dubio_app.command.labels import before_and_after, fingerprints_of, with_corrections
from dubio_app.command.output import (
    as_csv,
    as_json,
    notes_from_warnings,
    print_table,
    print_text,
    records,
    step,
    tell,
    terminal_width,
    visible,
)
from dubio_app.command.question import Question, Wishes, ask, how_read, target_named
from dubio_app.command.wording import UserError
from dubio_app.files import TableFile, frame_bytes, read_file, table_format

#: Width of the text that is printed, and the width of a terminal below which some columns are left out.
_WIDTH, _NARROW = 80, 80
#: Cells (labelled rows times features) up to which a report shows how wrong the labels may be without being asked.
_TOLERANCE_CELLS = 30_000


@dataclass(frozen=True)
class RankOptions:
    """All options of a ranking, except those about the columns."""

    method: str = "auto"
    keep: Any = "relevant"
    alpha: float = 0.05
    redundancy: float | None = None
    drop_leaks: bool = False
    draws: int | None = None
    tolerance: bool | None = None
    evaluate: Literal["logistic", "forest", "svm"] | None = None
    corrections: str | None = None
    seed: int = 0
    jobs: int | None = None
    device: DeviceName = "cpu"
    report: str | None = None
    save_table: str | None = None
    output: str = "table"
    top: int = 20
    quiet: bool = False
    command: str = ""


def rank_table(path: str, wishes: Wishes, options: RankOptions) -> None:
    """Read the table, rank its features, and write the results."""
    for place in (options.report, options.save_table):
        require_place(place, path)
        require_place(place, wishes.pairs, "the file of pairs")
        require_place(place, options.corrections, "the file of corrections")
    if options.report and options.save_table and Path(options.report).resolve() == Path(options.save_table).resolve():
        raise UserError("--report and --save-table are the same file: give two names.")
    if options.save_table:
        table_format(options.save_table)
    with step(f"reading {path}"):
        file = read_file(path, wishes.reading)
    with rows_named(file.row_name), target_named(wishes.for_columns(file.frame.columns).target):
        rank_frame(path, file, wishes, options)


def rank_frame(
    path: str, file: TableFile, wishes: Wishes, options: RankOptions, *, drawn: DrawnRows | None = None
) -> None:
    """Rank the features of a table in memory, which may be a sample ``drawn`` of the rows of the file."""
    wishes = wishes.for_columns(file.frame.columns)
    question = with_corrections(ask(file, wishes), wishes, options.corrections)
    notes = list(question.notes)
    sampled = drawn is not None and drawn.n_rows > len(file.frame)
    if drawn is not None and sampled:
        notes.append(
            f"a sample of {len(file.frame):,} of {drawn.n_rows:,} rows was used (--no-stream loads the whole table)"
        )
        names = [name for name in map(str, question.features.names or []) if name in drawn.columns]
        refuse_infinity(drawn, names)
    selector = _selector(question, options)
    with step("ranking"), notes_from_warnings(notes):
        problem = selector.read_problem(question.features, question.y, **question.fit_arguments)
        require_evaluable(problem, options)
        selector.fit_problem(problem)
    notes += how_read(question.asked, problem.supervision)
    if drawn is not None and sampled:
        labels = [name for name in question.target_names if name in drawn.columns]
        notes += words_of_all_rows(drawn, names, labels, problem.supervision)
        selector.alerts_ = of_the_sample(selector.alerts_, vary_outside(drawn, names))
    draws = options.draws if options.draws is not None else (_usual_draws(selector, problem) if options.report else 0)
    sure = _stability(selector, problem, options, draws) if draws else None
    tolerance = _tolerance(selector, problem, options, notes)
    read = problem.with_supervision(problem.supervision.certain())
    marks = fingerprints_of(question, wishes, read, options, notes, bool(options.report))
    mended = before_and_after(question, problem, selector, options) if options.corrections else None
    evaluation = evaluation_of(selector, problem, options, notes)
    if options.report:
        more: dict[str, Any] = {"tolerance": tolerance, "fingerprints": marks, "mended": mended}
        if evaluation is not None and options.evaluate is not None:
            more |= {"evaluation": evaluation, "model": WORDS[options.evaluate][evaluation.measure == "R2"]}
        more["identifiers"] = {name: question.table[name].tolist() for name in wishes.identifiers}
        _write_report(path, question, problem, selector, sure, options, notes, more)
    if options.save_table:
        said = _save_table(question, wishes, selector, options.save_table)
        if selector.to_ranking().nothing_stands_out:
            tell([said], quiet=False)  # a missing file is said even with --quiet
        else:
            notes.append(said)
    more = {"tolerance": tolerance, "marks": marks if wishes.annotator else None}
    _print(path, question, selector, sure, options, notes, **more, mended=mended, evaluation=evaluation)


def _selector(question: Question, options: RankOptions) -> Any:
    from dubio.selector import FeatureSelector

    return FeatureSelector(
        options.method,
        n_features_to_select=options.keep,
        alpha=options.alpha,
        redundancy=options.redundancy,
        drop_leaks=options.drop_leaks,
        target=question.kind,
        missing_label=question.missing_label,
        random_state=options.seed,
        n_jobs=options.jobs,
        device=options.device,
    )


def _usual_draws(selector: Any, problem: Problem) -> int:
    """The default number of resamples: fewer for larger tables."""
    cells = problem.n_rows * problem.n_features
    if hasattr(selector.selector_, "subsets_"):  # the cost of a search grows with the square of the cells
        return 20 if cells <= 3_000 else 10 if cells <= 15_000 else 5
    return 50 if cells <= 20_000 else 30 if cells <= 200_000 else 15


def _stability(selector: Any, problem: Problem, options: RankOptions, draws: int) -> Any:
    """How far the ranks move, and how often each feature is kept, on resampled rows."""
    if draws < 2:
        raise UserError("--stability needs at least 2 resamples, or 0 for none.")
    with (
        step("resampling"),
        notes_from_warnings([]),
        joblib.parallel_config(backend="threading"),  # processes start slowly and would outlive Ctrl-C
    ):
        return problem_stability(
            clone(selector).set_params(n_jobs=1),
            problem,
            n_draws=draws,
            random_state=options.seed,
            n_jobs=options.jobs or -1,
        )


def _tolerance(selector: Any, problem: Problem, options: RankOptions, notes: list[str]) -> Any:
    """How wrong the labels may be, if it was asked for, or if a report is written and it takes little time."""
    ranking = selector.to_ranking()
    cheap = options.report and problem.supervision.n_labelled * problem.n_features <= _TOLERANCE_CELLS
    if options.tolerance is False or not (options.tolerance or cheap):
        return None
    if not isinstance(problem.supervision, Classes | Memberships | Numbers):
        if options.tolerance:
            one = "one --target" if isinstance(problem.supervision, SeveralTargets) else "--target"
            raise UserError(f"--tolerance asks how wrong the labels may be: give {one} with classes or numbers.")
        return None
    relevant = None if ranking.n_relevant is None else ranking.ranking <= ranking.n_relevant
    if relevant is not None and not relevant.any():
        return None
    if sparse.issparse(problem.X):
        problem = replace(problem, X=problem.X.toarray())
    with step("how wrong the labels may be"), notes_from_warnings(notes):
        return problem_tolerance(
            problem,
            alpha=options.alpha,
            relevant=relevant,
            together=bool(options.tolerance),
            random_state=options.seed,
            n_jobs=options.jobs,
        )


def _write_report(
    path: str,
    question: Question,
    problem: Problem,
    selector: Any,
    sure: Any,
    options: RankOptions,
    notes: list[str],
    more: dict[str, Any],
) -> None:
    audit: Any = None if more["mended"] is None else more["mended"].audit
    filled = problem.filled.with_supervision(selector.supervision_)
    if audit is not None:
        pass  # the labels were audited when the corrections were looked at
    elif isinstance(selector.supervision_, Classes):
        with step("auditing the labels"), notes_from_warnings(notes):
            audit = audit_problem(filled, random_state=options.seed, n_jobs=options.jobs)
    elif isinstance(selector.supervision_, Numbers) and selector.supervision_.n_labelled >= FEWEST_AUDITED:
        with step("auditing the numbers"), notes_from_warnings(notes):
            audit = audit_numbers(filled, random_state=options.seed, n_jobs=options.jobs)
    _write_page(path, question, problem, selector, options, notes, stability=sure, audit=audit, **more)


def write_audit_report(
    path: str, question: Question, problem: Problem, audit: Any, options: Any, notes: list[str], **more: Any
) -> None:
    """The report of an audit: the same page, with the features that tell the classes."""
    ranked = RankOptions(seed=options.seed, jobs=options.jobs, report=options.report, command=options.command)
    selector = more.pop("selector")
    identifiers = {name: question.table[name].tolist() for name in options.identifiers}
    _write_page(
        path,
        question,
        problem,
        selector,
        ranked,
        notes,
        audit=audit,
        identifiers=identifiers,
        about_labels=True,
        code=audit_code(question, options),
        **more,
    )


def ranked_labels(question: Question, problem: Problem, options: Any, notes: list[str]) -> Any:
    """A selector fitted on the table of an audit."""
    selector = _selector(question, RankOptions(seed=options.seed, jobs=options.jobs))
    with step("ranking"), notes_from_warnings(notes):
        return selector.fit_problem(problem)


def _write_page(
    path: str,
    question: Question,
    problem: Problem,
    selector: Any,
    options: RankOptions,
    notes: list[str],
    **more: Any,
) -> None:
    """Write the report of a fitted selector; ``more`` are further findings."""
    from dubio_app.report import render_report
    from dubio_app.report.findings import gather_problem, written_cells

    assert options.report is not None
    more.setdefault("code", python_code(question, options))
    with step("writing the report"):
        findings = gather_problem(
            selector,
            problem.with_supervision(selector.supervision_),
            table_name="standard input" if path == "-" else Path(path).name,
            target_name=question.asked,
            asked=question.asked_in_quotes,
            command=options.command,
            notes=notes,
            written=written_cells(question.table),
            alerts=alert_records(
                tuple(one for one in selector.alerts_ if not one.asks_nothing),
                audit="about_labels" in more,
                dropped=options.drop_leaks,
            ),
            **more,
        )
        write_whole(options.report, render_report(findings))
    notes.append(f"report written to {options.report}")


def python_code(question: Question, options: RankOptions) -> str:
    """Python that gives the same ranking."""
    names = ["FeatureSelector", *_functions_in(question.code)]
    arguments = [repr(options.method)] if options.method != "auto" else []
    for name, value, usual in (
        ("n_features_to_select", "auto" if options.keep == "relevant" else options.keep, "auto"),
        ("alpha", options.alpha, 0.05),
        ("redundancy", options.redundancy, None),
        ("drop_leaks", options.drop_leaks, False),
        ("target", question.kind, "auto"),
        ("missing_label", question.missing_label, "auto"),
        ("random_state", options.seed, None),
    ):
        if value != usual:
            arguments.append(f"{name}={value!r}")
    said = {"sample_weight": "weights"}
    fit = ", ".join(["X, y", *(f"{name}={said.get(name, name)}" for name in question.fit_arguments)])
    return "\n".join(
        [
            "import pandas as pd",
            f"from dubio import {', '.join(names)}",
            "",
            *question.code,
            f"selector = FeatureSelector({', '.join(arguments)}).fit({fit})",
            "print(selector.explanation_)",
            "print(selector.to_ranking())",
        ]
    )


def audit_code(question: Question, options: Any) -> str:
    """Python that gives the same audit."""
    arguments = ["X, y"]
    for name, value, usual in (
        ("engine", options.engine, "transitions"),
        ("target", question.kind, "auto"),
        ("missing_label", question.missing_label, "auto"),
        ("random_state", options.seed, None),
    ):
        if value != usual:
            arguments.append(f"{name}={value!r}")
    said = {"groups": "groups", "sample_weight": "weights"}
    arguments += [f"{name}={said[name]}" for name in question.fit_arguments if name in said]
    call = f"audit_labels({', '.join(arguments)})"
    audit, imports = [f"audit = {call}"], []
    if options.corrections:  # what the decided labels teach about the others
        audit = [f"before = {call.replace('X, y', 'X, y.given')}", f"audit = audit_left(before, {call}, y)"]
        imports = ["from dubio.trust import audit_left"]
    return "\n".join(
        [
            "import pandas as pd",
            f"from dubio import {', '.join(['audit_labels', *_functions_in(question.code)])}",
            *imports,
            "",
            *question.code,
            *audit,
            "print(audit)",
            'print(audit.to_frame()[audit.doubtful].sort_values("rank"))',
        ]
    )


def _functions_in(code: list[str]) -> list[str]:
    """The functions of dubio that some lines call."""
    functions = (
        "apply_corrections",
        "interval_targets",
        "ordered_classes",
        "positive_unlabelled",
        "several_targets",
        "soft_labels",
    )
    return [name for name in functions if any(f"{name}(" in line for line in code)]


def _save_table(question: Question, wishes: Wishes, selector: Any, path: str) -> str:
    """Write the target and the kept features; return what was done."""
    ranking = selector.to_ranking()
    if ranking.nothing_stands_out:
        return f"no table was written to {path}, because no feature stands out"
    kept = {str(name) for name in ranking.names[ranking.support]}
    more = [name for name in (wishes.confidence, wishes.groups, wishes.weights) if name]
    target = {*question.target_names, *wishes.identifiers, *more}
    chosen = [name for name in question.table.columns if name in kept or name in target]
    table = question.table[chosen]
    if isinstance(question.y, CorrectedLabels):  # the table has the labels that were used
        table = table.assign(**{question.target_names[0]: question.y.labels})
    write_whole(path, frame_bytes(table, path))
    n_kept, fewer = int(ranking.support.sum()), ranking.n_sufficient
    all_related = n_kept > 1 and n_kept == ranking.n_relevant
    which = " (all that are related to the target)" if all_related else ""
    hint = f"; --keep sufficient writes {fewer}" if fewer and fewer < n_kept else ""
    return f"table with {counted(n_kept, 'feature')}{which} written to {path}{hint}"


def ranking_records(selector: Any, sure: Any, *more: Any) -> list[dict[str, Any]]:
    """One dictionary per feature, best first; ``more`` are findings with columns of their own, or None."""
    ranking = selector.to_ranking().without_handed_on()
    for found in more:
        ranking = ranking if found is None else ranking.with_columns(found.columns())
    frame = ranking.to_frame()
    if sure is not None:
        order = selector.to_ranking().order
        for name in ("rank_low", "rank_median", "rank_high", "frequency"):
            frame[name] = getattr(sure, name)[order]
    return records(frame)


def _print(
    path: str,
    question: Question,
    selector: Any,
    sure: Any,
    options: RankOptions,
    notes: list[str],
    tolerance: Any = None,
    marks: Any = None,
    mended: Any = None,
    evaluation: Any = None,
) -> None:
    rows = ranking_records(selector, sure, tolerance, marks)
    alerts = selector.alerts_
    full = selector.to_ranking().with_left_out(left_out_by(alerts, options.drop_leaks))
    ranking = full.without_left_out()
    rows = rows[: len(ranking.names)]
    evaluated = [] if evaluation is None else in_words(evaluation, options, bool(ranking.n_relevant))
    if options.output == "csv":
        print_text(as_csv(rows))
        notes = [*alert_lines(alerts, dropped=options.drop_leaks), *(f"{sentence}." for sentence in evaluated), *notes]
    elif options.output == "json":
        content: dict[str, Any] = {
            "table": path,
            "target": question.asked_as_data,
            "labels": selector.supervision_.describe(),
            "method": selector.method_,
            "explanation": selector.explanation_,
            "lower_is_better": bool(ranking.lower_is_better),
            "kept": [row["feature"] for row in rows if row["kept"]],
            "n_relevant": ranking.n_relevant,
            "n_sufficient": ranking.n_sufficient,
            "left_out": ranking.left_out,
            "alerts": alert_records(alerts, dropped=options.drop_leaks),
            "notes": notes,
            "features": rows,
        }
        if sure is not None:
            index = sure.index
            content["stability"] = {
                "index": index.value,
                "low": index.low,
                "high": index.high,
                "draws": len(sure.rankings),
            }
        if mended is not None:
            content["corrections"] = mended.record()
        if evaluation is not None:
            content["evaluation"] = evaluation_record(evaluation, str(options.evaluate))
        print_text(as_json(content))
    else:
        how = [
            selector.supervision_.describe(),
            f"Method: {selector.method_}",
            *selector.notes_,
        ]
        if ranking.n_relevant:
            how.append("Related features come first; within each part the order is that of the method")
        if tolerance is not None:
            how.append(_tolerance_words(tolerance))
        if mended is not None:
            how += [sentence.rstrip(".") for sentence in mended.sentences()]
        if marks is not None:
            how += [str(marks).rstrip("."), annotators_in_words(marks).rstrip(".")]
        if selector.n_missing_values_:
            how.append(f"{counted(selector.n_missing_values_, 'missing value')} filled with {selector.filled_with_}")
        line = getattr(selector, "at_the_line_", np.zeros(len(full.names), dtype=bool))
        said = _how_sure(ranking, options, sure, [str(name) for name in full.names[line]])
        said += evaluated
        if ranking.left_out:
            why, notes = told_once(ranking.left_out, notes)
            said.insert(0, replace(ranking, left_out=why).what_was_left_out())
        said += [f"Alert: {line.rstrip('.')}" for line in alert_lines(alerts, dropped=options.drop_leaks)]
        is_search = hasattr(selector.selector_, "subsets_")
        print_ranking(question.asked_in_quotes, rows, full, said, how, options.top, scores=not is_search)
    tell(notes, options.quiet)


def _tolerance_words(found: Any) -> str:
    """What the columns of the tolerance mean, without a full stop."""
    what = {
        "hard": "the share of labels that may be wrong at random",
        "soft": "how far all probabilities may be flattened",
        "numbers": "the share of gross errors",
    }[found.kind]
    said = f"Tolerance: {what} before a feature is kept in fewer than half of the draws"
    if found.no_worst:
        return f"{said}. What a feature survives at worst is not known {found.no_worst}"
    if not np.isfinite(found.worst).any():  # no feature passes the linear test, and the column is not shown
        return said
    bound = " (an upper bound)" if (found.surety == "at most").any() else ""
    worst = {
        "hard": f"how many labels somebody would have to change to push it out{bound}",
        "numbers": "the shift that pushes it out, in standard deviations",
    }[found.kind]
    return f"{said}; worst case: {worst}"


def _how_sure(ranking: Any, options: RankOptions, sure: Any, at_the_line: list[str]) -> list[str]:
    """How sure the answer is, in short sentences without a full stop."""
    said = []
    if ranking.n_relevant:
        said.append(f"Tested against chance; about {100 * options.alpha:g} % of the related features may be chance")
    elif ranking.n_relevant is None:
        said.append("The features were not tested")
    if at_the_line:
        said.append(f"At the line, where other random draws might decide otherwise: {listed(at_the_line)}")
    if sure is not None and not ranking.nothing_stands_out:
        said.append(
            f"Stability {sure.index.value:.2f} ({sure.index.low:.2f} to {sure.index.high:.2f}) over "
            f"{counted(len(sure.rankings), 'resample')}; 1 is always the same features"
        )
    return said


def print_ranking(
    asked: str,
    rows: list[dict[str, Any]],
    ranking: Any,
    sure: list[str],
    how: list[str],
    top: int,
    *,
    scores: bool = True,
) -> None:
    """The answer, how sure it is, the best features as a table, and how it was found."""
    labels = {
        "kept": "line",
        "qvalue": "q",
        "rank_low": "rank from",
        "rank_high": "to",
        "frequency": "kept in",
        "worst_case": "worst case",
    }
    for line in (ranking.headline(), *(f"{sentence}." for sentence in sure)):
        print_text(visible(fill(line, min(_WIDTH, terminal_width()))) + "\n")
    if not rows:  # no feature varies: the alerts name the columns
        return
    hidden_names = {"rank_median", "pvalue", "relevant", "sufficient", "kept", "tolerance_low", "tolerance_high"}
    if not scores:
        hidden_names.add("score")
    if terminal_width() < _NARROW:
        hidden_names |= {"score", "rank_low", "rank_high"}
    if all(row.get("worst_case") is None for row in rows):  # no bound is known, as with groups
        hidden_names.add("worst_case")
    names = [name for name in rows[0] if name not in hidden_names and not name.startswith("pvalue of ")]
    names.insert(names.index("feature") + 1, "kept")
    columns = [(labels.get(name, name), "left" if name in ("feature", "kept", "serves") else "right") for name in names]
    shown = [[_shown(name, row, ranking) for name in names] for row in rows[:top]]
    hidden = len(rows) - len(shown)
    more = [f"{counted(hidden, 'more feature')}; --top {len(rows)} shows all"] if hidden > 0 else []
    direction = [f"Scores: {'low' if ranking.lower_is_better else 'high'} is good"] if "score" in names else []
    width = min(_WIDTH, terminal_width())
    caption = "\n".join(fill(f"{sentence}.", width) for sentence in (*more, *direction, *how))
    print_table(f"Features for {asked}" if asked else "Features, without a target", columns, shown, caption)


def _shown(name: str, row: dict[str, Any], ranking: Any) -> Any:
    value = row[name]
    if name == "kept":
        return ranking.line_of(int(ranking.order[row["rank"] - 1]))
    if name in ("qvalue", "doubt") and value is not None:
        return f"{value:.2g}"
    if name in ("rank_low", "rank_high") and value is not None:
        return f"{value:.0f}"
    if name == "worst_case" and value is not None and value == int(value):
        return int(value)
    return f"{100 * value:.0f} %" if name in ("frequency", "tolerance") and value is not None else value


def require_place(path: str | None, table: str | None, what: str = "the table itself") -> None:
    """Report a file that cannot be written before the work starts, not after it."""
    if path is None or table is None:
        return
    if Path(path).exists() and Path(table).exists() and Path(path).samefile(table):
        raise UserError(f"{quoted(path)} is {what} and would be overwritten: give another name.")
    if Path(path).is_file() and not os.access(path, os.W_OK):
        raise UserError(f"{quoted(path)} cannot be written: the file is read-only.")
    folder = Path(path).parent
    if Path(path).is_dir():
        raise UserError(f"{quoted(path)} is a folder: give the name of a file.")
    if not folder.is_dir():
        raise UserError(f"{quoted(path)} cannot be written: there is no folder {quoted(folder)}.")
    if not os.access(folder, os.W_OK):
        raise UserError(f"{quoted(path)} cannot be written: no permission to write in {quoted(folder)}.")
