"""Results made up for tests of what is drawn: a stability and a tolerance of a few features."""

from __future__ import annotations

from typing import Any

import numpy as np

from dubio.trust.resampling import Stability, nogueira_index
from dubio.trust.tolerance import LabelTolerance


def made_up_stability(n_features: int, names: Any, n_draws: int = 10) -> Stability:
    rng = np.random.default_rng(0)
    ranks = np.argsort(rng.random((n_draws, n_features)), axis=1) + 1
    low, median, high = np.quantile(ranks, [0.025, 0.5, 0.975], axis=0)
    kept = ranks <= max(1, n_features // 2)
    names = np.asarray(names, dtype=object)
    return Stability(names, ranks, kept, low, median, high, kept.mean(axis=0), nogueira_index(kept), "bootstrap", 0.95)


def made_up_tolerance(random: np.ndarray, low: np.ndarray, high: np.ndarray, names: str = "abc") -> LabelTolerance:
    worst = np.full(len(random), 3.0)
    named = np.array(list(names)[: len(random)], dtype=object)
    return LabelTolerance(named, worst > 0, random, low, high, worst, "hard", "uniform", 0.5, 50, 9)
