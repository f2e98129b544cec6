"""The words of the command: from facts to sentences.

Errors and warnings of the library have three parts: the argument, what was found, and a remedy (``dubio/errors.py``).
Here arguments become options, and faults get remedies that a user of the command can follow. All else that the command
says besides errors is worded here too; each sentence is a function of the facts that it tells.
"""

from __future__ import annotations

import math
import shlex
import traceback
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from dubio.errors import InputError, InputWarning, counted, listed, quoted
from dubio_app.command.options import names_of_arguments

#: What the command returns: a fault in dubio, a mistake in the file or the options, an interrupt.
FAULT, BAD_INPUT, INTERRUPTED = 1, 2, 130
EXIT_CODES = {
    0: "all went well",
    FAULT: "a fault in dubio itself, or a closed pipe",
    BAD_INPUT: "a mistake in the file or the options",
    INTERRUPTED: "stopped with Ctrl-C",
}

#: What arguments without an option of their own are called.
_NAMES = {
    "X": "the table",
    "y": "the target",
    "labels": "the target",
    "source": "the table",
    "n_neighbors": "the number of neighbours is",  # its messages start with the number
}

#: The command's own remedies, by the code of the fault.
REMEDIES = {
    "alone": "label another row of that class, merge it with another class, or empty the cell",
    "contradiction": "drop one of these pairs",
    "infinity": "empty these cells",
    "label type": "the target must be a class or a number: give another column, or turn it into one of these",
    "many names": "is it an identifier? Give the column to predict. If it is a number, add --regression",
    "minus one": "if -1 is a class, give it a name in the table",
    "missing in words": "--unlabelled VALUE reads such rows as unlabelled",
    "no labels": "label some rows, or leave out --target",
    "no target": "give --target",
    "no device": "install what is missing (pip install 'dubio[gpu]' installs torch), or leave out --device",
    "order": "name all classes, the lowest first: --order LOWEST,...,HIGHEST",
    "one class and blanks": "if the rows without a label may be of this class or not, add --positive VALUE",
    "parameter alpha": "give a number between 0 and 1",
    "parameter n_jobs": "give a number of threads, or -1 for all processors",
    "parameter redundancy": "give 0 or a positive number",
    "mixed column": "correct or empty these cells (--na MARK empties all that hold MARK), or add --nominal or --ignore",
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
    remedies = REMEDIES | (_IN_STREAMS if "--stream" in arguments else {})
    return " ".join(finding.sentence(names_of_arguments() | _NAMES, remedies).split())


def one_line(error: Any) -> str:
    """The text of an error or a warning, on one line."""
    if isinstance(error, InputError | InputWarning):
        return in_command_words(error)
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}."
    text = " ".join(str(error).split())
    return text or traceback.format_exception_only(error)[-1].strip()


def nothing_stands_out(warning: Any) -> str:
    """Why nothing is kept; the library's remedy is about Python, where one feature is kept in any case."""
    return f"the table {warning.found}."


# Pieces of sentences


def ended(text: str) -> str:
    """The text with a full stop, unless it has one."""
    return text if text.endswith((".", "?")) else f"{text}."


def listing(names: Iterable[object], most: int = 5) -> str:
    """``'a', 'b' and 3 more``."""
    return listed(map(quoted, names), most)


def joined(names: Iterable[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def percent(share: float | None) -> str:
    """``12.5 %``."""
    return "–" if share is None else f"{100 * share:.1f} %"


# Alerts


def option_value(columns: Sequence[str]) -> str:
    """Some columns as the value of an option; a comma in a name is written twice."""
    return shlex.quote(",".join(name.replace(",", ",,") for name in columns[:5]))


def phrases(*, audit: bool = False, dropped: bool = False) -> Any:
    """What a user of the command can do about an alert.

    An audit asks for something else about copies of the target; nothing is asked about them if they were ``dropped``.
    """
    from dubio.alerts.words import Phrases

    usual = Phrases(
        leave_out=", with --ignore {names} or --drop-leaks",
        identify=", with --id {names}",
        group="add --groups {names} if they belong together",
        name_groups="name the column that says which rows belong together with --groups",
        order="add --target-kind ordered, or --target-kind numbers,",
        missing="add --na {mark}",
        all_rows="--method fisher",
        names=option_value,
    )
    if dropped:
        usual = replace(usual, leaks="left out by --drop-leaks")
    elif audit:
        usual = replace(
            usual,
            leaks="{it} may have been written down from the target, and then errors in the target cannot be seen; if "
            "so, leave {them} out with --ignore {names}",
        )
    return replace(usual, assume="an audit assumes") if audit else usual


def alert_lines(alerts: Iterable[Any], **how: bool) -> list[str]:
    """One line per alert that asks for something. Text that was left out is in :func:`told_once`."""
    asking = (alert for alert in alerts if not alert.asks_nothing and alert.kind != "text")
    return [str(alert.words(phrases(**how))) for alert in asking]


def alert_records(alerts: Iterable[Any], **how: bool) -> list[dict[str, Any]]:
    """The alerts for JSON and for the report."""
    return [alert.record(phrases(**how)) for alert in alerts]


def told_once(left_out: dict[str, str], notes: list[str]) -> tuple[dict[str, str], list[str]]:
    """Why each column was left out, with the reason of its note if there is one, and the other notes.

    >>> told_once({"nr": "text"}, ["column 'nr': left out: text such as 'p1'.", "2 rows."])
    ({'nr': "text such as 'p1'"}, ['2 rows.'])
    """
    why, others = dict(left_out), list(notes)
    for name in left_out:
        start = f"column {quoted(name)}: left out: "
        for note in notes:
            if note.startswith(start):
                others.remove(note)
                if left_out[name].startswith("text"):  # other reasons say enough
                    why[name] = note.removeprefix(start).rstrip(".")
    return why, others


# Notes: the caller fills in the facts, names in quotes

NO_TARGET = "there is no --target: features are ranked only by the structure of the table."
COUNTS_ROWS = "column {} was left out: it only counts the rows."
MINUS_ONE = "-1 is read as a class ({rows}). If it means no label, add --unlabelled -1."
UNUSED_MARKS = "--unlabelled {}: no row has this value."
READ_AS_NUMBERS = "target {} was read as numbers {how}."
FIRST_PAIR = (
    "the pairs count rows from 1, the first row under the header: the first pair ({}, {}) is {} and {} (--id COLUMN "
    "names rows by their identifiers)."
)
LEFT_OUT = "left out: {}."
SAMPLE_USED = "a sample of {drawn:,} of {rows:,} rows was used (--no-stream loads the whole table)"
READ_ONCE = "{} is read once, in batches of rows."
HALF_KEPT = (
    "half of the features are kept, because only a test on the whole table can tell which features stand out "
    "(--keep N sets the number)."
)
REPORT_WRITTEN = "report written to {}"
EVALUATED_ON = "the selection was evaluated on {drawn:,} of {rows:,} rows"
RIDGE = "logistic regression needs classes: for a numeric target, --evaluate logistic is ridge regression"


def not_in_streams(text: list[str], counters: list[str]) -> list[str]:
    """Notes on columns that are no features when a table is streamed: text, and columns that count the rows."""
    notes, counting = [], "counts" if len(counters) == 1 else "count"
    for names, what in ((text, "without numbers"), (counters, f"that only {counting} the rows")):
        if names:
            were = "was" if len(names) == 1 else "were"
            notes.append(f"{counted(len(names), 'column')} {what} {were} left out: {listing(names)}.")
    return notes


def lone_classes(names: list[Any]) -> str:
    """Note on classes that an audit cannot judge."""
    each = "it is" if len(names) == 1 else "they are"
    count = counted(len(names), "class", "classes")
    return f"{count} with only one row cannot be judged ({listing(names)}): {each} treated as unlabelled."


def cells_were_filled(count: int, how: str) -> str:
    """Note on missing cells that were filled."""
    return f"{counted(count, 'missing value')} in the table {'was' if count == 1 else 'were'} filled with {how}."


# The answer of a ranking


#: What a table, and parts of the text under it, say.
RANKED_TABLE, UNSUPERVISED_TABLE = "Features for {}", "Features, without a target"
RELATED_FIRST = "Related features come first; within each part the order is that of the method"
SCORES = "Scores: {} is good"
FILLED = "{} filled with {}"


def how_sure(ranking: Any, alpha: float, stability: Any, at_the_line: list[str]) -> list[str]:
    """How sure the answer is."""
    said = []
    if ranking.n_relevant:
        said.append(f"Tested against chance; about {100 * alpha:g} % of the related features may be chance.")
    elif ranking.n_relevant is None:
        said.append("The features were not tested.")
    if at_the_line:
        said.append(f"At the line, where other random draws might decide otherwise: {listed(at_the_line)}.")
    if stability is not None and not ranking.nothing_stands_out:
        index = stability.index
        said.append(
            f"Stability {index.value:.2f} ({index.low:.2f} to {index.high:.2f}) over "
            f"{counted(len(stability.rankings), 'resample')}; 1 is always the same features."
        )
    return said


def more_rows(hidden: int, total: int, what: str) -> str:
    """How to see the rows of a table that were not printed."""
    return f"{counted(hidden, f'more {what}')}; --top {total} shows all" if hidden > 0 else ""


def tolerance_columns(found: Any) -> str:
    """What the columns of the tolerance mean."""
    what = {
        "hard": "the share of labels that may be wrong at random",
        "soft": "how far all probabilities may be flattened",
        "numbers": "the share of gross errors",
    }[found.kind]
    said = f"Tolerance: {what} before a feature is kept in fewer than half of the draws"
    if found.no_worst:
        return f"{said}. What a feature survives at worst is not known {found.no_worst}"
    if not any(map(math.isfinite, found.worst)):  # no feature passes the linear test, and the column is not shown
        return said
    bound = " (an upper bound)" if "at most" in found.surety else ""
    worst = {
        "hard": f"how many labels somebody would have to change to push it out{bound}",
        "numbers": "the shift that pushes it out, in standard deviations",
    }[found.kind]
    return f"{said}; worst case: {worst}"


def saved_table(path: str, ranking: Any) -> str:
    """What was written to --save-table."""
    if ranking.nothing_stands_out:
        return f"no table was written to {path}, because no feature stands out"
    n_kept, fewer = int(ranking.support.sum()), ranking.n_sufficient
    which = " (all that are related to the target)" if n_kept > 1 and n_kept == ranking.n_relevant else ""
    hint = f"; --keep sufficient writes {fewer}" if fewer and fewer < n_kept else ""
    return f"table with {counted(n_kept, 'feature')}{which} written to {path}{hint}"


#: The models of --evaluate in words: for classes, and for numbers.
MODELS = {
    "logistic": ("logistic regression", "ridge regression"),
    "forest": ("a random forest", "a random forest"),
    "svm": ("a support vector machine", "a support vector machine"),
}


def evaluation_sentences(found: Any, model: str, keep: Any, tested: bool) -> list[str]:
    """What the selection is worth to a model; ``tested``: some features are related to the target."""
    # the answer above names the sufficient features first: say which ones the folds keep
    wishes = {"relevant": "related to the target", "sufficient": "that suffice"} if tested else {}
    name = MODELS[model][found.measure == "R2"]
    numbers = found.numbers(wishes.get(keep, "selected"))
    return [f"With {name}: {numbers[0].lower() if found.measure != 'R2' else numbers[0]}{numbers[1:]}", found.verdict()]


# The answer of an audit

#: The remedy if the target of an audit is numeric.
NEEDS_CLASSES = (
    "an audit needs one class per row, so name the column with the class; to look for wrong numbers, add --target-kind "
    "numbers"
)


def one_target_at_a_time(targets: Sequence[str]) -> str:
    """Refusal of an audit of several targets."""
    each = ", then ".join(f"--target {shlex.quote(name)}" for name in targets[:2])
    return f"an audit looks at one target at a time: run it once for each ({each})."


def skills_of(found: Any) -> str:
    """How well the models know the classes."""
    if not found.skills:
        return ""
    said = ", ".join(f"{name} {round(skill, 2) + 0.0:.2f}" for name, skill in found.skills.items())  # never "-0.00"
    scale = "1 is perfect, 0 is guessing" + (", below 0 is worse than guessing" if "-" in said else "")
    return f"Skill of the models on rows they had not seen ({scale}): {said}."
