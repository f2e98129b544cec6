"""All private helpers of scikit-learn that dubio uses. Other modules import them from here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions, make_constraint
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _check_sample_weight, _get_feature_names
from sklearn.utils.validation import _num_samples as number_of_rows

from dubio.errors import InputError, InputTypeError

__all__ = [
    "AT_LEAST_ONE",
    "NOT_NEGATIVE",
    "POSITIVE",
    "HasMethods",
    "Interval",
    "StrOptions",
    "check_parameters",
    "check_weights",
    "feature_names",
    "number_of_rows",
    "safe_indexing",
    "wants_pandas",
]

#: Valid values of parameters that are counts or numbers.
AT_LEAST_ONE: list[Any] = [Interval(Integral, 1, None, closed="left")]
POSITIVE: list[Any] = [Interval(Real, 0, None, closed="neither")]
NOT_NEGATIVE: list[Any] = [Interval(Real, 0, None, closed="left")]


def check_parameters(constraints: Mapping[str, list[Any]], values: Mapping[str, Any]) -> None:
    """Raise unless every value satisfies one of the constraints of its parameter.

    Constraints are written as in scikit-learn's own estimators.

    >>> from numbers import Integral
    >>> check_parameters({"k": [Interval(Integral, 1, None, closed="left"), None]}, {"k": 0})
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
            raise InputError(name, f"={value!r}", f"give {wanted}", code=f"parameter {name}")


def check_weights(sample_weight: Any, matrix: Any) -> NDArray[np.float64]:
    """Check the row weights: one number per row, finite and not negative."""
    if np.ma.isMaskedArray(sample_weight) and np.ma.getmaskarray(sample_weight).any():
        raise InputError(
            "sample_weight", "is a masked array, and its mask would be ignored", "fill it: sample_weight.filled(0)"
        )
    try:
        if _holds_complex(np.asarray(sample_weight)):
            raise ValueError("it holds complex numbers")
        with np.errstate(over="ignore", invalid="ignore"):  # what is too large becomes infinite, and is refused
            checked = np.asarray(
                _check_sample_weight(sample_weight, matrix, dtype=np.float64, ensure_non_negative=True)
            )
        if not np.isfinite(checked).all():  # one number for all rows is not checked there
            raise ValueError("it is not finite")
        return checked
    except (ValueError, TypeError, OverflowError) as error:
        said = str(error).splitlines()[0].rstrip(".")
        raise InputError("sample_weight", f"cannot be used: {said}", "give one number per row, 0 or more") from error


def _holds_complex(values: NDArray[Any]) -> bool:
    """Whether NumPy would drop a part of some values to make them floats."""
    kind = values.dtype.kind
    return kind == "c" or (kind == "O" and any(isinstance(value, np.complexfloating) for value in values.flat))


def wants_pandas(estimator: Any) -> bool:
    """Whether ``set_output`` asks for the frames of pandas."""
    return bool(_get_output_config("transform", estimator)["dense"] == "pandas")


def feature_names(X: Any) -> NDArray[Any] | None:
    """Names of the columns if all of them are text. None if X has no names; an error if only some are text."""
    try:
        names: NDArray[Any] | None = _get_feature_names(X)
    except TypeError as error:
        kinds = sorted({type(name).__name__ for name in X.columns})
        raise InputTypeError(
            "X",
            f"has column names of different types ({', '.join(kinds)})",
            "make all of them text: X.columns = X.columns.astype(str)",
        ) from error
    return names


def grow_random_trees(
    X: NDArray[np.float32],
    codes: NDArray[np.float64],
    n_classes: int,
    seeds: Sequence[int],
    min_samples_leaf: int,
    weights: NDArray[np.float64] | None = None,
) -> list[Any]:
    """The trees of an ``ExtraTreesClassifier``, one per seed, grown by scikit-learn's own compiled builder.

    ``X`` is C-ordered; ``codes`` (rows, 1) are whole numbers from 0. Nothing is checked. For a forest on a few hundred
    rows, scikit-learn spends most of the time on cloning and checking each tree.
    """
    from sklearn.tree._criterion import Gini
    from sklearn.tree._splitter import RandomSplitter
    from sklearn.tree._tree import DepthFirstTreeBuilder, Tree

    sizes = np.array([n_classes], dtype=np.intp)
    max_features, deepest = max(1, int(np.sqrt(X.shape[1]))), np.iinfo(np.int32).max
    trees = []
    for seed in seeds:
        state = np.random.RandomState(seed)
        splitter = RandomSplitter(Gini(1, sizes), max_features, min_samples_leaf, 0.0, state, None)
        tree = Tree(X.shape[1], sizes, 1)
        builder = DepthFirstTreeBuilder(splitter, 2 * min_samples_leaf, min_samples_leaf, 0.0, deepest, 0.0)
        builder.build(tree, X, codes, weights, None)
        trees.append(tree)
    return trees
