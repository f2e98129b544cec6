"""Forty files as people have them, each with the truth beside it: read as meant, or refused with a remedy."""

from __future__ import annotations

import datetime
import decimal
import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

from dubio.errors import InputError, rows_named
from dubio.table.read import column_readings, read_any_table
from dubio_app.command.run import run
from dubio_app.files import read_file

#: Numbers of a column, enough of them for categories to be recognised.
NUMBERS = [1.5, 2.25, 3.0, 4.75, 0.5, 6.0, 7.5, 8.25, 9.0, 10.5]


class Messy(NamedTuple):
    """A file, and what it holds: the kind of its first column and its numbers, or what is said if it is refused."""

    ending: str
    write: Callable[[Path], Any]
    kind: str = "number"
    values: list[float] | None = None
    #: Levels of a category or a scale, the unit, and something that is said about the column or the file.
    levels: tuple[str, ...] = ()
    unit: str = ""
    said: str = ""
    refused: str = ""
    remedy: str = ""


def text(cells, encoding="utf-8", sep=",", name="x", before="", end="\n"):
    """A text file with these cells in its first column, and a second one with numbers."""
    quote = [f'"{cell}"' if sep in str(cell) else str(cell) for cell in cells]
    lines = [f"{name}{sep}other", *(f"{cell}{sep}{number % 7}" for number, cell in enumerate(quote))]
    return lambda path: path.write_bytes((before + end.join(lines) + end).encode(encoding))


def commas(numbers=NUMBERS, unit=""):
    return [f"{number:g}".replace(".", ",") + unit for number in numbers]


def points(numbers=NUMBERS, unit=""):
    return [f"{number:g}{unit}" for number in numbers]


def book(*rows, merges=(), hidden=(), formula=""):
    def write(path):
        from openpyxl import Workbook

        workbook = Workbook()
        sheet = workbook.active
        for row in rows:
            sheet.append(list(row))
        for cells in merges:
            sheet.merge_cells(cells)
        for row in hidden:
            sheet.row_dimensions[row].hidden = True
        if formula:
            sheet[formula] = "=1+1"
        workbook.save(path)

    return write


def rows_of(cells, name="x"):
    return [(name, "other"), *((cell, number % 7) for number, cell in enumerate(cells))]


def parquet(cells, kind=None):
    def write(path):
        import pyarrow as pa
        from pyarrow import parquet

        parquet.write_table(pa.table({"x": pa.array(cells, kind), "other": np.arange(len(cells)) % 7}), path)

    return write


def sav(path):
    import pyreadstat

    frame = pd.DataFrame({"x": [1.0, 2, 2, 1, 9, 2, 1, 1, 2, 1], "other": np.arange(10) % 7})
    labels = {"x": {1.0: "male", 2.0: "female", 9.0: "refused"}}
    pyreadstat.write_sav(frame, str(path), variable_value_labels=labels, missing_ranges={"x": [9]})


def stata(path):
    pd.DataFrame({"x": pd.Categorical(["ja", "nein"] * 5), "other": np.arange(10.0)}).to_stata(path, write_index=False)


def zipped(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook")


GAP = float("nan")
three = [(number, place, "eve") for place, number in enumerate(NUMBERS)]
MESSY = {
    # numbers
    "missing marks": Messy(
        ".csv", text([*points(), "-", "n/a", "ND"]), values=[*NUMBERS, *[GAP] * 3], said="read as missing"
    ),
    "keine Angabe": Messy(
        ".csv", text([*commas(), "k.A.", "k. A."], "cp1252", ";", "Größe"), values=[*NUMBERS, GAP, GAP]
    ),
    "manquant": Messy(".csv", text([*commas(), "manquant"], "cp1252", ";", "débit"), values=[*NUMBERS, GAP]),
    "neuvedeno": Messy(".csv", text([*commas(), "neuvedeno"], "cp1250", ";", "věk šťastný"), values=[*NUMBERS, GAP]),
    "不明": Messy(
        ".csv", text([*points(), "不明", "未測定"], "cp932", name="体重の測定値"), values=[*NUMBERS, GAP, GAP]
    ),
    "blanks in thousands": Messy(
        ".csv", text(["1 234,5", "2 000,0", "12 345,25"] * 3, sep=";"), values=[1234.5, 2000, 12345.25] * 3
    ),
    "points in thousands": Messy(
        ".csv", text(["1.234,5", "2.000,5", "12.345,25"] * 3, sep=";"), values=[1234.5, 2000.5, 12345.25] * 3
    ),
    "apostrophes in thousands": Messy(".csv", text(["1'234.5", "2'000.5"] * 4), values=[1234.5, 2000.5] * 4),
    "limits": Messy(
        ".csv", text(["<0,5", *commas(NUMBERS[:6]), ">9"], sep=";"), values=[0.5, *NUMBERS[:6], 9], said="limit"
    ),
    "one unit": Messy(".csv", text(commas(unit=" mg/l"), sep=";"), values=NUMBERS, unit="mg/l"),
    "units in some cells": Messy(
        ".csv", text([*points(NUMBERS[:7]), "8 mg/l", "9 mg/l"]), values=[*NUMBERS[:7], 8, 9], unit="mg/l"
    ),
    "two units of one quantity": Messy(
        ".csv", text([*points(NUMBERS[:8], " mg/l"), "0.5 g/l"]), values=[*NUMBERS[:8], 500], unit="mg/l"
    ),
    "two quantities": Messy(
        ".csv", text([*points(NUMBERS[:5], " mg/l"), "3 mmol/l"]), refused="different units", remedy="--ignore"
    ),
    "remarks among numbers": Messy(
        ".csv",
        text([*points(), "clotted", "see file"]),
        refused="mixes numbers (10 cells) with text (2 cells)",
        remedy="--na clotted",
    ),
    "unclear commas": Messy(
        ".csv", text(["1,234", "2,345", "3", "4"] * 3, sep=";"), refused="comma may mark", remedy="--decimal"
    ),
    "percent": Messy(".csv", text(points(unit=" %")), values=NUMBERS, unit="%"),
    "minus signs": Messy(".csv", text(["−1.5", "−2", "3"] * 3), values=[-1.5, -2, 3] * 3),
    # dates and times
    "dates in three forms": Messy(
        ".csv", text(["2024-01-31", "1.2.2024", "3 Feb 2024", "4.2.2024"]), "date", values=[0.0, 1, 3, 4]
    ),
    "unclear dates": Messy(
        ".csv",
        text(["1/2/2024", "3/4/2024", "5/6/2024", "7/8/2024"]),
        refused="cannot be told apart",
        remedy="same way",
    ),
    "dates without a century": Messy(".csv", text(["1.2.24", "3.4.24"] * 4), refused="century", remedy="same way"),
    "German months": Messy(".csv", text(["1. März 2024", "2. März 2024"] * 3), "date", values=[0.0, 1] * 3),
    "Japanese dates": Messy(".csv", text(["2024年3月1日", "2024年3月2日"] * 3), "date", values=[0.0, 1] * 3),
    "times of half days": Messy(
        ".csv", text(["6:30 AM", "6:45 p.m.", "12:00 am"] * 3), "time", values=[6.5, 18.75, 0.0] * 3
    ),
    "times and words": Messy(
        ".csv",
        text([f"{hour}:30" for hour in range(9)] + ["soon"]),
        refused="mixes times with text",
        remedy="--na soon",
    ),
    "dates of half days": Messy(
        ".csv", text(["1/31/2024 2:00 PM", "2/1/2024 2:00 AM"] * 3), "date", values=[0.0, 0.5] * 3
    ),
    "全角": Messy(".csv", text(["１．５　ｍｇ", "＜２", "３"] * 3, "cp932"), values=[1.5, 2, 3] * 3, unit="mg"),
    "infinity": Messy(".csv", text([*points(), "inf"]), refused="contains infinity", remedy="empty"),
    "times": Messy(".csv", text(["6:30", "18:45", "0:00"]), "time", values=[6.5, 18.75, 0.0]),
    # categories and scales
    "one odd word": Messy(
        ".csv", text(["4", "6", "8", "rotary"] * 6), "category", levels=("4", "6", "8", "rotary"), said="categories"
    ),
    "ranges": Messy(".csv", text(["0", "1 - 10%", "11 - 20%"] * 5), "ordered", levels=("0", "1 - 10%", "11 - 20%")),
    "stages": Messy(".csv", text(["IV", "I", "III", "II"] * 3), "ordered", levels=("I", "II", "III", "IV")),
    "niedrig": Messy(".csv", text(["hoch", "niedrig", "mittel"] * 4), "ordered", levels=("niedrig", "mittel", "hoch")),
    "léger": Messy(
        ".csv", text(["sévère", "léger", "modéré"] * 4, "cp1252"), "ordered", levels=("léger", "modéré", "sévère")
    ),
    "žádný": Messy(
        ".csv",
        text(["těžký", "mírný", "střední", "žádný"] * 4, "cp1250"),
        "ordered",
        levels=("žádný", "mírný", "střední", "těžký"),
    ),
    "重症": Messy(
        ".csv",
        text(["重症", "軽症", "中等症"] * 9, "cp932", name="重症度の分類"),
        "ordered",
        levels=("軽症", "中等症", "重症"),
    ),
    "spelling": Messy(".csv", text(["F", "f", "m", "F"] * 9), "category", levels=("F", "f", "m")),
    # encodings
    "Greek": Messy(
        ".csv",
        text(["άνδρας", "γυναίκα"] * 12, "cp1253", ";", "φύλο"),
        "category",
        levels=("άνδρας", "γυναίκα"),
        said="Windows-1253",
    ),
    "Cyrillic": Messy(
        ".csv",
        text(["мужчина", "женщина"] * 12, "cp1251", ";", "пол"),
        "category",
        levels=("женщина", "мужчина"),
        said="Windows-1251",
    ),
    "Cyrillic of Unix": Messy(
        ".csv",
        text(["мужчина", "женщина"] * 12, "koi8_r", ";", "пол"),
        "category",
        levels=("женщина", "мужчина"),
        said="read as KOI8",
    ),
    "UTF-16": Messy(".csv", text(commas(), "utf-16", "\t", "taille"), values=NUMBERS, said="UTF-16"),
    # files of text
    "a first line with the separator": Messy(".csv", text(commas(), sep=";", before="sep=;\n"), values=NUMBERS),
    "a title": Messy(".csv", text(points(), before="Export of ward 3\n"), refused="line 2", remedy="--header-row"),
    "a title beside empty cells": Messy(
        ".csv",
        lambda path: path.write_text(
            "Export of ward 3;;\nx;other;third\n" + "".join(f"{n:g};{i % 7};{i % 3}\n" for i, n in enumerate(NUMBERS))
        ),
        values=NUMBERS,
        said="skipped: 'Export of ward 3'",
    ),
    "names of which most are blank": Messy(
        ".csv", lambda path: path.write_text("x,,\n" + "".join(f"{n:g},red,big\n" for n in NUMBERS)), values=NUMBERS
    ),
    "twins": Messy(".csv", text(points(), name="other"), refused="more than one column named 'other'", remedy="rename"),
    "a zero byte": Messy(".csv", text([*points(), "1\0"]), refused="zero bytes", remedy="another kind"),
    "nothing": Messy(".csv", lambda path: path.write_bytes(b""), refused="is empty"),
    "only names": Messy(".csv", lambda path: path.write_text("x,other\n"), refused="no rows"),
    "lists in JSON": Messy(
        ".jsonl",
        lambda path: path.write_text('{"x": [1]}\n{"x": [2]}\n'),
        refused="holds lists",
        remedy="column of its own",
    ),
    # workbooks
    "a sheet with titles": Messy(
        ".xlsx", book(["Ward 3"], [], *rows_of(NUMBERS)), values=NUMBERS, said="skipped above"
    ),
    "two rows of names": Messy(
        ".xlsx",
        book(["Lab", None, "Who"], ["x", "other", "by"], *three, merges=["A1:B1"]),
        values=NUMBERS,
        said="name the columns",
    ),
    "merged cells": Messy(
        ".xlsx",
        book(*rows_of(["a", None, "b", None] * 5), merges=["A2:A3", "A4:A5"]),
        "category",
        levels=("a", "b"),
        said="merged",
    ),
    "text in a sheet": Messy(
        ".xlsx", book(*rows_of([*commas(unit=" mg/l"), "-"])), values=[*NUMBERS, GAP], unit="mg/l", said="missing"
    ),
    "commas and units beside numbers": Messy(
        ".xlsx",
        book(*rows_of([*NUMBERS[:6], *commas(NUMBERS[6:], " mg/l"), "-", "k.A."])),
        values=[*NUMBERS, GAP, GAP],
        unit="mg/l",
        said="missing",
    ),
    "hidden rows": Messy(
        ".xlsx", book(*rows_of(NUMBERS), hidden=[3, 4]), values=NUMBERS, said="2 rows of sheet 'Sheet' are hidden"
    ),
    "a formula": Messy(
        ".xlsx",
        book(*rows_of(NUMBERS), formula="A4"),
        refused="1 formula without a stored value",
        remedy="save it again",
    ),
    "half a workbook": Messy(".xlsx", zipped, refused="cannot be read as a workbook", remedy="damaged"),
    "no workbook": Messy(".xls", lambda path: path.write_text("a;b\n1;2\n"), refused="no workbook", remedy=".csv"),
    # other formats
    "decimals": Messy(
        ".parquet", parquet([decimal.Decimal("1.25"), None, decimal.Decimal("3.50")] * 3), values=[1.25, GAP, 3.5] * 3
    ),
    "nested": Messy(".parquet", parquet([{"u": 1}, {"u": 2}] * 4), refused="a dict", remedy="--ignore"),
    "zones": Messy(
        ".parquet",
        parquet([datetime.datetime(2024, 1, day, tzinfo=datetime.UTC) for day in (1, 2, 5)]),
        "date",
        values=[0.0, 1, 4],
    ),
    "codes of SPSS": Messy(".sav", sav, "category", levels=("female", "male")),
    "categories of Stata": Messy(".dta", stata, "category", levels=("ja", "nein")),
    "sparse rows of Weka": Messy(
        ".arff",
        lambda path: path.write_text("@relation r\n@attribute x numeric\n@data\n{0 1}\n"),
        refused="ARFF",
        remedy=".csv",
    ),
}


@pytest.mark.parametrize("name", MESSY)
def test_a_messy_file(tmp_path, capsys, name):
    """Never a silent loss, never an internal error: also the command says the same."""
    messy = MESSY[name]
    path = tmp_path / f"table{messy.ending}"
    messy.write(path)
    code = run(["look", str(path)])
    said = capsys.readouterr()
    everything = " ".join((said.out + said.err).split())
    assert code in (0, 2) and "internal error" not in everything
    if messy.refused:
        assert messy.refused in everything and messy.remedy in everything
        if code == 0:  # `look` shows the column; ranking refuses the table
            assert run(["rank", str(path), "-t", "other", "--classes"]) == 2
            assert messy.remedy in " ".join(capsys.readouterr().err.split())
        return
    file = read_file(str(path))
    with rows_named(file.row_name):
        table = read_any_table(file.frame, was_missing=False)
        reading = column_readings(file.frame)[0]
    assert (reading.kind, reading.unit) == (messy.kind, messy.unit or {"time": "hours"}.get(messy.kind, ""))
    assert set(reading.levels) == set(messy.levels) and (messy.kind != "ordered" or reading.levels == messy.levels)
    if messy.values is not None:
        matrix = np.asarray(table.matrix)
        np.testing.assert_allclose(matrix[:, 0], messy.values, rtol=1e-12)
    assert messy.said in everything


def test_there_are_forty():
    assert len(MESSY) >= 40 and len({messy.ending for messy in MESSY.values()}) >= 8


def test_the_first_column_of_a_stream_of_bytes(monkeypatch, capsys):
    """Standard input is read like a file."""
    content = "x;other\n" + "".join(f"{cell};{i % 2}\n" for i, cell in enumerate(commas() * 4))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
    assert run(["look", "-"]) == 0
    assert "decimal commas" in capsys.readouterr().err


def test_every_refusal_is_an_input_error(tmp_path):
    for name, messy in MESSY.items():
        if messy.refused:
            path = tmp_path / f"{len(name)}{messy.ending}"
            messy.write(path)
            with pytest.raises(InputError) as caught:
                read_any_table(read_file(str(path)).frame)
            assert caught.value.problems and all(problem.found for problem in caught.value.problems)
