"""Targets that need more than one column or one word on the command line: ordered classes, positive rows."""

from __future__ import annotations

from typing import Any

from dubio.cli.wording import UserError, listing
from dubio.errors import quoted
from dubio.supervision import ordered_classes, positive_unlabelled
from dubio.supervision.reader import has_order


def ordered_target(column: Any, name: str, order: tuple[str, ...], code: list[str]) -> Any:
    """The classes of a column in their order: that of ``--order``, of the numbers, or of the file's own categories."""
    is_number = getattr(column.dtype, "kind", "O") in "iuf"
    if not order:
        if is_number or has_order(column):
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
