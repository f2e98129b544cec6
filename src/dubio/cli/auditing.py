"""``dubio audit``: which labels look wrong."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from dubio import audit_labels
from dubio.cli.errors import UserError, listing, quote
from dubio.cli.notes import notes_from_warnings, tell
from dubio.cli.output import as_csv, as_json, plain, print_table, print_text, records
from dubio.cli.progress import step
from dubio.cli.question import NEEDS_CLASSES, Question, Wishes, ask
from dubio.cli.tables import read_parted_table
from dubio.supervision import read_supervision
from dubio.supervision.class_names import OddClassNames
from dubio.tables.scaling import standardize

#: From so many features on, labels are doubted in the table's main directions.
MANY_FEATURES = 200
N_DIRECTIONS = 50


def audit_question(question: Question, engine: Any, seed: int, jobs: int | None) -> Any:
    """Audit the labels of a question; missing cells are taken as the median of their column."""
    features = question.features.astype(float)
    filled = features.fillna(features.median()).fillna(0.0)
    labels = question.y.mask(question.y.map(question.y.value_counts()) == 1)
    if filled.shape[1] > MANY_FEATURES:
        filled = _main_directions(filled.to_numpy(), seed)
    with step("doubting the labels") as advance, warnings.catch_warnings():
        warnings.simplefilter("ignore", OddClassNames)  # said when the target was read, with all its classes
        done = {"steps": 0}

        def progress(what: str, fold: int, total: int) -> None:
            done["steps"] += 1
            advance(done["steps"], 4 * total)

        return audit_labels(
            filled,
            labels,
            engine=engine,
            missing_label=question.missing_label,
            random_state=seed,
            n_jobs=jobs,
            progress=progress,
        )


def _require_classes(question: Question) -> None:
    read = read_supervision(question.y, len(question.y), target="auto", missing_label=question.missing_label)
    if read.kind == "numbers":
        raise UserError(
            f"target {quote(question.asked)} holds {question.y.nunique()} different numbers, not classes: "
            f"{NEEDS_CLASSES}."
        )


def _main_directions(table: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """The table in its principal components, which know nothing of the labels: Gaussian experts need few columns."""
    unit = standardize(table)
    return PCA(min(N_DIRECTIONS, *unit.shape), svd_solver="full", random_state=seed).fit_transform(unit)


def audit_table(
    path: str,
    wishes: Wishes,
    engine: str,
    every_row: bool,
    seed: int,
    jobs: int | None,
    output: str,
    top: int,
    quiet: bool,
) -> None:
    """Read, doubt, and print the suspicious labels."""
    with step(f"reading {path}"):
        frame, separator = read_parted_table(path)
    question = ask(frame, wishes, path, separator)
    notes = list(question.notes)
    with notes_from_warnings(notes):
        _require_classes(question)
    alone = question.y.value_counts()
    alone = alone[alone == 1].index.tolist()
    if alone:
        notes.append(
            f"{len(alone)} class(es) with one row each cannot be judged: {listing(alone)}; their rows are treated as "
            "unlabelled."
        )
    missing = int(question.features.isna().to_numpy().sum())
    if missing:
        notes.append(f"{missing} missing value(s) of the table were taken as the median of their column.")
    with notes_from_warnings(notes):
        found = audit_question(question, engine, seed, jobs)
    rows = _rows(found, every_row)
    by_class = records(found.classes_frame().reset_index())
    if output == "csv":
        print_text(as_csv(rows))
    elif output == "json":
        content = {
            "table": path,
            "target": question.asked,
            "engine": found.engine,
            "assumption": found.assumption,
            "labels": int(found.labelled.sum()),
            "doubtful": int(found.doubtful.sum()),
            "error_rate": plain(found.error_rate),
            "classes": by_class,
            "notes": notes,
            "rows": rows,
        }
        print_text(as_json(content))
    else:
        _print(found, question, rows, by_class, top)
    tell(notes, quiet)


def _rows(found: Any, every_row: bool) -> list[dict[str, Any]]:
    table = found.to_frame().reset_index(drop=True)
    table.insert(0, "row", range(len(table)))
    if not every_row:
        table = table[table["doubtful"]]
        table = table.sort_values("rank", kind="stable")
    return records(table[["row", "given", "suggested", "wrong", "doubtful", "rank"]])


def _print(
    found: Any, question: Question, rows: list[dict[str, Any]], by_class: list[dict[str, Any]], top: int
) -> None:
    columns = [("row", "right"), ("given", "left"), ("suggested", "left"), ("wrong with", "right")]
    shown = [(row["row"], row["given"], row["suggested"], _percent(row["wrong"])) for row in rows[:top]]
    hidden = len(rows) - len(shown)
    more = f"{hidden} more row(s); --top {len(rows)} shows all. " if hidden > 0 else ""
    print_table(f"Doubtful labels in {question.asked}", columns, shown, f"{more}{found}")
    rates = [(row["class"], row["rows"], row["doubtful"], _percent(row["error rate"])) for row in by_class]
    names = [("class", "left"), ("rows", "right"), ("doubtful", "right"), ("error rate", "right")]
    print_table("Classes", names, rates)


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"
