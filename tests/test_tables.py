"""Tables in files: every format, and files that are broken."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dubio.errors import InputError, nearest, quoted
from dubio.streams.text_files import separator_of
from dubio.table.read import read_any_table
from dubio.table.reading import notes_of
from dubio_app.command.options import Call
from dubio_app.command.question import Question
from dubio_app.files import TableFile, frame_bytes, read_file, read_table, require_columns
from dubio_app.whole_files import write_whole


def column_notes(asked: Question) -> list[str]:
    """The notes on the columns of a question, as the command prints them after those on its file and its target."""
    return list(map(str, notes_of(asked.features.read)))


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "size": [1.5, np.nan, 3.25, 0.1 + 0.2],
            "count": [1, 2, 3, 2**40],
            "colour": ["red", None, "blue, dark", 'a "quoted"\nname'],
            "good": [True, False, True, True],
        }
    )


@pytest.mark.parametrize(
    "name", ["t.csv", "t.tsv", "t.csv.gz", "t.csv.bz2", "t.parquet", "t.feather", "t.xlsx", "t.jsonl", "t.jsonl.gz"]
)
def test_what_is_written_is_read(tmp_path, frame, name):
    path = tmp_path / name
    write_whole(path, frame_bytes(frame, str(path)))
    back = read_table(str(path))
    pd.testing.assert_frame_equal(back, frame, check_dtype=False)
    if name != "t.xlsx":  # Excel keeps 15 digits
        assert back["size"].tolist()[3] == 0.1 + 0.2  # to the last bit


def test_separators_missing_marks_and_byte_order_mark(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("\ufeffa;b;c\r\n1;?;x\r\n2;NA;\r\n".encode())
    table = read_table(str(path))
    assert list(table.columns) == ["a", "b", "c"]
    assert table["b"].isna().all() and table["c"].isna().tolist() == [False, True]


def test_decimal_commas_are_numbers(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        'size;ratio;price;mixed;word;"n, m";code;y\n'
        "3,14;0,125;1,250;1,5;a,b;1;1,5;yes\n"
        "-2;0,250;2,000;2.5;c;2;2,5;no\n"
        ";12,500;950;3;d;4;1,5;yes\n"
        "1e3;1234,500;;4;e;5;2,5;no\n"
    )
    file = read_file(str(path))
    frame = file.frame
    assert file.separator == ";"
    asked = Question(file, Call(target="y", nominal=("code", "mixed", "price")))
    size, ratio = asked.features.matrix[:, :2].T
    assert size.tolist()[:2] == [3.14, -2.0] and np.isnan(size[2])
    assert ratio.tolist() == [0.125, 0.25, 12.5, 1234.5]
    pd.testing.assert_frame_equal(asked.table, frame)  # what was read is not changed
    assert frame["size"][0] == "3,14"
    assert "2 columns with decimal commas were read as numbers: 'size', 'ratio'" in column_notes(asked)
    scope: dict = {"pd": pd}
    exec("\n".join(asked.code), scope)
    np.testing.assert_array_equal(read_any_table(scope["X"]).matrix, asked.features.matrix)


def test_commas_that_may_part_thousands_stay_text(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text("price\tx\ty\n1,250\t1\ta\n2,000\t2\tb\n12,500\t3\ta\n")
    asked = Question(read_file(str(path)), Call(target="y"))
    assert asked.table["price"].tolist()[0] == "1,250"
    # every number has one comma: both readings differ only by a factor
    assert asked.features.matrix[:, 0].tolist() == [1250.0, 2000.0, 12500.0]
    path.write_text("price\tx\ty\n1,250\t1\ta\n2,000\t2\tb\n950\t3\ta\n")
    with pytest.raises(InputError, match=r"unclear in column 'price'.* the comma may mark decimals or thousands"):
        Question(read_file(str(path)), Call(target="y"))
    path = tmp_path / "t.csv"
    path.write_text('size,x,y\n"1,3",1,a\n"2,3",2,b\n"1,3",3,a\n')  # quoted in a file of commas
    assert Question(read_file(str(path)), Call(target="y")).features.matrix[:, 0].tolist() == [1.3, 2.3, 1.3]


@pytest.mark.parametrize(
    ("header", "separator"),
    [("a;b;c (x,y)", ";"), ('"a;b;c",d', ","), ("a,b", ","), ("a", ","), ("a|b|c", "|"), ("a,b;c", ",")],
)
def test_the_separator_is_what_the_header_has_most_of(tmp_path, header, separator):
    path = tmp_path / "t.csv"
    path.write_text(header + "\n")
    assert separator_of(str(path)) == separator


def test_twins_are_named_also_where_types_change_far_down(tmp_path, monkeypatch):
    monkeypatch.setattr("dubio.streams.text_files._BLOCK", 64)
    path = tmp_path / "t.csv"
    path.write_text("a,a\n" + "1,2\n" * 100 + "1.5,2\n")
    with pytest.raises(InputError, match="more than one column named 'a'"):
        read_table(str(path))


def test_types_that_change_far_down_change_nothing_else(tmp_path, monkeypatch):
    """Values are exact, "None" is a word, and what is to stay text does so, however the file is read."""
    path = tmp_path / "t.csv"
    values = (np.random.default_rng(0).normal(size=200) * 1e-7).tolist()
    lines = [f"{1 if i < 199 else 1.5},{value!r},{'?' if i % 2 else 'None'},{i:03}" for i, value in enumerate(values)]
    path.write_text("a,b,c,d\n" + "\n".join(lines) + "\n")
    whole = read_table(str(path), as_text=["d"])
    monkeypatch.setattr("dubio.streams.text_files._BLOCK", 64)
    again = read_table(str(path), as_text=["d"])
    pd.testing.assert_frame_equal(again, whole, check_dtype=False, check_exact=True)
    assert again["b"].tolist() == values and again["d"].tolist() == [f"{i:03}" for i in range(200)]
    assert again["c"].tolist()[0] == "None" and again["c"].isna().sum() == 100


def test_index_column_without_a_name_gets_one(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(",a\n0,1\n1,2\n2,5\n")
    assert list(read_table(str(path)).columns) == ["unnamed_0", "a"]


def test_type_that_changes_far_down(tmp_path):
    path = tmp_path / "t.csv"
    # the type of a column is guessed from its beginning
    rows = ["1,0.25" + "0" * 90] * 900_000 + ["1.5,0.5"]
    path.write_text("a,b\n" + "\n".join(rows) + "\n")
    assert read_table(str(path))["a"].iloc[-1] == 1.5


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n3\n4,5\n", "line 3, has 1 cell where"),
        ("a,b\n1,2\n3,4,5\n", "line 3, has 3 cells where"),
        ('a,b\n"x\ny",2\n3,4,5\n', "line 4, has 3 cells where"),
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("a,b\n", "is empty: it has 2 columns and no rows"),
        ("a,a\n1,2\n", "more than one column named 'a'"),
    ],
)
def test_broken_text(tmp_path, content, message):
    path = tmp_path / "t.csv"
    path.write_text(content)
    with pytest.raises(InputError, match=message) as caught:
        read_table(str(path))
    assert "\n" not in str(caught.value)


def test_ragged_inside_gzip(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n3\n"))
    with pytest.raises(InputError, match="line 3"):
        read_table(str(path))


@pytest.mark.parametrize("name", ["t.csv.gz", "t.parquet", "t.feather", "t.xlsx"])
def test_wrong_content(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"this is something else")
    with pytest.raises(InputError, match="cannot be read"):
        read_table(str(path))


def test_missing_files_and_folders(tmp_path):
    (tmp_path / "patients.csv").write_text("a\n1\n")
    with pytest.raises(InputError, match=r"pateints\.csv' does not exist: did you mean .*patients\.csv'\?"):
        read_table(str(tmp_path / "pateints.csv"))
    with pytest.raises(InputError, match="is a folder"):
        read_table(str(tmp_path))
    (tmp_path / "t.xls").write_text("x")
    with pytest.raises(InputError, match="is no workbook"):
        read_table(str(tmp_path / "t.xls"))


def test_nearest_names(frame):
    with pytest.raises(InputError, match="did you mean 'colour'"):
        require_columns(frame, ["color"], "--target")
    with pytest.raises(InputError, match="did you mean 'size'"):
        require_columns(frame, ["SIZE"], "--target")
    with pytest.raises(InputError, match="it has 'size', 'count'"):
        require_columns(frame, ["zzz"], "--target")
    assert nearest("b", ["a", "b2", "cab"]) == ["b2", "cab"]
    assert quoted("a\nb\x1b") == r"'a\nb\x1b'"


def question(**options):
    data = options.pop("data")
    return Question(TableFile(pd.DataFrame(data), code="pd.read_parquet('t.parquet')"), Call(**options))


def test_mixed_columns_are_named_and_counted():
    data = {"age": ["31", "4o", "27", "x"] * 1 + ["50"], "y": list("ababa")}
    with pytest.raises(
        InputError,
        match=r"numbers \(3 cells\) with text \(2 cells\) in column 'age'.*, such as 'x', first '4o' in row 1: ",
    ):
        question(data=data, target="y")
    made = question(data=data, target="y", nominal=("age",))
    assert made.features.names == ["age"] and made.features.read[0].levels == ("27", "31", "4o", "50", "x")


def test_targets_that_cannot_be():
    data = {
        "x": [1.0, 2, 3, 4],
        "id": ["a1", "a2", "a3", "a4"],
        "nr": [7, 3, 9, 5],
        "none": [None] * 4,
        "one": list("aaaa"),
    }
    with pytest.raises(InputError, match=r"'id' has a different value in each of its 4 rows"):
        question(data=data, target="id")
    with pytest.raises(InputError, match="--regression"):
        question(data=data, target="nr")
    assert question(data=data, target="nr", target_kind="numbers").kind == "numbers"
    with pytest.raises(InputError, match=r"'none' has no value in any of the 4 rows"):
        question(data=data, target="none")
    with pytest.raises(InputError, match="only one value, 'a'"):
        question(data=data, target="one")


def test_features_are_made_of_what_the_table_has():
    data = {
        "unnamed_0": range(30),
        "x": np.arange(30.0) ** 2,
        "flag": [True, False] * 15,
        "colour": ["red", "green", None] * 10,
        "name": [f"n{i}" for i in range(30)],
        "when": pd.date_range("2024-01-01", periods=30),
        "y": list("ab") * 15,
    }
    made = question(data=data, target="y")
    assert made.features.names == ["x", "flag", "colour", "name", "when"]
    kinds = [one.kind for one in made.features.read]
    assert kinds == ["number", "number", "category", "text", "date"]
    told = " ".join([*made.notes, *column_notes(made)])
    for name in ("unnamed_0", "name", "when", "colour"):
        assert f"'{name}'" in told


def test_minus_one_is_a_class_and_a_note_where_it_may_be_none():
    data = {"x": [1.0, 2, 3, 4], "y": [-1, 1, 1, -1]}
    asked = question(data=data, target="y")
    assert asked.missing_label is None and asked.notes == []
    data["y"] = [-1, 0, 1, -1]
    asked = question(data=data, target="y")
    assert asked.missing_label is None and "(2 rows). If it means no label, add --unlabelled -1" in asked.notes[0]


def test_parquet_index_and_decimals(tmp_path):
    from decimal import Decimal

    frame = pd.DataFrame({"price": [Decimal("1.50"), None, Decimal("2.25")], "y": list("aba")}, index=[7, 7, 9])
    frame.to_parquet(tmp_path / "t.parquet")
    table = read_table(str(tmp_path / "t.parquet"))
    assert table["price"].tolist()[::2] == [1.5, 2.25] and list(table.index) == [0, 1, 2]


def test_a_column_of_text_is_one_feature():
    data = {"sex": list("mfmf"), "town": ["x", "y", "z", "x"], "town=x": [1.0, 2, 3, 5], "y": list("pqqp")}
    asked = question(data=data, target="y")
    assert asked.features.names == ["sex", "town", "town=x"]
    assert asked.features.columns.sizes.tolist() == [1, 3, 1]


def test_without_a_target_text_takes_part():
    asked = question(data={"town": ["x", "y", "z", "x"], "a": [1.0, 2, 3, 5], "b": [3.0, 2, 7, 1]})
    assert asked.features.names == ["town", "a", "b"]
    assert any("no --target" in note for note in asked.notes)


def test_infinite_cells_are_named():
    with pytest.raises(InputError, match=r"infinity in 1 row of column 'x'.*row 1"):
        question(data={"x": [1.0, np.inf, 2.0], "y": list("aba")}, target="y")


def test_a_file_is_whole_or_absent(tmp_path, monkeypatch):
    path = tmp_path / "out.txt"
    write_whole(path, "old")
    monkeypatch.setattr("os.replace", lambda *a: (_ for _ in ()).throw(OSError("no")))
    with pytest.raises(OSError, match="no"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out.txt"]
    assert Path("/dev/null").exists()
    write_whole("/dev/null", "nothing")
    assert not Path("/dev/null").is_file()
