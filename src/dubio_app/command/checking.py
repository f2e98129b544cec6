"""``dubio check``: draw rows at random, and write a page and a file on which a person judges them."""

from __future__ import annotations

import csv
import io
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputError, quoted
from dubio.problem import read_problem
from dubio.table.rows import centred_within, read_groups
from dubio.target.checked import COLUMNS, CheckedRows, join_checks
from dubio.target.knowledge import Supervision
from dubio.target.label_values import entries_of, written
from dubio.target.reader import read_supervision
from dubio.trust.drawing import Draw, draw_rows, rows_needed
from dubio.words import note, sentence
from dubio_app.command.options import Call, UserError
from dubio_app.command.output import inert, notes_from_warnings, print_paragraph, step, tell
from dubio_app.command.question import Question, table_of
from dubio_app.command.trust import audit_of
from dubio_app.files import TableFile
from dubio_app.report.check import Card, render_check
from dubio_app.whole_files import write_whole

#: Where the draw is written if neither it nor the page has a name.
_DRAW = "check.csv"
#: Rows to check if the audit cannot say how many.
_USUAL = 60


@dataclass(frozen=True)
class Drawn:
    """Rows that were drawn, as a file and as cards for a person."""

    question: Question
    known: Supervision
    draw: Draw
    cards: list[Card]
    before: CheckedRows | None

    @property
    def file(self) -> str:
        """The rows with their chances, those of earlier draws too, and without what was found in them."""
        return _as_csv(self.question, self.draw, self.before, values=False)

    @property
    def classes(self) -> list[str]:
        """The classes that a person may choose from; none if the target is a number."""
        return [written(name) for name in self.known.classes.tolist()] if self.known.n_classes else []


def check_table(call: Call) -> None:
    """Read the table, draw rows, and write the files on which they are judged."""
    if not (call.target or call.soft or call.annotators or call.votes):
        raise UserError("give the column whose truth is to be found: --target, or --soft, --annotators or --votes.")
    with table_of(call) as file:
        drawn = rows_to_check(file, call)
        question, known, draw, cards = drawn.question, drawn.known, drawn.draw, drawn.cards
        path = call.draw or (os.path.splitext(call.page)[0] + ".csv" if call.page else _DRAW)
        _refuse_judged(path)
        judged = f"{os.path.basename(os.path.splitext(path)[0])}_judged.csv"
        write_whole(path, _as_csv(question, draw, drawn.before).encode("utf-8"))
        # chances that differ may depend on the labels: they do not stand in the file of the page
        chances = np.unique(draw.chance[draw.rows])
        alone = draw.n_before == 0 and len(chances) == 1
        files = ("" if alone else f"--checked {path} ") + f"--checked {judged}"
        if call.page:
            page = render_check(
                *(cards, drawn.classes, question.asked, call.table, _name_of(call, known)),
                chance=float(chances[0]) if len(chances) == 1 else None,
                judged=judged,
                files=files,
            )
            write_whole(call.page, page.encode("utf-8"))
    facts = {"n": len(draw.rows), "n_in_all": known.n_rows, "cards": len(cards), "seed": call.seed, "path": path}
    told = [note("drawn", **facts)]
    told += [note("drawn before", n=draw.n_before)] if draw.n_before else []
    paged = note("judge page", page=call.page, judged=judged, files=files)
    told += [paged] if call.page else [note("judge file", path=path)]
    told += [note("chances tell", path=path)] if len(chances) > 1 and not call.page else []
    for one in told:
        print_paragraph(sentence(one))
    tell(question.notes, quiet=call.quiet)


def _refuse_judged(path: str) -> None:
    """Raise if a file that would be replaced holds judgements."""
    if not os.path.exists(path):
        return
    if any(entry["value"] for entry in entries_of(path, COLUMNS, "draw", needed=("value",))):
        remedy = "give it to --checked if rows are to be added, or another name here"
        raise InputError("draw", f"names {quoted(path)}, which holds what somebody found", remedy)


def rows_to_check(file: TableFile, call: Call) -> Drawn:
    """Draw the rows that a call asks for."""
    question = Question(file, call)
    known = read_supervision(
        question.y, len(question.table), target=question.kind, missing_label=question.missing_label
    )
    try:
        known.read_truth(np.full(known.n_rows, None, dtype=object))
    except InputError as error:  # a kind that cannot be checked
        raise InputError("target", error.found, error.remedy) from None
    groups = read_groups(question.fit.get("groups"), known.n_rows)
    before = join_checks(list(call.checked), known.n_rows, question.row_names) if call.checked else None
    draw = _draw(question, known, groups, before)
    one_card = groups is not None and not centred_within(known.goals()[0].reshape(len(groups), -1), groups).any()
    cards = _cards(question, draw, groups if one_card else None)
    return Drawn(question, known, draw, cards, before)


def _draw(question: Question, known: Supervision, groups: NDArray[Any] | None, before: CheckedRows | None) -> Draw:
    """The rows to check, as many as were asked for, or as many as the audit forecasts."""
    call, disagreement = question.call, None
    if call.by == "doubtful" or call.rows is None:
        disagreement = _disagreement(question)
    if call.by == "doubtful" and disagreement is None:
        raise InputError("by", "=doubtful needs labels that models can judge", "draw all rows alike, or by class")
    if call.by == "class" and not known.n_classes:
        raise InputError("by", f"=class needs classes: {known.given}", "draw all rows alike")
    count = call.rows
    if count is None:
        code, count = (
            ("usual rows", _USUAL) if disagreement is None else ("forecast of rows", rows_needed(disagreement))
        )
        question.notes.append(f"{note(code, n=count)}.")
    earlier = None if before is None else before.chance
    facts: dict[str, Any] = {"strata": known.strata, "disagreement": disagreement, "groups": groups}
    try:
        return draw_rows(known.n_rows, count, design=call.by, before=earlier, random_state=call.seed, **facts)
    except InputError as error:
        name = {"before": "checked", "design": "by"}.get(error.argument, error.argument)
        raise InputError(name, error.found, error.remedy) from None


def _disagreement(question: Question) -> Any:
    """How much models disagree with each label; None if they cannot judge them."""
    reading = {"target": question.kind, "missing_label": question.missing_label, "allow_nan": True}
    with step("auditing the target"), notes_from_warnings([]):
        problem = read_problem(question.features, question.y, **reading, **question.fit)
        if not problem.supervision.can_be_judged:
            return None
        audit = audit_of(problem, question.call)
    return audit.disagreement if audit.judged else None


def _name_of(call: Call, known: Supervision) -> str:
    return f"{call.by}, {known.n_rows} rows, seed {call.seed}"


def _as_csv(question: Question, draw: Draw, before: CheckedRows | None, *, values: bool = True) -> str:
    """The drawn rows, also those of earlier draws with what was found in them, in the order of the table."""
    rows = draw.rows if before is None else np.union1d(draw.rows, np.flatnonzero(~np.isnan(before.chance)))
    file = io.StringIO()
    lines = csv.writer(file, lineterminator="\n")
    lines.writerow([*COLUMNS[:4], "draw"])
    names = question.row_names
    for row in np.sort(rows).tolist():
        value = written(before.values[row]) if before is not None and values else ""
        name = "" if names is None else written(names.iloc[row])
        chance = repr(float(draw.chance[row]))
        lines.writerow([row + 1, inert(name), inert(value), chance, f"{question.call.by}, seed {question.call.seed}"])
    return file.getvalue()


def _cards(question: Question, draw: Draw, groups: NDArray[Any] | None) -> list[Card]:
    """What a person sees: the cells of each drawn row, and nothing of its target; one card for each group."""
    features = [str(name) for name in question.features.names or ()]
    table, names = question.table, question.row_names
    cards: dict[int, Card] = {}
    for row in draw.rows.tolist():
        name = "" if names is None else written(names.iloc[row])
        cells = [(column, written(table[column].iloc[row])) for column in features if column in table.columns]
        card = cards.setdefault(row if groups is None else int(groups[row]), Card([], [], []))
        card.rows.append(row + 1)
        card.names.append(name)
        card.cells.append(cells)
    return list(cards.values())
