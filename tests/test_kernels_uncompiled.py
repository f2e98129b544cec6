"""The kernels compute the same with and without the compiler.

``make coverage`` runs this file with NUMBA_DISABLE_JIT=1, so that every line of the kernels can be seen.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse

import dubio
from dubio.methods.register import get_method
from dubio.scores.coherence import select_pairs
from dubio.streams.stream import rank_stream
from dubio.target.pairs import read_pairs

pytestmark = pytest.mark.thorough


def results() -> dict[str, list[float]]:
    """Every method on a small table, for each kind of target it takes; blocks, sparse tables and pairs too."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 4)).round(2)
    classes = np.arange(24) % 3
    X[:, 0] += classes
    P = rng.dirichlet([1, 1, 1], size=24)
    targets = {
        "hard": classes,
        "few": np.where(rng.random(24) < 0.6, classes, -1),
        "soft": P,
        "numbers": X[:, 1] + X[:, 2],
    }
    pairs = {"must_link": [(0, 3), (1, 4)], "cannot_link": [(0, 1), (2, 3), (5, 6)]}
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in dubio.METHODS:
            method = get_method(name).estimator
            for kind, y in targets.items():
                options = {"target": "numbers"} if kind == "numbers" and "target" in method().get_params() else {}
                asked = "hard" if kind == "few" else kind
                takes = ("hard",) if method._target == "none" else method._takes
                if asked not in takes:
                    continue
                fitted = method(**options).fit(X, y)
                values = getattr(fitted, "scores_", fitted.ranking_)
                found[f"{name} {kind}"] = np.asarray(values, dtype=float).tolist()
        for score in (dubio.WeightedLaplacianScore(), dubio.FisherScore(), dubio.LinearSearch()):
            name = type(score).__name__
            blocks = score.partial_fit(X[:12], classes[:12]).partial_fit(X[12:], classes[12:])
            found[f"{name} blocks"] = blocks.ranking_.tolist()
            found[f"{name} sparse"] = type(score)().fit(sparse.csr_array(X), classes).ranking_.tolist()
        for score in (dubio.ConstraintScore(), dubio.ConstrainedLaplacianScore()):
            found[f"{type(score).__name__} pairs"] = score.fit(X, **pairs).scores_.tolist()
        found["coherence"] = np.concatenate(dubio.coherence(X, pairs["must_link"], pairs["cannot_link"])).tolist()
        found["mutual information"] = [dubio.mutual_information(X, classes), dubio.knn_entropy(X)]
        found["noise"] = dubio.estimate_memberships(X, classes, n_init=1).memberships.ravel().tolist()
        found["audit"] = dubio.audit_labels(X, classes).probabilities.ravel().tolist()
        found["dependency"] = [float(dubio.fuzzy_rough_dependency(X, classes))]
        found |= rarer_results(X, classes, rng)
    return found


def rarer_results(X: np.ndarray, classes: np.ndarray, rng: np.random.Generator) -> dict[str, list[float]]:
    """Weights, tests, connectives, layouts of a table: each takes lines of the kernels that others do not."""
    found: dict[str, list[float]] = {}
    weights = rng.uniform(0.5, 2, size=24)
    wards = np.array(["north", "south", "west"])[rng.integers(0, 3, 24)]
    frame = pd.DataFrame(X, columns=list("abcd")).assign(ward=wards)
    numbers = X[:, 1] + rng.normal(size=24)
    for name, more in {"weights": {"sample_weight": weights}, "groups": {"groups": np.arange(24) // 4}}.items():
        tested = dubio.FeatureSelector("smooth_r2", target="numbers").fit(frame, numbers, **more)
        found[f"smooth tests, {name}"] = tested.pvalues_.tolist()
    several = dubio.several_targets({"number": numbers, "class": classes})
    found["several targets"] = dubio.NeighborSearch(clean=None).fit(X, several).ranking_.tolist()
    found["laplacian tests"] = dubio.LaplacianScore(n_features_to_select="auto").fit(X).pvalues_.tolist()
    for t_norm in ("minimum", "product"):
        for implicator in ("kleene-dienes", "reichenbach", "goedel", "goguen"):
            options = {"t_norm": t_norm, "implicator": implicator, "similarity": "gaussian"}
            search = dubio.FuzzyRoughSearch(n_features_to_select=2, **options).fit(frame, classes)
            found[f"{t_norm} {implicator}"] = search.ranking_.tolist()
    many = rng.normal(size=(90, 3))
    halves = (many[:, 0] + 0.3 * many[:, 1] > 0).astype(int)
    found["tree of rows"] = dubio.FuzzyRoughSearch(n_features_to_select=2).fit(many, halves).ranking_.tolist()
    ones, twos = [(0, 1), (2, 3), (0, 4)], [(0, 5), (1, 6), (3, 7)]
    for how in ("hard", "soft"):
        kept = select_pairs(X, read_pairs(ones, twos, len(X)), how=how)
        found[f"{how} pairs"] = [*map(float, kept.must_link.ravel()), *map(float, kept.cannot_link.ravel())]
    wide = np.asfortranarray(rng.normal(size=(40, 3)))
    found["columns"] = dubio.FisherScore().fit(wide, np.arange(40) % 6).scores_.tolist()
    table = pa.table({"a": X[:, 0], "b": X[:, 1].astype(np.float32), "y": classes})
    found["stream"] = rank_stream(table, target="y", method="fisher").scores.tolist()
    far = sparse.csr_array(np.where(X > 1, X + 1e9, 0.0))
    found["far sparse"] = dubio.FisherScore().fit(far, classes).scores_.tolist()
    return found


def test_compiled_and_uncompiled_results_are_the_same():
    here = results()
    other = "0" if os.environ.get("NUMBA_DISABLE_JIT") == "1" else "1"
    script = "import json; from tests.test_kernels_uncompiled import results; print(json.dumps(results()))"
    ran = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "NUMBA_DISABLE_JIT": other, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    there = json.loads(ran.stdout.splitlines()[-1])
    assert len(here) > 40
    assert here.keys() == there.keys()
    for name, values in here.items():
        np.testing.assert_allclose(values, there[name], rtol=1e-9, atol=1e-12, err_msg=name)
