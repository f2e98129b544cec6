"""What the user asks: the table, the target, pairs of rows."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dubio.doubt.audit import reads_as
from dubio.errors import InputError, counted, name_row, nearest, quoted
from dubio.streams.text_files import HowToRead
from dubio.table.read import ReadTable, notes_of, read_any_table
from dubio.target.classes import is_whole
from dubio.target.intervals import interval_targets
from dubio.target.knowledge import Supervision
from dubio.target.ordered import ordered_classes
from dubio.target.positives import positive_unlabelled
from dubio.target.reader import Target, are_whole_numbers_as_text, has_order, numbers_of
from dubio.target.several import SeveralTargets, several_targets
from dubio.target.soft import soft_labels
from dubio.target.written import WrittenNumbers
from dubio_app.command.output import notes_from_warnings
from dubio_app.command.wording import UserError, listing
from dubio_app.files import TableFile, read_file, require_columns


def ordered_target(column: Any, name: str, order: tuple[str, ...], code: list[str]) -> Any:
    """The classes of a column in their order: that of ``--order``, of the numbers, or of the file's own categories."""
    is_number = getattr(column.dtype, "kind", "O") in "iuf"
    if not order:
        if is_number or has_order(column) or are_whole_numbers_as_text(column.dropna().to_numpy(dtype=str)):
            return column
        raise UserError(
            f"--target-kind ordered: column {quoted(name)} holds text such as {quoted(column.dropna().iloc[0])}, and "
            "the order of its classes is not known: add --order LOWEST,...,HIGHEST."
        )
    places: list[Any] = list(order)
    if is_number:
        try:
            places = [float(place) for place in order]
        except ValueError as error:
            raise UserError(f"--order: column {quoted(name)} holds numbers, so the order must name numbers.") from error
    else:
        column = column.map(str, na_action="ignore")
    code.append("y = ordered_classes(y, order=" + f"{places!r})")
    return ordered_classes(column, places)


def positive_target(column: Any, name: str, positive: str, prior: float | None, code: list[str]) -> Any:
    """The rows of a column that are labelled positive; all others count as unlabelled."""
    known = column.dropna().unique()
    same = [value for value in known if str(value) == positive or _same_number(value, positive)]
    if not same:
        raise UserError(f"--positive {quoted(positive)} has no row in {quoted(name)}, which holds {listing(known)}.")
    value = same[0].item() if hasattr(same[0], "item") else same[0]
    tail = "" if prior is None else f", prior={prior!r}"
    code.append(f"y = positive_unlabelled(y, positive={value!r}{tail})")
    return positive_unlabelled(column, positive=value, prior=prior)


def _same_number(value: Any, text: str) -> bool:
    try:
        return float(value) == float(text)
    except (TypeError, ValueError):
        return False


#: Words for "it happened" and "it did not" in a column of events.
_YES, _NO = ("1", "1.0", "yes", "y", "true", "t"), ("0", "0.0", "no", "n", "false", "f")


def interval_target(frame: Any, low: str | None, high: str | None, code: list[str]) -> Any:
    """The limits of ``--low`` and ``--high``; an empty cell is no limit."""
    if low is None or high is None:
        raise UserError("--low and --high belong together: give both (an empty cell means no limit).")
    code.append(f"y = interval_targets(table[{low!r}], table[{high!r}])")
    return interval_targets(frame[low].astype(np.float64), frame[high].astype(np.float64))


def survival_target(frame: Any, time: str | None, event: str | None, code: list[str]) -> Any:
    """Times that are known if the event happened, and censored if it did not."""
    if time is None or event is None:
        raise UserError("--time and --event belong together: the event says whether the time is known or censored.")
    words = frame[event].map(lambda value: str(value).strip().casefold(), na_action="ignore")
    known = frame[time].notna()
    odd = words[known & ~words.isin([*_YES, *_NO])]
    if len(odd):
        is_empty = bool(odd.isna().iloc[0])
        count = int((odd.isna() if is_empty else odd == odd.iloc[0]).sum())
        cell = "an empty cell" if is_empty else quoted(str(frame[event][odd.index[0]]))
        more = f", and neither yes nor no in {len(odd) - count} more" if count < len(odd) else ""
        raise UserError(
            f"--event: column {quoted(event)} must hold yes or no (1 or 0), but it has {cell} in "
            f"{counted(count, 'row')} with a time{more}."
        )
    happened = words.isin(_YES)
    code.append(f"happened = table[{event!r}].astype(str).str.casefold().isin({list(_YES)!r})")
    code.append(f"y = interval_targets(table[{time!r}], table[{time!r}].where(happened, float('inf')))")
    times = frame[time].astype(np.float64)
    return interval_targets(times, times.where(happened | ~known, np.inf))


_MUST = {"must", "must_link", "must-link", "same", "1", "+1", "1.0", "true"}
_CANNOT = {"cannot", "cannot_link", "cannot-link", "different", "-1", "-1.0", "0", "0.0", "false"}


def read_pairs_file(
    path: str, n_rows: int, named: Any = None, notes: list[str] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Must-links and cannot-links from a file with three columns: row, row, kind.

    ``named`` is the column of the table that names its rows (``--id``). Without it, rows are numbers, and row 1 is the
    first row under the header, as in the list of an audit; a note shows how the first pair was read. The kind is
    "must" or "cannot" (or 1 and -1, or same and different). The result counts rows from 0, as arrays do.
    """
    file = read_file(path)
    header = [str(name) for name in file.frame.columns]
    if len(header) == 3 and named is not None:  # the names of rows stay as they are written (007)
        file = read_file(path, HowToRead(as_text=tuple(header[:2])))
    frame = _with_header(file.frame, named)
    if len(frame.columns) != 3:
        raise UserError(
            f"--pairs: {quoted(path)} has {counted(len(frame.columns), 'column')}: give three columns (row, row, must "
            "or cannot), with or without a header."
        )
    first, second, kind = (frame[name] for name in frame.columns)
    find = (lambda column: _row_numbers(column, path, n_rows)) if named is None else _finder(named, path)
    rows = np.column_stack([find(column) for column in (first, second)])
    words = kind.astype(str).str.strip().str.casefold()
    must, cannot = words.isin(_MUST).to_numpy(), words.isin(_CANNOT).to_numpy()
    strange = np.flatnonzero(~(must | cannot))
    if len(strange):
        raise UserError(
            f"--pairs: {quoted(path)}, pair {strange[0] + 1}: {quoted(kind.iloc[strange[0]])} is neither must nor "
            f"cannot ({counted(len(strange), 'such pair')})."
        )
    itself = np.flatnonzero(cannot & (rows[:, 0] == rows[:, 1]))
    if len(itself):
        raise UserError(
            f"--pairs: {quoted(path)}, pair {itself[0] + 1} says that row {first.iloc[itself[0]]} differs from itself "
            f"({counted(len(itself), 'such pair')}): drop it."
        )
    if named is None and notes is not None and len(rows):
        places = " and ".join(name_row(int(row)) for row in rows[0])
        notes.append(
            "the pairs count rows from 1, the first row under the header: the first pair "
            f"({first.iloc[0]}, {second.iloc[0]}) is {places} (--id COLUMN names rows by their identifiers)."
        )
    return rows[must], rows[cannot]


def _with_header(frame: Any, named: Any) -> Any:
    """The same frame. If its first line reads like a pair, and not like a header, that line becomes a pair too."""
    import pandas as pd

    names = [str(name).strip() for name in frame.columns]
    if len(names) != 3:
        return frame
    known = str.isdecimal if named is None else set(_written(named)).__contains__
    if not (known(names[0]) and known(names[1])):
        return frame
    rows = [int(name) if named is None else name for name in names[:2]]
    first = pd.DataFrame([[*rows, names[2].casefold()]], columns=["row", "other", "kind"])
    return pd.concat([first, frame.set_axis(first.columns, axis=1)], ignore_index=True)


def _written(column: Any) -> list[str]:
    """The names of rows as text; a whole number is written without a decimal point."""
    values = [int(value) if isinstance(value, float) and value.is_integer() else value for value in column.tolist()]
    return [str(value).strip() for value in values]


def _finder(named: Any, path: str) -> Any:
    """A function from names of rows to their numbers; raises if a name is unknown, or names more than one row."""
    place: dict[str, int] = {}
    twice = set()
    for number, name in enumerate(_written(named)):
        if place.setdefault(name, number) != number:
            twice.add(name)

    def find(column: Any) -> NDArray[np.int64]:
        names = _written(column)
        for pair, name in enumerate(names, start=1):
            where = f"--pairs: {quoted(path)}, pair {pair} names {quoted(name)}"
            if name not in place:
                near = nearest(name, place)
                hint = f"did you mean {quoted(near[0])}?" if near else "give a value of that column."
                raise UserError(f"{where}, which is not in column {quoted(named.name)}: {hint}")
            if name in twice:
                raise UserError(
                    f"{where}, but more than one row has this value in column {quoted(named.name)}: name rows by a "
                    "column whose values are all different."
                )
        return np.array([place[name] for name in names], dtype=np.int64)

    return find


def _row_numbers(column: Any, path: str, n_rows: int) -> NDArray[np.int64]:
    if column.dtype.kind not in "iu":
        strange = next((value for value in column if not isinstance(value, int)), column.iloc[0])
        raise UserError(
            f"--pairs: column {quoted(column.name)} of {quoted(path)} holds {quoted(strange)}, not a row number: give "
            "whole numbers from 1 on, or name the column with these values by --id."
        )
    numbers = column.to_numpy(dtype=np.int64)
    bad = np.flatnonzero((numbers < 1) | (numbers > n_rows))
    if len(bad):
        raise UserError(
            f"--pairs: {quoted(path)}, pair {bad[0] + 1} names row {numbers[bad[0]]}, but the table has rows 1 to "
            f"{n_rows} ({counted(len(bad), 'such number')}): rows are counted from 1, the first row under the header."
        )
    return numbers - 1


#: A target with more different numbers than this is hardly a list of classes.
MAX_CATEGORIES = 20
#: The remedy if the target of an audit is numeric.
NEEDS_CLASSES = (
    "an audit needs one class per row, so name the column with the class; to look for wrong numbers, add --target-kind "
    "numbers"
)
_COUNTERS = ("id", "index", "row", "rowid", "row_id", "nr", "no", "number")


@dataclass(frozen=True)
class Wishes:
    """What the command line says about the columns."""

    target: str | None = None
    targets: tuple[str, ...] = ()
    soft: tuple[str, ...] = ()
    normalize: bool = False
    annotators: tuple[str, ...] = ()
    confidence: str | None = None
    annotator: str | None = None
    combine: Literal["average", "dawid-skene"] = "average"
    pairs: str | None = None
    kind: Target = "auto"
    order: tuple[str, ...] = ()
    positive: str | None = None
    prior: float | None = None
    low: str | None = None
    high: str | None = None
    time: str | None = None
    event: str | None = None
    only_classes: bool = False
    unlabelled: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    nominal: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    groups: str | None = None
    weights: str | None = None
    how: HowToRead = field(default_factory=HowToRead)

    @property
    def reading(self) -> HowToRead:
        """How the file is to be read: columns that name rows stay as they are written (007)."""
        return replace(self.how, as_text=self.identifiers)

    def for_columns(self, columns: Iterable[Any]) -> Wishes:
        """The same wishes; ``--target A,B`` names several targets, unless a column has just this name."""
        if self.target is None or "," not in self.target or self.target in set(columns):
            return self
        names = tuple(name.strip() for name in self.target.split(",") if name.strip())
        return replace(self, target=None, targets=names) if len(names) > 1 else replace(self, target=names[0])

    @property
    def limits(self) -> tuple[str, ...]:
        """The columns that say between which limits a number lies."""
        return tuple(name for name in (self.low, self.high, self.time, self.event) if name)

    @property
    def is_supervised(self) -> bool:
        """Whether the command line says anything about the target."""
        return bool(self.target or self.targets or self.soft or self.annotators or self.pairs or self.limits)


@dataclass(frozen=True)
class Question:
    """Features as a matrix, the target as a selector takes it, the code that makes both, and the table behind them."""

    features: ReadTable
    y: Any
    target_names: list[str]
    must_link: NDArray[np.int64] | None = None
    cannot_link: NDArray[np.int64] | None = None
    kind: Target = "auto"
    missing_label: Any = "auto"
    notes: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)
    table: Any = None
    groups: Any = None
    weights: Any = None

    @property
    def asked(self) -> str:
        """The target in words."""
        if self.target_names:
            return joined(self.target_names)
        return "the pairs" if self.must_link is not None else ""

    @property
    def asked_in_quotes(self) -> str:
        """The target in a sentence: each column in quotes, so that it is not read as a word of the sentence."""
        return joined(map(quoted, self.target_names)) if self.target_names else self.asked

    @property
    def asked_as_data(self) -> str | list[str]:
        """The target for JSON: the name of its column, or a list of names."""
        return self.asked if len(self.target_names) < 2 else list(self.target_names)

    @property
    def fit_arguments(self) -> dict[str, Any]:
        """Pairs, groups and weights, if there are any."""
        more = {
            "must_link": self.must_link,
            "cannot_link": self.cannot_link,
            "groups": self.groups,
            "sample_weight": self.weights,
        }
        return {name: value for name, value in more.items() if value is not None}


def joined(names: Iterable[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


@contextmanager
def target_named(name: str | None) -> Iterator[None]:
    """Inside this block, what is wrong with the target is said with the name of its column."""
    try:
        yield
    except InputError as error:
        if error.argument != "y" or name is None:
            raise
        raise type(error)(f"target {quoted(name)}", error.found, error.remedy, code=error.code) from error


def ask(file: TableFile, wishes: Wishes) -> Question:
    """Check the wishes against the table of a file, and separate features from the target."""
    frame = file.frame
    wishes = wishes.for_columns(frame.columns)
    _check_wishes(frame, wishes, file.sheets)
    notes = list(file.notes)
    code = [f"table = {file.code}"]
    if "sys.stdin" in file.code:
        code = ["import sys", "", *code]
    with notes_from_warnings(notes):
        y, kind, missing_label = _target(frame, wishes, notes, code)
    several = (*wishes.targets, *wishes.soft, *wishes.annotators, *wishes.limits)
    target_names = [name for name in (wishes.target, *several) if name]
    apart = [
        *target_names,
        *(name for name in (wishes.confidence, wishes.annotator, wishes.groups, wishes.weights) if name),
        *wishes.ignore,
        *wishes.identifiers,
    ]
    if not wishes.is_supervised:
        notes.append("there is no --target: features are ranked only by the structure of the table.")
    features = _features(frame, apart, wishes, notes, code)
    must = cannot = None
    if wishes.pairs:
        if len(wishes.identifiers) > 1:
            raise UserError("--pairs: give only one column in --id, the one that the pairs name rows by.")
        named = frame[wishes.identifiers[0]] if wishes.identifiers else None
        must, cannot = read_pairs_file(wishes.pairs, len(frame), named, notes)
        code += [
            f"must_link = {must.tolist() if len(must) <= 20 else '...  # first column, second column'}",
            f"cannot_link = {cannot.tolist() if len(cannot) <= 20 else '...  # of ' + repr(wishes.pairs)}",
        ]
    groups, weights = _groups(frame, wishes, code), _weights(frame, wishes, code)
    return Question(features, y, target_names, must, cannot, kind, missing_label, notes, code, frame, groups, weights)


def _groups(frame: Any, wishes: Wishes, code: list[str]) -> Any:
    """The group of each row: as it is written, and no cell may be empty."""
    if wishes.groups is None:
        return None
    column = frame[wishes.groups]
    empty = np.flatnonzero(column.isna().to_numpy())
    if len(empty):
        raise UserError(
            f"--groups: column {quoted(wishes.groups)} is empty in {counted(len(empty), 'row')}, first in "
            f"{name_row(int(empty[0]))}: give every row a group; a row on its own gets a name of its own."
        )
    code.append(f"groups = table[{wishes.groups!r}]")
    return column.astype(str).to_numpy(dtype=object)


def _weights(frame: Any, wishes: Wishes, code: list[str]) -> Any:
    """The weight of each row: a number that is not negative."""
    if wishes.weights is None:
        return None
    column = _number_column(frame, wishes.weights, "--weights", code).to_numpy()
    wrong = np.flatnonzero(~(np.isfinite(column) & (column >= 0)))
    if len(wrong):
        raise UserError(
            f"--weights: column {quoted(wishes.weights)} holds {_cell(frame[wishes.weights].iloc[wrong[0]])} in "
            f"{name_row(int(wrong[0]))} ({counted(len(wrong), 'such row')}): give every row a weight, 0 or more."
        )
    if not column.any():
        raise UserError(f"--weights: column {quoted(wishes.weights)} is 0 in every row: some rows must count.")
    code.append(f"weights = table[{wishes.weights!r}]")
    return column


def _cell(value: Any) -> str:
    return "an empty cell" if value != value else quoted(value)


def _check_wishes(frame: Any, wishes: Wishes, sheets: str) -> None:
    for option, names in (
        ("--target", [wishes.target] if wishes.target else list(wishes.targets)),
        ("--soft", list(wishes.soft)),
        ("--annotators", list(wishes.annotators)),
        *((f"--{name}", [getattr(wishes, name)]) for name in ("low", "high", "time", "event") if getattr(wishes, name)),
        ("--confidence", [wishes.confidence] if wishes.confidence else []),
        ("--annotator", [wishes.annotator] if wishes.annotator else []),
        ("--ignore", list(wishes.ignore)),
        ("--nominal", list(wishes.nominal)),
        ("--id", list(wishes.identifiers)),
        ("--groups", [wishes.groups] if wishes.groups else []),
        ("--weights", [wishes.weights] if wishes.weights else []),
    ):
        require_columns(frame, names, option, sheets)
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise UserError(f"{option} names the column {quoted(twice[0])} twice.")
    given = [
        option
        for option, value in (
            ("--target", wishes.target or wishes.targets),
            ("--soft", wishes.soft),
            ("--annotators", wishes.annotators),
            ("--low", wishes.low or wishes.high),
            ("--time", wishes.time or wishes.event),
        )
        if value
    ]
    if len(given) > 1:
        raise UserError(f"{' and '.join(given)} both say what the target is: give only one of them.")
    if wishes.groups and wishes.pairs:
        raise UserError("--groups and --pairs cannot be combined: leave one of them out.")
    for option, name in (("--groups", wishes.groups), ("--weights", wishes.weights)):
        if name and name in (wishes.target, *wishes.targets, *wishes.soft, *wishes.annotators):
            raise UserError(f"{option} names {quoted(name)}, which is the target: name another column.")
    if wishes.targets:
        _check_targets(wishes)
    if wishes.annotator and not wishes.target:
        raise UserError("--annotator says who gave the class in --target: give --target too.")
    if wishes.confidence and not wishes.target:
        raise UserError("--confidence says how sure the class in --target is: give --target too.")
    if wishes.normalize and not wishes.soft:
        raise UserError("--normalize divides each row of the --soft columns by its sum: give --soft too.")
    for option, value in (("--positive", wishes.positive), ("--prior", wishes.prior)):
        if value is not None and not (wishes.target if option == "--positive" else wishes.positive):
            raise UserError(f"{option} needs {'--target' if option == '--positive' else '--positive'}: give it too.")
    if wishes.positive is not None and (wishes.kind != "auto" or wishes.confidence):
        raise UserError("--positive says what the target holds: leave out --confidence and what says otherwise.")
    if wishes.order and not wishes.target:
        raise UserError("--order names the classes of --target: give --target too.")
    if len(wishes.soft) == 1:
        raise UserError(
            f"--soft needs one probability column per class, at least two, but it names only {quoted(wishes.soft[0])}."
        )


def _check_targets(wishes: Wishes) -> None:
    """What is said of one target cannot be said of several."""
    if wishes.only_classes:
        each = ", then ".join(f"--target {shlex.quote(name)}" for name in wishes.targets[:2])
        raise UserError(f"an audit looks at one target at a time: run it once for each ({each}).")
    for option, given in (
        ("--confidence", wishes.confidence),
        ("--annotator", wishes.annotator),
        ("--positive", wishes.positive),
        ("--order", wishes.order),
        ("--pairs", wishes.pairs),
    ):
        if given:
            raise UserError(f"{option} goes with one target, and --target names {len(wishes.targets)}: leave it out.")


def _several(frame: Any, wishes: Wishes, notes: list[str], code: list[str]) -> tuple[Any, Target, Any]:
    """Several targets, each read as if it were the only one."""
    code.append("targets = {}")
    columns, kinds, missing = {}, set(), []
    for name in wishes.targets:
        with target_named(name):
            columns[name], kind, label = _target(frame, replace(wishes, target=name, targets=()), notes, code)
        code.append(f"targets[{name!r}] = y")
        kinds.add(kind)
        missing.append(label)
    code.append("y = several_targets(targets)")
    return several_targets(columns), kinds.pop() if len(kinds) == 1 else "auto", None if None in missing else "auto"


def _target(frame: Any, wishes: Wishes, notes: list[str], code: list[str]) -> tuple[Any, Target, Any]:
    if wishes.soft:
        table = frame[list(wishes.soft)].assign(
            **{name: _number_column(frame, name, "--soft", code) for name in wishes.soft}
        )
        code.append(f"y = table[{list(wishes.soft)!r}]")
        _require_some(table, "the columns of --soft")
        if not wishes.normalize:
            return table, wishes.kind if wishes.kind == "ordered" else "classes", "auto"
        code.append("y = soft_labels(y.astype(float), normalize=True)")
        return soft_labels(table, normalize=True), "classes", "auto"
    if wishes.annotators:
        votes = hide(frame[list(wishes.annotators)], wishes.unlabelled, notes)
        _require_some(votes, "the columns of --annotators")
        code.append(_hiding_code(f"table[{list(wishes.annotators)!r}]", wishes.unlabelled, "votes"))
        tail = "" if wishes.combine == "average" else f", combine={wishes.combine!r}"
        code.append(f"y = soft_labels(votes.to_numpy(dtype=object){tail})")
        return soft_labels(votes.to_numpy(dtype=object), combine=wishes.combine), "classes", "auto"
    if wishes.limits:
        options = {"--low": wishes.low, "--high": wishes.high, "--time": wishes.time}
        read = {name: _number_column(frame, name, option, code) for option, name in options.items() if name}
        frame = frame.assign(**read)
        if wishes.low or wishes.high:
            return interval_target(frame, wishes.low, wishes.high, code), "auto", "auto"
        return survival_target(frame, wishes.time, wishes.event, code), "auto", "auto"
    if wishes.targets:
        return _several(frame, wishes, notes, code)
    if wishes.target is None:
        code.append("y = None")
        return None, "auto", "auto"
    column = hide(frame[wishes.target], wishes.unlabelled, notes)
    _require_some(column, f"target {quoted(wishes.target)}")
    code.append(_hiding_code(f"table[{wishes.target!r}]", wishes.unlabelled, "y"))
    if wishes.positive is not None:
        return positive_target(column, wishes.target, wishes.positive, wishes.prior, code), "auto", "auto"
    kind = reads_as(column, wishes.kind) if wishes.only_classes else wishes.kind
    found = numbers_of(column, kind)
    if wishes.only_classes and kind == "numbers":
        return column, kind, None
    if found is None:
        kind = "ordered" if kind == "ordered" or has_order(column) else "classes"
    _refuse_id(column, found, wishes)
    known = column.dropna().unique()
    if len(known) == 1:
        blank = len(column) - int(column.notna().sum())
        offer = f" If the {counted(blank, 'empty row')} may have it too, add --positive {shlex.quote(str(known[0]))}."
        raise UserError(
            f"target {quoted(wishes.target)} has only one value, {quoted(known[0])}: it needs at least two."
            + (offer if blank else "")
        )
    if kind == "ordered":
        return ordered_target(column, wishes.target, wishes.order, code), kind, None
    missing_label: Any = "auto"
    if kind != "numbers" and found is not None and -1 in found.values:
        missing_label = None  # in a file, an unlabelled cell is empty or named by --unlabelled
        if 2 < len(known) <= MAX_CATEGORIES:
            notes.append(
                f"-1 is read as a class ({counted(int((found.values == -1).sum()), 'row')}). If it means no label, add "
                "--unlabelled -1."
            )
    if wishes.confidence:
        sure = _number_column(frame, wishes.confidence, "--confidence", code).fillna(1.0)
        code.append(f"y = soft_labels(y, confidence=table[{wishes.confidence!r}].fillna(1.0))")
        return soft_labels(column, confidence=sure, missing_label=missing_label), "classes", missing_label
    return column, kind, missing_label


def how_read(target: str, supervision: Supervision) -> list[str]:
    """A note if the numbers of a target were written as text, or are dates."""
    if isinstance(supervision, SeveralTargets):
        parts = zip(supervision.names, supervision.parts, strict=True)
        return [note for name, part in parts for note in how_read(name, part)]
    as_read = getattr(supervision, "as_read", "")
    return [f"target {quoted(target)} was read as numbers {as_read}."] if as_read else []


def hide(values: Any, marks: tuple[str, ...], notes: list[str]) -> Any:
    """Make the cells that hold one of the marks missing."""
    if not marks:
        return values
    words = values.astype(str)
    unused = [mark for mark in marks if not (words == mark).to_numpy().any()]
    if unused:
        notes.append(f"--unlabelled {listing(unused)}: no row has this value.")
    return values.mask(words.isin(marks))


def _hiding_code(expression: str, marks: tuple[str, ...], name: str) -> str:
    if not marks:
        return f"{name} = {expression}"
    return f"{name} = {expression}\n{name} = {name}.mask({name}.astype(str).isin({list(marks)!r}))"


def _require_some(values: Any, what: str) -> None:
    if not bool(np.asarray(values.notna()).any()):
        raise UserError(f"{what} has no value in any of the {counted(len(values), 'row')}: all labels are missing.")


def _refuse_id(column: Any, found: WrittenNumbers | None, wishes: Wishes) -> None:
    known = column.dropna()
    if wishes.kind == "numbers" or len(known) < 3 or known.nunique() < len(known):
        return
    if found is not None and wishes.kind != "classes" and (found.of_time or not is_whole(found.values)):
        return
    what, todo = "an identifier", "give the column to predict"
    if found is not None and wishes.only_classes:
        what, todo = "an identifier or a number to predict", NEEDS_CLASSES
    elif found is not None:
        todo += "; if it is this one, add --regression"
    raise UserError(
        f"target {quoted(wishes.target)} has a different value in each of its {counted(len(known), 'row')}, so it "
        f"looks like {what}: {todo}."
    )


def _number_column(frame: Any, name: str, option: str, code: list[str]) -> Any:
    """A column as numbers; they may be written as text ("0,5", "12 kg"), as those of features may."""
    import pandas as pd

    column = frame[name]
    if not _is_number(column):
        read = read_any_table(frame[[name]], was_missing=False)
        if read.columns is not None and read.read[0].kind not in ("number", "yes/no", "empty"):
            first = column.first_valid_index()
            raise UserError(
                f"{option}: column {quoted(name)} holds {quoted(column[first])} in "
                f"{name_row(int(column.index.get_loc(first)))}, and not only numbers: correct or empty such cells, or "
                "name another column."
            )
        column = pd.Series(read.matrix[:, 0], index=column.index, name=name)
        code.append("from dubio.table.read import read_any_table")
        code.append(f"table[{name!r}] = read_any_table(table[[{name!r}]]).matrix[:, 0]")
    return column.astype(np.float64)


def _is_number(column: Any) -> bool:
    return getattr(column.dtype, "kind", "O") in "iuf"


def _features(frame: Any, apart: list[str], wishes: Wishes, notes: list[str], code: list[str]) -> ReadTable:
    """All other columns, read as in Python; columns that only count the rows are left out."""
    dropped = list(apart)
    for name in frame.columns:
        spoken_for = name in apart or name in wishes.nominal
        if not spoken_for and _is_number(frame[name]) and counts_rows(frame[name], name):
            notes.append(f"column {quoted(name)} was left out: it only counts the rows.")
            dropped.append(name)
    table = frame.drop(columns=dropped)
    if not len(table.columns):
        raise UserError(f"no feature is left besides {listing(dropped)}: the table needs at least one more column.")
    code.append(f"X = table.drop(columns={dropped!r})" if dropped else "X = table")
    nominal = [name for name in table.columns if name in wishes.nominal]
    if nominal:
        table = table.astype(dict.fromkeys(nominal, "category"))
        code.append(f'X = X.astype(dict.fromkeys({nominal!r}, "category"))')
    read = read_any_table(table, decimal=_decimal(wishes), name="X")
    notes += [f"{note[0].lower()}{note[1:]}." for note in notes_of(read.read)]
    return read


def _decimal(wishes: Wishes) -> Any:
    return wishes.how.decimal if wishes.how.decimal in (".", ",") else None


def is_counter(name: str) -> bool:
    """Whether a column has no name, or a name such as "id"."""
    return name.startswith("unnamed_") or name.casefold() in _COUNTERS


def counts_rows(column: Any, name: str) -> bool:
    """Whether a column with such a name holds 0, 1, 2, ... or 1, 2, 3, ..."""
    if not is_counter(name) or column.isna().any() or len(column) < 3:
        return False
    values = column.to_numpy(dtype=np.float64)
    return bool(np.isfinite(values).all() and (np.diff(values) == 1).all())
