"""Files as people have them: encodings, separators, Excel, JSON lines, and options that say how to read them."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pandas as pd
import pytest

from dubio.errors import InputError
from dubio.streams.sources import open_source
from dubio.streams.text_files import HowToRead
from dubio.table.read import read_any_table
from dubio_app.command.run import run
from dubio_app.files import frame_bytes, read_file, require_columns


def written(path, content, encoding="utf-8"):
    data = content.encode(encoding)
    path.write_bytes(gzip.compress(data) if path.name.endswith(".gz") else data)
    return str(path)


TEXT = "name;größe;x\nJosé;1,5;1\nZoë;2,25;\n"


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("utf-8", ""),
        ("utf-8-sig", ""),
        ("utf-16", "UTF-16"),
        ("utf-16-le", "UTF-16"),
        ("utf-16-be", "UTF-16"),
        ("cp1252", "Windows-1252, for example 'größe'"),
    ],
)
def test_encodings_are_recognised_and_said(tmp_path, encoding, said, ending):
    path = written(tmp_path / f"t.{ending}", TEXT, encoding)
    file = read_file(path)
    assert list(file.frame.columns) == ["name", "größe", "x"]
    assert file.frame["name"].tolist() == ["José", "Zoë"] and file.frame["größe"].tolist() == ["1,5", "2,25"]
    told = " ".join(file.notes)
    assert "separated by a semicolon" in told
    assert said in told and ("was read as" in told) == bool(said)
    named = read_file(path, HowToRead(encoding=encoding, decimal=","))
    assert named.frame["größe"].tolist() == [1.5, 2.25] and "was read as" not in " ".join(named.notes)
    stream = open_source(path)[0]
    assert list(stream.types) == ["name", "größe", "x"]
    assert sum(batch.num_rows for batch in stream.read(["x"], None)) == 2


def test_letters_that_are_not_utf8_far_down_are_still_found(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"name,x\n" + b"Anna,1\n" * 50_000 + "José,2\n".encode("cp1252"))
    file = read_file(str(path))
    assert file.frame["name"].iloc[-1] == "José" and "for example 'José'" in file.notes[0]


def test_no_silent_guess_of_an_encoding(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"name,x\nJos\x81\xe9,1\n")  # 0x81 means nothing in Windows-1252
    with pytest.raises(InputError, match="is not UTF-8, and not Windows-1252 text"):
        read_file(str(path))
    with pytest.raises(InputError, match="is not ascii text"):
        read_file(str(path), HowToRead(encoding="ascii"))
    path.write_bytes(b"PK\x03\x04\0\0\x08" + bytes(range(256)) * 20)
    with pytest.raises(InputError, match="is not text"):
        read_file(str(path))


@pytest.mark.parametrize(
    ("content", "separator"),
    [
        ("a, first;b;c\n1;2;3\n4;5;6\n", ";"),
        ("a,b;c\n1,2;3\n", ","),
        ("a;b,c\n1;2,5\n2;3\n", ";"),
        ("x|y\n1|2\n", "|"),
    ],
)
def test_the_separator_splits_all_lines_alike(tmp_path, content, separator):
    assert read_file(written(tmp_path / "t.csv", content)).separator == separator


def test_any_separator_can_be_named(tmp_path):
    path = written(tmp_path / "t.csv", "a#b\n1#x\n2#y, z\n")
    assert read_file(path, HowToRead(separator="#")).frame["b"].tolist() == ["x", "y, z"]
    path = written(tmp_path / "t.txt", "a   b\n 1  2\n30 4\n")
    file = read_file(path)
    assert file.frame["b"].tolist() == [2, 4] and "separated by blanks" in file.notes[0]
    scope = {"pd": pd}
    pd.testing.assert_frame_equal(eval(file.code, scope), file.frame)
    path = written(tmp_path / "u.csv", "first name\nJohn Smith\n")  # one column of a .csv file
    assert list(read_file(path).frame.columns) == ["first name"]


def test_quoted_decimals_and_a_decimal_comma_between_commas(tmp_path):
    path = written(tmp_path / "t.csv", 'a,b\n"1,5",x\n"2,25",y\n')
    assert read_file(path).frame["a"].tolist() == ["1,5", "2,25"]  # text stays text
    assert read_file(path, HowToRead(decimal=",")).frame["a"].tolist() == [1.5, 2.25]


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "jsonl", "parquet", "feather"])
def test_cells_that_mean_missing_can_be_named(tmp_path, ending):
    frame = pd.DataFrame({"a": [1.5, -999.0, 2], "n": [1, -999, 3], "b": ["x", "none", "y"]})
    path = tmp_path / f"t.{ending}"
    path.write_bytes(frame_bytes(frame, str(path)))
    found = read_file(str(path), HowToRead(missing=("-999", "none"))).frame
    assert found.isna().to_numpy().tolist() == [[False] * 3, [True] * 3, [False] * 3]
    kept = read_file(str(path)).frame
    assert not kept.isna().any().any()


def test_sheets(tmp_path):
    path = tmp_path / "book.xlsx"
    when = pd.to_datetime(["2024-01-01", None, "2024-03-05"])
    data = pd.DataFrame(
        {"id": ["007", "8", "9"], "x": [1.0, np.nan, 3], "n": [1, 2, 3], "when": when, "b": [True, False, True]}
    )
    with pd.ExcelWriter(path) as book:
        pd.DataFrame().to_excel(book, sheet_name="empty")
        data.to_excel(book, sheet_name="data", index=False)
        pd.DataFrame({"other": [1]}).to_excel(book, sheet_name="notes", index=False)
        pd.DataFrame([["A title", None, None], ["a", "b", "c"], [1, 2, 3]]).to_excel(
            book, sheet_name="titled", index=False, header=False
        )
    file = read_file(str(path))
    pd.testing.assert_frame_equal(file.frame, data, check_dtype=False)
    assert file.frame["x"].dtype == float and file.frame["when"].dtype.kind == "M"
    assert "sheet 'data'" in file.notes[0] and "'notes'" in file.notes[0]
    with pytest.raises(InputError, match=r"no such column: sheet 'data' of .* another one: 'notes', 'titled'"):
        require_columns(file.frame, ["other"], "--target", file.sheets)
    pd.testing.assert_frame_equal(eval(file.code, {"pd": pd}), data, check_dtype=False)
    other = read_file(str(path), HowToRead(sheet="notes"))
    assert list(other.frame.columns) == ["other"] and other.notes == ()
    with pytest.raises(InputError, match="sheet='Data', but the file has 'empty', 'data'"):
        read_file(str(path), HowToRead(sheet="Data"))
    titled = read_file(str(path), HowToRead(sheet="titled"))
    assert list(titled.frame.columns) == ["a", "b", "c"] and "'A title'" in titled.notes[0]
    with pytest.raises(InputError, match="sheet 'empty' has no cells"):
        read_file(str(path), HowToRead(sheet="empty"))


def test_json_lines(tmp_path):
    path = written(tmp_path / "t.jsonl", '{"a": 1, "b": "x"}\n{"a": null, "b": "NA"}\n\n{"b": "z", "a": 2.5}\n')
    frame = read_file(path).frame
    assert frame["a"].tolist()[::2] == [1, 2.5] and frame.isna().iloc[1].all()
    path = written(tmp_path / "t.json", json.dumps([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]))
    assert read_file(path).frame["a"].tolist() == [1, 2]
    for content, message in (
        ('{"a": 1}\n{"a": }\n', "line 2, is not JSON"),
        ('{"a": 1}\n3\n', "line 2, is '3'"),
        ('{"a": 1}\n{"a": "one"}\n', "line 2, has 'one' in column 'a', and line 1"),
        ('{"a": [1, 2]}\n', "holds lists or objects in column 'a'"),
    ):
        with pytest.raises(InputError, match=message):
            read_file(written(tmp_path / "u.jsonl", content))


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"separator": "ab"}, "sep='ab': give one character"),
        ({"decimal": ";"}, "decimal=';': give a point or a comma"),
        ({"decimal": ",", "separator": ","}, "also separates the columns"),
        ({"encoding": "klingon"}, "encoding='klingon', which is not known"),
    ],
)
def test_options_that_cannot_be(how, message):
    with pytest.raises(InputError, match=message):
        HowToRead(**how)


@pytest.mark.parametrize(
    ("name", "how", "message"),
    [
        ("t.parquet", {"separator": ";"}, "a .parquet file has no separators"),
        ("t.parquet", {"encoding": "cp1252"}, "a .parquet file has no encodings"),
        ("t.csv", {"sheet": "one"}, "a .csv file has no sheets"),
        ("t.xlsx", {"decimal": ","}, "a .xlsx file has no decimal marks"),
    ],
)
def test_options_that_a_format_does_not_have(tmp_path, name, how, message):
    path = tmp_path / name
    path.write_bytes(frame_bytes(pd.DataFrame({"a": [1]}), str(path)))
    with pytest.raises(InputError, match=message):
        read_file(str(path), HowToRead(**how))


def test_dates_are_dates_in_every_format(tmp_path):
    frame = pd.DataFrame({"day": ["2024-01-01", "2024-02-03"], "x": [1, 2]})
    for name in ("t.csv", "t.jsonl", "t.xlsx"):
        path = tmp_path / name
        table = frame.assign(day=pd.to_datetime(frame["day"])) if name == "t.xlsx" else frame
        path.write_bytes(frame_bytes(table, str(path)))
        assert read_file(str(path)).frame["day"].dtype.kind == "M", name


def command(capfd, *words):
    code = run([str(word) for word in words])
    out, err = capfd.readouterr()
    return code, out, err


@pytest.fixture
def patients(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    table = pd.DataFrame({"code": [f"{i:03}" for i in range(60)], "a": rng.normal(size=60) + 2 * y})
    table = table.assign(b=rng.normal(size=60).round(3), y=np.where(y, "ill", "well"))
    table.loc[[3, 9, 20], "b"] = -999
    table.to_csv(tmp_path / "t.csv", index=False, sep="#", decimal=",", encoding="utf-16")
    return tmp_path / "t.csv"


def test_the_command_takes_what_is_said_about_a_file(capfd, patients, tmp_path):
    words = ["--sep", "#", "--decimal", ",", "--encoding", "utf-16", "--na", -999, "--id", "code", "-t", "y"]
    small = tmp_path / "small.csv"
    code, out, err = command(capfd, "rank", patients, *words, "--method", "fisher", "--json", "--save-table", small)
    found = json.loads(out)
    assert code == 0, err
    assert {row["feature"] for row in found["features"]} == {"a", "b"} and found["kept"] == ["a"]
    saved = pd.read_csv(small, dtype=str)
    assert list(saved.columns) == ["code", "a", "y"] and saved["code"].tolist()[:2] == ["000", "001"]
    code, out, err = command(capfd, "audit", patients, *words, "--csv", "--all")
    assert code == 0 and "3 missing values" in err and out.splitlines()[1].split(",")[6] == "000"
    code, out, err = command(capfd, "rank", patients, "--sheet", "x", "-t", "y")
    assert code == 2 and err == "dubio: --sheet 'x', but a .csv file has no sheets: leave it out.\n"


def test_pairs_by_the_values_of_a_column(capfd, patients, tmp_path):
    words = ["--sep", "#", "--decimal", ",", "--id", "code", "--ignore", "y", "--keep", 1, "--json", "--pairs"]
    by_number, by_name = tmp_path / "numbers.csv", tmp_path / "names.csv"
    by_number.write_text("a,b,kind\n" + "".join(f"{i},{i + 1},cannot\n{i},{i + 2},must\n" for i in range(1, 51, 2)))
    by_name.write_text("".join(f"{i:03},{i + 1:03},cannot\n{i:03},{i + 2:03},must\n" for i in range(0, 50, 2)))
    code, named, err = command(capfd, "rank", patients, *words, by_name)
    assert code == 0, err
    words[words.index("--id")] = "--ignore"
    code, numbered, err = command(capfd, "rank", patients, *words, by_number)
    assert json.loads(named)["features"] == json.loads(numbered)["features"]
    notes = json.loads(numbered)["notes"]
    assert any("the first pair (1, 2) is line 2 of the file and line 3 of the file" in note for note in notes)
    assert not any("count rows" in note for note in json.loads(named)["notes"])
    code, _, err = command(capfd, "rank", patients, *words, by_name)  # names without --id: 000 is the number 0
    assert code == 2 and "pair 1 names row 0, but the table has rows 1 to" in err
    words[words.index("--ignore")] = "--id"
    for pair, message in (
        ("000,0001,must", "names '0001', which is not in column 'code': did you mean '001'?"),
        ("000,000,cannot", "says that row 000 differs from itself"),
    ):
        by_name.write_text(f"a,b,kind\n{pair}\n")
        code, _, err = command(capfd, "rank", patients, *words, by_name)
        assert code == 2 and message in err


def test_rows_of_pairs_must_have_one_name(capfd, tmp_path):
    (tmp_path / "t.csv").write_text("who,a\nx,1\nx,2\ny,3\n")
    (tmp_path / "p.csv").write_text("who,whom,kind\nx,y,must\n")
    code, _, err = command(capfd, "rank", tmp_path / "t.csv", "--id", "who", "--pairs", tmp_path / "p.csv")
    assert code == 2 and "more than one row has this value in column 'who'" in err
    code, _, err = command(capfd, "rank", tmp_path / "t.csv", "--pairs", tmp_path / "p.csv")
    assert code == 2 and "holds 'x', not a row number: give whole numbers from 1 on, or name the column" in err


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "xlsx", "parquet", "feather"])
def test_numbers_beside_text_with_decimal_commas_come_back(tmp_path, ending):
    cells = [5.6, "1,7 mg/l", 3, None, "<0,5 mg/l", 1204.75] * 5
    frame = pd.DataFrame(
        {"crp": pd.Series(cells, dtype=object), "point": pd.Series([2.5, "1.7 mg/l"] * 15, dtype=object)}
    )
    path = tmp_path / f"t.{ending}"
    path.write_bytes(frame_bytes(frame, str(path)))
    first, again = (read_any_table(one, was_missing=False) for one in (frame, read_file(str(path)).frame))
    assert first.matrix[:3, 0].tolist() == [5.6, 1.7, 3] and first.matrix[:2, 1].tolist() == [2.5, 1.7]
    np.testing.assert_array_equal(again.matrix, first.matrix)
