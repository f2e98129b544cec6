"""Dask arrays and dataframes give the numbers of the table in memory, on any scheduler, whatever happens to workers."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import dubio

pytestmark = pytest.mark.thorough

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

SELECTORS = [dubio.WeightedLaplacianScore(), dubio.FisherScore(), dubio.ConstraintScore()]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    y = np.sort(rng.integers(0, 3, size=1000))  # the last class is in the last blocks only
    X = rng.normal(size=(1000, 8)) + 0.2 * y[:, None] * np.arange(8)
    X[:, 0] += 1e7
    return X, y, rng.dirichlet([1, 1, 1], size=1000)


@pytest.fixture(params=SELECTORS, ids=lambda s: type(s).__name__)
def selector(request):
    return clone(request.param)


@pytest.mark.parametrize("chunks", [(100, 8), (333, 3), (1000, 1), ((1, 998, 1), 8)])
@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_arrays(selector, table, chunks, scheduler):
    X, y, _ = table
    expected = clone(selector).fit(X, y)
    with dask.config.set(scheduler=scheduler):
        for target in (y, list(y), da.from_array(y, chunks=170), pd.Series(y)):
            found = clone(selector).fit(da.from_array(X, chunks=chunks), target)
            np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-10)
            np.testing.assert_array_equal(found.classes_, expected.classes_)
            assert found.n_features_in_ == 8 and found.n_labelled_ == 1000
    np.testing.assert_array_equal(found.transform(X), expected.transform(X))


def test_soft_labels_weights_and_missing(table):
    X, y, P = table
    P = P.copy()
    P[::7] = np.nan
    weights = np.random.default_rng(1).random(1000)
    for target in (P, y):
        expected = dubio.WeightedLaplacianScore().fit(X, target, weights)
        found = dubio.WeightedLaplacianScore().fit(
            da.from_array(X, chunks=(90, 8)), da.from_array(target, chunks=90), da.from_array(weights, chunks=500)
        )
        np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-10)
        assert found.n_unlabelled_ == expected.n_unlabelled_


def test_dataframes(selector, table):
    X, y, P = table
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    parts = dd.from_pandas(frame, npartitions=7)
    expected = clone(selector).fit(frame, y)
    for target in (y, dd.from_pandas(pd.Series(y), npartitions=7)):
        found = clone(selector).fit(parts, target)
        np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-10)
        assert list(found.get_feature_names_out()) == list(expected.get_feature_names_out())
    if not isinstance(selector, dubio.ConstraintScore):
        soft = pd.DataFrame(P, columns=["u", "v", "w"])
        found = clone(selector).fit(parts, dd.from_pandas(soft, npartitions=7))
        np.testing.assert_allclose(found.scores_, clone(selector).fit(X, P).scores_, rtol=1e-10)
        assert list(found.classes_) == ["u", "v", "w"]


def test_empty_partitions_and_unknown_lengths(table):
    X, y, _ = table
    frame = pd.DataFrame(X, columns=list("abcdefgh")).assign(y=y)
    parts = dd.from_pandas(frame, npartitions=5)
    kept = parts[parts["y"] > 0]  # the first partitions lose all their rows
    found = dubio.FisherScore().fit(kept[list("abcdefgh")], kept["y"])
    np.testing.assert_allclose(found.scores_, dubio.fisher_score(X[y > 0], y[y > 0]), rtol=1e-10)
    found = dubio.FisherScore().fit(kept[list("abcdefgh")].to_dask_array(), kept["y"].to_dask_array())
    np.testing.assert_allclose(found.scores_, dubio.fisher_score(X[y > 0], y[y > 0]), rtol=1e-10)


def test_the_table_is_never_gathered(table):
    """Each task sees one block; nothing larger than a block is ever asked for."""
    X, y, _ = table
    seen = []

    def look(block):
        seen.append(block.shape)
        return block

    lazy = da.from_array(X, chunks=(100, 8)).map_blocks(look, meta=np.empty((0, 0)))
    dubio.FisherScore().fit(lazy, y)
    assert len(seen) == 10 and set(seen) == {(100, 8)}


def test_errors_say_where(table):
    X, y, _ = table
    bad = X.copy()
    bad[640, 2] = np.nan
    with pytest.raises(ValueError, match=r"NaN in 1 row of column 2, first in row 640.*\(in block 6\)"):
        dubio.FisherScore().fit(da.from_array(bad, chunks=(100, 8)), y)
    frame = dd.from_pandas(pd.DataFrame(bad, columns=list("abcdefgh")), npartitions=10)
    series = dd.from_pandas(pd.Series(y), npartitions=10)
    with pytest.raises(ValueError, match=r"column 'c' .*first in row 40.*rows counted within block 6"):
        dubio.FisherScore().fit(frame, series)
    lazy = da.from_array(X, chunks=(100, 8))
    with pytest.raises(ValueError, match="y has 999 rows and X has 1000"):
        dubio.FisherScore().fit(lazy, y[:-1])
    with pytest.raises(ValueError, match="same partitions"):
        dubio.FisherScore().fit(frame, dd.from_pandas(pd.Series(y), npartitions=3))
    with pytest.raises(ValueError, match="only one class"):
        dubio.FisherScore().fit(lazy, np.zeros(1000, dtype=int))
    with pytest.raises(ValueError, match=r"X is a Dask Array.*X\.compute\(\)"):
        dubio.LaplacianScore().fit(lazy)
    with pytest.raises(ValueError, match="requires y"):
        dubio.FisherScore().fit(lazy)


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    import logging

    for name in ("distributed.worker", "distributed.nanny", "distributed.scheduler", "distributed.core"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as local,
        distributed.Client(local) as client,
    ):
        yield local, client


def test_two_workers_one_worker_and_memory_agree(selector, table, cluster):
    X, y, _ = table
    _, client = cluster
    expected = clone(selector).fit(X, y).scores_
    lazy = da.from_array(X, chunks=(50, 8))
    workers = list(client.scheduler_info()["workers"])
    two = clone(selector).fit(lazy, y).scores_
    with dask.annotate(workers=workers[:1]):
        one = clone(selector).fit(client.persist(lazy, workers=workers[:1]), y).scores_
    np.testing.assert_allclose(two, expected, rtol=1e-10)
    np.testing.assert_array_equal(one, two)  # the same tree of merges, to the last bit


def test_a_worker_killed_in_the_middle_changes_nothing(table, cluster):
    X, y, _ = table
    local, client = cluster
    lazy = da.from_array(X, chunks=(25, 8)).map_blocks(_slowly, dtype=X.dtype)
    victim = next(iter(local.workers.values())).pid
    done = client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)
    result: list[np.ndarray] = []
    work = threading.Thread(target=lambda: result.append(dubio.FisherScore().fit(lazy, y).scores_))
    work.start()
    deadline = time.monotonic() + 30
    while client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter) < done + 60:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert not result  # still in the middle
    os.kill(victim, signal.SIGKILL)
    work.join(timeout=60)
    np.testing.assert_allclose(result[0], dubio.fisher_score(X, y), rtol=1e-10)


def _slowly(block):
    time.sleep(0.1)
    return block


def test_joblib_work_runs_on_the_cluster(table, cluster):
    """Searches over our selectors run on Dask's joblib backend."""
    import joblib
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline

    X, y, _ = table
    pipe = make_pipeline(dubio.FisherScore(), LogisticRegression())
    search = GridSearchCV(pipe, {"fisherscore__n_features_to_select": [1, 8]}, cv=2)
    with joblib.parallel_backend("dask"):
        search.fit(X, y)
    assert search.best_params_["fisherscore__n_features_to_select"] == 8
