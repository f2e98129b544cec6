"""Odd cells, odd containers and odd files: nothing is lost in silence, and nothing fails inside."""

from __future__ import annotations

import datetime as dt
import json
import time
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from dubio import (
    FeatureSelector,
    FisherScore,
    FuzzyRoughSearch,
    InputError,
    audit_labels,
    label_tolerance,
    stability,
)
from dubio.table import cells
from dubio.table.read import read_any_table
from dubio.table.rows import read_groups
from dubio_app.files import frame_bytes, read_file, read_table

pa = pytest.importorskip("pyarrow")

#: Text of any length, from NumPy 2 on.
TEXT = np.dtypes.StringDType(na_object=None) if hasattr(np.dtypes, "StringDType") else object

N = 40
CLASSES = np.arange(N) % 2
X = np.random.default_rng(0).normal(size=(N, 3)) + CLASSES[:, None] * [0, 2, 1]
DATES = [dt.date(2020, 1, 1) + dt.timedelta(days=i) for i in range(N)]


def one_column(values, **more):
    """A frame with an odd column beside a good one."""
    return pd.DataFrame({"odd": pd.Series(values, **more), "x": X[:, 1]})


def fisher(table, n_features=1):
    return FeatureSelector("fisher", n_features_to_select=n_features).fit(table, CLASSES)


def write(folder, name, text):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


# files


def test_a_list_of_objects_keeps_columns_that_the_first_object_lacks(tmp_path):
    rows = [{"a": 1}, {"b": 2.5, "a": 2}, {"c": "red"}]
    whole = read_table(write(tmp_path, "t.json", json.dumps(rows)))
    lines = read_table(write(tmp_path, "t.jsonl", "\n".join(map(json.dumps, rows))))
    assert list(whole.columns) == ["a", "b", "c"]
    pd.testing.assert_frame_equal(whole, lines)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.json", "null", "line 1, is 'null'"),
        ("a.jsonl", '{"a": 1}\n\n null\n', "line 3, is 'null'"),
        ("a.jsonl", '{"a":' + "[" * 20_000 + "]" * 20_000 + "}", "inside each other"),
        ("a.jsonl", '{"a":\n' + "[\n" * 20_000 + "]\n" * 20_000 + "}", "line 1, is not JSON"),
        ("a.json", "[" * 100_000, "inside each other"),
        ("a.json", '[{"a": 1}, null]', "object 2, is 'null'"),
        ("a.json", '[{"a": 1}, {"a": [1, 2]}]', "lists or objects in column 'a'"),
        ("a.json", '[{"a": 1}, {"a": "x"}]', "in column 'a'"),
    ],
)
def test_odd_json_is_refused_before_it_can_end_the_process(tmp_path, name, text, said):
    with pytest.raises(InputError, match=said) as caught:
        read_table(write(tmp_path, name, text))
    assert "\n" not in str(caught.value)


def test_brackets_in_text_are_no_nesting(tmp_path):
    path = write(tmp_path, "a.jsonl", "\n".join(json.dumps({"a": "[" * 500 + '"' + "{" * 500}) for _ in range(3)))
    assert read_table(path)["a"][0].count("[") == 500


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.json"])
def test_whole_numbers_beyond_64_bits_are_rounded_with_a_note(tmp_path, name):
    numbers = [2**65 + i for i in range(5)]
    if name == "t.csv":
        text = "a,b\n" + "".join(f"{number},1.5\n" for number in numbers)
    else:
        rows = [json.dumps({"a": number, "b": 1.5}) for number in numbers]
        text = "\n".join(rows) if name == "t.jsonl" else f"[{','.join(rows)}]"
    found = read_file(write(tmp_path, name, text))
    assert found.frame["a"].dtype == float
    assert [note for note in found.notes if "'a'" in note and "were rounded" in note and "3689348814741910323" in note]
    assert not [note for note in found.notes if "'b'" in note]


def test_large_numbers_that_are_no_whole_numbers_get_no_note(tmp_path):
    assert not read_file(write(tmp_path, "t.csv", "a,b\n1e300,1\n2.5e19,2\n")).notes


@pytest.mark.parametrize("kind", [pa.decimal256(40), pa.int64()])
def test_whole_numbers_of_parquet_that_become_floats_are_rounded_with_a_note(tmp_path, kind):
    import pyarrow.parquet

    largest = 2**60 if kind == pa.int64() else 2**90
    numbers = [None, *(largest + i for i in range(5))]
    values = pa.array(numbers, kind) if kind == pa.int64() else pa.array([n and Decimal(n) for n in numbers], kind)
    pyarrow.parquet.write_table(pa.table({"a": values, "b": np.arange(6)}), tmp_path / "t.parquet")
    (note,) = read_file(str(tmp_path / "t.parquet")).notes
    assert "'a'" in note and str(largest + 4) in note


def test_a_control_character_cannot_be_saved_in_excel():
    pytest.importorskip("openpyxl")
    with pytest.raises(InputError, match="control characters"):
        frame_bytes(pd.DataFrame({"a": ["x\x01y"]}), "out.xlsx")


def test_a_workbook_that_openpyxl_cannot_read_is_refused(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.create_chartsheet("chart")
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(InputError, match=r"cannot be read as Excel|is empty"):
        read_table(str(tmp_path / "t.xlsx"))


# Arrow, Dask and polars


def test_arrow_columns_of_one_name_are_refused():
    twins = pa.table([pa.array(X[:, 0]), pa.array(X[:, 1]), pa.array(X[:, 2])], names=["a", "a", "b"])
    for fit in (FeatureSelector("fisher").fit, FisherScore().fit, label_tolerance, audit_labels):
        with pytest.raises(InputError, match="columns with the same name: 'a'"):
            fit(twins, CLASSES)


def test_every_method_reads_an_arrow_table_like_a_frame():
    table = pa.table({"d": pa.array([None, *DATES[1:]]), "x": X[:, 1]})
    frame = pd.DataFrame({"d": pd.Series([None, *DATES[1:]], dtype="datetime64[s]"), "x": X[:, 1]})
    with pytest.raises(InputError, match="not numeric: 'd'"):
        FisherScore().fit(table, CLASSES)
    numbers = pa.table({"u": X[:, 0], "v": X[:, 1]})
    assert FisherScore(n_features_to_select=1).fit(numbers, CLASSES).get_feature_names_out().tolist() == ["v"]
    np.testing.assert_array_equal(read_any_table(table).matrix, read_any_table(frame).matrix)
    assert list(label_tolerance(table, CLASSES).names) == ["d", "x"]
    assert len(audit_labels(table, CLASSES).to_frame()) == N


def test_columns_and_tables_without_rows_in_memory_are_refused():
    pl = pytest.importorskip("polars")
    lazy = pl.LazyFrame({"a": X[:, 0], "b": X[:, 1]})
    for fit in (FisherScore().fit, FeatureSelector("fisher").fit, label_tolerance):
        with pytest.raises(InputError, match=r"LazyFrame, which holds no rows yet: pass X.collect\(\)"):
            fit(lazy, CLASSES)
    for column in (pl.Series(X[:, 0]), pa.chunked_array([X[:, 0]])):
        for fit in (FisherScore().fit, FeatureSelector("fisher").fit):
            with pytest.raises(InputError, match=r"one column, and not a table|got 1D array"):  # as old polars says
                fit(column, CLASSES)


def test_a_dask_frame_is_refused_where_all_rows_are_needed():
    dask = pytest.importorskip("dask.dataframe")
    table = dask.from_pandas(one_column(["red", "blue"] * 20), npartitions=2)
    for fit in (audit_labels, FuzzyRoughSearch().fit):
        with pytest.raises(InputError, match="needs all rows at once"):
            fit(table, CLASSES)


# cells


def test_one_long_text_costs_no_more_than_its_length():
    texts = [f"row {i % 7}" for i in range(2000)]
    texts[5] = "x" * 200_000
    start = time.perf_counter()
    for column in (pd.Series(texts), pd.Series(texts).astype("category")):
        read = read_any_table(pd.DataFrame({"t": column})).read[0]
        assert read.kind == "category" and len(read.levels) == 8
    assert time.perf_counter() - start < 5


def test_texts_that_differ_by_a_trailing_zero_character_differ():
    read = read_any_table(pd.DataFrame({"t": pd.Series(["a", "a\0"] * 10, dtype=object)})).read[0]
    assert read.levels == ("a", "a\0")


def test_spaces_after_a_limit_cost_no_time():
    start = time.perf_counter()
    assert np.isnan(cells.read_numbers(["<" + " " * 16_000 + "x"]).values).all()
    assert time.perf_counter() - start < 1
    assert cells.read_numbers(["< $ 5", "<$5", "$ 5"]).values.tolist() == [5, 5, 5]


LONG = [np.inf, 10**400, -Fraction(10**400, 7), Decimal("1e999"), np.longdouble("1e400")]


@pytest.mark.parametrize("odd", [*LONG, "9" * 400, "9" * 5000, "1e999"], ids=lambda odd: str(type(odd).__name__))
def test_numbers_too_large_for_floating_point_are_refused(odd):
    values = [f"{i}.5" if isinstance(odd, str) else i + 0.5 for i in range(N)]
    values[3] = odd
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InputError, match="contains infinity in 1 row of column 'odd', first in row 3"):
            fisher(one_column(values, dtype=object))


def test_an_array_of_long_numbers_is_refused_without_a_warning():
    table = X.astype(np.longdouble)
    table[2, 1] = np.longdouble("1e400")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InputError, match="contains infinity"):
            FisherScore().fit(table, CLASSES)


def test_a_signalling_nan_is_a_missing_cell():
    values = [Decimal("sNaN") if i == 4 else Decimal(i) for i in range(N)]
    assert read_any_table(one_column(values, dtype=object)).read[0].n_missing == 1
    assert FuzzyRoughSearch().fit(one_column([*values[:-1], "x"], dtype=object), CLASSES).n_features_in_ == 2


def test_durations_of_numpy_are_days():
    values = [np.timedelta64(12 * i, "h") for i in range(N - 1)] + [np.timedelta64("NaT")]
    table = read_any_table(one_column(values, dtype=object))
    assert table.read[0].unit == "days" and table.matrix[1, 0] == 0.5 and np.isnan(table.matrix[-1, 0])


@pytest.mark.parametrize("levels", [pd.date_range("2020", periods=4), pd.to_timedelta([1, 2, 3, 4], unit="D")])
def test_ordered_categories_may_be_dates(levels):
    codes = [i % 4 if i else -1 for i in range(N)]
    table = read_any_table(one_column(pd.Categorical.from_codes(codes, levels, ordered=True)))
    assert table.read[0].kind == "ordered" and len(table.read[0].levels) == 4
    np.testing.assert_array_equal(table.matrix[:, 0], [np.nan, *codes[1:]])


def test_a_column_of_nullable_whole_numbers_may_be_empty():
    table = one_column(pd.array([pd.NA] * N, dtype="Int64"))
    assert fisher(table).get_feature_names_out().tolist() == ["x"]


def test_arrays_in_cells_and_empty_frames_are_refused_by_fuzzy_rough_search():
    with pytest.raises(InputError, match="has a ndarray in column 'odd'"):
        FuzzyRoughSearch().fit(one_column([np.arange(2)] * N), CLASSES)
    with pytest.raises(InputError):
        FuzzyRoughSearch().fit(pd.DataFrame(), [])


def test_sparse_cells_outside_the_table_are_refused():
    table = sparse.csr_matrix(X)
    table.indices[5] = 7
    for fit in (FisherScore().fit, FeatureSelector("fisher").fit):
        with pytest.raises(InputError, match="outside its columns"):
            fit(table, CLASSES)


# columns, groups and what comes back


def test_transform_hands_dates_beside_numbers_back_as_they_were():
    table = pd.DataFrame({"d": pd.date_range("2020", periods=N), "x": X[:, 1]})
    np.testing.assert_array_equal(fisher(table).transform(table)[:, 0].astype(float), X[:, 1])
    both = fisher(table, 2).transform(table)
    assert both.dtype == object and both[3, 0] == table["d"][3]
    pd.testing.assert_frame_equal(fisher(table, 2).set_output(transform="pandas").transform(table), table)


def test_transform_hands_dates_of_polars_back_as_they_were():
    table = pytest.importorskip("polars").DataFrame({"d": DATES, "x": X[:, 1]})
    both = fisher(table, 2)
    assert both.transform(table)[3, 0].date() == DATES[3]
    assert both.set_output(transform="polars").transform(table)["d"][3].date() == DATES[3]


@pytest.mark.parametrize(
    ("groups", "same"),
    [
        (pa.array(["a", "b"] * 3), ["a", "b"] * 3),
        (pa.chunked_array([["a", "b"] * 3]), ["a", "b"] * 3),
        (np.array(["a", "b"] * 3, dtype=TEXT), ["a", "b"] * 3),
    ],
)
def test_groups_may_be_text_of_any_kind(groups, same):
    np.testing.assert_array_equal(read_groups(groups, 6), read_groups(same, 6))


def test_odd_groups_are_refused():
    missing = np.array(["a", "b", None, "a"], dtype=TEXT)
    with pytest.raises(InputError, match="missing in 1 row, first in row 2"):
        read_groups(missing, 4)
    with pytest.raises(InputError, match="one value per row"):
        read_groups([[1], [1, 2]], 2)


def test_names_of_several_levels_have_one_entry_per_feature():
    table = pd.DataFrame(X, columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)]))
    frame = stability(FisherScore(n_features_to_select=1), table, CLASSES, n_draws=3).to_frame()
    assert frame["feature"][0] == ("a", 2)


def test_a_name_that_is_no_text_is_refused():
    table = pd.DataFrame(X, columns=pd.Index(["a", "b\udc80", "c"], dtype=object))
    for fit in (FisherScore().fit, FeatureSelector("fisher").fit):
        with pytest.raises(InputError, match=r"named 'b\\udc80', which is no valid text"):
            fit(table, CLASSES)


def test_arrow_tables_come_back_as_frames_where_pandas_is_wished():
    table = pa.table({"a": [0.0, 1.0, 0.5, 2.0], "b": [0.0, 5.0, 1.0, 6.0]})
    selector = FeatureSelector("fisher", n_features_to_select=1).set_output(transform="pandas")
    found = selector.fit(table, [0, 1, 0, 1]).transform(table)
    assert isinstance(found, pd.DataFrame) and list(found) == ["b"]


def test_a_target_that_is_none_beside_an_arrow_table_is_refused():
    with pytest.raises(InputError, match="y has 0 dimensions"):
        FeatureSelector("fisher", n_features_to_select=1).fit(pa.table({"a": X[:, 0]}), len)
