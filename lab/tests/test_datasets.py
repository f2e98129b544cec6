"""Real tables by name: where they come from, what a paper does to them, and what is said where one is unavailable."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from dubio_papers.datasets.catalog import CATALOG
from dubio_papers.datasets.load import load, names, where
from dubio_papers.datasets.raw_tables import DatasetUnavailable, RawTable, read_csv, write_csv


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """No folder of data, an empty cache."""
    monkeypatch.delenv("DUBIO_DATA", raising=False)
    monkeypatch.setenv("DUBIO_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_bundled_tables_are_the_papers_own(nowhere):
    """Content checksums are those of the published results: no warning."""
    for name in ("iris", "wine", "diabetes"):
        assert load(name).source == "scikit-learn"


def test_sources_come_in_order(nowhere, monkeypatch):
    iris = load("iris")
    table = RawTable(np.array(iris.X), np.array(iris.y), iris.feature_names, "test")
    write_csv(nowhere / "cache/iris.csv.gz", table)
    assert load("iris").source == "cache"
    assert (load("iris").X == iris.X).all()
    assert load("iris").checksum == iris.checksum
    write_csv(nowhere / "data/iris.csv.gz", table)
    monkeypatch.setenv("DUBIO_DATA", str(nowhere / "data"))
    assert load("iris").source == "DUBIO_DATA"


def test_another_table_is_refused_and_other_cells_are_warned_of(nowhere, monkeypatch):
    iris = load("iris")
    monkeypatch.setenv("DUBIO_DATA", str(nowhere))
    write_csv(nowhere / "iris.csv.gz", RawTable(iris.X[:140], iris.y[:140], iris.feature_names, "test"))
    with pytest.raises(DatasetUnavailable, match="140 rows and 4 features, but the papers' table has 150 and 4"):
        load("iris", paper="wls")
    X = iris.X.copy()
    X[34, 3] = 0.1  # UCI's copy differs from Fisher's table in cells like this one
    write_csv(nowhere / "iris.csv.gz", RawTable(X, iris.y, iris.feature_names, "test"))
    with pytest.warns(UserWarning, match="differs in some cells"):
        load("iris", paper="lnt")


def test_missing_cells_survive_a_file(tmp_path):
    table = RawTable(np.array([[0.1, np.nan], [2.0, 1e-30]]), np.array(["a", "b"]), ("u", "v"), "test")
    write_csv(tmp_path / "t.csv.gz", table)
    back = read_csv(tmp_path / "t.csv.gz", "test")
    np.testing.assert_array_equal(back.X, table.X)
    assert back.y.tolist() == ["a", "b"]


def test_values_and_class_names_are_read_exactly(tmp_path):
    values = np.random.default_rng(0).normal(size=(6, 2)) * 10.0 ** np.arange(-150, 150, 50)[:, None]
    labels = ["true", "FALSE", "1.50", "1", "2020-01-01", "None"]
    write_csv(tmp_path / "t.csv.gz", RawTable(values, np.array(labels), ("u", "v"), "test"))
    back = read_csv(tmp_path / "t.csv.gz", "test")
    np.testing.assert_array_equal(back.X, values)
    assert back.y.tolist() == labels
    (tmp_path / "t.csv").write_text("target,u\na,1\n")
    with pytest.raises(ValueError, match="has the last column 'u': the last column must be 'target'"):
        read_csv(tmp_path / "t.csv", "test")


def fake_openml(monkeypatch, X, y, calls):
    import pandas as pd

    def fetch_openml(*, data_id, **options):
        calls.append(data_id)
        return SimpleNamespace(data=pd.DataFrame(X, columns=[f"V{j}" for j in range(X.shape[1])]), target=pd.Series(y))

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch_openml)


def test_openml_by_id_once_with_our_class_names(nowhere, monkeypatch):
    """Vertebral column comes with classes 1, 2, 3: sizes of classes tell which is which."""
    calls = []
    random = np.random.default_rng(0)
    y = random.permutation(np.repeat(["1", "2", "3"], [60, 100, 150]))
    X = random.normal(size=(310, 6))
    fake_openml(monkeypatch, X, y, calls)
    with pytest.warns(UserWarning, match="differs in some cells"):
        data = load("vertebral_column", paper="lnt")
    assert (data.source, calls) == ("OpenML", [1523])
    assert ((data.y == "Hernia") == (y == "1")).all()
    assert ((data.y == "Spondylolisthesis") == (y == "3")).all()
    with pytest.warns(UserWarning, match="differs in some cells"):
        again = load("vertebral_column", paper="lnt")
    assert (again.source, calls) == ("cache", [1523])
    np.testing.assert_array_equal(again.X, X)


def test_another_table_at_openml_is_refused_and_not_cached(nowhere, monkeypatch):
    fake_openml(monkeypatch, np.zeros((310, 6)), ["1"] * 155 + ["2"] * 155, [])
    with pytest.raises(DatasetUnavailable, match="it is a different table"):
        load("vertebral_column")
    assert where("vertebral_column") == "OpenML"


def test_without_a_network_the_message_says_what_to_do(nowhere, monkeypatch):
    def fetch_openml(**options):
        raise OSError("no route")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch_openml)
    with pytest.raises(DatasetUnavailable, match=r"table 1523.*no route.*set DUBIO_DATA"):
        load("vertebral_column")
    with pytest.raises(DatasetUnavailable, match="allow the download of OpenML's table 1523"):
        load("vertebral_column", download=False)
    with pytest.raises(DatasetUnavailable, match=r"put colon\.csv\.gz"):
        load("colon")


def test_names_and_papers_are_checked():
    with pytest.raises(DatasetUnavailable, match="'nitrogen' is unavailable"):
        load("nitrogen")
    with pytest.raises(ValueError, match="there is no dataset 'irsi'"):
        load("irsi")
    with pytest.raises(ValueError, match="dataset 'wine' is used by lnt, ssfrfs"):
        load("wine", paper="wls")
    assert where("nitrogen") is None


def test_arrays_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        load("iris").X[0, 0] = 1.0


FILTERED = {
    ("ecoli", "lnt"): (327, 6, 5),
    ("glass", "lnt"): (175, 9, 3),
    ("segment", "lnt"): (2310, 18, 7),
    ("vehicle", "lnt"): (752, 18, 4),
    ("yeast", "lnt"): (1299, 8, 4),
    ("breast_tissue", "wls"): (106, 9, 4),
    ("ionosphere", "ssfrfs"): (230, 34, 2),
    ("delve_census", "ssls"): (2048, 104, None),
    ("pollen", "ssls"): (481, 4, None),
}


@pytest.mark.parametrize(("name", "paper"), list(FILTERED))
def test_filtering(name, paper, data_dir):
    data = load(name, paper=paper)
    n_classes = len(set(data.y.tolist())) if CATALOG[name].classes else None
    assert (*data.X.shape, n_classes) == FILTERED[name, paper]


def test_every_table_of_the_folder_is_the_one_of_the_papers(data_dir, recwarn):
    for name in names():
        data = load(name)
        assert data.X.shape == (CATALOG[name].n_rows, CATALOG[name].n_features)
    # scikit-learn scales one of its tables itself, and other versions round otherwise
    assert [found for found in recwarn.list if "read from scikit-learn" not in str(found.message)] == []


def test_offline_nothing_is_downloaded(nowhere, monkeypatch):
    calls = fake_openml(monkeypatch, np.zeros((310, 6)), ["1"] * 155 + ["2"] * 155, [])
    monkeypatch.setenv("DUBIO_OFFLINE", "1")
    with pytest.raises(DatasetUnavailable, match="allow the download"):
        load("vertebral_column")
    assert not calls
