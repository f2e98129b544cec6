"""Spectra: JCAMP-DX in all its forms, and folders with a spectrum in each file."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dubio.errors import InputError
from dubio_app.command.run import run
from dubio_app.files import read_file

HEIGHTS = [1000.0, 1002, 1004, 1004, 1001, 1001, 1001, 998, -3, 25]
FORMS = {
    "plain": ["400 1000 1002 1004 1004 1001", "405 1001 1001 998 -3 25"],
    "packed": ["400+1000+1002+1004+1004+1001", "405+1001+1001+998-3+25"],
    "squeezed": ["400A000A002A004A004A001", "405A001A001I98cB5"],
    "differences": ["400A000KK%l", "404A001%%lj001K8"],
    "repeated": ["400A000KT%l", "404A001%Tlj001K8"],
}


def jcamp(lines, title="one", **facts):
    head = {"TITLE": title, "JCAMP-DX": "4.24", "XUNITS": "1/CM", "FIRSTX": 400, "LASTX": 409, "NPOINTS": 10, **facts}
    text = "".join(f"##{name}= {value}\n" for name, value in head.items())
    return text + "##XYDATA= (X++(Y..Y)) $$ heights\n" + "\n".join(lines) + "\n##END=\n"


@pytest.mark.parametrize("form", FORMS)
def test_the_forms_of_jcamp(tmp_path, form):
    (tmp_path / "s.jdx").write_text(jcamp(FORMS[form], YFACTOR=0.5))
    frame = read_file(str(tmp_path / "s.jdx")).frame
    assert frame.columns.tolist() == ["spectrum", *map(str, range(400, 410))]
    assert frame.iloc[0, 1:].tolist() == [0.5 * height for height in HEIGHTS]


def test_several_spectra_in_one_file_and_what_it_says_of_them(tmp_path):
    both = [jcamp(FORMS["plain"], title, **{"$CLASS": known}) for title, known in (("a", "oak"), ("b", "elm"))]
    pairs = jcamp([], "c").replace("##XYDATA= (X++(Y..Y)) $$ heights", "##XYPOINTS= (XY..XY)")
    pairs = pairs.replace(
        "##END", "409, 1; 408, 2\n407, 3; 406, 4; 405, 5; 404, 6; 403, 7; 402, 8; 401, 9; 400, 10\n##END"
    )
    (tmp_path / "s.dx").write_text("".join([*both, pairs]))
    frame = read_file(str(tmp_path / "s.dx")).frame
    assert frame["spectrum"].tolist() == ["a", "b", "c"] and frame["$class"].tolist()[:2] == ["oak", "elm"]
    assert frame[["400", "409"]].iloc[2].tolist() == [10.0, 1.0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (jcamp(FORMS["plain"], NPOINTS=12), "has 10 points of spectrum 'one', and 12 are announced"),
        (jcamp(["400 1000 x7"]), "has '400 1000 x7' in spectrum 'one'"),
        ("##TITLE= a\n##PEAKTABLE= (XY..XY)\n1,2\n##END=\n", "holds peaks"),
        ("nothing of the kind", "holds no spectrum"),
        (jcamp(FORMS["plain"], FIRSTX="four"), "has 'four' in ##FIRSTX"),
    ],
)
def test_damaged_files_are_named(tmp_path, capsys, text, said):
    (tmp_path / "s.jdx").write_text(text)
    assert run(["look", str(tmp_path / "s.jdx")]) == 2
    assert said in capsys.readouterr().err


def folder(tmp_path, separator="\t"):
    """Thirty spectra in two folders; a band at 520 is higher in one of them."""
    rng = np.random.default_rng(0)
    x = np.linspace(500.0, 540.0, 21)
    for i in range(30):
        place = tmp_path / "spectra" / ("ill", "well")[i % 2]
        place.mkdir(parents=True, exist_ok=True)
        y = rng.normal(size=21) + 4 * (i % 2) * np.exp(-(((x - 520) / 3) ** 2))
        lines = [f"{a}{separator}{b:.4f}" for a, b in zip(x, y, strict=True)]
        (place / f"s{i:02d}.txt").write_text("made by a spectrometer\nnm a.u.\n" + "\n".join(lines))
    return tmp_path / "spectra"


@pytest.mark.parametrize("separator", ["\t", ";", " ", ","])
def test_a_folder_of_spectra(tmp_path, capsys, separator):
    place = folder(tmp_path, separator)
    assert run(["rank", str(place), "-t", "folder", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    best = [one["feature"] for one in said["features"] if one["kept"]]
    assert "520" in best and best[0] in ("518", "520", "522")
    assert len(said["features"]) == 21 and "30 spectra with 21 places from 500 to 540" in " ".join(said["notes"])


def test_labels_of_spectra_in_a_table_beside_them(tmp_path):
    place = folder(tmp_path)
    names = [f"s{i:02d}.txt" for i in range(30)]
    (place / "labels.csv").write_text("file,dose\n" + "".join(f"{name},{i}\n" for i, name in enumerate(names)))
    frame = read_file(str(place)).frame.set_index("file")
    assert frame.loc["s07.txt", "dose"] == 7 and frame.loc["s07.txt", "folder"] == "well"
    (place / "labels.csv").write_text("file,dose\ns00.txt,3\n")
    with pytest.raises(InputError, match=r"does not name every spectrum once, such as 's02\.txt'"):
        read_file(str(place))


def test_other_axes_are_brought_onto_the_first_or_refused(tmp_path):
    place = folder(tmp_path)
    x = np.linspace(500.0, 540.0, 41)
    (place / "ill" / "s00.txt").write_text("\n".join(f"{a} {a}" for a in x))
    (place / "ill" / "s02.txt").write_text("\n".join(f"{a} {2 * a}" for a in x[::-1] + 0.2))
    file = read_file(str(place))
    assert "were interpolated onto those of the first" in " ".join(file.notes)
    assert file.frame["520"].iloc[0] == 520 and file.frame["520"].iloc[1] == pytest.approx(1040)
    (place / "ill" / "s04.txt").write_text("\n".join(f"{a} 1" for a in x - 20))
    with pytest.raises(InputError, match="has spectrum 's04' from 480 to 520, and 's00' from 500 to 540"):
        read_file(str(place))


def test_parts_of_a_table_are_no_spectra(tmp_path, capsys):
    for part in range(2):
        rows = "".join(f"{100 * part + i},{i % 7}\n" for i in range(50))
        (tmp_path / f"part{part}.csv").write_text(f"id,value\n{rows}")
    assert run(["look", str(tmp_path)]) == 2
    assert "is a folder" in capsys.readouterr().err
