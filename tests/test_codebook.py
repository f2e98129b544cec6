"""What columns mean: codebooks, and exports of REDCap."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from dubio.errors import InputError
from dubio_app.command.run import run
from dubio_app.files import read_file, read_with_codebook

BOOK = """column;label;type;unit;levels;order;missing
nr;Number;id;;;;
sx;Sex;category;;1=male, 2=female;;9
stg;Stage;ordered;;1=I,2=II,3=III,4=IV;I,II,III,IV;
crp;C-reactive protein;number;mg/l;;;-9
dx;Diagnosis;;;1=healthy,2=ill;;
gone;Not there;;;;;
"""
N = 80


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(3)
    ill = np.arange(N) % 2
    frame = pd.DataFrame({"nr": range(500, 500 + N), "sx": rng.integers(1, 3, N), "stg": np.arange(N) % 4 + 1})
    frame["crp"], frame["dx"] = (rng.gamma(2, 4, N) + 9 * ill).round(1), ill + 1
    frame.loc[:2, "crp"], frame.loc[5, "sx"] = -9, 9
    frame.to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "book.csv").write_text(BOOK)
    return tmp_path / "t.csv"


def test_values_orders_and_missing_codes(table):
    frame = read_with_codebook(str(table), str(table.with_name("book.csv")))
    assert frame["crp"].isna().sum() == 3 and frame["sx"].isna().sum() == 1
    assert set(frame["sx"].dropna()) == {"male", "female"} and set(frame["dx"]) == {"healthy", "ill"}
    assert frame["stg"].cat.ordered and frame["stg"].cat.categories.tolist() == ["I", "II", "III", "IV"]


def test_every_output_says_what_a_column_means(table, capsys):
    book = ["--codebook", str(table.with_name("book.csv"))]
    words = [str(table), "-t", "dx", *book, "-m", "linear_r2"]
    report = table.with_suffix(".html")
    assert run(["rank", *words, "--report", str(report), "--stability", "0"]) == 0
    said = capsys.readouterr()
    assert "C-reactive protein (mg/l)" in said.out and "does not have: 'gone'" in said.err
    assert "C-reactive protein (mg/l)" in report.read_text(encoding="utf-8")
    assert run(["rank", *words, "--json"]) == 0
    best = json.loads(capsys.readouterr().out)["features"][0]
    assert (best["feature"], best["label"], best["effect_of"]) == ("crp", "C-reactive protein (mg/l)", "ill")
    assert run(["look", str(table), *book, "--csv"]) == 0
    lines = {line.split(",")[0]: line for line in capsys.readouterr().out.splitlines()}
    assert "mg/l" in lines["crp"] and "Stage" in lines["stg"] and "no feature" in lines["nr"]


def test_all_problems_of_a_codebook_at_once(table):
    book = table.with_name("bad.csv")
    book.write_text("column,type,levels,order\nsx,banana,,\nstg,ordered,,\n")
    with pytest.raises(InputError) as caught:
        read_with_codebook(str(table), str(book))
    assert [one.facts["column"] for one in caught.value.problems] == ["sx", "stg"]
    book.write_text('column,type,levels,order\nsx,category,1=male,\nstg,ordered,,"1,2,3"\n')
    with pytest.raises(InputError) as caught:
        read_with_codebook(str(table), str(book))
    said = str(caught.value)
    assert "'2', '9' of column 'sx'" in said and "'4' of column 'stg', first in line 5 of the file" in said
    book.write_text("column,label\nage,Age\n")
    with pytest.raises(InputError, match="names no column of the table"):
        read_with_codebook(str(table), str(book))
    book.write_text("what,label\nage,Age\n")
    with pytest.raises(InputError, match="has no column 'column'"):
        read_with_codebook(str(table), str(book))


def test_a_data_dictionary_of_redcap_is_a_codebook(table):
    book = table.with_name("dictionary.csv")
    book.write_text(
        'Variable / Field Name,Field Type,Field Label,"Choices, Calculations, OR Slider Labels"\n'
        'sx,radio,Sex,"1, Male | 2, Female | 9, Unknown"\n'
    )
    assert set(read_with_codebook(str(table), str(book))["sx"]) == {"Male", "Female", "Unknown"}


def redcap(instruments=("visit",)):
    rng = np.random.default_rng(1)
    rows = []
    for subject in range(30):
        age, ill = int(rng.integers(30, 80)), subject % 2
        boxes = {f"drug___{code}": int(rng.random() < 0.4) for code in (1, 2, 3)}
        rows.append({"record_id": subject, "age": age, **boxes, "dx": ("healthy", "ill")[ill]})
        for visit in range(subject % 3):
            named = {
                "redcap_repeat_instrument": instruments[visit % len(instruments)],
                "redcap_repeat_instance": visit + 1,
            }
            rows.append({"record_id": subject, **named, "crp": round(rng.gamma(2, 4) + 9 * ill, 1)})
    return pd.DataFrame(rows)


def test_an_export_of_redcap(tmp_path, capsys):
    redcap().to_csv(tmp_path / "r.csv", index=False)
    file = read_file(str(tmp_path / "r.csv"))
    assert file.together == {"drug": ("drug___1", "drug___2", "drug___3")} and file.subject == "record_id"
    assert len(file.frame) == 10 + 10 + 20  # visits, and subjects without one
    assert file.frame["age"].notna().all() and file.frame["dx"].notna().all()
    assert file.row_name(1) == "line 4 of the file"  # the first one of the second subject
    assert run(["rank", str(tmp_path / "r.csv"), "-t", "dx", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert {one["feature"] for one in said["features"]} == {"age", "crp", "drug"}
    assert "30 groups" in said["explanation"]


def test_several_repeated_instruments_are_refused(tmp_path):
    redcap(("visit", "surgery")).to_csv(tmp_path / "r.csv", index=False)
    with pytest.raises(InputError, match=r"has 2 repeated instruments \('surgery', 'visit'\)"):
        read_file(str(tmp_path / "r.csv"))
