"""The library's messages in the words of the command line.

Errors and warnings of the library have three parts: the argument, what was found, and a remedy (``dubio/errors.py``).
This module translates arguments into options, and gives remedies that a user of the command can follow.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from typing import Any

from dubio.errors import InputError, InputWarning, listed, quoted

#: What the command returns: a fault in dubio, a mistake in the file or the options, an interrupt.
FAULT, BAD_INPUT, INTERRUPTED = 1, 2, 130
EXIT_CODES = {
    0: "all went well",
    FAULT: "a fault in dubio itself, or a closed pipe",
    BAD_INPUT: "a mistake in the file or the options",
    INTERRUPTED: "stopped with Ctrl-C",
}


class UserError(Exception):
    """A mistake that the user can correct. Its text is one line that says how."""


#: The names of the library's arguments on the command line.
NAMES = {
    "X": "the table",
    "y": "the target",
    "labels": "the target",
    "alpha": "--alpha",
    "cannot_link": "--pairs",
    "confidence": "--confidence",
    "corrections": "--corrections",
    "annotators": "--annotator",
    "decimal": "--decimal",
    "encoding": "--encoding",
    "device": "--device",
    "exclude": "--ignore",
    "groups": "--groups",
    "method": "--method",
    "must_link": "--pairs",
    "n_draws": "--stability",
    "n_features_to_select": "--keep",
    "n_jobs": "--jobs",
    "n_neighbors": "the number of neighbours is",  # it has no option; its messages start with the number
    "order": "--order",
    "high": "--high",
    "low": "--low",
    "positive": "--positive",
    "prior": "--prior",
    "random_state": "--seed",
    "redundancy": "--redundancy",
    "sample_weight": "--weights",
    "sep": "--sep",
    "sheet": "--sheet",
    "soft": "--soft",
    "source": "the table",
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


def in_command_words(finding: InputError | InputWarning, arguments: Iterable[str] = ()) -> str:
    """A message of the library in the words of the command line.

    Examples
    --------
    >>> from dubio_app.command.wording import in_command_words
    >>> from dubio.errors import InputError
    >>> in_command_words(InputError("n_features_to_select", "=50, but the table has 9 features", "give fewer"))
    '--keep 50, but the table has 9 features: give fewer.'
    """
    remedies = REMEDIES
    if "--stream" in arguments:  # a stream does not change rows
        remedies = {**REMEDIES, "sum": "divide each row by its sum in the file"}
    return " ".join(finding.sentence(NAMES, remedies).split())


def listing(names: Iterable[object], most: int = 5) -> str:
    """``'a', 'b' and 3 more``."""
    return listed(map(quoted, names), most)


def one_line(error: Any) -> str:
    """The text of an error or a warning, on one line."""
    if isinstance(error, InputError | InputWarning):
        return in_command_words(error)
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}."
    text = " ".join(str(error).split())
    return text or traceback.format_exception_only(error)[-1].strip()
