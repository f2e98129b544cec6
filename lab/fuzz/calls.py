"""One call, made from its seed: what is called, with what, and what is checked."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

import dubio
from fuzz.command import command_call
from fuzz.invariants import CHECKS, Fit, fingerprint, require_answer
from fuzz.outcome import Broken
from fuzz.parameters import parameters
from fuzz.tables import Table, bad_table, generic, good_table, shape
from fuzz.targets import bad_target, codes, good_target, groups, pairs, weights

Rng = np.random.Generator


@dataclass(frozen=True)
class Call:
    """A call that has been prepared.

    Attributes
    ----------
    says : str
        The call in words.
    name : str
        What is called.
    do : callable
        Makes the call and checks its result. Raises ``InputError`` if it is refused, and ``Broken`` if a promise does
        not hold; anything else is a fault too.
    """

    says: str
    name: str
    do: Callable[[], None]


def make_call(run: int, number: int) -> Call:
    """The call with this seed."""
    rng = np.random.default_rng([run, number])
    makers = list(_KINDS)
    weight = np.array([_KINDS[maker] for maker in makers])
    return makers[int(rng.choice(len(makers), p=weight / weight.sum()))](rng)


def _input(rng: Rng, takes: tuple[str, ...], **allowed: bool) -> tuple[Table, Any, str]:
    """A table and a target: mostly such that the call should work."""
    table = bad_table(rng) if rng.random() < 0.12 else good_table(rng, **allowed)
    n = table.n_rows or 5
    y, says = bad_target(rng, n) if rng.random() < 0.12 else good_target(rng, n, takes)
    return table, y, f"{table.says}, {says}"


# --- estimators ----------------------------------------------------------------------------------------------------

#: How often each estimator is called, compared with the others: slow ones less often.
_RARE = {
    "neighbor_search": 0.04,
    "mean_rank": 0.3,
    "constrained_laplacian": 0.5,
    "mutual_information_search": 0.15,
    "mutual_information": 0.5,
}


def _fit_call(rng: Rng) -> Call:
    names = list(dubio.METHODS)
    weight = np.array([_RARE.get(name, 1.0) for name in names])
    method = dubio.METHODS[str(rng.choice(names, p=weight / weight.sum()))]
    estimator_type = method.estimator
    made = parameters(rng, estimator_type().get_params(), costly=0.01)
    own = estimator_type()
    if rng.random() < 0.15:  # through the front door
        front = parameters(rng, {"n_features_to_select": None, "redundancy": None, "random_state": 0, "n_jobs": None})
        if method.name in _RARE:
            front.pop("redundancy", None)  # it tests the features
        made = {name: value for name, value in made.items() if name in own.get_params()}
        made.pop("n_features_to_select", None)
        own = dubio.FeatureSelector(method.name, method_params=made or None, **front)
    else:
        own.set_params(**made)
    takes = tuple(kind for kind in method.takes if kind not in ("pairs", "any")) or ("none",)
    table, y, says = _input(
        rng, takes, allow_sparse=estimator_type._takes_sparse, allow_nan=isinstance(own, dubio.FeatureSelector)
    )
    more = _more(rng, own, method.takes, table, y)
    if "must_link" in more and rng.random() < 0.7:
        y = None
    return _checked_fit(rng, own, table.X, y, more, table.values, says)


def _more(rng: Rng, estimator: Any, takes: tuple[str, ...], table: Table, y: Any) -> dict[str, Any]:
    """Weights and pairs, if the estimator takes them."""
    accepted = inspect.signature(estimator.fit).parameters
    n = table.n_rows or 5
    more: dict[str, Any] = {}
    if "sample_weight" in accepted and rng.random() < 0.3:
        more["sample_weight"] = weights(rng, n)
    if "groups" in accepted and rng.random() < 0.2:
        more["groups"] = groups(rng, n)
    if "must_link" in accepted and "pairs" in takes and rng.random() < 0.7:
        more.update(pairs(rng, n))
        if "must_link_weights" in accepted and rng.random() < 0.2:
            for kind in ("must_link", "cannot_link"):
                count = len(more[kind]) if isinstance(more[kind], np.ndarray) else 1
                more[f"{kind}_weights"] = weights(rng, count)
    return more


def _checked_fit(
    rng: Rng, estimator: Any, X: Any, y: Any, more: dict[str, Any], values: Any, says: str, which: str | None = None
) -> Call:
    check = which or str(rng.choice(list(CHECKS)))
    seed = int(rng.integers(2**31))
    fit = Fit(estimator, X, y, more, values)

    def do() -> None:
        before = fingerprint(X), fingerprint(y), fingerprint(more), repr(estimator.get_params())
        try:
            fitted = fit.run()
        finally:
            if (fingerprint(X), fingerprint(y), fingerprint(more), repr(estimator.get_params())) != before:
                raise Broken("input is untouched")
        require_answer(fitted, fit)
        if estimator.get_params(deep=False).get("random_state", 0) is not None:
            CHECKS[check](fit, fitted, np.random.default_rng(seed))

    given = ", ".join(f"{name}={value!r}" for name, value in estimator.get_params(deep=False).items())
    own = clone(estimator)
    short = ", ".join(f"{k}={v!r}" for k, v in own.get_params(deep=False).items() if repr(v) != _default(own, k))
    name = type(estimator).__name__
    return Call(f"{name}({short or given[:0]}) on {says}, {sorted(more)}, check {check}", name, do)


def _default(estimator: Any, name: str) -> str:
    found = inspect.signature(type(estimator).__init__).parameters.get(name)
    return "" if found is None else repr(found.default)


def _generic_call(rng: Rng) -> Call:
    """A table without ties, a target that fits, default parameters: every promise must hold."""
    names = list(dubio.METHODS)
    weight = np.array([_RARE.get(name, 1.0) for name in names])
    method = dubio.METHODS[str(rng.choice(names, p=weight / weight.sum()))]
    n, d = int(rng.integers(8, 40)), int(rng.integers(2, 6))
    values = generic(rng, n, d)
    kinds = [kind for kind in method.takes if kind not in ("pairs", "any")]
    y, says = good_target(rng, n, (str(rng.choice(kinds)),) if kinds else ("none",))
    more: dict[str, Any] = {}
    if "pairs" in method.takes and rng.random() < 0.5:
        more, y = pairs(rng, n), None
    estimator = method.make(n_features_to_select=None, random_state=int(rng.integers(100)))
    which = str(rng.choice(["threads", "rows", "columns", "units", "blocks"]))
    return _checked_fit(rng, estimator, values, y, more, values, f"generic {n}x{d}, {says}", which)


def _cleaned_call(rng: Rng) -> Call:
    inner = [dubio.FisherScore(), dubio.LaplacianScore(), dubio.ReliefFScore(n_neighbors=2), "fisher", None]
    selector = inner[int(rng.choice(5, p=[0.4, 0.2, 0.2, 0.1, 0.1]))]
    made = parameters(rng, {"n_folds": 5, "random_state": 0, "n_jobs": None, "missing_label": "auto"})
    estimator = dubio.CleanedSelector(selector, **made)
    table, y, says = _input(rng, ("hard",))
    return _checked_fit(rng, estimator, table.X, y, {}, table.values, says, "refit")


def _auto_call(rng: Rng) -> Call:
    made = parameters(rng, dubio.FeatureSelector().get_params(), costly=0.2)
    table, y, says = _input(rng, ("hard", "soft", "numbers", "none"), allow_sparse=True, allow_nan=True)
    more = pairs(rng, table.n_rows or 5) if rng.random() < 0.1 else {}
    if rng.random() < 0.2:
        more["groups"] = groups(rng, table.n_rows or 5)
    return _checked_fit(rng, dubio.FeatureSelector(**made), table.X, y, more, table.values, says, "refit")


# --- functions -----------------------------------------------------------------------------------------------------

#: The functions that score columns, and the kinds of target that they take.
_SCORES: dict[str, tuple[str, ...]] = {
    "laplacian_score": (),
    "fisher_score": ("hard", "soft"),
    "weighted_laplacian_score": ("soft", "hard"),
    "supervised_laplacian_score": ("numbers",),
    "semi_supervised_laplacian_score": ("numbers",),
    "smooth_r2_score": ("numbers", "hard", "soft"),
    "linear_r2_score": ("numbers", "hard", "soft"),
    "relieff_score": ("hard",),
    "soft_relief_score": ("soft", "hard"),
}

#: The functions that give one number, and the kinds of target that they take.
_NUMBERS: dict[str, tuple[str, ...]] = {
    "knn_entropy": (),
    "mutual_information": ("hard",),
    "noise_tolerant_mutual_information": ("soft",),
    "fuzzy_rough_dependency": ("hard", "soft", "numbers"),
}


#: Functions that are called only once.
_SLOW = ("stability", "audit_labels", "label_tolerance", "label_fingerprints")


def _called(
    rng: Rng, name: str, arguments: tuple[Any, ...], options: dict[str, Any], says: str, check: Callable[[Any], None]
) -> Call:
    function = resolve_name(f"dubio.{name}")

    def do() -> None:
        before = [fingerprint(argument) for argument in arguments]
        try:
            result = function(*arguments, **options)
        finally:
            if [fingerprint(argument) for argument in arguments] != before:
                raise Broken("input is untouched")
        check(result)
        repeats = name not in _SLOW and options.get("random_state", 0) is not None
        if repeats and not any(inspect.isgenerator(a) for a in arguments):
            again = function(*arguments, **options)
            if fingerprint(_plain(result)) != fingerprint(_plain(again)):
                raise Broken("a second call is equal", f"{result} {again}")

    short = ", ".join(f"{name}={value!r}" for name, value in options.items())
    return Call(f"{name}({says}; {short})", name, do)


def _plain(result: Any) -> Any:
    if isinstance(result, tuple):
        return {str(i): part for i, part in enumerate(result)}
    if hasattr(result, "scores") and hasattr(result, "ranking"):
        return {"scores": result.scores, "ranking": result.ranking}
    return getattr(result, "memberships", result)


def _score_call(rng: Rng) -> Call:
    name = str(rng.choice(list(_SCORES)))
    table, y, says = _input(rng, _SCORES[name])
    arguments = (table.X, y) if _SCORES[name] else (table.X,)

    def check(scores: Any) -> None:
        if np.isnan(scores).any() or (table.values is not None and scores.shape != (table.values.shape[1],)):
            raise Broken("scores are numbers", str(scores))

    return _called(rng, name, arguments, _options(rng, name), says, check)


def _number_call(rng: Rng) -> Call:
    name = str(rng.choice(list(_NUMBERS)))
    table, y, says = _input(rng, _NUMBERS[name])
    arguments = (table.X, y) if _NUMBERS[name] else (table.X,)

    def check(value: Any) -> None:
        if any(np.isnan(part).any() for part in (value if isinstance(value, tuple) else (value,))):
            raise Broken("the result is a number", str(value))

    return _called(rng, name, arguments, _options(rng, name), says, check)


def _options(rng: Rng, name: str) -> dict[str, Any]:
    known = inspect.signature(resolve_name(f"dubio.{name}")).parameters.values()
    return parameters(rng, {p.name: p.default for p in known if p.kind == p.KEYWORD_ONLY})


def _pair_call(rng: Rng) -> Call:
    name = str(rng.choice(["constraint_score", "coherence", "constrained_laplacian_score"]))
    table = bad_table(rng) if rng.random() < 0.1 else good_table(rng)
    n = table.n_rows or 5
    both = pairs(rng, n)
    arguments: tuple[Any, ...] = (table.X, both["must_link"], both["cannot_link"])
    if name == "constrained_laplacian_score":
        arguments = (table.X, codes(rng, n), *arguments[1:])

    def check(result: Any) -> None:
        if any(np.isnan(part).any() for part in (result if isinstance(result, tuple) else (result,))):
            raise Broken("scores are numbers", str(result))

    return _called(rng, name, arguments, _options(rng, name), f"{table.says}, pairs", check)


def _memberships_call(rng: Rng) -> Call:
    table, y, says = _input(rng, ("hard",))
    options = _options(rng, "estimate_memberships")
    options.setdefault("n_init", 2)

    def check(model: Any) -> None:
        sums = np.asarray(model.memberships).sum(axis=1)
        if not np.allclose(sums, 1.0, atol=1e-6):
            raise Broken("memberships of a row sum to 1", str(sums))

    return _called(rng, "estimate_memberships", (table.X, y), options, says, check)


def _soft_labels_call(rng: Rng) -> Call:
    n = int(rng.integers(1, 20))
    how = rng.random()
    options: dict[str, Any] = {}
    labels: Any
    if how < 0.3:
        labels, says = good_target(rng, n, ("hard",))
        options["confidence"] = rng.random(n) if rng.random() < 0.8 else bad_target(rng, n)[0]
    elif how < 0.5:
        labels, says = [set(rng.choice(list("abc"), size=int(rng.integers(0, 3)))) for _ in range(n)], "sets"
    elif how < 0.7:
        labels, says = np.array(["a", "b", None])[rng.integers(3, size=(n, 3))], "votes"
        options["combine"] = str(rng.choice(["average", "dawid-skene", "vote"]))
    elif how < 0.85:
        labels, says = good_target(rng, n, ("soft",))
        options["normalize"] = bool(rng.random() < 0.5)
    else:
        labels, says = bad_target(rng, n)

    def check(soft: Any) -> None:
        P = np.asarray(soft)
        known = ~np.isnan(P).any(axis=1)
        if not np.allclose(P[known].sum(axis=1), 1.0, atol=1e-6) or (P[known] < 0).any():
            raise Broken("memberships of a row sum to 1", str(P))

    return _called(rng, "soft_labels", (labels,), options, says, check)


def _constructor_call(rng: Rng) -> Call:
    """What is known, said in the wrong way as often as in the right one."""
    n = int(rng.integers(1, 20))
    name = str(rng.choice(["interval_targets", "ordered_classes", "positive_unlabelled", "several_targets"]))
    options: dict[str, Any] = {}
    y, says = bad_target(rng, n) if rng.random() < 0.5 else good_target(rng, n, ("hard", "numbers"))
    arguments: tuple[Any, ...] = (y,)
    if name == "interval_targets":
        arguments = (y, y if rng.random() < 0.3 else good_target(rng, n, ("hard", "numbers"))[0])
    elif name == "ordered_classes":
        orders: list[Any] = [[0, 1, 2, 3], ["no", "yes"], ["no", "no"], [], None, "I,II", [0], {0, 1}, [[0, 1]]]
        arguments = (y, orders[rng.integers(len(orders))])
    elif name == "positive_unlabelled":
        odd: list[Any] = [None, 1, "yes", True, 1.0, [1], np.nan]
        priors: list[Any] = [None, 0.3, 0, 1, -1, 2.0, "0.3", np.nan]
        options = {"positive": odd[rng.integers(len(odd))], "prior": priors[rng.integers(len(priors))]}
    else:
        arguments = ({"a": y, "b": codes(rng, n)} if rng.random() < 0.7 else y,)

    def check(known: Any) -> None:
        if not repr(known):
            raise Broken("it can be shown", name)

    return _called(rng, name, arguments, options, says, check)


def _corrections_call(rng: Rng) -> Call:
    n = int(rng.integers(2, 20))
    y, says = good_target(rng, n, ("hard",))
    rows = rng.permutation(n)[: int(rng.integers(1, n + 1))] + int(rng.random() < 0.9)
    decisions: list[Any] = ["right", "change", "unsure", "", None, "wrong", 3]
    table = {
        "row": rows,
        "id": [f"p{row}" for row in rows],
        "given": [str(np.asarray(y, dtype=object).ravel()[(row - 1) % n]) for row in rows],
        "decision": [decisions[rng.choice(7, p=[0.4, 0.3, 0.2, 0.04, 0.02, 0.02, 0.02])] for _ in rows],
        "label": [str(rng.choice(["no", "yes", "0", "1", ""])) for _ in rows],
    }
    frame = pd.DataFrame(table)
    if rng.random() < 0.3:
        frame = frame.drop(columns=str(rng.choice(list(table))))
    ids = [f"p{row + 1}" for row in range(n)] if rng.random() < 0.5 else None

    def check(corrected: Any) -> None:
        if len(corrected.decisions) != n or not str(corrected):
            raise Broken("every row has a decision, or none", str(corrected))

    return _called(rng, "apply_corrections", (y, frame, ids), {}, says, check)


def _fingerprints_call(rng: Rng) -> Call:
    table, y, says = _input(rng, ("hard",))
    options = _options(rng, "label_fingerprints")
    n = table.n_rows or 5
    if rng.random() < 0.5:
        options["annotators"] = rng.choice(["ann", "bob", "<i>"], size=n)
    elif rng.random() < 0.5:
        options["annotators"] = np.array(["a", "b", None])[rng.integers(3, size=(n, 3))]

    def check(found: Any) -> None:
        if not str(found):
            raise Broken("fingerprints can be shown", repr(found))

    return _called(rng, "label_fingerprints", (table.X, y), options, says, check)


def _redundancy_call(rng: Rng) -> Call:
    table = bad_table(rng) if rng.random() < 0.1 else good_table(rng)
    d = 3 if table.values is None else table.values.shape[1]
    odd: list[Any] = [[1] * d, None, "r", np.zeros(d), np.full(d, np.nan), [1.5] * d, np.arange(d), [[1]]]
    ranks = odd[rng.integers(len(odd))] if rng.random() < 0.15 else rng.permutation(d) + 1

    def check(result: Any) -> None:
        if sorted(result.tolist()) != list(range(1, len(result) + 1)):
            raise Broken("the ranking is a permutation", str(result))

    options = _options(rng, "scores.consensus.redundancy_ranking")
    return _called(
        rng, "scores.consensus.redundancy_ranking", (table.X, ranks), options, f"{table.says}, ranks {ranks!r}", check
    )


def _select_call(rng: Rng) -> Call:
    method = str(rng.choice(["fisher", "weighted_laplacian", "laplacian", "linear_r2", "nonsense", ""]))
    takes = dubio.METHODS[method].takes if method in dubio.METHODS else ("hard",)
    table, y, says = _input(rng, takes, allow_nan=True)
    options = {"method": method, **parameters(rng, {"n_features_to_select": None, "redundancy": None})}

    def check(ranking: Any) -> None:
        if sorted(ranking.ranking.tolist()) != list(range(1, len(ranking.names) + 1)):
            raise Broken("the ranking is a permutation", str(ranking))
        ranking.to_frame()

    return _called(rng, "select_features", (table.X, y), options, says, check)


def _audit_call(rng: Rng) -> Call:
    table, y, says = _input(rng, ("hard", "hard", "numbers", "ordered"))
    options = _options(rng, "audit_labels")
    if rng.random() < 0.2:
        options["groups"] = groups(rng, table.n_rows or 5)
    if rng.random() < 0.2:
        options["sample_weight"] = weights(rng, table.n_rows or 5)
    if rng.random() < 0.3:
        shape_of = (table.n_rows or 5, int(rng.integers(1, 4)))
        options["probabilities"] = rng.dirichlet(np.ones(shape_of[1]), size=shape_of[0])

    def check(audit: Any) -> None:
        disagreement = np.asarray(audit.wrong if audit.anchored else audit.disagreement)
        known = disagreement[~np.isnan(disagreement)]
        if ((known < 0) | (known > 1)).any() or not str(audit):
            raise Broken("disagreement and probabilities lie between 0 and 1", str(disagreement))
        audit.to_frame()

    return _called(rng, "audit_labels", (table.X, y), options, says, check)


def _tolerance_call(rng: Rng) -> Call:
    table, y, says = _input(rng, ("hard", "numbers"))

    def check(found: Any) -> None:
        if not str(found):
            raise Broken("the tolerance can be shown", repr(found))
        found.to_frame()

    return _called(rng, "label_tolerance", (table.X, y), _options(rng, "label_tolerance"), says, check)


def _stability_call(rng: Rng) -> Call:
    selectors = [dubio.FisherScore(), dubio.LaplacianScore(), dubio.LinearR2Score(), dubio.FisherScore, "fisher", None]
    selector = selectors[int(rng.choice(6, p=[0.4, 0.25, 0.25, 0.04, 0.03, 0.03]))]
    table, y, says = _input(rng, ("hard", "soft"))
    options = _options(rng, "stability")
    options["n_draws"] = int(rng.choice([2, 3, 5]))
    if rng.random() < 0.2:
        options["groups"] = groups(rng, table.n_rows or 5)

    def check(sure: Any) -> None:
        index = 1.0 if sure.index is None else sure.index.value
        if not ((sure.frequency >= 0) & (sure.frequency <= 1)).all() or np.isnan(index):
            raise Broken("frequencies lie between 0 and 1", str(sure.frequency))
        sure.to_frame()

    return _called(rng, "stability", (selector, table.X, y), options, says, check)


def _ranking_call(rng: Rng) -> Call:
    n, d = shape(rng)
    scores = rng.choice([0.0, 1.0, np.inf, -np.inf, 1e300, -2.5], size=d)

    def do() -> None:
        ranking = dubio.Ranking.from_scores(scores, keep=int(rng.integers(0, d + 1)), lower_is_better=bool(n % 2))
        if sorted(ranking.ranking.tolist()) != list(range(1, d + 1)):
            raise Broken("the ranking is a permutation", str(ranking))
        ranking.to_frame()
        str(ranking), ranking._repr_html_(), ranking.headline()

    return Call(f"Ranking.from_scores({scores.tolist()})", "Ranking", do)


def _command_call(rng: Rng) -> Call:
    words, do = command_call(rng)
    return Call(words, "command", do)


_KINDS: dict[Callable[[Rng], Call], float] = {
    _fit_call: 42,
    _generic_call: 14,
    _score_call: 14,
    _number_call: 6,
    _pair_call: 5,
    _soft_labels_call: 4,
    _constructor_call: 2,
    _corrections_call: 1,
    _fingerprints_call: 0.1,
    _redundancy_call: 3,
    _select_call: 4,
    _memberships_call: 2,
    _ranking_call: 1,
    _stability_call: 1.5,
    _cleaned_call: 0.3,
    _audit_call: 0.6,
    _tolerance_call: 0.3,
    _auto_call: 0.3,
    _command_call: 1.5,
}
