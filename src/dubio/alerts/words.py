"""The words of alerts: one function for each kind makes them from the features and the facts of an alert.

What the user can do has another name in each front end: these names are :class:`Phrases`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from dubio.errors import counted, listed, quoted

Features = tuple[str, ...]
Facts = Mapping[str, Any]

#: Features that may be the target in disguise: why they are left out, in a few words.
LEAKS = {"copy": "perhaps a copy of the target", "separates": "separates the classes completely"}
#: Names and groups of names in one sentence.
_MOST_NAMES, _MOST_GROUPS = 5, 3


class Words(NamedTuple):
    """An alert in words: see :class:`~dubio.alerts.alert.Alert`."""

    sentence: str
    remedy: str
    left_out: str = ""
    asks_nothing: bool = False

    def __str__(self) -> str:
        return f"{self.sentence}: {self.remedy}."


@dataclass(frozen=True)
class Phrases:
    """The names of a front end for what the user can do; by default, Python's arguments.

    Attributes
    ----------
    leave_out, identify : str
        How features, and identifiers, are left out, if more is to be said than to leave them out. ``{names}`` stands
        for the features.
    leaks : str
        What to do about a feature that may be the target in disguise, if it is not the usual: ``{it}``, ``{them}``.
    group, name_groups : str
        How to say that rows belong together: by ``{column}`` of the table in Python, or by another one.
    order, missing, all_rows : str
        How to use the order of the classes, to make ``{mark}`` missing, and to use a method for all rows.
    assume : str
        What assumes independent rows.
    names : function
        ``{names}``, of the features.
    """

    leave_out: str = ""
    identify: str = ""
    leaks: str = ""
    group: str = "say groups={column} if they belong together, and leave the column out"
    name_groups: str = "say with groups= which rows belong together"
    order: str = 'say target="ordered" or target="numbers"'
    missing: str = "make these cells missing"
    all_rows: str = 'method="fisher"'
    assume: str = "q-values assume"
    names: Callable[[Features], str] = ", ".join

    def filled(self, phrase: str, features: Features, **more: str) -> str:
        """A phrase with the names of the features, and more."""
        it, them = ("it", "it") if len(features) == 1 else ("they", "them")
        return phrase.format(names=self.names(features), it=it, them=them, **more)


IN_PYTHON = Phrases()


def words_of(kind: str, features: Features, facts: Facts, phrases: Phrases = IN_PYTHON) -> Words:
    """The words of an alert.

    >>> print(words_of("sentinel", ("sodium",), {"mark": -999.0}))
    -999 stands far from all other values of 'sodium', and may mean 'missing': if so, make these cells missing; \
they were used as numbers.
    """
    words = _WORDS[kind](features, facts, phrases)
    target = facts.get("target")  # one of several
    return words if target is None else words._replace(sentence=f"target {quoted(target)}: {words.sentence}")


def _copy(features: Features, facts: Facts, phrases: Phrases) -> Words:
    one = len(features) == 1
    is_a_copy, recoding = ("is a copy", "a recoding") if one else ("are copies", "recodings")
    remedy = "leave it out if it is not known before the target" if one else "leave out what is not known before it"
    sentence = f"{_shown(features)} {is_a_copy} of the target, or {recoding} of it"
    return Words(sentence, phrases.filled(phrases.leaks or remedy + phrases.leave_out, features))


def _separates(features: Features, facts: Facts, phrases: Phrases) -> Words:
    separates, it = ("separates", "it") if len(features) == 1 else ("each separate", "each")
    remedy = f"was {it} measured before the class was known? If not, leave it out"
    sentence = f"{_shown(features)} {separates} the classes completely"
    return Words(sentence, phrases.filled(phrases.leaks or remedy + phrases.leave_out, features))


def _visits(features: Features, facts: Facts, phrases: Phrases) -> Words:
    like, why, name = "visits of the same subject", facts["why"], _shown(features)
    if why == "neighbours alike":
        found = "rows that stand next to each other in the table are much alike"
        like = f"{like} or moments of the same process"
    elif why == "same values":
        found = f"rows with the same value of {name} have the same {_shown(facts['same'])}"
        like = "several rows of the same subject, or a code with its properties"
    elif why == "alike":
        found = f"rows with the same value of {name} are much alike"
    else:
        found = f"many values of {name} occur in several rows"
    remedy = phrases.name_groups
    if features:
        column = f"X[:, {facts['position']}]" if facts["column"] is None else f"X[{facts['column']!r}]"
        remedy = phrases.filled(phrases.group, features, column=column)
    return Words(f"{found}, like {like}; {phrases.assume} independent rows", remedy)


def _repeated_rows(features: Features, facts: Facts, phrases: Phrases) -> Words:
    repeated = facts["repeated"]
    are = "is a repetition" if repeated == 1 else "are repetitions"
    return Words(
        f"{counted(repeated, 'row')} of {facts['rows']} {are} of other rows",
        f"keep each row once, unless different subjects have the same values; {phrases.assume} independent rows",
    )


def _identifier(features: Features, facts: Facts, phrases: Phrases) -> Words:
    found = f"{_columns_have(features)} a different {facts['value']} in every row"
    sentence = f"{found}, like an identifier: {_shown(features)}"
    if facts["value"] == "text":
        reason = "a different text in every row"
        return Words(sentence, "nothing needs to be done; it was left out", reason, asks_nothing=True)
    return Words(sentence, phrases.filled(f"leave it out unless it is a measurement{phrases.identify}", features))


def _constant(features: Features, facts: Facts, phrases: Phrases) -> Words:
    what = "only one value" if facts["values"] else "no value"
    if facts.get("varies outside"):
        sentence = f"at most one value in the sample, but others in the rest of the rows: {listed(features)}"
        return Words(sentence, f"a method such as {phrases.all_rows} uses all rows", "only one value in the sample")
    remedy = "look at how the table was read"  # if no column varies, it may have been read in a wrong way
    if facts["others vary"]:
        remedy = "nothing needs to be done; such columns come last"
    sentence = f"{_columns_have(features)} {what} and cannot matter: {_shown(features)}"
    return Words(sentence, remedy, what, asks_nothing=facts["others vary"])


def _text(features: Features, facts: Facts, phrases: Phrases) -> Words:
    if problem := facts["problem"]:
        sentence = f"column {_shown(features)} was left out: {problem}"
        return Words(sentence, "write all of its cells in the same way", problem)
    was = "column of text was" if len(features) == 1 else "columns of text were"
    return Words(
        f"{len(features)} {was} left out, with many different values or of an unclear form: {_shown(features)}",
        "nothing needs to be done, unless it holds numbers, dates or categories",
        "text that could not be used",
    )


def _alike(features: Features, facts: Facts, phrases: Phrases) -> Words:
    groups = facts["groups"]
    shown = "; ".join(_shown(group, " and ") for group in groups[:_MOST_GROUPS])
    more = f" and {len(groups) - _MOST_GROUPS} more" if len(groups) > _MOST_GROUPS else ""
    sentence = f"{counted(len(features), 'feature')} are equal to another one, or nearly so: {shown}{more}"
    return Words(sentence, "one of each is enough")


def _rating(features: Features, facts: Facts, phrases: Phrases) -> Words:
    return Words(
        f"the target has {facts['grades']} whole numbers ({facts['lowest']:g} to {facts['highest']:g}) that were read "
        "as classes, but the features follow their order, as in a rating",
        f"{phrases.order} to use the order",
    )


def _lonely_class(features: Features, facts: Facts, phrases: Phrases) -> Words:
    classes = facts["classes"]
    have, it = ("has", "it") if len(classes) == 1 else ("have", "each of them")
    return Words(
        f"{counted(len(classes), 'class', 'classes')} {have} only one row: {_shown(classes)}",
        f"label more rows of {it}, merge {it} with another class, or leave the row out",
    )


def _sentinel(features: Features, facts: Facts, phrases: Phrases) -> Words:
    mark = f"{facts['mark']:g}"
    return Words(
        f"{mark} stands far from all other values of {_shown(features)}, and may mean 'missing'",
        f"if so, {phrases.filled(phrases.missing, features, mark=mark)}; they were used as numbers",
    )


_WORDS: dict[str, Callable[[Features, Facts, Phrases], Words]] = {
    "copy": _copy,
    "separates": _separates,
    "visits": _visits,
    "repeated rows": _repeated_rows,
    "identifier": _identifier,
    "constant": _constant,
    "alike": _alike,
    "text": _text,
    "rating": _rating,
    "lonely class": _lonely_class,
    "sentinel": _sentinel,
}


def _shown(names: Features, mark: str = ", ") -> str:
    more = [f"{len(names) - _MOST_NAMES} more"] if len(names) > _MOST_NAMES else []
    return " and ".join([mark.join(map(quoted, names[:_MOST_NAMES])), *more])


def _columns_have(features: Features) -> str:
    return f"{counted(len(features), 'column')} {'has' if len(features) == 1 else 'have'}"
