"""How the command names things: arguments are options, and faults have remedies that its user can follow."""

from __future__ import annotations

import math
import shlex
import traceback
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from dubio.errors import InputError, InputWarning, Remedies, listed, quoted
from dubio.words import PYTHON, Note, Phrases, note, sentence
from dubio_app.command.options import names_of_arguments

if TYPE_CHECKING:
    from dubio.findings import Alert
    from dubio.ranking import Ranking

#: What the command returns: a fault in dubio, a mistake in the file or the options, an interrupt.
FAULT, BAD_INPUT, INTERRUPTED = 1, 2, 130
EXIT_CODES = {
    0: "all went well",
    FAULT: "a fault in dubio itself, or a closed pipe",
    BAD_INPUT: "a mistake in the file or the options",
    INTERRUPTED: "stopped with Ctrl-C",
}

#: What arguments without an option of their own are called.
NAMES_WITHOUT_OPTION = {"X": "the table", "source": "the table", "y": "the target", "labels": "the target"}
NAMES_WITHOUT_OPTION["n_neighbors"] = "the number of neighbours is"  # its messages start with the number


def as_value(*names: object) -> str:
    """Names as the value of an option: a comma in a name is written twice."""
    return shlex.quote(",".join(str(name).replace(",", ",,") for name in names))


def _for_mixed(facts: Mapping[str, Any]) -> str:
    marks = " ".join(f"--na {shlex.quote(mark)}" for mark in facts["marks"][:3])
    column = as_value(facts["column"])
    meant = "if such cells mean 'missing'" if len(facts["marks"]) > 3 else "if they mean 'missing'"
    return f"correct these cells, or add {marks} {meant}; --nominal {column} makes categories of the column"


def _for_decimal_marks(facts: Mapping[str, Any]) -> str:
    column = as_value(facts["column"])
    return (
        "write all of its numbers with the same decimal mark, for example by search and replace; if these are no "
        f"numbers, --nominal {column} makes categories of the column"
    )


def _for_unclear(facts: Mapping[str, Any]) -> str:
    column = as_value(facts["column"])
    comma = "say --decimal , or --decimal .; else " if facts["comma"] else ""
    return f"{comma}write all of its cells in the same way, or leave it out with --ignore {column}"


#: The command's own remedies, by the code of the fault.
REMEDIES: Remedies = {
    "alone": "label another row of that class, merge it with another class, or empty the cell",
    "contradiction": "drop one of these pairs",
    "few for folds": "label more rows, or leave out --evaluate",
    "infinity": "empty these cells",
    "label type": "the target must be a class or a number: give another column, or turn it into one of these",
    "many names": "is it an identifier? Give the column to predict. If it is a number, add --regression",
    "minus one": "if -1 is a class, give it a name in the table",
    "missing in words": "--unlabelled VALUE reads such rows as unlabelled",
    "no labels": "label some rows, or leave out --target",
    "no target": "give --target",
    "no device": "install what is missing (pip install 'dubio[gpu]' installs torch), or leave out --device",
    "nothing stands out": "",  # in Python one feature is handed on, so that pipelines run
    "unknown order": "add --order LOWEST,...,HIGHEST",
    "untested": "leave out --checked, or else --keep, --method and what else keeps features from being tested",
    "order": "name all classes, the lowest first: --order LOWEST,...,HIGHEST",
    "one class and blanks": "if the rows without a label may be of this class or not, add --positive VALUE",
    "parameter alpha": "give a number between 0 and 1",
    "parameter n_jobs": "give a number of threads, or -1 for all processors",
    "parameter redundancy": "give 0 or a positive number",
    "mixed column": _for_mixed,
    "mixed decimal marks": _for_decimal_marks,
    "unclear column": _for_unclear,
    "mixed target": "correct or empty these cells (--unlabelled MARK empties all that hold MARK). If they are names of "
    "classes, add --target-kind classes",
    "unclear target": "write plain numbers such as 1250.5, or dates such as 2024-03-31. If they are names of classes, "
    "add --target-kind classes",
    "dates as classes": "turn them into names of classes, such as years",
    "partly missing": "fill all probabilities of a row (none below 0), or leave all of them empty (unlabelled)",
    "probabilities of one class": "this looks like probabilities: give one column per class, --soft A,B. For a numeric "
    "target, add --regression",
    "regression": "this looks like regression, and this method needs classes. For a numeric target, add --regression",
    "sum": "--normalize divides each row by its sum",
    "sum of zero": "if a row is unlabelled, leave all of its cells empty",
    "odd cells": "write numbers, text or dates, or leave the column out with --ignore",
    "text columns": "encode text as numbers, or leave such columns out with --ignore",
    "too many rows": "use a sample of the rows, or a method that ranks features one by one (dubio methods)",
    "undecided": "look for duplicate rows, or leave out rows without a label",
}
#: Remedies with which no row is changed, as a stream of rows cannot be.
_IN_STREAMS = {"sum": "divide each row by its sum in the file"}


def in_command_words(finding: InputError | InputWarning, arguments: Iterable[str] = ()) -> str:
    """A message of the library in the words of the command line.

    Examples
    --------
    >>> from dubio_app.command.wording import in_command_words
    >>> from dubio.errors import InputError
    >>> in_command_words(InputError("n_features_to_select", "=50, but the table has 9 features", "give fewer"))
    '--keep 50, but the table has 9 features: give fewer.'
    """
    remedies = {**REMEDIES, **(_IN_STREAMS if "--stream" in arguments else {})}
    return " ".join(finding.sentence(names_of_arguments() | NAMES_WITHOUT_OPTION, remedies).split())


def one_line(error: Any, arguments: Iterable[str] = ()) -> str:
    """The text of an error or a warning of a call with these arguments, on one line."""
    if isinstance(error, InputError | InputWarning):
        return in_command_words(error, arguments)
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}."
    text = " ".join(str(error).split())
    return text or traceback.format_exception_only(error)[-1].strip()


def lines_of(error: Exception, arguments: Iterable[str] = ()) -> list[str]:
    """An error, one line for each problem."""
    problems = error.problems if isinstance(error, InputError) else (error,)
    return [one_line(problem, arguments) for problem in problems]


def listing(names: Iterable[object]) -> str:
    """``'a', 'b' and 3 more``."""
    return listed(map(quoted, names), 5)


def percent(share: float | None) -> str:
    """``12.5 %``."""
    return "–" if share is None else f"{100 * share:.1f} %"


#: What a user of the command can do about an alert.
COMMAND: Phrases = {
    **PYTHON,
    "columns": lambda facts: as_value(*facts["features"][:5]),
    "leave a copy out": f"{PYTHON['leave a copy out']}, with --ignore {{columns}} or --drop-leaks",
    "leave it out if late": f"{PYTHON['leave it out if late']}, with --ignore {{columns}} or --drop-leaks",
    "leave out unless measured": f"{PYTHON['leave out unless measured']}, with --id {{columns}}",
    "group": "add --groups {columns} if they belong together",
    "give": "add --given {columns}{too}",
    "give order": "name a column that says so with --given",
    "name groups": "name the column that says which rows belong together with --groups",
    "order": "add --target-kind ordered, or --target-kind numbers,",
    "missing": "add --na {mark:g}",
    "name levels": ", or name them in a --codebook",
    "all rows": "--method fisher",
}
_DROPPED = dict.fromkeys(("leave a copy out", "leave it out if late"), "left out by --drop-leaks")
_IN_AUDIT = {"assume": "an audit assumes"} | dict.fromkeys(
    ("leave a copy out", "leave it out if late"),
    "{features:it|they} may have been written down from the target, and then errors in the target cannot be seen; if "
    "so, leave {features:it|them} out with --ignore {columns}",
)


def phrases(*, audit: bool = False, dropped: bool = False) -> Phrases:
    """What a user of the command can do about an alert.

    An audit asks for something else about copies of the target; nothing is asked about them if they were ``dropped``.
    """
    return {**COMMAND, **(_IN_AUDIT if audit else {}), **(_DROPPED if dropped else {})}


def alert_lines(alerts: Iterable[Alert], **how: bool) -> list[str]:
    """One clause per alert that asks for something. Text that was left out is named among the columns left out."""
    asking = (alert for alert in alerts if not alert.asks_nothing and alert.kind != "text")
    return [alert.text(phrases(**how)) for alert in asking]


def alert_records(alerts: Iterable[Alert], **how: bool) -> list[dict[str, Any]]:
    """The alerts for JSON and for the report."""
    return [alert.record(phrases(**how)) for alert in alerts]


#: The models of --evaluate in words.
MODELS = {
    "logistic": {"classes": "logistic regression", "numbers": "ridge regression"},
    "forest": dict.fromkeys(("classes", "numbers"), "a random forest"),
    "svm": dict.fromkeys(("classes", "numbers"), "a support vector machine"),
}


def model_of(run: Any) -> str:
    """The model of --evaluate in words."""
    return MODELS[run.call.evaluate][run.problem.supervision.certain().reads]


#: The remedy if the target of an audit is numeric.
NEEDS_CLASSES = (
    "an audit needs one class per row, so name the column with the class; to look for wrong numbers, add --target-kind "
    "numbers"
)


def skills_of(found: Any) -> str:
    """How well the models know the classes."""
    if not found.skills:
        return ""
    shown = [f"{name} {round(skill, 2) + 0.0:.2f}" for name, skill in found.skills.items()]  # never "-0.00"
    return sentence(note("skills below 0" if min(found.skills.values()) < -0.005 else "skills", skills=shown))


def tolerance_columns(found: Any) -> list[Note]:
    """What the columns of the tolerance mean."""
    notes = [note(f"tolerated {found.kind}")]
    if found.no_worst:
        notes.append(note("no worst", why=found.no_worst))
    elif any(map(math.isfinite, found.worst)):  # if no feature passes the linear test, the column is not shown
        notes.append(note(f"worst case {found.kind}"))
    return notes


def saved_table(path: str, ranking: Ranking) -> Note:
    """What was written to --save-table."""
    if ranking.nothing_stands_out:
        return note("no table", path=path)
    n, enough = ranking.n_kept, ranking.n_sufficient or 0
    if n == 1 or n != ranking.n_relevant:
        return note("table", n=n, path=path)
    return note("table of more than enough" if 0 < enough < n else "table of all", n=n, enough=enough, path=path)
