"""Tables of any type become a matrix in which the columns of one feature belong together."""

import datetime

import numpy as np
import pandas as pd
import pyarrow
import pytest

from dubio import FeatureSelector, laplacian_score
from dubio.errors import InputError, rows_named
from dubio.table.cells import read_numbers
from dubio.table.dates import read_dates, read_times
from dubio.table.matrix import fill_missing, standardize
from dubio.table.read import read_any_table


@pytest.mark.parametrize(
    "texts, values",
    [
        (["3,14", "2"], [3.14, 2]),
        (["1.204,7", "12"], [1204.7, 12]),
        (["1,204.7", "12"], [1204.7, 12]),
        (["1 204,7", "12"], [1204.7, 12]),
        (["1\u202f204", "12"], [1204, 12]),
        (["1'204.5", "0"], [1204.5, 0]),
        (["1,234,567", "8"], [1234567, 8]),
        (["-3", "+4.5e3", ".5", "5."], [-3, 4500, 0.5, 5]),
        (["\u22122,5", "1,0"], [-2.5, 1]),
        (["0,234", "1,234"], [0.234, 1.234]),
        (["95.1 %", "3%"], [95.1, 3]),
        (["$1,200.50", "$ 3"], [1200.5, 3]),
        (["12 mg/l", "<0.1 mg/l", "> 100 mg/l"], [12, 0.1, 100]),
        (["1,234", "2,500"], [1234, 2500]),  # up to a factor of 1000, which changes nothing
    ],
)
def test_numbers_as_text(texts, values):
    np.testing.assert_array_equal(read_numbers(texts).values, values)


@pytest.mark.parametrize(
    "texts, problem",
    [(["12 mg", "0.5 U"], "different units"), (["950", "1,250"], "decimals or thousands"), (["5", "13k"], "units")],
)
def test_numbers_that_are_unclear_are_not_guessed(texts, problem):
    found = read_numbers(texts)
    assert np.isnan(found.values).all() and problem in found.problem


def test_dates_and_times_as_text():
    for texts in (["2024-03-31", "2024-04-01"], ["31.3.2024", "1.4.2024"], ["31/3/2024", "1/4/2024"],
                  ["3/31/2024", "4/1/2024"], ["31 Mar 2024", "1 April 2024"], ["March 31, 2024", "Apr 1 2024"],
                  ["2024-03-31T00:00:00Z", "2024-04-01 02:00+02:00"]):  # fmt: skip
        np.testing.assert_array_equal(read_dates(texts).values.astype("datetime64[D]").astype(str),
                                      ["2024-03-31", "2024-04-01"])  # fmt: skip
    assert "day and month" in read_dates(["1/2/2024", "3/4/2024"]).problem
    assert np.isnat(read_dates(["2024-02-30"]).values).all()
    np.testing.assert_array_equal(read_times(["6:30", "25:00"]), [6.5, np.nan])


def test_a_float_table_is_passed_on():
    X = np.random.default_rng(0).normal(size=(6, 3))
    assert read_any_table(X).matrix is X and read_any_table(X).columns is None
    frame = pd.DataFrame(X, columns=list("abc"))
    assert np.shares_memory(read_any_table(frame).matrix, frame.to_numpy())
    assert read_any_table(X.astype(np.float32)).matrix.dtype == np.float32


def test_missing_cells_become_a_column_from_one_percent_on():
    X = np.random.default_rng(0).normal(2.0, 3.0, size=(400, 3))
    X[:3, 0] = np.nan
    X[::10, 1] = np.nan
    read = read_any_table(X)
    np.testing.assert_array_equal(read.columns.feature_of, [0, 1, 1, 2])
    np.testing.assert_allclose(read.matrix[:, 2], np.isnan(X[:, 1]) * np.nanstd(X[:, 1]))
    filled = fill_missing(read.matrix, read.columns)
    np.testing.assert_array_equal(filled[:, 1], np.where(np.isnan(X[:, 1]), np.nanmedian(X[:, 1]), X[:, 1]))


def test_categories_are_one_feature_of_unit_variance():
    colour = np.array(["red", "blue", "green", "red"] * 10, dtype=object)
    colour[::8] = None
    read = read_any_table(pd.DataFrame({"size": np.arange(40.0), "colour": colour}))
    assert read.names == ["size", "colour"]
    np.testing.assert_array_equal(read.columns.feature_of, [0, 1, 1, 1, 1])
    assert read.read[1].levels == ("blue", "green", "red") and read.read[1].n_missing == 5
    filled = fill_missing(read.matrix, read.columns)
    assert (filled[::8, 1:4] == [0, 0, 1]).all()  # red is the most frequent
    space = standardize(filled, read.columns)
    np.testing.assert_allclose(space.var(axis=0)[1:].sum(), 1.0)
    np.testing.assert_allclose(space[:, 0], standardize(filled[:, :1])[:, 0])


def test_dates_count_days_and_know_the_season():
    day = pd.date_range("2020-01-06", periods=120, freq="7D")
    read = read_any_table(pd.DataFrame({"day": day}))
    assert read.matrix.shape[1] == 3 and read.read[0].first == "2020-01-06"  # all are Mondays: no weekday
    np.testing.assert_array_equal(read.matrix[:, 0], 7.0 * np.arange(120))
    np.testing.assert_allclose(read.matrix[:, 1:].var(axis=0).sum() / read.matrix[:, 0].var(), 0.25)
    few = read_any_table(pd.DataFrame({"day": [datetime.date(2020, 1, d) for d in range(1, 9)]}))
    assert few.matrix.shape[1] == 1 and few.matrix[-1, 0] == 7


def test_frames_of_all_kinds_and_arrays_of_objects_are_read_alike():
    polars = pytest.importorskip("polars")
    rng = np.random.default_rng(0)
    n = 60
    table = pd.DataFrame(
        {
            "number": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "share": [f"{v:.1f} %" for v in rng.normal(50, 5, n)],
            "colour": rng.choice(["red", "blue", "green"], n),
            "day": pd.date_range("2020-01-01", periods=n, freq="11D"),
            "said": [None if v < 0.1 else f"<{v:.1f}" for v in rng.random(n)],
            "name": [f"person {i}" for i in range(n)],
            "yes": rng.random(n) > 0.5,
        }
    )
    read = read_any_table(table)
    assert [one.kind for one in read.read] == ["number", "number", "category", "date", "number", "text", "number"]
    for other in (polars.from_pandas(table), table.to_numpy(dtype=object), table.astype(object)):
        again = read_any_table(other)
        np.testing.assert_array_equal(again.matrix, read.matrix)
        np.testing.assert_array_equal(again.columns.feature_of, read.columns.feature_of)


def test_ordered_categories_keep_their_order():
    grade = pd.Categorical(["low", "high", "mid", None] * 5, categories=["low", "mid", "high"], ordered=True)
    read = read_any_table(pd.DataFrame({"grade": grade}))
    np.testing.assert_array_equal(read.matrix[:4, 0], [0, 2, 1, np.nan])
    assert read.read[0].kind == "ordered"


def test_groups_of_columns_are_one_feature():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(30, 4)) * [1, 100, 1, 1], columns=list("abcd"))
    read = read_any_table(table, {"both": ["b", "d"]})
    assert read.names == ["a", "both", "c"] and read.columns.inputs == ((0,), (1, 3), (2,))
    np.testing.assert_allclose(read.matrix[:, 1:3].var(axis=0), 1.0)
    assert read_any_table(table.to_numpy(), {"both": [1, 3]}).names == ["x0", "both", "x2"]
    for groups, words in (
        ({"both": ["a"], "more": ["a", "b"]}, "in 'both' and in 'more'"),
        ({"both": ["z"]}, "no column 'z'"),
        ({"a": ["b", "c"]}, "also a column"),
        ({"both": []}, "no column in group"),
        ([["a"]], "dictionary"),
    ):
        with pytest.raises(InputError, match=words):
            read_any_table(table, groups)


def test_refusals_name_column_row_and_cell():
    table = pd.DataFrame({"size": ["1", "2", "big", "3"]})
    with pytest.raises(InputError, match=r"column 'size' .*first 'big' in row 2: correct or empty"):
        read_any_table(table)
    with pytest.raises(InputError, match="row 4 of the file"), rows_named(lambda row: f"row {row + 2} of the file"):
        read_any_table(table)
    with pytest.raises(InputError, match="dict in column 'size'"):
        read_any_table(pd.DataFrame({"size": [1, 2, {}]}))
    with pytest.raises(InputError, match="infinity in 1 row of column 'size'"):
        read_any_table(pd.DataFrame({"size": [1, None, float("inf")]}, dtype=object))


def test_whole_numbers_beyond_float64_are_named():
    read = read_any_table(pd.DataFrame({"code": 2**60 + np.arange(5), "x": 1.0}))
    assert "1152921504606846980 were rounded" in str(read.read[0].notes[0])
    read = read_any_table(pd.DataFrame({"code": [f"{2**60 + i}" for i in range(5)]}))
    assert "were rounded" in str(read.read[0].notes[0])
    assert read_any_table(pd.DataFrame({"code": np.arange(5), "x": 1.0})).columns is None
    codes = pyarrow.array([2**60 + 1, None, 7, 9])
    read = read_any_table(pyarrow.table({"code": codes, "x": [1.0, 2.0, 4.0, 3.0]}))
    assert "1152921504606846977 were rounded" in str(read.read[0].notes[0])


def test_the_order_of_the_rows_changes_no_digit():
    """Dates and groups of columns are scaled by a spread over all rows."""
    rng = np.random.default_rng(0)
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 900, 250), unit="D")
    table = pd.DataFrame({"when": when, "a": rng.normal(size=250), "b": rng.gamma(2, size=250)})
    groups = {"both": ["a", "b"]}
    read = read_any_table(table, feature_groups=groups).matrix
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(250)
        np.testing.assert_array_equal(read[order], read_any_table(table.iloc[order], feature_groups=groups).matrix)


def test_text_with_many_values_is_left_out_and_named():
    table = pd.DataFrame({"x": np.arange(30.0), "name": [f"person {i}" for i in range(30)]})
    read = read_any_table(table)
    assert read.read[1].kind == "text" and "30 different values" in str(read.read[1].notes[0])
    assert (read.matrix[:, 1] == 0).all()


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_of_narwhals_are_read_as_what_they_hold(library):
    """Narwhals is the door to the frames of other libraries."""
    nw, native = pytest.importorskip("narwhals"), pytest.importorskip(library)
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    columns = {"a": rng.normal(size=60) + y, "b": rng.choice(["u", "v"], 60).tolist(), "c": rng.normal(size=60)}
    make = native.table if library == "pyarrow" else native.DataFrame
    frame = nw.from_native(make(columns))
    here, there = (FeatureSelector("fisher").fit(one, y).to_ranking() for one in (frame, pd.DataFrame(columns)))
    assert here.names.tolist() == there.names.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(here.scores, there.scores)
    with pytest.raises(InputError, match=r"holds no rows yet: pass X\.collect"):
        FeatureSelector().fit(frame.lazy(), y)


def test_one_column_of_a_frame_is_no_table():
    with pytest.raises(InputError, match=r"2-dimensional|2D array"):
        laplacian_score(pd.Series([1.0, 2.0, 4.0]))
