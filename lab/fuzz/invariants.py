"""What must be true after a call that was not refused."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from dubio import METHODS
from dubio.table.cells import is_missing
from fuzz.outcome import Broken

Rng = np.random.Generator
#: Arguments of ``fit`` with one value per row.
_BY_ROW = ("sample_weight", "groups")
Values = NDArray[np.float64]
#: Of features that are equally good the first is taken, or folds and restarts are drawn by the order of the columns.
_BY_PLACE = ("FuzzyRoughSearch", "NeighborSearch", "MutualInformationSearch")


@dataclass(frozen=True)
class Fit:
    """An estimator and what it is fitted on. ``values`` is the table as plain numbers, if it has any."""

    estimator: Any
    X: Any
    y: Any
    more: dict[str, Any]
    values: Values | None = None

    def run(self) -> Any:
        return clone(self.estimator).fit(self.X, self.y, **self.more)


# --- after every fit ---------------------------------------------------------------------------------------------


def require_answer(fitted: Any, fit: Fit) -> None:
    """The ranking is a permutation, what is kept is its beginning, scores are never NaN, constants come last."""
    ranking, support = np.asarray(fitted.ranking_), np.asarray(fitted.support_)
    d = fitted.n_features_in_
    if sorted(ranking.tolist()) != list(range(1, d + 1)):
        raise Broken("the ranking is a permutation", str(ranking))
    if not np.array_equal(support, ranking <= fitted.n_features_) or fitted.n_features_ < 1:
        raise Broken("what is kept is the beginning of the ranking", f"{ranking} {support}")
    scores = getattr(fitted, "scores_", None)
    if scores is not None and (np.isnan(scores).any() or len(scores) != d):
        raise Broken("scores are numbers", str(scores))
    for name in ("pvalues_", "qvalues_"):
        values = np.asarray(getattr(fitted, name, 0.5))
        if not ((values >= 0) & (values <= 1)).all():
            raise Broken(f"{name} lie between 0 and 1", str(values))
    shown = fitted.to_ranking()
    if not fitted.explanation_ or not str(shown) or "<script>alert" in shown._repr_html_():
        raise Broken("the ranking can be shown safely", str(shown))
    if fit.values is not None and fit.values.shape[1] == d and np.isfinite(fit.values).all():
        if scores is None:  # those of the selector within
            scores = getattr(getattr(fitted, "selector_", None), "scores_", None)
        _require_constants_last(ranking, scores, fit)


def _require_constants_last(ranking: NDArray[Any], scores: Any, fit: Fit) -> None:
    assert fit.values is not None
    constant = (fit.values == fit.values[:1]).all(axis=0)
    if not constant.any() or constant.all():
        return
    known = known_rows(fit.y, len(fit.values))
    weight = fit.more.get("sample_weight")
    if weight is not None and np.shape(weight) == known.shape:
        known &= np.asarray(weight, dtype=np.float64) > 0
    if not known.any() or "must_link" in fit.more:
        return
    part = fit.values[known]
    varies = (part != part[:1]).any(axis=0)
    for j in np.flatnonzero(constant):
        before = [k for k in np.flatnonzero(varies) if ranking[k] > ranking[j]]
        if scores is not None:  # a feature that says nothing at all may have the same score
            before = [k for k in before if scores[k] != scores[j]]
        if before:
            raise Broken("constants come last", f"ranking {ranking}, scores {scores}, constant {j}, before {before}")


def known_rows(y: Any, n_rows: int) -> NDArray[np.bool_]:
    """The rows with a label; all of them if that cannot be told."""
    everything = np.ones(n_rows, dtype=bool)
    if y is None or hasattr(y, "targets") or hasattr(y, "is_positive"):
        return everything
    if hasattr(y, "low"):
        return np.asarray(np.isfinite(y.low) | np.isfinite(y.high))
    y = getattr(y, "values", y) if hasattr(y, "order") else y
    try:
        values = np.asarray(y)
        if values.ndim == 2 and values.shape[1] > 1:
            return np.asarray(~np.isnan(np.asarray(values, dtype=np.float64)).any(axis=1))
        flat = values.ravel().tolist()
        known = np.array([v is not None and v == v and v != -1 and str(v) != "<NA>" for v in flat], dtype=bool)
        return known if len(known) == n_rows else everything
    except (TypeError, ValueError, ArithmeticError):
        return everything


def fingerprint(thing: Any) -> Any:
    """Something that changes if the contents of an argument change."""
    if isinstance(thing, np.ndarray):
        odd = thing.dtype.kind == "O" or thing.dtype == np.longdouble  # which has bytes that mean nothing
        content = repr(thing.tolist()) if odd else thing.tobytes()
        return (str(thing.dtype), thing.shape, thing.flags.writeable, content)
    if sparse.issparse(thing):
        parts = [getattr(thing, name) for name in ("data", "indices", "indptr", "row", "col") if hasattr(thing, name)]
        return (thing.shape, [part.tobytes() for part in parts])
    if hasattr(thing, "to_numpy"):
        names = repr(list(getattr(thing, "columns", ())))
        return (names, repr(getattr(thing, "dtypes", "")), fingerprint(np.asarray(thing.to_numpy())))
    if hasattr(thing, "_by_row"):
        return {name: fingerprint(getattr(thing, name)) for name in thing._by_row}
    if hasattr(thing, "targets"):
        thing = thing.targets
    if isinstance(thing, Mapping):
        return {name: fingerprint(value) for name, value in thing.items()}
    return repr(thing)


# --- one of these, drawn at random ---------------------------------------------------------------------------------


def refit_is_equal(fit: Fit, fitted: Any, rng: Rng) -> None:
    _require_same(fitted, fit.run(), "a second fit is equal")


def clone_and_pickle_are_equal(fit: Fit, fitted: Any, rng: Rng) -> None:
    _require_same(fitted, pickle.loads(pickle.dumps(fitted)), "a pickled estimator is equal")


def transform_takes_the_columns(fit: Fit, fitted: Any, rng: Rng) -> None:
    found = fitted.transform(fit.X)
    if found.shape[1] != fitted.n_features_ or len(fitted.get_feature_names_out()) != fitted.n_features_:
        raise Broken("transform takes the columns that are kept", str(found.shape))


def threads_do_not_matter(fit: Fit, fitted: Any, rng: Rng) -> None:
    if "n_jobs" not in fit.estimator.get_params():
        return
    one, two = (replace(fit, estimator=clone(fit.estimator).set_params(n_jobs=n)).run() for n in (1, 2))
    _require_same(one, two, "threads do not matter")


def order_of_rows_does_not_matter(fit: Fit, fitted: Any, rng: Rng) -> None:
    if not _is_generic(fit):
        return
    assert fit.values is not None
    order = rng.permutation(len(fit.values))
    more = {name: take(value, order) if name in _BY_ROW else value for name, value in fit.more.items()}
    place = np.argsort(order)
    for name in ("must_link", "cannot_link"):
        if fit.more.get(name) is not None:
            more[name] = place[np.asarray(fit.more[name], dtype=np.int64)]  # no pairs at all may be floats
    here = replace(fit, X=fit.values).run()
    there = replace(fit, X=fit.values[order], y=take(fit.y, order), more=more).run()
    _require_close(here, there, "the order of rows does not matter", np.arange(fit.values.shape[1]))


def columns_are_treated_alike(fit: Fit, fitted: Any, rng: Rng) -> None:
    if not _is_generic(fit) or fit.values is None or fit.values.shape[1] < 2:
        return
    own = fit.estimator
    if hasattr(own, "method"):  # the method behind the front door
        own = METHODS[own.method].estimator() if own.method in METHODS else own
    if type(own).__name__ in _BY_PLACE:
        return
    if own.get_params().get("jitter"):  # noise against ties, drawn by the place of a column
        return
    order = rng.permutation(fit.values.shape[1])
    here = replace(fit, X=fit.values).run()
    there = replace(fit, X=fit.values[:, order]).run()
    _require_close(here, there, "columns are treated alike", order)


def units_of_columns_do_not_matter(fit: Fit, fitted: Any, rng: Rng) -> None:
    """Exact powers of two, so that nothing is rounded; only for methods that put columns on one scale."""
    if not _is_generic(fit) or _asked(fit).get("standardize") is False:
        return
    assert fit.values is not None
    factors = np.exp2(rng.integers(-200, 200, size=fit.values.shape[1]).astype(np.float64))
    here = replace(fit, X=fit.values).run()
    there = replace(fit, X=fit.values * factors).run()
    _require_close(here, there, "units of columns do not matter", np.arange(len(factors)), scores=False)


def blocks_equal_the_whole(fit: Fit, fitted: Any, rng: Rng) -> None:
    if not hasattr(fitted, "partial_fit") or fit.values is None or "must_link" in fit.more:
        return
    blocks = clone(fit.estimator)
    cuts = np.unique(rng.integers(0, len(fit.values) + 1, size=2))
    for rows in np.split(np.arange(len(fit.values)), cuts):
        if len(rows):
            more = {name: take(value, rows) for name, value in fit.more.items()}
            blocks.partial_fit(fit.values[rows], take(fit.y, rows), **more)
    whole = replace(fit, X=fit.values).run()
    if hasattr(blocks, "scores_"):
        close = np.allclose(blocks.scores_, whole.scores_, rtol=1e-7, atol=1e-9)
        if not close and np.isfinite(whole.scores_).all():
            raise Broken("blocks equal the whole", f"{blocks.scores_} {whole.scores_}")


CHECKS: dict[str, Callable[[Fit, Any, Rng], None]] = {
    "refit": refit_is_equal,
    "pickle": clone_and_pickle_are_equal,
    "transform": transform_takes_the_columns,
    "threads": threads_do_not_matter,
    "rows": order_of_rows_does_not_matter,
    "columns": columns_are_treated_alike,
    "units": units_of_columns_do_not_matter,
    "blocks": blocks_equal_the_whole,
}


def take(values: Any, rows: NDArray[Any]) -> Any:
    """Some rows of a target or of weights, in the same container."""
    if hasattr(values, "targets") or hasattr(values, "_by_row"):
        return values[rows]
    plain = isinstance(values, list | tuple)  # it may be ragged
    size = values.shape[0] if sparse.issparse(values) else len(values) if plain or np.ndim(values) else 0
    if size <= rows.max(initial=-1):  # a target that is ignored
        return values
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if isinstance(values, list | tuple):
        return [values[i] for i in rows]
    return values[rows]


def _asked(fit: Fit) -> dict[str, Any]:
    """The parameters, those for the method behind the front door among them."""
    given = fit.estimator.get_params()
    return {**given, **(given.get("method_params") or {})}


def _is_flat(y: Any) -> bool:
    """Whether a target has one value per row; a list may also hold lists of different lengths."""
    return not any(isinstance(one, list | tuple | np.ndarray) for one in y) if isinstance(y, list) else np.ndim(y) == 1


def _is_generic(fit: Fit) -> bool:
    """Whether no two values of a column are equal, and no two columns: otherwise ties may be broken by rounding.

    Few labelled rows make ties too: two of them are told apart by every column.
    """
    values = fit.values
    if values is None or len(values) < 4 or not np.isfinite(values).all():
        return False
    if isinstance(fit.y, list | np.ndarray | pd.Series) and _is_flat(fit.y) and _n_known(fit.y) < 4:
        return False
    if _asked(fit).get("neighbors") == "anchors":  # a sample of the rows, drawn by their place
        return False
    if np.abs(values).max() > 1e8 or (np.abs(values.mean(axis=0)) > 1e5 * values.std(axis=0)).any():
        return False
    if len(np.unique(values, axis=1).T) < values.shape[1]:  # a column occurs twice
        return False
    return all(len(np.unique(column)) == len(column) for column in values.T)


def _n_known(y: Any) -> int:
    return sum(not is_missing(value) and str(value) != "-1" for value in np.asarray(y, dtype=object).tolist())


def _require_same(one: Any, two: Any, promise: str) -> None:
    for name in ("ranking_", "support_", "scores_", "pvalues_", "explanation_"):
        a, b = (getattr(fitted, name, None) for fitted in (one, two))
        if fingerprint(a) != fingerprint(b):
            raise Broken(promise, f"{name}: {a} {b}")


def _require_close(here: Any, there: Any, promise: str, order: NDArray[Any], *, scores: bool = True) -> None:
    """The results agree, but for rounding: where scores are as good as equal, their order may differ."""
    one, two = (np.asarray(getattr(fitted, "scores_", np.zeros(0))) for fitted in (here, there))
    if len(one):
        one = one[order]
        with np.errstate(invalid="ignore"):
            close = (one == two) | (np.abs(one - two) <= 1e-6 * np.maximum(np.abs(one), np.abs(two)) + 1e-9)
        if scores and not close.all():
            raise Broken(promise, f"scores {one} {two}")
        if scores:
            return
    if not np.array_equal(here.ranking_[order], there.ranking_):
        if _equal_subsets(here, there):
            return
        a, b = here.ranking_[order], there.ranking_
        if len(one) and _only_ties(one, a, b):
            return
        raise Broken(promise, f"ranking {a} {b}, scores {one} {two}")


def _equal_subsets(here: Any, there: Any) -> bool:
    """Whether two searches found different subsets that are as good: with two known rows, all features are equal."""
    one, two = (getattr(fitted, "values_", {}) for fitted in (here, there))
    return bool(one) and one.keys() == two.keys() and all(np.isclose(one[k], two[k], rtol=1e-9) for k in one)


def _only_ties(scores: Values, a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Whether every two features whose order differs have nearly the same score."""
    differ = np.sign(a[:, None] - a[None, :]) != np.sign(b[:, None] - b[None, :])
    with np.errstate(invalid="ignore"):
        gap = np.abs(scores[:, None] - scores[None, :])
        near = (scores[:, None] == scores[None, :]) | (gap <= 1e-6 * np.abs(scores).max() + 1e-9)
    return bool(near[differ].all())
