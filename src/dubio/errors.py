"""Messages about an input: which argument, what was found in it, what to do about it.

Errors and warnings carry these three parts. Python joins them into a sentence; the command prints them with the names
of its options (``cli/wording.py``). So each message is written in one place, and no code has to parse its text.
"""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, Self

_PARTS = """

    Parameters
    ----------
    argument : str
        Name of the argument, as in Python: ``"X"``, ``"y"``, ``"n_features_to_select"``.
    found : str
        What was found, written to follow the name: ``"has 3 rows and X has 4"``. The value of a parameter starts with
        ``"="``, a place inside the argument with ``"["``.
    remedy : str
        What to do. One or more sentences, without the last full stop.
    code : str
        A short name of the fault, for a front end that has its own remedy for it.
    **facts : object
        What the fault is about, as data. A fault of a column has its ``column``, and mostly the ``row`` of the first
        such cell (from 0 on), its ``place`` in the file, an ``example`` and the number ``n`` of such cells.
    """

#: Remedies of a front end, by the code of the fault: a text, or what makes it of the facts.
Remedies = Mapping[str, str | Callable[[Mapping[str, Any]], str]]


class _Finding:
    """The parts of a message about an input."""

    def __init__(self, argument: str, found: str, remedy: str = "", *, code: str = "", **facts: Any) -> None:
        self.argument, self.found, self.remedy, self.code, self.facts = argument, found, remedy, code, facts
        super().__init__(self.sentence())  # type: ignore[call-arg]  # an error or a warning, both take a text

    def sentence(self, names: Mapping[str, str] | None = None, remedies: Remedies | None = None) -> str:
        """The message. A front end may rename arguments, and replace the remedies of some faults (by code)."""
        name = (names or {}).get(self.argument, self.argument)
        found = self.found
        if name != self.argument and found.startswith("="):
            found = f" {found[1:]}"  # an option and its value: --keep 50
        elif not found.startswith(("=", "[")):
            found = f" {found}"
        remedy = self.remedy_in(remedies or {})
        text = f"{name}{found}" + (f": {remedy}" if remedy else "")
        return text if text.endswith((".", "?")) else f"{text}."

    def remedy_in(self, remedies: Remedies) -> str:
        """What to do, in the words of a front end."""
        remedy = remedies.get(self.code, self.remedy)
        return remedy(self.facts) if callable(remedy) else remedy

    def at(self, place: str) -> Self:
        """The same finding, with its place added: a block of rows, a file."""
        return type(self)(self.argument, f"{self.found} ({place})", self.remedy, code=self.code, **self.facts)

    def about(self, argument: str) -> Self:
        """The same finding about an argument of another name."""
        return type(self)(argument, self.found, self.remedy, code=self.code, **self.facts)

    def __reduce__(self) -> Any:
        return partial(type(self), self.argument, self.found, self.remedy, code=self.code, **self.facts), ()


class InputError(_Finding, ValueError):
    __doc__ = f"""An input that cannot be used.{_PARTS}
    Examples
    --------
    >>> from dubio.errors import InputError
    >>> error = InputError("n_features_to_select", "=50, but the table has 9 features", "give a number from 1 to 9")
    >>> print(error)
    n_features_to_select=50, but the table has 9 features: give a number from 1 to 9.
    >>> error.sentence({{"n_features_to_select": "--keep"}})
    '--keep 50, but the table has 9 features: give a number from 1 to 9.'
    """

    @property
    def problems(self) -> tuple[InputError, ...]:
        """Everything that is wrong, each fault as an error of its own: mostly only this one."""
        return tuple(self.facts.get("problems", ())) or (self,)


def joined(problems: Iterable[InputError]) -> InputError:
    """One error that names all problems, each on a line of its own.

    >>> from dubio.errors import InputError, joined
    >>> error = joined([InputError("a", "is empty"), InputError("b", "is empty", "fill it")])
    >>> print(error)
    2 problems were found:
    a is empty.
    b is empty: fill it.
    >>> [problem.remedy for problem in error.problems]
    ['', 'fill it']
    """
    single = [one for problem in problems for one in problem.problems]
    if len(single) == 1:
        return single[0]
    lines = "\n".join(map(str, single))
    return InputError(f"{len(single)} problems", f"were found:\n{lines}", code="several", problems=tuple(single))


class InputTypeError(InputError, TypeError):
    """An input of a type that cannot be used. It is also a TypeError, which scikit-learn's checks ask for."""


class InputWarning(_Finding, UserWarning):
    __doc__ = f"An input that is used as given, but may not be what the user meant.{_PARTS}"


def warn(warning: Warning) -> None:
    """Warn at the user's line that led here: the first line outside the library."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == "dubio":
        level, frame = level + 1, frame.f_back
    warnings.warn(warning, stacklevel=level)


_row_names: ContextVar[Callable[[int], str] | None] = ContextVar("row names", default=None)


def name_row(position: int) -> str:
    """A row of the user's table in a message, given its position. Rows count from 0, as in arrays, in Python; a front
    end that has read a file says where in the file the row is: see :func:`rows_named`.

    >>> name_row(3)
    'row 3'
    >>> with rows_named(lambda position: f"line {position + 2} of the file"):
    ...     name_row(3)
    'line 5 of the file'
    """
    name = _row_names.get()
    return f"row {position}" if name is None else name(position)


def counted_from_1(position: int) -> str:
    """The name of a row of a table whose rows have no other places, for :func:`rows_named`."""
    return f"row {position + 1}, counted from 1"


def how_rows_count(row: int) -> str:
    """The sentence about row numbers in a list, with one row as an example: they count from 1, without a header.

    >>> with rows_named(lambda position: f"line {position + 2} of the file"):
    ...     how_rows_count(3)
    'Rows are counted from 1, without the header: row 3 is line 4 of the file.'
    """
    if _row_names.get() in (None, counted_from_1):
        return "Rows are counted from 1."
    return f"Rows are counted from 1, without the header: row {row} is {name_row(row - 1)}."


def has_row_names() -> bool:
    """Whether a front end names the rows: people who look at a file do not count columns from 0 either."""
    return _row_names.get() is not None


@contextmanager
def rows_named(name: Callable[[int], str] | None) -> Iterator[None]:
    """Inside this block, messages name the rows of the table like this."""
    token = _row_names.set(name)
    try:
        yield
    finally:
        _row_names.reset(token)


def counted(number: int, noun: str, plural: str = "") -> str:
    """``1 row``, ``3 rows``.

    >>> counted(1, "row"), counted(3, "row"), counted(2, "class", "classes")
    ('1 row', '3 rows', '2 classes')
    """
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def listed(names: Iterable[object], most: int = 8) -> str:
    """``a, b and 3 more``."""
    shown = [str(name) for name in names]
    rest = len(shown) - most
    return ", ".join(shown[:most]) + (f" and {rest} more" if rest > 0 else "")


def all_of(words: Iterable[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``; empty without words."""
    *others, last = tuple(words) or ("",)
    return f"{', '.join(others)} and {last}" if others else last


def one_of(words: Iterable[str]) -> str:
    """``a, b or c``."""
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def quoted(name: object) -> str:
    """A name for use in a message: quoted, control characters escaped, never longer than one line."""
    text = repr(str(name))
    # cut the middle of a long name: the end of a path says most
    return text if len(text) <= 80 else f"{text[:20]}...{text[-57:]}"


def nearest(name: str, candidates: Iterable[object], most: int = 3) -> list[str]:
    """The candidates most similar to ``name``, ignoring case."""
    folded = {str(candidate): str(candidate).casefold() for candidate in candidates}
    wanted = name.casefold()
    near = difflib.get_close_matches(wanted, list(folded.values()), n=most, cutoff=0.5)
    similar = [name for close in near for name, text in folded.items() if text == close]
    similar += [name for name, text in folded.items() if wanted and wanted in text]
    return list(dict.fromkeys(similar))[:most]


class NoFeatureStandsOut(InputWarning):
    """Nothing in the table is clearly related to what is known of the target."""

    @classmethod
    def because(cls, why: str) -> Self:
        """The warning with its reason."""
        remedy = "one feature is handed on so that pipelines run, but nothing shows that it matters"
        return cls("X", f"has no feature that stands out: {why}", remedy, code="nothing stands out")
