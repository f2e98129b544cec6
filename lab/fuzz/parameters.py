"""Random parameters of estimators and functions: mostly valid, sometimes not."""

from __future__ import annotations

from typing import Any

import numpy as np

Rng = np.random.Generator

#: Valid values by the name of the parameter; a parameter that is not here keeps its default.
VALID: dict[str, list[Any]] = {
    "n_features_to_select": [None, 1, 1, 2, 0.5, 1.0, 0.01, np.int64(1)],
    "alpha": [0.05, 0.5, 1e-9, 0.999],
    "random_state": [0, 1, 2**32 - 1, np.int64(5)],
    "standardize": [True, False],
    "n_jobs": [None, 1, 2],
    "n_neighbors": [1, 2, 5, 30],
    "n_neighbors_supervised": [1, 3, 30],
    "n_neighbors_noise": [1, 3],
    "n_anchors": [2, 10],
    "t": [1.0, 1e-3, 1e3, "mean"],
    "kernel": ["squared", "linear"],
    "C": [1.0, 0.0, 1e-6, 1e6],
    "lam": [0.1, 1e-3, 10.0],
    "scale": ["mean"],
    "slack": [0.5, 0.0, 1.0],
    "include_self": [False, True],
    "noise": ["uniform", "matrix"],
    "prune": [False, True],
    "unlabelled_enmity": [1.0, 0.5, 0.0],
    "n_clusters": [None, 1, 3, 100],
    "target": ["auto", "classes", "numbers"],
    "missing_label": ["auto", None, 0, "no"],
    "neighbors": ["exact", "anchors"],
    "redundancy": [None, 0.5, 1.0, 0.0],
    "weight": [0.0, 0.5, 1.0],
    "n_top": [1, 2, 200],
    "max_rows": [None, 20, 25, 20_000],
    "backward": [True, False],
    "direction": ["forward", "backward"],
    "engine": ["transitions", "pooled", "confident", "lnt"],
    "n_folds": [2, 3, 5],
    "resample": ["auto", "bootstrap", "subsample", "labels", "pairs"],
    "confidence": [0.5, 0.95],
    "verbose": [0, False],
    "device": ["cpu", "auto"],
    "flips": ["uniform"],
}

#: Values that belong nowhere, or in a few places only.
ODD: list[Any] = [
    None,
    -1,
    0,
    0.0,
    1.5,
    -0.5,
    float("nan"),
    float("inf"),
    -float("inf"),
    10**30,
    "",
    "auto",
    "nonsense",
    b"x",
    [],
    [1],
    {},
    {"a": 1},
    True,
    np.array([1, 2]),
    np.array(3.0),
    1j,
    object(),
    len,
    np.nan,
]

#: Parameters for which no value may be large: the work grows with them.
_COSTLY = {"n_draws", "n_estimators", "max_iter", "n_permutations"}


def parameters(rng: Rng, defaults: dict[str, Any], *, costly: float = 0.02) -> dict[str, Any]:
    """Values for some of the parameters. ``costly``: how often features are tested, which takes long."""
    chosen: dict[str, Any] = {}
    for name in defaults:
        if name in VALID and rng.random() < 0.3:
            chosen[name] = VALID[name][rng.integers(len(VALID[name]))]
    if "n_features_to_select" in defaults:
        chosen.setdefault("n_features_to_select", None)
        if rng.random() < costly:
            chosen["n_features_to_select"] = str(rng.choice(["auto", "relevant", "sufficient"]))
    if rng.random() < 0.08 and defaults:
        name = str(rng.choice(sorted(defaults)))
        if name not in _COSTLY:
            chosen[name] = ODD[rng.integers(len(ODD))]
    return chosen
