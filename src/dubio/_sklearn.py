"""The one door to scikit-learn's private helpers: whoever needs one imports it from here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions, make_constraint
from sklearn.utils.validation import _check_sample_weight, _get_feature_names

from dubio.errors import InputError

__all__ = [
    "HasMethods",
    "Interval",
    "StrOptions",
    "check_parameters",
    "check_weights",
    "feature_names",
    "safe_indexing",
]


def check_parameters(constraints: Mapping[str, list[Any]], values: Mapping[str, Any]) -> None:
    """Raise unless every value satisfies one of the constraints of its parameter.

    The constraints are those of scikit-learn's own estimators.

    >>> check_parameters({"k": [Interval(int, 1, None, closed="left"), None]}, {"k": 0})
    Traceback (most recent call last):
    dubio.errors.InputError: k=0: give an int in the range [1, inf) or None.
    """
    for name, value in values.items():
        if name not in constraints:
            continue
        rules = [make_constraint(rule) for rule in constraints[name]]
        if not any(rule.is_satisfied_by(value) for rule in rules):
            words = [str(rule) for rule in rules if not getattr(rule, "hidden", False)]
            wanted = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
            raise InputError(name, f"={value!r}", f"give {wanted}", code="parameter")


def check_weights(sample_weight: Any, matrix: Any) -> NDArray[np.float64]:
    """Weights of the rows: numbers, one per row, finite and not negative."""
    return np.asarray(_check_sample_weight(sample_weight, matrix, dtype=np.float64, ensure_non_negative=True))


def feature_names(X: Any) -> NDArray[Any] | None:
    """Names of the columns if all of them are text; None if X has none, an error if it has both."""
    names: NDArray[Any] | None = _get_feature_names(X)
    return names
