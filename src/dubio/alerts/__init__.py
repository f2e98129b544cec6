"""What in a table may make the answer wrong."""

from typing import TYPE_CHECKING

from dubio._lazy import lazy_names

if TYPE_CHECKING:
    from dubio.alerts.alert import Alert
    from dubio.alerts.find import find_alerts, left_out_by, without_copies

__all__ = [
    "Alert",
    "find_alerts",
    "left_out_by",
    "without_copies",
]

_HOMES = {
    "alert": "Alert",
    "find": "find_alerts left_out_by without_copies",
}

if not TYPE_CHECKING:  # type checkers and editors see the imports above
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)
