"""Workbooks as people have them, made here: titles, two rows of names, merged cells, formulas, and broken files."""

from __future__ import annotations

import datetime as dt
import struct
import time
import zipfile

import numpy as np
import pandas as pd
import pytest

from dubio.errors import InputError
from dubio.streams.text_files import HowToRead
from dubio_app.command.run import run
from dubio_app.files import frame_bytes, read_file, read_table

openpyxl = pytest.importorskip("openpyxl")
xlwt = pytest.importorskip("xlwt")


def book(path, rows, merges=(), change=None):
    """An .xlsx file with one sheet."""
    made = openpyxl.Workbook()
    sheet = made.active
    for row in rows:
        sheet.append(row)
    for cells in merges:
        sheet.merge_cells(cells)
    if change:
        change(sheet)
    made.save(path)
    return str(path)


BODY = [[i + 1, ["N", None, None][i % 3], 3.5 + i, 40 + i, ["well", "ill"][i % 2]] for i in range(6)]
HOSPITAL = [
    ["Klinikum Nord, Export"],
    [],
    ["Patient", None, "Labor", None, "Ende"],
    ["id", "ward", "crp", "alb", "outcome"],
    *BODY,
]
MERGED = ["A1:E1", "A3:B3", "C3:D3", "B5:B7", "B8:B10"]


def test_an_export_of_a_hospital(tmp_path):
    def hide(sheet):
        sheet.row_dimensions[7].hidden = True
        sheet.auto_filter.ref = "A4:E10"
        sheet["C6"] = "#DIV/0!"

    file = read_file(book(tmp_path / "t.xlsx", HOSPITAL, MERGED, hide))
    assert list(file.frame.columns) == ["id", "ward", "crp", "alb", "outcome"]
    assert file.frame["ward"].tolist() == ["N"] * 6 and np.isnan(file.frame["crp"][1])
    assert file.row_name(1) == "row 6 of sheet 'Sheet'"
    for said in (
        "'Klinikum Nord, Export'",
        "rows 3 and 4",
        "'ward' (4 cells)",
        "1 row of sheet 'Sheet' is hidden",
        "#DIV/0!",
    ):
        assert any(said in note for note in file.notes), said
    pd.testing.assert_frame_equal(read_table(str(tmp_path / "t.xlsx"), sheet="Sheet"), file.frame)
    scope: dict = {}
    exec(f"{file.imports}\ntable = {file.code}", scope)
    pd.testing.assert_frame_equal(scope["table"], file.frame)


def test_two_rows_of_names_are_joined_if_the_lower_one_is_not_unique(tmp_path):
    rows = [
        ["", "before", None, "after", None],
        ["id", "crp", "alb", "crp", "alb"],
        [1, 2.5, 3, 4, 5],
        [2, 3, 4.5, 5, 6],
    ]
    file = read_file(book(tmp_path / "t.xlsx", rows, ["B1:C1", "D1:E1"]))
    assert list(file.frame.columns) == ["id", "before crp", "before alb", "after crp", "after alb"]
    assert "their names were joined" in file.notes[0]


def test_a_column_name_that_spans_two_rows(tmp_path):
    rows = [["id", "labs", None], [None, "crp", "alb"], [1, 2.5, 3], [2, 3, 4.5]]
    file = read_file(book(tmp_path / "t.xlsx", rows, ["A1:A2", "B1:C1"]))
    assert list(file.frame.columns) == ["id", "crp", "alb"] and len(file.frame) == 2


@pytest.mark.parametrize(
    "rows",
    [
        [["name", "ward"], ["Ann", "north"], ["Bob", "south"]],
        [["a", "b", "c"], ["x", None, 1], ["y", "z", 2]],
        [["a"], [1], [2]],
        [["a", "b"], [None, "x"], [1, "y"]],
    ],
)
def test_a_plain_sheet_has_one_row_of_names(tmp_path, rows):
    file = read_file(book(tmp_path / "t.xlsx", rows))
    assert len(file.frame) == len(rows) - 1 and file.frame.columns[0] == rows[0][0] and not file.notes


def test_columns_without_names_are_not_guessed(tmp_path):
    with pytest.raises(InputError, match="has only 'a' in row 1 of sheet 'Sheet', where the names of 2 columns should"):
        read_file(book(tmp_path / "t.xlsx", [["a", None], ["x", 1], ["y", 2]]))


def test_the_row_of_names_can_be_given(tmp_path, capsys):
    path = book(tmp_path / "t.xlsx", HOSPITAL, MERGED)
    assert read_file(path, HowToRead(header_row=4)).frame["crp"].tolist() == [row[2] for row in BODY]
    with pytest.raises(InputError, match="has no cells in that row"):
        read_file(path, HowToRead(header_row=2))
    text = tmp_path / "t.csv"
    text.write_text("Klinikum Nord\n\nid;crp;y\n1;2,5;a\n2;3,5;b\n3;4,5;a\n4;x;b\n")
    file = read_file(str(text), HowToRead(header_row=3))
    assert list(file.frame.columns) == ["id", "crp", "y"] and file.row_name(0) == "line 4 of the file"
    assert run(["rank", str(text), "-t", "y", "--header-row", "3"]) == 2
    assert "first 'x' in line 7 of the file" in capsys.readouterr().err
    text.write_text("Klinikum;Nord\nid;crp;y\n1;2,5;a\n")
    with pytest.raises(InputError, match="--header-row"):
        read_file(str(text))


def test_formulas_without_a_value_are_refused_not_missing(tmp_path):
    path = book(tmp_path / "t.xlsx", [["a", "b"], [1, "=A2*2"], [2, "=A3*2"]])
    with pytest.raises(InputError, match="has 2 formulas without a stored value, first in cell B2 of sheet 'Sheet'"):
        read_file(path)


def test_a_cell_at_the_far_corner_takes_no_memory(tmp_path):
    def far(sheet):
        sheet["XFD1048576"] = 1

    path = book(tmp_path / "t.xlsx", [["a", "b"], [1, 2]], change=far)
    start = time.perf_counter()
    with pytest.raises(InputError, match="spread over 1048576 rows and 16384 columns"):
        read_file(path)
    assert time.perf_counter() - start < 1


def test_damaged_protected_and_foreign_files_are_named(tmp_path):
    good = (tmp_path / "good.xlsx", book(tmp_path / "good.xlsx", [["a", "b"], [1, 2], [3, 4]]))[0].read_bytes()
    rng = np.random.default_rng(0)
    path = tmp_path / "t.xlsx"
    for n in range(60):
        data = bytearray(good[: int(rng.integers(1, len(good)))] if n % 2 else good)
        for place in rng.integers(len(data), size=8):
            data[place] = int(rng.integers(256))
        path.write_bytes(bytes(data))
        try:
            read_file(str(path))
        except InputError as error:
            assert "t.xlsx" in str(error)
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + "EncryptedPackage".encode("utf-16-le"))
    with pytest.raises(InputError, match="is protected by a password"):
        read_file(str(path))
    path.write_text("<html><table></table></html>")
    with pytest.raises(InputError, match="is no workbook"):
        read_file(str(path))


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    path = tmp_path / "t.xlsx"
    book(path, [["a", "b"], [1, 2]])
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/large.bin", bytes(3 * 2**20))
    monkeypatch.setattr("dubio_app.files.workbook_scan._MOST_BYTES", 2**20)
    with pytest.raises(InputError, match="unpacks to"):
        read_file(str(path))


def test_values_of_all_types(tmp_path):
    day = dt.datetime(2024, 5, 6)
    path = book(tmp_path / "t.xlsx", [["d", "b", "n", "t", "m"], [day, True, 1, "007", 1], [None, False, 2, "x", "NA"]])
    frame = read_table(path)
    assert frame["d"].dtype.kind == "M" and frame["b"].dtype == bool and frame["n"].dtype == np.int64
    assert frame["t"].tolist() == ["007", "x"] and np.isnan(frame["m"][1])


def written_xls(path, rows):
    made = xlwt.Workbook()
    sheet = made.add_sheet("data")
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            if value is not None:
                sheet.write(i, j, value)
    made.save(str(path))


def written_ods(path, rows):
    """An .ods file with one sheet, and the empty rows that spreadsheet programs add below it."""
    cells = []
    for row in rows:
        cells.append("<table:table-row>")
        for value in row:
            if value is None:
                cells.append("<table:table-cell/>")
            elif isinstance(value, str):
                cells.append(
                    f'<table:table-cell office:value-type="string"><text:p>{value}</text:p></table:table-cell>'
                )
            else:
                number = f'<table:table-cell office:value-type="float" office:value="{value!r}">'
                cells.append(f"{number}<text:p>{value}</text:p></table:table-cell>")
        cells.append('<table:table-cell table:number-columns-repeated="16000"/></table:table-row>')
    cells.append('<table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row>')
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    text = f'<?xml version="1.0"?><office:document-content {spaces}><office:body><office:spreadsheet>'
    text += f'<table:table table:name="data">{"".join(cells)}</table:table>'
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", '<?xml version="1.0"?><manifest/>')
        archive.writestr("content.xml", f"{text}</office:spreadsheet></office:body></office:document-content>")


@pytest.mark.parametrize(("ending", "write"), [("xls", written_xls), ("ods", written_ods)])
def test_other_workbooks(tmp_path, ending, write):
    rows = [["id", "größe", "y"], *[[i, 1.5 + i, ["a", "b"][i % 2]] for i in range(5)], [5, None, "b"]]
    path = tmp_path / f"t.{ending}"
    write(path, rows)
    file = read_file(str(path))
    assert list(file.frame.columns) == rows[0] and file.frame["id"].tolist() == list(range(6))
    assert file.frame["größe"].tolist()[:5] == [1.5 + i for i in range(5)] and np.isnan(file.frame["größe"][5])
    with pytest.raises(InputError, match="is of a format that can only be read"):
        from dubio_app.files import frame_bytes

        frame_bytes(file.frame, str(path))


def test_damage_that_ends_its_reader_is_an_error(tmp_path, capsys):
    """The parts of this file follow each other in a circle, which fills all memory."""
    path = tmp_path / "t.xls"
    written_xls(path, [["x", "y"], *([float(i), "ab"[i % 2]] for i in range(30))])
    assert read_file(str(path)).frame.shape == (30, 2)
    content = bytearray(path.read_bytes())
    table = 512 * (1 + struct.unpack_from("<I", content, 76)[0])
    content[table : table + 512] = bytes(512)
    path.write_bytes(content)
    assert run(["look", str(path)]) == 2
    assert "t.xls' cannot be read as a workbook" in capsys.readouterr().err


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_damaged_files_of_columns_are_named(tmp_path, capsys, ending):
    path = tmp_path / f"t.{ending}"
    path.write_bytes(frame_bytes(pd.DataFrame({"x": np.arange(99.0), "y": list("abc") * 33}), str(path)))
    whole = path.read_bytes()
    for place in range(4, len(whole), len(whole) // 40):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        code, err = run(["look", str(path)]), capsys.readouterr().err
        assert code == 0 or (code == 2 and f"t.{ending}'" in err), err
