"""Alerts: what in a table may make the answer wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dubio.alerts.alert import view_of
from dubio.alerts.of_columns import (
    alike_alerts,
    constant_alerts,
    identifier_alerts,
    sentinel_alerts,
    text_alerts,
    variant_alerts,
)
from dubio.alerts.of_rows import contradicting_alerts, repeated_alerts, units_of, visit_alerts
from dubio.alerts.of_target import copy_alerts, lonely_alerts, near_copy_alerts, rating_alerts
from dubio.findings import LEAKS, Alert, left_out_by
from dubio.problem import Problem

#: The functions that look at the columns, in the order of their alerts.
FINDERS = [variant_alerts, sentinel_alerts, alike_alerts, text_alerts, constant_alerts]

__all__ = ["Alert", "find_alerts", "left_out_by", "without_copies"]


def find_alerts(problem: Problem) -> tuple[Alert, ...]:
    """All that may make the answer wrong, the worst first; nothing for a sparse table.

    Of large tables, evenly spread blocks of neighbouring rows are looked at (2 million cells).

    Parameters
    ----------
    problem : Problem
        The table and what is known of its target.

    Returns
    -------
    tuple of Alert
        The worst first.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.alerts import find_alerts
    >>> from dubio.problem import read_problem
    >>> y = np.arange(60) % 2
    >>> X = np.column_stack([np.random.default_rng(0).normal(size=60), 3 - y])
    >>> for alert in find_alerts(read_problem(X, y)):
    ...     print(alert)
    'x1' is a copy of the target, or a recoding of it: leave it out if it is not known before the target.
    """
    view = view_of(problem)
    if view is None or len(view.X) == 0:
        return ()
    # rows that are said to belong together may be alike
    of_rows = [*visit_alerts(view), *repeated_alerts(view)] if problem.groups is None else []
    units = units_of(view, problem.groups, of_rows)
    copies: list[Alert] = []
    of_labels: list[Alert] = []
    contradicting: list[Alert] = []
    for name, target in (view.supervision.targets or {"": view.supervision}).items():
        part, named = replace(view, supervision=target), {"target": name} if name else {}
        of_label = [*rating_alerts(part), *lonely_alerts(part)]
        apart = contradicting_alerts(part) if problem.groups is None else []
        contradicting += [replace(alert, facts=alert.facts | named) for alert in apart]
        suspected = copy_alerts(part, units)
        suspected += near_copy_alerts(part, units, {feature for alert in suspected for feature in alert.features})
        copies += [replace(alert, facts=alert.facts | named) for alert in suspected]
        of_labels += [replace(alert, facts=alert.facts | named) for alert in of_label]
    others = [alert for find in FINDERS for alert in find(view)]
    return (*copies, *contradicting, *of_rows, *identifier_alerts(view), *of_labels, *others)


def without_copies(problem: Problem, alerts: tuple[Alert, ...]) -> Problem:
    """The same problem; features that are suspected to be the target in disguise become constant, so they come last.

    These are copies of the target, features that separate its classes, and those that predict it far too well.
    The number of features stays the same: whoever asks for a feature by its position finds it.

    Parameters
    ----------
    problem : Problem
        The table and what is known of its target.
    alerts : tuple of Alert
        As found by :func:`find_alerts`.

    Returns
    -------
    Problem
        The same one, if nothing is suspected.
    """
    named = {name for alert in alerts if alert.kind in LEAKS for name in alert.features}
    copies = np.flatnonzero([str(name) in named for name in problem.feature_names])
    if not len(copies):
        return problem
    X = np.array(problem.X)
    X[:, problem.columns_of(copies)] = 0.0
    return replace(problem, X=X)
