"""Alerts: what in a table may make the answer wrong, found before anybody trusts it."""

from dubio.alerts.alert import Alert
from dubio.alerts.find import find_alerts, left_out_by, without_copies

__all__ = ["Alert", "find_alerts", "left_out_by", "without_copies"]
