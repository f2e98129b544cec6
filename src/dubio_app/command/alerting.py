"""Alerts in the words of the command line."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Any

from dubio.alerts.alert import Alert
from dubio.alerts.words import Phrases
from dubio.errors import quoted


def _as_option(features: tuple[str, ...]) -> str:
    """Some features as the value of an option."""
    return shlex.quote(",".join(name.replace(",", ",,") for name in features[:5]))


_RANK = Phrases(
    leave_out=", with --ignore {names} or --drop-leaks",
    identify=", with --id {names}",
    group="add --groups {names} if they belong together",
    name_groups="name the column that says which rows belong together with --groups",
    order="add --target-kind ordered, or --target-kind numbers,",
    missing="add --na {mark}",
    all_rows="--method fisher",
    names=_as_option,
)
_AUDIT = replace(
    _RANK,
    assume="an audit assumes",
    leaks="{it} may have been written down from the target, and then errors in the target cannot be seen; if so, leave "
    "{them} out with --ignore {names}",
)


def _phrases(audit: bool, dropped: bool) -> Phrases:
    """What a user of the command can do; an audit asks for something else about leaks, or they were ``dropped``."""
    phrases = _AUDIT if audit else _RANK
    return replace(phrases, leaks="left out by --drop-leaks") if dropped else phrases


def alert_lines(alerts: tuple[Alert, ...], audit: bool = False, dropped: bool = False) -> list[str]:
    """One line per alert that asks for something. Text that was left out is told by :func:`told_once`."""
    asking = (alert for alert in alerts if not alert.asks_nothing and alert.kind != "text")
    return [str(alert.words(_phrases(audit, dropped))) for alert in asking]


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
    return [alert.record(_phrases(audit, dropped)) for alert in alerts]


def of_the_sample(alerts: tuple[Alert, ...], varying: list[str]) -> tuple[Alert, ...]:
    """The alerts about a sample of rows; the features ``varying`` have at most one value there, but not in all rows."""
    changed: list[Alert] = []
    for alert in alerts:
        parts: dict[bool, list[str]] = {False: [], True: []}
        for name in alert.features if alert.kind == "constant" else ():
            parts[name in varying].append(name)
        if not parts[True]:
            changed.append(alert)
            continue
        if parts[False]:
            changed.append(replace(alert, features=tuple(parts[False])))
        changed.append(replace(alert, features=tuple(parts[True]), facts=alert.facts | {"varies outside": True}))
    return tuple(changed)
