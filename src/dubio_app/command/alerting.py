"""Alerts in the words of the command line."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Any

from dubio.alerts.alert import Alert
from dubio.errors import listed, quoted

#: Alerts about features that may have been written down from the target.
LEAKS = ("copy", "separates")


def remedy_of(alert: Alert, audit: bool = False, dropped: bool = False) -> str:
    """What a user of the command can do about an alert.

    An audit of labels asks for something else about copies, and nothing is asked if they were ``dropped``.
    """
    names = shlex.quote(",".join(name.replace(",", ",,") for name in alert.features[:5]))
    if alert.kind in LEAKS and dropped:
        return "left out by --drop-leaks"
    if alert.kind in LEAKS and audit:
        it, was = ("it", "it") if len(alert.features) == 1 else ("they", "them")
        return (
            f"{it} may have been written down from the target, and then errors in the target cannot be seen; if so, "
            f"leave {was} out with --ignore {names}"
        )
    if alert.kind == "copy":
        return f"if not known before the target, leave out with --ignore {names} or --drop-leaks"
    if alert.kind == "separates":
        return f"if not measured before the class was known, leave out with --ignore {names} or --drop-leaks"
    if alert.kind == "visits":
        if alert.features:
            return f"if they belong together, add --groups {names}"
        return "name the column that says which rows belong together with --groups"
    if alert.kind == "identifier":
        return alert.remedy if alert.left_out else f"--id {names} leaves out what is no measurement"
    if alert.kind == "rating":
        return "add --target-kind ordered, or --target-kind numbers, to use the order"
    if alert.kind == "sentinel":
        return f"if so, add --na {alert.sentence.split()[0]}; they were used as numbers"
    return alert.remedy


def alert_lines(alerts: tuple[Alert, ...], audit: bool = False, dropped: bool = False) -> list[str]:
    """One line per alert that asks for something. Text that was left out is told by :func:`told_once`."""
    asking = (alert for alert in _words_of(alerts, audit) if not alert.asks_nothing and alert.kind != "text")
    return [f"{alert.sentence}: {remedy_of(alert, audit, dropped)}." for alert in asking]


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


def alert_records(alerts: tuple[Alert, ...], audit: bool = False, dropped: bool = False) -> list[dict[str, Any]]:
    """The alerts for JSON and for the report."""
    return [alert.record(remedy_of(alert, audit, dropped)) for alert in _words_of(alerts, audit)]


def _words_of(alerts: tuple[Alert, ...], audit: bool) -> tuple[Alert, ...]:
    """The alerts; those of an audit do not speak of q-values, which it does not give."""
    if not audit:
        return alerts
    old, new = "q-values assume", "an audit assumes"
    return tuple(
        replace(alert, sentence=alert.sentence.replace(old, new), remedy=alert.remedy.replace(old, new))
        for alert in alerts
    )


def of_the_sample(alerts: tuple[Alert, ...], varying: list[str]) -> tuple[Alert, ...]:
    """The alerts about a sample of rows; the features ``varying`` have at most one value there, but not in all rows."""
    found = []
    for alert in alerts:
        here = [name for name in alert.features if name in varying]
        if alert.kind != "constant" or not here:
            found.append(alert)
            continue
        still = tuple(name for name in alert.features if name not in varying)
        if still:
            sentence = f"at most one value, which cannot matter: {listed(still)}"
            found.append(replace(alert, features=still, sentence=sentence))
        sentence = f"at most one value in the sample, but others in the rest of the rows: {listed(here)}"
        remedy = "a method such as --method fisher uses all rows"
        found.append(Alert("constant", tuple(here), sentence, remedy, left_out="only one value in the sample"))
    return tuple(found)
