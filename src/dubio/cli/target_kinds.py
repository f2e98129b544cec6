"""Targets that need more than one column or one word on the command line: ordered classes, positive rows, intervals."""

from __future__ import annotations

from typing import Any

import numpy as np

from dubio.cli.wording import UserError, listing
from dubio.errors import counted, quoted
from dubio.supervision import interval_targets, ordered_classes, positive_unlabelled
from dubio.supervision.reader import are_whole_numbers_as_text, has_order


def ordered_target(column: Any, name: str, order: tuple[str, ...], code: list[str]) -> Any:
    """The classes of a column in their order: that of ``--order``, of the numbers, or of the file's own categories."""
    is_number = getattr(column.dtype, "kind", "O") in "iuf"
    if not order:
        if is_number or has_order(column) or are_whole_numbers_as_text(column.dropna().to_numpy(dtype=str)):
            return column
        raise UserError(
            f"--target-kind ordered: column {quoted(name)} holds text such as {quoted(column.dropna().iloc[0])}, and "
            "the order of its classes is not known: add --order LOWEST,...,HIGHEST."
        )
    places: list[Any] = list(order)
    if is_number:
        try:
            places = [float(place) for place in order]
        except ValueError as error:
            raise UserError(f"--order: column {quoted(name)} holds numbers, so the order must name numbers.") from error
    else:
        column = column.map(str, na_action="ignore")
    code.append("y = ordered_classes(y, order=" + f"{places!r})")
    return ordered_classes(column, places)


def positive_target(column: Any, name: str, positive: str, prior: float | None, code: list[str]) -> Any:
    """The rows of a column that are labelled positive; all others count as unlabelled."""
    known = column.dropna().unique()
    same = [value for value in known if str(value) == positive or _same_number(value, positive)]
    if not same:
        raise UserError(f"--positive {quoted(positive)} has no row in {quoted(name)}, which holds {listing(known)}.")
    value = same[0].item() if hasattr(same[0], "item") else same[0]
    tail = "" if prior is None else f", prior={prior!r}"
    code.append(f"y = positive_unlabelled(y, positive={value!r}{tail})")
    return positive_unlabelled(column, positive=value, prior=prior)


def _same_number(value: Any, text: str) -> bool:
    try:
        return float(value) == float(text)
    except (TypeError, ValueError):
        return False


#: Words for "it happened" and "it did not" in a column of events.
_YES, _NO = ("1", "1.0", "yes", "y", "true", "t"), ("0", "0.0", "no", "n", "false", "f")


def interval_target(frame: Any, low: str | None, high: str | None, code: list[str]) -> Any:
    """The limits of ``--low`` and ``--high``; an empty cell is no limit."""
    if low is None or high is None:
        raise UserError("--low and --high belong together: give both (an empty cell means no limit).")
    code.append(f"y = interval_targets(table[{low!r}], table[{high!r}])")
    return interval_targets(frame[low].astype(np.float64), frame[high].astype(np.float64))


def survival_target(frame: Any, time: str | None, event: str | None, code: list[str]) -> Any:
    """Times that are known if the event happened, and censored if it did not."""
    if time is None or event is None:
        raise UserError("--time and --event belong together: the event says whether the time is known or censored.")
    words = frame[event].map(lambda value: str(value).strip().casefold(), na_action="ignore")
    known = frame[time].notna()
    odd = words[known & ~words.isin([*_YES, *_NO])]
    if len(odd):
        is_empty = bool(odd.isna().iloc[0])
        count = int((odd.isna() if is_empty else odd == odd.iloc[0]).sum())
        cell = "an empty cell" if is_empty else quoted(str(frame[event][odd.index[0]]))
        more = f", and neither yes nor no in {len(odd) - count} more" if count < len(odd) else ""
        raise UserError(
            f"--event: column {quoted(event)} must hold yes or no (1 or 0), but it has {cell} in "
            f"{counted(count, 'row')} with a time{more}."
        )
    happened = words.isin(_YES)
    code.append(f"happened = table[{event!r}].astype(str).str.casefold().isin({list(_YES)!r})")
    code.append(f"y = interval_targets(table[{time!r}], table[{time!r}].where(happened, float('inf')))")
    times = frame[time].astype(np.float64)
    return interval_targets(times, times.where(happened | ~known, np.inf))
