"""The question of a call: features, target and facts about the rows, from the table in a file."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dubio.doubt.audit import reads_as
from dubio.doubt.votes import soft_labels
from dubio.errors import InputError, all_of, counted, name_row, nearest, quoted, rows_named
from dubio.errors import joined as one_error
from dubio.streams.text_files import HowToRead
from dubio.table.cells import missing_cells
from dubio.table.read import ReadTable, read_any_table, refuse_odd_cells
from dubio.target.checked import join_checks
from dubio.target.classes import is_whole
from dubio.target.intervals import interval_targets
from dubio.target.knowledge import Supervision
from dubio.target.label_values import apply_corrections
from dubio.target.numbers import WrittenNumbers
from dubio.target.ordered import ordered_classes
from dubio.target.positives import positive_unlabelled
from dubio.target.reader import are_whole_numbers_as_text, has_order, numbers_of
from dubio.target.several import several_targets
from dubio.target.votes import votes
from dubio.words import note
from dubio_app.command import wording
from dubio_app.command.options import Call, UserError, names_in, names_of_arguments, options_of
from dubio_app.command.output import notes_from_warnings, require_places, step
from dubio_app.command.wording import listing
from dubio_app.files import TableFile, read_file, require_columns, with_codebook, with_votes
from dubio_app.whole_files import as_private_as

MAX_CATEGORIES = 20  # a target with more different numbers is hardly a list of classes
_PAIRS_SHOWN = 20  # pairs that are written out in the Python code; of more, it has only a comment
#: Names of columns that may only count the rows.
_COUNTERS = ("id", "index", "row", "rowid", "row_id", "nr", "no", "number")
#: Words for "it happened" and "it did not" in a column of events, and for the two kinds of pairs.
_YES, _NO = ("1", "1.0", "yes", "y", "true", "t"), ("0", "0.0", "no", "n", "false", "f")
_MUST = {"must", "must_link", "must-link", "same", "1", "+1", "1.0", "true"}
_CANNOT = {"cannot", "cannot_link", "cannot-link", "different", "-1", "-1.0", "0", "0.0", "false"}


@contextmanager
def target_named(name: str | None) -> Iterator[None]:
    """Inside this block, errors about the target name its column."""
    try:
        yield
    except InputError as error:
        if error.argument != "y" or name is None:
            raise
        raise error.about(f"target {quoted(name)}") from error


@contextmanager
def table_of(call: Call) -> Iterator[TableFile]:
    """The table of a call. Inside this block, errors name its rows and its target."""
    require_places(call)
    with step(f"reading {call.table}"):
        file = read_file(call.table, call.reading)
        file = with_codebook(file, call.codebook, call.reading) if call.codebook else file
        if call.votes:
            require_columns(file.frame, list(call.id), "id", file.sheets)
            file = with_votes(file, call.votes, call.id[0] if call.id else None)
    with (
        as_private_as(call.table),
        rows_named(file.row_name),
        target_named(call.for_columns(file.frame.columns).target),
    ):
        yield file


def read_notes(target: str, supervision: Supervision) -> list[str]:
    """A note if the numbers of a target were written as text, or are dates."""
    parts = supervision.targets or {target: supervision}
    return [f"{note('as numbers', name=name, how=part.as_read)}." for name, part in parts.items() if part.as_read]


class _Read(NamedTuple):
    """A target as a selector takes it, what it holds, and the value that stands for no label."""

    y: Any
    kind: Any = "auto"
    missing_label: Any = "auto"


@contextmanager
def _kept_in(problems: list[InputError]) -> Iterator[None]:
    """Keep an error of this block: one list names all problems of a table."""
    try:
        yield
    except InputError as problem:
        problems.append(problem)


class Question:
    """The question of a call, read from the table of a file.

    Attributes
    ----------
    features : ReadTable
    feature_table : pandas.DataFrame
        The columns of the features as they are in the file.
    y, kind, missing_label : object
        The target as a selector takes it, what it holds, and the value that stands for no label.
    fit : dict of str to object
        The further arguments of ``fit``: pairs, and facts about the rows.
    target_names : list of str
        The columns of the target.
    table : pandas.DataFrame
    notes, code : list of str
        What the user should know, and Python code that reads the same.
    """

    def __init__(self, file: TableFile, call: Call) -> None:
        self.table, self.call = file.frame, call.for_columns(file.frame.columns)
        self.file = file
        if file.subject and "groups" in names_of_call(call) and not call.groups and not call.pairs:
            self.call = Call(**{**vars(self.call), "groups": file.subject})
        if file.annotators:
            self.call = Call(**{**vars(self.call), "annotators": file.annotators})
        self.notes = list(file.notes)
        self.code = [file.imports] if file.imports else []
        self._functions: set[str] = set()  # of dubio, in the code
        self.code.append(f"table = {file.code}")
        self._require_columns(file.sheets)
        self.target_names = self.call.names_of("target")
        wrong: list[InputError] = []
        with _kept_in(wrong), notes_from_warnings(self.notes), target_named(self.call.target):
            self.y, self.kind, self.missing_label = self._target()
        if not self.target_names and not call.pairs:
            self.notes.append(f"{note('no target')}.")
        with _kept_in(wrong):
            apart = [*self.target_names, *self.call.names_of("fact"), *call.names_of("unused")]
            self.features = self._features([*apart, *(name for name in file.unused if name not in apart)])
        with _kept_in(wrong):
            self.fit = self._pairs() | self._facts() | self._checked()
        if wrong:
            raise one_error(wrong)

    @property
    def row_names(self) -> Any:
        """The column of --id if it names each row; with several rows of a patient, files name rows by their numbers."""
        column = self.table[self.call.id[0]] if self.call.id else None
        return None if column is None or column.duplicated().any() else column

    @property
    def asked(self) -> str:
        """The target in words."""
        return all_of(self.target_names) or ("the pairs" if "must_link" in self.fit else "")

    @property
    def asked_in_quotes(self) -> str:
        """The target in a sentence: each column in quotes, so that it is not read as a word of the sentence."""
        return all_of(map(quoted, self.target_names)) or self.asked

    @property
    def asked_as_data(self) -> str | list[str]:
        """The target for JSON: the name of its column, or a list of names."""
        return self.asked if len(self.target_names) < 2 else self.target_names

    def python(self) -> str:
        """Python code that gives the same ranking, or the same audit."""
        call, command = self.call, self.call.command
        read = {"target": self.kind, "missing_label": self.missing_label}
        settings = call.code_of(command, *(f"{name}={value!r}" for name, value in read.items() if value != "auto"))
        variables = {one.argument or one.name: one.name for one in options_of(command) if one.passed == "fit"}
        facts = [f"{name}={variables.get(name, name)}" for name in self.fit]
        imports = []
        if command == "rank":
            fit = f"selector = FeatureSelector({', '.join(settings)}).fit({', '.join(['X, y', *facts])})"
            answer = [fit, "print(selector.explanation_)", "print(selector.to_ranking())"]
        else:
            more = ", ".join([*settings, *facts])
            answer = [f"audit = audit_labels(X, y, {more})"]
            if call.corrections:  # what the decided labels teach about the others
                imports = ["from dubio.trust import audit_left"]
                given = "ordered_classes(y.given, y.order)" if self.y.order else "y.given"
                before = f"before = audit_labels(X, {given}, {more})"
                answer = [before, f"audit = audit_left(before, audit_labels(X, y, {more}), y)"]
            doubtful = 'audit.to_frame()[audit.doubtful].sort_values("rank")'
            answer += ["print(audit)", f"print({'audit.votes_frame()' if call.annotators else doubtful})"]
        names = ["FeatureSelector" if command == "rank" else "audit_labels", *sorted(self._functions)]
        imports = ["import pandas as pd", f"from dubio import {', '.join(names)}", *imports, ""]
        return "\n".join([*imports, *self.code, *answer])

    def _make(self, function: Callable[..., Any], *columns: tuple[Any, str], **settings: Any) -> Any:
        """Call a function of dubio with some columns, and write the same call into the code, where it makes ``y``."""
        shown = [*(code for _, code in columns), *(f"{name}={value!r}" for name, value in settings.items())]
        self.code.append(f"y = {function.__name__}({', '.join(shown)})")
        self._functions.add(function.__name__)
        return function(*(column for column, _ in columns), **settings)

    def _require_columns(self, sheets: str) -> None:
        """Raise if the table lacks a column that an option names, or if an option cannot go with this target."""
        call = self.call
        for option, names in call.columns_of("target", "fact", "unused", "feature").items():
            require_columns(self.table, names, option, sheets)
            if twice := [name for name in names if names.count(name) > 1]:
                raise InputError(option, f"names the column {quoted(twice[0])} twice", "name it once")
        for option, names in call.columns_of("fact").items():
            if names[0] in call.names_of("target"):
                raise InputError(option, f"names {quoted(names[0])}, which is the target", "name another column")
        apart = {name: flag for flag, names in call.columns_of("target", "fact", "unused").items() for name in names}
        for name in call.given:
            if name in apart:
                found = f"names {quoted(name)}, which {apart[name]} uses"
                raise InputError("given", found, "name a column that is a feature")
        if len(call.soft) == 1:
            found = f"needs one probability column per class, at least two, but it names only {quoted(call.soft[0])}"
            raise InputError("soft", found)
        if call.targets:
            if call.command == "audit":
                each = ", then ".join(f"--target {shlex.quote(name)}" for name in call.targets[:2])
                raise UserError(f"an audit looks at one target at a time: run it once for each ({each}).")
            for one in call.chosen().values():
                if one.needs and "target" in one.needs[0].split():
                    found = f"goes with one target, and --target names {len(call.targets)}"
                    raise InputError(one.flag, found, "leave it out")

    # What is known of the target

    def _target(self) -> _Read:
        """The target, from the options that say what it is."""
        call, several = self.call, {"soft": self._probabilities, "annotators": self._votes, "targets": self._several}
        for option, read in (several | {"low": self._limits, "time": self._times}).items():
            if getattr(call, option):
                return read()
        if call.target:
            with target_named(call.target):
                return self._corrected(self._column(call.target))
        self.code.append("y = None")
        return _Read(None)

    def _probabilities(self) -> _Read:
        """Columns with the probability of each class."""
        names = list(self.call.soft)
        table = self.table[names].assign(**{name: self._numbers(name, "soft") for name in names})
        self.code.append(f"y = table[{names!r}]")
        _require_some(table, "the columns of --soft")
        if not self.call.normalize:
            return _Read(table, "ordered" if self.call.holds == "ordered" else "classes")
        return _Read(self._make(soft_labels, (table, "y.astype(float)"), normalize=True), "classes")

    def _votes(self) -> _Read:
        """Columns with the class, or the number, that each annotator gave."""
        names, combine, holds = list(self.call.annotators), self.call.combine, self.call.holds
        said = self._hide(self.table[names], f"table[{names!r}]", "said")
        _require_some(said, "the columns of --annotators")
        numeric = all(is_number(said[name]) for name in names)
        settings = {"order": self._order_of("annotators", numeric)} if self.call.order else {}
        joined = self.call.command == "audit" or combine == "columns" or holds in ("ordered", "numbers")
        if joined or (numeric and len(names) > 1 and votes(said).classes is None):
            return _Read(self._make(votes, (said, "said"), **settings), holds)
        cells = said.to_numpy(dtype=object), "said.to_numpy(dtype=object)"
        settings = {} if combine == "average" else {"combine": combine}
        return _Read(self._make(soft_labels, cells, **settings), "classes")

    def _limits(self) -> _Read:
        """The limits of --low and --high; an empty cell is no limit."""
        limits = {"low": self.call.low, "high": self.call.high}
        columns = [(self._numbers(name, option), f"table[{name!r}]") for option, name in limits.items()]
        return _Read(self._make(interval_targets, *columns))

    def _times(self) -> _Read:
        """The times of --time; they are censored if the event did not happen."""
        name, event = self.call.time, self.call.event
        times = self._numbers(name, "time")
        yes = happened(self.table[event], times.notna())
        self.code.append(f"happened = table[{event!r}].astype(str).str.casefold().isin({list(_YES)!r})")
        latest = times.where(yes | times.isna(), np.inf), f"table[{name!r}].where(happened, float('inf'))"
        return _Read(self._make(interval_targets, (times, f"table[{name!r}]"), latest))

    def _several(self) -> _Read:
        """Several targets, each read as if it were the only one."""
        self.code.append("targets = {}")
        parts = {}
        for name in self.call.targets:
            with target_named(name):
                parts[name] = self._column(name)
            self.code.append(f"targets[{name!r}] = y")
        columns = {name: part.y for name, part in parts.items()}
        kinds, marks = {part.kind for part in parts.values()}, [part.missing_label for part in parts.values()]
        y, kind = self._make(several_targets, (columns, "targets")), kinds.pop() if len(kinds) == 1 else "auto"
        return _Read(y, kind, None if None in marks else "auto")

    def _column(self, name: str) -> _Read:
        """A column with classes or numbers."""
        call = self.call
        column = self._hide(self.table[name], f"table[{name!r}]", "y")
        _require_some(column)
        if call.positive is not None:
            return self._positives(column, name)
        kind = reads_as(column, call.holds) if call.command == "audit" else call.holds
        found = numbers_of(column, kind)
        if call.command == "audit" and kind == "numbers":
            return _Read(column, kind, None)
        if found is None:
            kind = "ordered" if kind == "ordered" or has_order(column) else "classes"
        _refuse_identifier(column, found, call)
        _require_two(column)
        if call.confidence and kind in ("ordered", "numbers"):
            held = "classes with an order" if kind == "ordered" else "numbers"
            raise InputError("confidence", f"says how sure a class is, but the target holds {held}", "leave it out")
        if kind == "ordered":
            return _Read(self._ordered(column, name), kind, None)
        missing_label = self._mark_of_missing(column, found, kind)
        if not call.confidence:
            return _Read(column, kind, missing_label)
        sure = self._numbers(call.confidence, "confidence").fillna(1.0)
        self.code.append(f"y = soft_labels(y, confidence=table[{call.confidence!r}].fillna(1.0))")
        self._functions.add("soft_labels")
        return _Read(soft_labels(column, confidence=sure, missing_label=missing_label), "classes", missing_label)

    def _mark_of_missing(self, column: Any, found: WrittenNumbers | None, kind: str) -> Any:
        """None if -1 is a class: in a file, a cell without a label is empty, or named by --unlabelled."""
        if kind == "numbers" or found is None or -1 not in found.values:
            return "auto"
        if 2 < column.nunique() <= MAX_CATEGORIES:
            self.notes.append(f"{note('minus one', n=int((found.values == -1).sum()))}.")
        return None

    def _positives(self, column: Any, name: str) -> _Read:
        """The rows of a column that are labelled positive; all others count as unlabelled."""
        positive, prior = self.call.positive, self.call.prior
        values = column.dropna().unique()
        same = [value for value in values if str(value) == positive or _same_number(value, positive)]
        if not same:
            raise InputError("positive", f"={positive!r} has no row in {quoted(name)}, which holds {listing(values)}")
        value = same[0].item() if hasattr(same[0], "item") else same[0]
        settings = {"positive": value} | ({} if prior is None else {"prior": prior})
        return _Read(self._make(positive_unlabelled, (column, "y"), **settings))

    def _ordered(self, column: Any, name: str) -> Any:
        """Classes in their order: that of --order, of the numbers, or of the file's own categories."""
        if not self.call.order:
            known = column.dropna()
            if is_number(column) or has_order(column) or are_whole_numbers_as_text(known.to_numpy(dtype=str)):
                return column
            found = f"holds text such as {quoted(known.iloc[0])}, and the order of its classes is not known"
            raise InputError("y", found, "add --order LOWEST,...,HIGHEST", code="unknown order")
        places = self._order_of(_column_of("order", name), is_number(column))
        column = column if is_number(column) else column.map(str, na_action="ignore")
        return self._make(ordered_classes, (column, "y"), order=places)

    def _order_of(self, argument: str, numeric: bool) -> list[Any]:
        """The classes of --order, as the column holds them."""
        try:
            return [float(place) for place in self.call.order] if numeric else list(self.call.order)
        except ValueError as error:
            raise InputError(argument, "holds numbers", "the order must name numbers") from error

    def _corrected(self, read: _Read) -> _Read:
        """The same target with the labels that were corrected."""
        path = self.call.corrections
        if path is None:
            return read
        named = [] if self.row_names is None else [(self.row_names, f"table[{self.row_names.name!r}]")]
        y = self._make(apply_corrections, (read.y, "y"), (path, repr(path)), *named)
        keeps_order = {"ordered": "ordered"}
        return _Read(y, keeps_order.get(read.kind, "classes"), read.missing_label)

    # Facts about the rows

    def _pairs(self) -> dict[str, Any]:
        """Pairs of rows from the file of --pairs."""
        path, ids = self.call.pairs, self.call.id
        if not path:
            return {}
        if len(ids) > 1:
            raise InputError("id", f"names {len(ids)} columns", "name only the one by which --pairs names the rows")
        must, cannot = read_pairs_file(path, len(self.table), self.table[ids[0]] if ids else None, self.notes)
        for name, pairs, hint in (("must", must, "first column, second column"), ("cannot", cannot, f"of {path!r}")):
            shown = pairs.tolist() if len(pairs) <= _PAIRS_SHOWN else f"...  # {hint}"
            self.code.append(f"{name}_link = {shown}")
        return {"must_link": must, "cannot_link": cannot}

    def _checked(self) -> dict[str, Any]:
        """The rows of the files of --checked."""
        files, names = list(self.call.checked), self.row_names
        if not files or self.call.command == "check":
            return {}
        checked = join_checks(files, len(self.table), names)
        named = "" if names is None else f", table[{names.name!r}]"
        self.code += ["from dubio.trust import join_checks"]
        self.code += [f"checked = join_checks({files!r}, len(table){named})"]
        if checked.n_checked_twice:
            facts = {"n": checked.n_disagreements, "twice": checked.n_checked_twice}
            self.notes.append(f"{note('checkers disagree', **facts)}.")
        return {"checked": checked}

    def _facts(self) -> dict[str, Any]:
        """Columns that are passed to ``fit``, by the name of the argument."""
        found, readers = {}, {"groups": self._groups, "weights": self._weights}  # others are taken as they are
        for one in options_of(self.call.command):
            name = getattr(self.call, one.name) if one.passed == "fit" else None
            if not name:
                continue
            if one.columns == "feature":  # they stay in the table
                found[one.name] = list(name)
                self.code.append(f"{one.name} = {list(name)!r}")
                continue
            found[one.argument or one.name] = readers.get(one.name, lambda name: self.table[name].to_numpy())(name)
            self.code.append(f"{one.name} = table[{name!r}]")
        return found

    def _groups(self, name: str) -> Any:
        """The group of each row, as it is written; no cell may be empty."""
        column = self.table[name]
        if len(empty := np.flatnonzero(column.isna().to_numpy())):
            found = f"is empty in {counted(len(empty), 'row')}, first in {name_row(int(empty[0]))}"
            remedy = "give every row a group; a row on its own gets a name of its own"
            raise InputError(_column_of("groups", name), found, remedy)
        return column.astype(str).to_numpy(dtype=object)

    def _weights(self, name: str) -> Any:
        """The weight of each row: a number that is not negative."""
        column = self._numbers(name, "weights").to_numpy()
        if len(wrong := np.flatnonzero(~(np.isfinite(column) & (column >= 0)))):
            value = self.table[name].iloc[wrong[0]]
            cell = "an empty cell" if value != value else quoted(value)
            found = f"holds {cell} in {name_row(int(wrong[0]))} ({counted(len(wrong), 'such row')})"
            raise InputError(_column_of("weights", name), found, "give every row a weight, 0 or more")
        if not column.any():
            raise InputError(_column_of("weights", name), "is 0 in every row", "some rows must count")
        return column

    # Columns

    def _features(self, apart: list[str]) -> ReadTable:
        """All other columns, read as in Python; columns that only count the rows are left out."""
        nominal = self.call.nominal
        numbers = [name for name, cells in self.table.items() if name not in {*apart, *nominal} and is_number(cells)]
        counters = [name for name in numbers if counts_rows(self.table[name], name)]
        self.notes += [f"{note('counts rows', name=name)}." for name in counters]
        dropped = [*apart, *counters]
        table = self.table.drop(columns=dropped)
        if not len(table.columns):
            raise UserError(f"no feature is left besides {listing(dropped)}: the table needs at least one more column.")
        self.code.append(f"X = table.drop(columns={dropped!r})" if dropped else "X = table")
        table, code = declared(table, self.call)
        self.code += code
        self.feature_table = table
        together = {name: [one for one in parts if one in table.columns] for name, parts in self.file.together.items()}
        together = {name: parts for name, parts in together.items() if len(parts) > 1 and name not in table.columns}
        if together:
            self.code += ["from dubio.table.read import read_any_table", f"X = read_any_table(X, {together!r})"]
        takes = {"accept_sparse": self.call.command == "rank"}
        return read_any_table(table, together or None, decimal=self.call.decimal, name="X", **takes)

    def meanings(self, names: Any) -> NDArray[Any] | None:
        """What features mean, by the file or its codebook; None if nothing is known of them."""
        found = np.array([self.file.labels.get(str(name), "") for name in names], dtype=object)
        return found if any(found) else None

    def _hide(self, values: Any, code: str, name: str) -> Any:
        """Values whose cells are empty where they hold a mark of --unlabelled; the code calls them ``name``."""
        marks = self.call.unlabelled
        self.code.append(f"{name} = {code}")
        if marks:
            self.code.append(f"{name} = {name}.mask({name}.astype(str).isin({list(marks)!r}))")
        return without_marks(values, marks, self.notes)

    def _numbers(self, name: str, option: str) -> Any:
        """A column as numbers; they may be written as text ("0,5", "12 kg"), as those of features may."""
        import pandas as pd

        column = self.table[name]
        if not is_number(column):
            read = read_any_table(self.table[[name]], was_missing=False)
            if read.columns is not None and read.read[0].kind not in ("number", "yes/no", "empty"):
                first = column.first_valid_index()
                row = name_row(int(column.index.get_loc(first)))
                found = f"holds {quoted(column[first])} in {row}, and not only numbers"
                remedy = "correct or empty such cells, or name another column"
                raise InputError(_column_of(option, name), found, remedy)
            column = pd.Series(read.matrix[:, 0], index=column.index, name=name)
            self.code.append("from dubio.table.read import read_any_table")
            self.code.append(f"table[{name!r}] = read_any_table(table[[{name!r}]]).matrix[:, 0]")
        return column.astype(np.float64)


def names_of_call(call: Call) -> set[str]:
    """The options that the command of a call has."""
    return {one.name for one in options_of(call.command)}


def declared(table: Any, call: Call) -> tuple[Any, list[str]]:
    """The table with the columns that --nominal and --ordinal name as categories, and the same in Python code."""
    import pandas as pd

    code = []
    for name in call.nominal:
        if name in table.columns and table[name].dtype == object:
            cells = table[name].to_numpy()
            refuse_odd_cells(cells, missing_cells(cells), f"column {quoted(name)}", "X")
    if nominal := [name for name in table.columns if name in call.nominal]:
        table = table.astype(dict.fromkeys(nominal, "category"))
        code.append(f'X = X.astype(dict.fromkeys({nominal!r}, "category"))')
    for name, levels in orders_of(table, call).items():
        cells = pd.Series(_written(table[name]), index=table.index).where(table[name].notna())
        if len(odd := cells[cells.notna() & ~cells.isin(levels)]):
            row = name_row(int(table.index.get_loc(odd.index[0])))
            found = f"has no place for {quoted(odd.iloc[0])} of column {quoted(name)}, first in {row}"
            raise InputError("ordinal", found, "name all of its values, the lowest first", column=name)
        table = table.assign(**{name: pd.Categorical(cells, levels, ordered=True)})
        code.append(f"X[{name!r}] = pd.Categorical(X[{name!r}].astype(str), {levels!r}, ordered=True)")
    return table, code


def orders_of(table: Any, call: Call) -> dict[str, list[str]]:
    """The columns of --ordinal, each with its values in order."""
    orders: dict[str, list[str]] = {}
    for wish in call.ordinal:
        ends = [place for place, letter in enumerate(wish) if letter == "="]
        fits = [place for place in ends if wish[:place] in table.columns]
        levels = list(names_in([wish[fits[-1] + 1 :]])) if fits else []
        if not fits:
            remedy = "write COLUMN=LOWEST,...,HIGHEST, with a feature of the table"
            raise InputError("ordinal", f"={wish!r}, which names no feature of the table", remedy)
        if len(levels) < 2 or len(set(levels)) < len(levels):
            raise InputError("ordinal", f"={wish!r}", "name at least two different values, the lowest first")
        orders[wish[: fits[-1]]] = levels
    return orders


def without_marks(values: Any, marks: tuple[str, ...], notes: list[str]) -> Any:
    """Values whose cells are empty where they hold one of the marks."""
    if not marks:
        return values
    words = values.astype(str)
    if unused := [mark for mark in marks if not (words == mark).to_numpy().any()]:
        notes.append(f"{note('unused marks', marks=unused)}.")
    return values.mask(words.isin(marks))


def _column_of(option: str, name: object) -> str:
    """A column in an error, with the option that names it."""
    return f"{names_of_arguments()[option]}: column {quoted(name)}"


def _same_number(value: Any, text: str) -> bool:
    with suppress(TypeError, ValueError):
        return float(value) == float(text)
    return False


def is_number(column: Any) -> bool:
    """Whether the cells of a column are numbers, and not text."""
    return getattr(column.dtype, "kind", "O") in "iuf"


def happened(events: Any, timed: Any) -> Any:
    """Whether the event happened in each row; every row with a time must say yes or no."""
    words = events.map(lambda value: str(value).strip().casefold(), na_action="ignore")
    if len(odd := words[timed & ~words.isin([*_YES, *_NO])]):
        is_empty = bool(odd.isna().iloc[0])
        count = int((odd.isna() if is_empty else odd == odd.iloc[0]).sum())
        cell = "an empty cell" if is_empty else quoted(str(events[odd.index[0]]))
        more = f", and neither yes nor no in {len(odd) - count} more" if count < len(odd) else ""
        found = f"must hold yes or no (1 or 0), but it has {cell} in {counted(count, 'row')} with a time{more}"
        raise InputError(_column_of("event", events.name), found)
    return words.isin(_YES)


def _require_some(values: Any, argument: str = "y") -> None:
    if not bool(np.asarray(values.notna()).any()):
        raise InputError(argument, f"has no value in any of the {counted(len(values), 'row')}: all labels are missing")


def _refuse_identifier(column: Any, found: WrittenNumbers | None, call: Call) -> None:
    known = column.dropna()
    if call.holds == "numbers" or len(known) < 3 or known.nunique() < len(known):
        return
    if found is not None and call.holds != "classes" and (found.of_time or not is_whole(found.values)):
        return
    what, remedy = "an identifier", "give the column to predict"
    if found is not None and call.command == "audit":
        what, remedy = "an identifier or a number to predict", wording.NEEDS_CLASSES
    elif found is not None:
        remedy += "; if it is this one, add --regression"
    count = counted(len(known), "row")
    code = "identifier or number" if found is not None else "identifier"
    raise InputError("y", f"has a different value in each of its {count}, so it looks like {what}", remedy, code=code)


def _require_two(column: Any) -> None:
    """Raise if a target has only one value; empty cells may mean that it was not looked for."""
    values = column.dropna().unique()
    if len(values) == 1:
        blank = int(column.isna().sum())
        positive = shlex.quote(str(values[0]))
        offer = f". If the {counted(blank, 'empty row')} may have it too, add --positive {positive}" if blank else ""
        remedy, facts = f"it needs at least two{offer}", {"value": str(values[0]), "blank": blank}
        raise InputError("y", f"has only one value, {quoted(values[0])}", remedy, code="one value", **facts)


def is_counter(name: str) -> bool:
    """Whether a column has no name, or a name such as "id"."""
    return name.startswith("unnamed_") or name.casefold() in _COUNTERS


def counts_rows(column: Any, name: str) -> bool:
    """Whether a column with such a name holds 0, 1, 2, ... or 1, 2, 3, ..."""
    if not is_counter(name) or column.isna().any() or len(column) < 3:
        return False
    values = column.to_numpy(dtype=np.float64)
    return bool(np.isfinite(values).all() and (np.diff(values) == 1).all())


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
        found = f"has {counted(len(frame.columns), 'column')}"
        remedy = "give three columns (row, row, must or cannot), with or without a header"
        raise InputError(f"--pairs: {quoted(path)}", found, remedy)
    first, second, kind = (frame[name] for name in frame.columns)
    names = map(str, range(1, n_rows + 1)) if named is None else _written(named)
    places: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        places.setdefault(name, []).append(row)
    column = "" if named is None else quoted(named.name)
    rows = np.column_stack([_find_rows(those, places, column, path) for those in (first, second)])
    words = kind.astype(str).str.strip().str.casefold()
    must, cannot = words.isin(_MUST).to_numpy(), words.isin(_CANNOT).to_numpy()
    if len(strange := np.flatnonzero(~(must | cannot))):
        count = counted(len(strange), "such pair")
        found = f"is {quoted(kind.iloc[strange[0]])}, neither must nor cannot ({count})"
        raise _wrong_pair(path, strange[0], found, "write must or cannot")
    if len(itself := np.flatnonzero(cannot & (rows[:, 0] == rows[:, 1]))):
        count = counted(len(itself), "such pair")
        found = f"says that row {first.iloc[itself[0]]} differs from itself ({count})"
        raise _wrong_pair(path, itself[0], found, "drop it")
    if named is None and notes is not None and len(rows):
        there = " and ".join(map(name_row, rows[0].tolist()))
        notes.append(f"{note('first pair', pair=f'{first.iloc[0]}, {second.iloc[0]}', rows=there)}.")
    return rows[must], rows[cannot]


def _find_rows(column: Any, places: dict[str, list[int]], named: str, path: str) -> NDArray[np.int64]:
    """The rows that a column of pairs names: by the values of the column ``named``, or by their numbers."""
    names = _written(column)
    for pair, name in enumerate(names):
        found = len(places.get(name, ()))
        if found == 1:
            continue
        if found:
            text = f"names {quoted(name)}, but more than one row has this value in column {named}"
            raise _wrong_pair(path, pair, text, "name rows by a column whose values are all different")
        if named:
            near = nearest(name, places)
            remedy = f"did you mean {quoted(near[0])}?" if near else "give a value of that column"
            raise _wrong_pair(path, pair, f"names {quoted(name)}, which is not in column {named}", remedy)
        if name.removeprefix("-").isdecimal():
            text = f"names row {name}, but the table has rows 1 to {len(places)}"
            raise _wrong_pair(path, pair, text, "rows are counted from 1, the first row under the header")
        remedy = "give whole numbers from 1 on, or name the column with these values by --id"
        raise _wrong_pair(path, pair, f"holds {quoted(name)}, not a row number", remedy)
    return np.array([places[name][0] for name in names], dtype=np.int64)


def _wrong_pair(path: str, pair: int, found: str, remedy: str) -> InputError:
    return InputError(f"--pairs: {quoted(path)}, pair {pair + 1}", found, remedy)


def _with_header(frame: Any, named: Any) -> Any:
    """The same frame. If its first line reads like a pair, and not like a header, that line becomes a pair too."""
    import pandas as pd

    names = [str(name).strip() for name in frame.columns]
    known = str.isdecimal if named is None else set(_written(named)).__contains__
    if len(names) != 3 or not (known(names[0]) and known(names[1])):
        return frame
    rows = [int(name) if named is None else name for name in names[:2]]
    first = pd.DataFrame([[*rows, names[2].casefold()]], columns=["row", "other", "kind"])
    return pd.concat([first, frame.set_axis(first.columns, axis=1)], ignore_index=True)


def _written(column: Any) -> list[str]:
    """The names of rows as text; a whole number is written without a decimal point."""
    values = [int(value) if isinstance(value, float) and value.is_integer() else value for value in column.tolist()]
    return [str(value).strip() for value in values]
