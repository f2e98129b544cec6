"""Judge the papers' claims from means and their standard errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dubio.errors import counted
from dubio_papers.experiment import Finding, Point

#: With fewer repetitions than this a claim is not judged.
FEWEST = 10
#: What a gain is measured in, unless an experiment says otherwise.
POINTS = "gain (points)"
#: Gains below this are rounding errors.
_ROUNDING = 1e-9


def better(summary: Any, key: str, measure: str, claim: str, *, group: str = "", scale: str = POINTS) -> Finding:
    """Whether a paired gain is above zero by more than two standard errors."""
    return _judge(summary, key, measure, claim, group, scale, lambda mean, error: mean > 2 * error + _ROUNDING)


def not_worse(summary: Any, key: str, measure: str, claim: str, *, group: str = "", scale: str = POINTS) -> Finding:
    """Whether a paired gain is not below zero by more than two standard errors."""
    return _judge(summary, key, measure, claim, group, scale, lambda mean, error: mean >= -2 * error - _ROUNDING)


def the_same(summary: Any, key: str, measure: str, claim: str, *, group: str = "", scale: str = POINTS) -> Finding:
    """Whether a paired gain is within two standard errors of zero."""
    return _judge(summary, key, measure, claim, group, scale, lambda mean, error: abs(mean) <= 2 * error + _ROUNDING)


def enough(summary: Any, key: str) -> bool:
    """Whether a cell has enough repetitions to judge a claim."""
    return bool(summary.cell(key).repetitions >= FEWEST)


def _judge(
    summary: Any,
    key: str,
    measure: str,
    claim: str,
    group: str,
    scale: str,
    rule: Callable[[float, float], bool],
) -> Finding:
    mean, error = summary.mean(key, measure), summary.error(key, measure)
    if mean is None:
        return Finding(claim, None, "Not run.", group=group, scale=scale)
    if error is None or not enough(summary, key):
        made = counted(summary.cell(key).repetitions, "repetition")
        holds, numbers = None, f"Gain {mean:.2f} after only {made}: too few to judge."
    else:
        holds, numbers = bool(rule(mean, error)), f"Gain {mean:.2f} ± {error:.2f}."
    return Finding(claim, holds, numbers, (Point("", mean, error),), group=group, scale=scale)
