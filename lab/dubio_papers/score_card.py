"""The score card: every printed number and every claiming sentence of the papers once, each with our verdict.

A printed number counts under the protocol that its paper states; tables of other protocols stand beside it on the
pages and do not count. A sentence counts once, however many cells it speaks of: it holds if all of them do, and in part
if some do. Everything is counted from the stored results.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from dubio_papers.experiment import PAPERS
from dubio_papers.summary import ExperimentSummary

#: What can become of a line. A number is inside its band or outside; a sentence holds, holds in part, or does not hold.
Verdict = Literal["inside", "outside", "holds", "in part", "does not hold", "not judged"]
Summaries = Mapping[str, ExperimentSummary]
#: Gains below this are rounding errors.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Check:
    """One number that a sentence is judged by: a difference that must be positive, or as the rule says."""

    label: str
    value: float
    error: float | None
    holds: bool


@dataclass(frozen=True)
class Line:
    """A printed number or a sentence, and what became of it."""

    paper: str
    section: str
    kind: Literal["number", "sentence"]
    text: str
    printed: float | None
    ours: float | None
    error: float | None
    verdict: Verdict
    numbers: str = ""


@dataclass(frozen=True)
class Sentence:
    """A claim of a paper: where it stands, what it says, and the checks that it is judged by.

    ``most``: the paper says "in most cases", so more than half of the checks must hold. ``why_not``: why it cannot be
    judged, if it cannot.
    """

    paper: str
    section: str
    text: str
    checks: Callable[[Summaries], list[Check]] | None = None
    most: bool = False
    why_not: str = ""


# --- rules -----------------------------------------------------------------------------------------------------------


def better(label: str, value: float, error: float | None) -> Check:
    """Above zero by more than two standard errors."""
    return Check(label, value, error, value > 2 * (error or 0.0) + _ROUNDING)


def not_worse(label: str, value: float, error: float | None) -> Check:
    """Not below zero by more than two standard errors."""
    return Check(label, value, error, value >= -2 * (error or 0.0) - _ROUNDING)


def the_same(label: str, value: float, error: float | None) -> Check:
    """Within two standard errors of zero."""
    return Check(label, value, error, abs(value) <= 2 * (error or 0.0) + _ROUNDING)


Rule = Callable[[str, float, float | None], Check]


def gains(summary: ExperimentSummary, measure: str, rule: Rule, only: Callable[[Any], bool] = bool) -> list[Check]:
    """A paired gain in every cell that was run."""
    return [
        rule(f"{cell.title}, {measure}", cell.measures[measure].mean, cell.measures[measure].error)
        for cell in summary.cells
        if measure in cell.measures and only(cell)
    ]


def difference(cell: Any, larger: str, smaller: str, rule: Rule, place: int | None = None, *, where: str = "") -> Check:
    """One mean minus another, of a cell or at one place of its curves; ``where`` comes before the title of the cell.

    Only the errors of both means are stored, so theirs is taken as that of independent means: for means of the same
    repetitions this is mostly too large.
    """

    def at(number: Any) -> float:
        return float(number if place is None else number[place])

    first, second = cell.measures[larger], cell.measures[smaller]
    error = None
    if first.error is not None and second.error is not None:
        error = (at(first.error) ** 2 + at(second.error) ** 2) ** 0.5
    x = cell.measures["x"].mean if "x" in cell.measures else list(range(1, 1000))
    at_place = "" if place is None else " at the end" if place < 0 else f" at {x[place]:g}"
    return rule(f"{where}{cell.title}{at_place}, {larger} over {smaller}", at(first.mean) - at(second.mean), error)


# --- lines -----------------------------------------------------------------------------------------------------------


def number_lines(summaries: Summaries) -> list[Line]:
    """The printed numbers, each once, under the protocol that the paper states."""
    lines = []
    for summary in summaries.values():
        for shown in summary.displays:
            if shown.kind != "table":
                continue
            beside = set(shown.options.get("beside", ()))
            names_its_table = shown.title.startswith(("Table ", "Tables "))
            section = shown.title if names_its_table else f"{summary.title.split(':')[0]}: {shown.title}"
            for cell in summary.cells:
                for measure, entry in shown.rows.get(cell.key, {}).items():
                    if entry.printed is None or {cell.key, measure} & beside:
                        continue
                    verdict: Verdict = "not judged"
                    if entry.inside is not None:
                        verdict = "inside" if entry.inside else "outside"
                    note = ""
                    if entry.ours is None:
                        note = "the table is not to be had"
                    elif not shown.options.get("comparable", True):
                        note = "another learner"
                    elif entry.inside is None:
                        note = "too few repetitions"
                    text = f"{cell.title}: {measure}" if cell.title else measure
                    lines.append(
                        Line(
                            summary.paper,
                            section,
                            "number",
                            text,
                            entry.printed,
                            entry.ours,
                            entry.error,
                            verdict,
                            note,
                        )
                    )
    return lines


def _line(sentence: Sentence, summaries: Summaries) -> Line:
    checks: list[Check] = []
    note = sentence.why_not
    if sentence.checks is not None:
        try:
            checks = sentence.checks(summaries)
        except KeyError:
            note = "not run"
    verdict: Verdict = "not judged"
    ours = error = None
    if checks:
        held = sum(check.holds for check in checks)
        enough = held > len(checks) / 2 if sentence.most else held == len(checks)
        verdict = "holds" if enough else "in part" if held else "does not hold"
        if len(checks) == 1:
            ours, error = checks[0].value, checks[0].error
        against = [check for check in checks if not check.holds]
        note = f"{held} of {len(checks)}" + (f"; not {_named(against)}" if against and held else "")
        if len(checks) == 1 or not held:
            note = f"{held} of {len(checks)}: " + _named(checks)
    return Line(sentence.paper, sentence.section, "sentence", sentence.text, None, ours, error, verdict, note)


def _named(checks: Sequence[Check]) -> str:
    words = [
        f"{check.label} {check.value:.3g}" + ("" if check.error is None else f" ± {check.error:.2g}")
        for check in checks[:4]
    ]
    return "; ".join(words) + (f"; and {len(checks) - 4} more" if len(checks) > 4 else "")


def score_card(summaries: Iterable[ExperimentSummary], sentences: Iterable[Sentence]) -> list[Line]:
    """All lines, paper by paper: first the numbers, then the sentences."""
    by_name = {summary.name: summary for summary in summaries}
    lines = [*number_lines(by_name), *(_line(sentence, by_name) for sentence in sentences)]
    order = {paper: place for place, paper in enumerate(PAPERS)}
    return sorted(lines, key=lambda line: (order[line.paper], line.kind != "number"))


@dataclass(frozen=True)
class Count:
    """How the lines of one kind of a paper came out."""

    good: int
    in_part: int
    judged: int
    not_judged: int


def count(lines: Iterable[Line], paper: str, kind: str) -> Count:
    """Numbers inside their band, or sentences that hold (and those that hold in part); judged; and not judged."""
    verdicts = [line.verdict for line in lines if line.paper == paper and line.kind == kind]
    open_ = verdicts.count("not judged")
    good = verdicts.count("inside") + verdicts.count("holds")
    return Count(good, verdicts.count("in part"), len(verdicts) - open_, open_)


COLUMNS = ("paper", "section", "kind", "text", "printed", "ours", "standard_error", "verdict", "numbers")


def as_csv(lines: Iterable[Line]) -> str:
    """The score card for a spreadsheet: a line each."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for line in lines:
        numbers = [line.printed, line.ours, line.error]
        shown = ["" if number is None else f"{number:.6g}" for number in numbers]
        writer.writerow([line.paper, line.section, line.kind, line.text, *shown, line.verdict, line.numbers])
    return text.getvalue()


def as_markdown(lines: Sequence[Line]) -> str:
    """The page of the score card."""
    parts = [
        "# The papers, counted",
        "",
        "Each printed number and each sentence that claims something is counted once, under the protocol that its",
        "paper states. Made by `dubio papers report` from [results.json](results.json); the same lines are in",
        "[score_card.csv](score_card.csv). How bands and errors are made is told in [the papers, rerun](README.md).",
        "A sentence holds if every cell that it speaks of does (most of them, if it says so), and in part if some do.",
        "If only the errors of two means",
        "are stored, their difference is judged as if they were independent, which is mostly too careful.",
    ]
    for paper, reference in PAPERS.items():
        own = [line for line in lines if line.paper == paper]
        if not own:
            continue
        numbers, sentences = (count(own, paper, kind) for kind in ("number", "sentence"))
        parts += [
            "",
            f"## {reference}",
            "",
            f"Printed numbers: {numbers.good} of {numbers.judged} inside their band, {numbers.not_judged} not judged. "
            f"Sentences: {sentences.good} of {sentences.judged} hold, {sentences.in_part} in part, "
            f"{sentences.judged - sentences.good - sentences.in_part} do not; {sentences.not_judged} not judged.",
            "",
            "| sentence | where | verdict | our numbers |",
            "|---|---|---|---|",
        ]
        parts += [
            f"| {line.text} | {line.section} | {line.verdict} | {_plain(line.numbers)} |"
            for line in own
            if line.kind == "sentence"
        ]
        parts += ["", "| printed number | where | printed | ours | verdict |", "|---|---|---:|---:|---|"]
        parts += [
            f"| {_plain(line.text)} | {line.section} | {_number(line.printed)} | {_number(line.ours)}"
            + ("" if line.error is None else f" ± {line.error:.2g}")
            + f" | {line.verdict}{', ' + line.numbers if line.numbers else ''} |"
            for line in own
            if line.kind == "number"
        ]
    return "\n".join(parts) + "\n"


def _plain(text: str) -> str:
    return text.replace("|", "\\|")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.5g}"
