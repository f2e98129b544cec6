"""All selectors of the comparison, by name, and which of them apply to a regime."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from benchmarks.selection import peers
from benchmarks.selection.previous import previous_order
from benchmarks.selection.regimes import Known, Regime
from dubio import METHODS, FeatureSelector

AUTO = "auto"
PREVIOUS = "auto, previous version"
RANDOM = "random order"
#: Features that a search of dubio, requested by name, is asked for.
SEARCHED = 15


@dataclass(frozen=True)
class Selector:
    """A way to order features. ``family`` is "dubio", "peer", "previous" or "control"."""

    name: str
    family: str
    order: Callable[[Known], peers.Order]
    applies: Callable[[Regime], bool]
    note: str = ""
    needs: str = ""  # a package

    @property
    def reason_missing(self) -> str:
        """Why it cannot run here, or nothing."""
        return _reason_missing(self.needs) if self.needs else ""


@cache
def _reason_missing(package: str) -> str:
    try:
        importlib.import_module(package)
    except Exception as error:
        return f"{package} cannot be imported here ({type(error).__name__}: {error})"
    return ""


def kind_of(regime: Regime) -> str:
    """The kind of supervision, as the methods of dubio name it."""
    if regime.tables == "numbers":
        return "numbers"
    return "hard" if regime.wrong or regime.few else "soft"


def _auto(known: Known) -> peers.Order:
    return np.argsort(FeatureSelector(random_state=known.seed).fit(known.X, known.y).ranking_, kind="stable")


def _method(name: str) -> Selector:
    def order(known: Known) -> peers.Order:
        count = min(SEARCHED, known.X.shape[1])
        selector = FeatureSelector(name, n_features_to_select=count, random_state=known.seed)
        return np.argsort(selector.fit(known.X, known.y).ranking_, kind="stable")

    return Selector(name, "dubio", order, lambda regime: kind_of(regime) in METHODS[name].takes, METHODS[name].does)


def _always(regime: Regime) -> bool:
    return True


def _classes(regime: Regime) -> bool:
    return regime.tables != "numbers"


def _peer(
    name: str, order: Callable[[Known], peers.Order], note: str, needs: str = "", applies: Callable = _always
) -> Selector:
    return Selector(name, "peer", order, applies, note, needs)


PEERS = (
    _peer("F-test", peers.f_test, "scikit-learn's f_classif or f_regression"),
    _peer("mutual information", peers.mutual_information, "scikit-learn's mutual_info_classif or _regression"),
    _peer("random forest", peers.forest, f"impurity importance, {peers.TREES} trees"),
    _peer("permutation importance", peers.permutation, "forest of 100 trees, five repeats on held-out 30 %"),
    _peer(
        "RFE",
        peers.rfe,
        f"logistic regression or ridge, one feature at a time (a tenth of them above {peers.ONE_BY_ONE})",
    ),
    _peer("L1 path", peers.l1_path, "order of entry; logistic regression of each class, or lasso"),
    _peer(
        "Boruta", peers.boruta, "forest of 100 trees of depth five, 30 rounds; ties by its mean importance", "boruta"
    ),
    _peer(
        "mRMR, difference",
        peers.mrmr_difference,
        "F-test minus mean absolute correlation; own lines, published formula",
    ),
    _peer("mRMR, quotient", peers.mrmr_quotient, "F-test over mean absolute correlation; own lines, published formula"),
    _peer("ReliefF (skrebate)", peers.relieff, "ten neighbours", "skrebate"),
    _peer(
        "self-training forest",
        peers.self_training,
        "uses unlabelled rows too",
        applies=lambda regime: regime.few and _classes(regime),
    ),
    _peer(
        "cleanlab + forest",
        peers.cleanlab_forest,
        "random forest on the rows that cleanlab does not doubt",
        "cleanlab",
        lambda regime: regime.wrong,
    ),
    _peer("fastcan", peers.fastcan, "canonical correlation; takes probabilities as they are", "fastcan"),
    _peer("SHAP on boosting", peers.shap_boosting, "mean absolute value, gradient boosting of 60 rounds", "shap"),
)


def selectors(previous: str | None = None) -> dict[str, Selector]:
    """All of them, by name; ``previous`` is the source folder of an older version."""

    def before(known: Known) -> peers.Order:
        if previous is None:
            raise ValueError("no source folder of a previous version was given.")
        return previous_order(previous, known.X, known.y, known.seed)

    found = [
        Selector(AUTO, "dubio", _auto, _always, "what FeatureSelector() does"),
        Selector(PREVIOUS, "previous", before, _always, "FeatureSelector() of the previous version"),
        *PEERS,
        *(_method(name) for name in METHODS),
        Selector(RANDOM, "control", peers.random_order, _always, "what no knowledge gives"),
    ]
    return {selector.name: selector for selector in found}
