"""Hand labels that have been read once to another selector, without a second guess at what they mean."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone


def clone_for_classes(selector: Any) -> Any:
    """A clone that takes its labels as classes, and only None and NaN for missing ones."""
    fresh = clone(selector)
    settings = {"target": "classes", "missing_label": None}
    own = fresh.get_params(deep=False)
    return fresh.set_params(**{name: value for name, value in settings.items() if name in own})
