"""Mistakes in files and options, told in one line."""

from __future__ import annotations

import difflib
import re
import traceback
from collections.abc import Iterable
from typing import Any


class UserError(Exception):
    """Something the person at the keyboard can put right; its text is one line that says how."""


def quote(name: object) -> str:
    """A name as it stands in a message: quoted, on one line, control characters escaped, never longer than a line."""
    text = repr(str(name))
    # the middle of a long name goes: the end of a path says most
    return text if len(text) <= 80 else f"{text[:20]}...{text[-57:]}"


def listing(names: Iterable[object], most: int = 5) -> str:
    """``'a', 'b' and 3 more``."""
    shown = [quote(name) for name in names]
    rest = len(shown) - most
    return ", ".join(shown[:most]) + (f" and {rest} more" if rest > 0 else "")


def nearest(name: str, candidates: Iterable[object], most: int = 3) -> list[str]:
    """The candidates most like ``name``, whatever their case."""
    known = {str(candidate): str(candidate).casefold() for candidate in candidates}
    wanted = name.casefold()
    near = difflib.get_close_matches(wanted, list(known.values()), n=most, cutoff=0.5)
    found = [original for close in near for original, folded in known.items() if folded == close]
    found += [original for original, folded in known.items() if wanted and wanted in folded]
    return list(dict.fromkeys(found))[:most]


def in_command_words(text: str, arguments: Iterable[str] = ()) -> str:
    """A message of the library, which names arguments of Python, in the words of the command line.

    Examples
    --------
    >>> from dubio.cli.errors import in_command_words
    >>> in_command_words("n_features_to_select=50, but X has 9 feature(s): give less.")
    '--keep 50, but the table has 9 feature(s): give less.'
    """
    if "--stream" in arguments:  # rows that are read once are not changed
        text = text.replace(_NORMALIZE, "divide each row by its sum in the file")
    for pattern, words in _WORDS:
        text = pattern.sub(words, text)
    return text


_NORMALIZE = "divide each row by its sum, or pass soft_labels(y, normalize=True)"
#: What the library says, and what the command says instead; the first words of a message are the argument's name.
_WORDS = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (re.escape(_NORMALIZE), "--normalize divides each row by its sum"),
        (r"\bn_features_to_select=(\S+?)(?=[,.;:]?(?:\s|$))", r"--keep \1"),
        (r"a share in \(0, 1\], or None for half of them", "a share (30%) or auto"),
        (
            r"\bThe '(alpha|redundancy)' parameter of \w+ must be (?:None or )?(.*?)\. Got (.*) instead",
            r"--\1 \3: give \2",
        ),
        (r"\(redundancy=", "(--redundancy "),
        (r"^n_jobs == 0 in Parallel has no meaning$", "--jobs 0: give a number of threads, or -1 for all processors."),
        (r"^confidence\[(\d+)\] = (\S+) ", r"--confidence holds \2 in row \1 "),
        (r"^the probabilities in row (\d+) of y sum", r"--soft: the probabilities in row \1 sum"),
        (r"^y has a negative probability", "--soft: there is a negative probability"),
        (r"^y has NaN in some but not all classes of row", "--soft: some but not all classes are empty in row"),
        (r"^Input y contains infinity", "the target holds infinity"),
        (r": write None for rows without a label", ": --unlabelled VALUE reads such rows as without a label"),
        (r"^y mixes types", "the target mixes types"),
        (r"^(?:Unknown label type: )?y (has|holds)", r"the target \1"),
        (r", but y holds no labels", ", and no --target is given"),
        (r", but y holds a numeric target", ", but the target is numeric"),
        (r", but y holds ", ", but the target holds "),
        (r"^(row \d+ (?:sums to 0|has negative or missing values) )", r"--normalize: \1"),
        (r"\ba row of NaN means", "a row of empty cells means"),
        (r"\ball NaN \(unlabelled\)", "all empty (unlabelled)"),
        (
            r"; for a numeric target use a method such as SupervisedLaplacianScore",
            "; for a numeric target say --regression",
        ),
        (
            r" Probabilities of one class go in as two columns: y = .*",
            " Probabilities go in as one column a class, --soft A,B.",
        ),
        (r"or use an unsupervised method such as LaplacianScore", "or leave out --target"),
        (r"\bPass missing_label=None if -1 is a class", "If -1 is a class, give it a name in the table"),
        (r"\bIf -1 is a class, pass missing_label=None", "If -1 is a class, give it a name in the table"),
        (
            r"^must_link and cannot_link stand beside class probabilities or numbers in y",
            "--pairs stands beside class probabilities or numbers",
        ),
        (r"\b(must|cannot)_link\[(\d+)\] =", r"--pairs: \1 pair \2,"),
        (r"\bcannot_link says", "a cannot pair says"),
        (r"^must_link contradicts", "--pairs contradicts"),
        (r", or give weights if the pairs are not sure", ""),
        (r", or name them in exclude", ", or name them in --ignore"),
        (r"^method=", "--method "),
        (r"\bX has\b", "the table has"),
    )
)


def one_line(error: Any) -> str:
    """What an error or a warning says, on one line."""
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}."
    text = " ".join(str(error).split())
    return text or traceback.format_exception_only(error)[-1].strip()
