"""Columns of text as people write them: each is read as meant, or refused with all others in one list."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pandas as pd
import pytest

from dubio.errors import InputError, joined
from dubio.table.cells import read_texts
from dubio.table.read import column_readings, read_any_table
from dubio_app.command.run import run

N = 60


def read(cells, **more):
    """The values and the reading of one column."""
    table = read_any_table(pd.DataFrame({"x": cells}), was_missing=False, **more)
    return table.matrix[:, 0], table.read[0]


def refused(cells) -> str:
    with pytest.raises(InputError) as caught:
        read(cells)
    return str(caught.value)


def decimals(n=N):
    return np.random.default_rng(0).normal(50, 9, n).round(2)


def test_a_unit_in_some_cells_is_the_unit_of_all():
    values = decimals()
    cells = [f"{v} mg/l".replace(".", ",") if i % 3 == 0 else str(v).replace(".", ",") for i, v in enumerate(values)]
    found, reading = read(cells)
    np.testing.assert_array_equal(found, values)
    assert reading.unit == "mg/l" and "40 numbers without a unit were taken as 'mg/l'" in str(reading.notes[0])


def test_units_of_one_quantity_are_converted_to_the_most_frequent():
    values = decimals()
    found, reading = read([f"{v} g/l" if i % 4 else f"{v * 1000:.0f} mg/L" for i, v in enumerate(values)])
    np.testing.assert_allclose(found, values, rtol=1e-3)
    assert reading.unit == "g/l" and "'mg/L' was converted to 'g/l'" in str(reading.notes[0])


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([f"{v} {'mg' if i % 2 else 'U'}" for i, v in enumerate(decimals())], "different units"),
        ([["5", "6 mg", "7 g"][i % 3] for i in range(N)], "different units"),
        ([f"{1 + i % 12}/{1 + i % 11}/2024" for i in range(N)], "day and month cannot be told apart"),
        ([["31/1/2024", "1/31/2024", "2/3/2024"][i % 3] for i in range(N)], "day and month cannot be told apart"),
        ([f"{1 + i % 28}.3.24" for i in range(N)], "the century of dates"),
        ([f"{1 + i % 28}.3.2024" if i else "soon" for i in range(N)], "mixes dates with text in column"),
        ([str(v) if i else "4o" for i, v in enumerate(decimals())], "first '4o' in row 0"),
        ([str(v) if i % 2 else f"word {i}" for i, v in enumerate(decimals())], r"text (30 cells)"),
    ],
)
def test_what_cannot_be_read_is_refused(cells, said):
    assert said in refused(cells)


@pytest.mark.parametrize("mark", ["-", "--", "n.d.", "ND", "k. A.", "k.A.", "unbekannt", "inconnu", "#DIV/0!", "不明"])
def test_marks_among_numbers_are_missing_and_said(mark):
    values = decimals()
    found, reading = read([mark if i % 5 == 0 else str(v) for i, v in enumerate(values)])
    assert np.isnan(found[::5]).all() and reading.n_missing == 12
    np.testing.assert_array_equal(np.delete(found, np.s_[::5]), np.delete(values, np.s_[::5]))
    assert str(reading.notes[0]) == f"column 'x': 12 cells with {mark!r} were read as missing"


def test_a_mark_among_names_is_a_name():
    assert read(["red", "-", "blue"] * 20)[1].levels == ("-", "blue", "red")


def test_marks_among_dates_are_missing():
    found, reading = read(["-" if i == 3 else f"{1 + i % 28}.5.2024" for i in range(N)])
    assert reading.kind == "date" and np.isnan(found[3]) and reading.n_missing == 1


@pytest.mark.parametrize(
    "dates",
    [
        [f"{1 + i % 28}.3.2024" if i % 2 else f"2024-03-{1 + i % 28:02}" for i in range(N)],
        [f"{1 + i % 28}. März 2024" if i % 2 else f"{1 + i % 28} mars 2024" for i in range(N)],
        [f"2024年3月{1 + i % 28}日" for i in range(N)],
        [f"{1 + i % 28}. března 2024" for i in range(N)],
        [["13/3/2024", "3/14/2024", "5/5/2024"][i % 3] for i in range(N)],
    ],
)
def test_dates_in_several_forms_are_read_where_each_is_clear(dates):
    assert read(dates)[1].kind == "date"


def test_few_numbers_and_a_name_are_categories():
    _, reading = read(["4", "6", "8", "rotary"] * 15)
    assert reading.levels == ("4", "6", "8", "rotary") and "('rotary') were read as 4 categories" in str(
        reading.notes[0]
    )


@pytest.mark.parametrize(
    "levels",
    [
        ["<5", "5-10", ">10"],
        ["0", "1 - 10%", "11 - 20%"],
        ["18-30", "31-50", "50+"],
        ["low", "medium", "high"],
        ["keine", "leicht", "mittel", "schwer"],
        ["faible", "moyen", "élevé"],
        ["nízká", "střední", "vysoká"],
        ["軽度", "中等度", "重度"],
        ["I", "II", "IIIA", "IIIB", "IV"],
    ],
)
def test_scales_are_recognised(levels):
    found, reading = read([levels[(7 * i) % len(levels)] for i in range(N)])
    assert reading.kind == "ordered" and list(reading.levels) == levels
    assert found[:3].tolist() == [(7 * i) % len(levels) for i in range(3)]


@pytest.mark.parametrize(
    "levels", [["low", "red", "high"], ["5-10", "7-12", "3"], ["Low", "low", "high"], ["a", "b", "c"]]
)
def test_what_is_no_scale_is_not_taken_for_one(levels):
    assert read_texts(levels, np.full(len(levels), 20)).kind != "ordered"


def bad_table() -> pd.DataFrame:
    values = decimals()
    return pd.DataFrame(
        {
            "crp": [str(v) if i % 9 else "xx" for i, v in enumerate(values)],
            "seen": [f"{1 + i % 12}/{1 + i % 11}/2024" for i in range(N)],
            "dose": [f"{v} {'mg' if i % 2 else 'U'}" for i, v in enumerate(values)],
            "ok": values,
            "y": ["a", "b"] * (N // 2),
        }
    )


def test_one_error_names_all_columns():
    with pytest.raises(InputError) as caught:
        read_any_table(bad_table())
    problems = caught.value.problems
    assert [one.facts["column"] for one in problems] == ["crp", "seen", "dose"]
    assert problems[0].facts["row"] == 0 and problems[0].facts["example"] == "xx" and problems[0].facts["n"] == 7
    assert all(str(one) in str(caught.value) and one.remedy for one in problems)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and len(again.problems) == 3
    assert joined([problems[0]]) is problems[0] and problems[0].problems == (problems[0],)


def test_the_command_lists_all_problems_and_what_to_type(tmp_path, capsys):
    path = tmp_path / "t.csv"
    bad_table().to_csv(path, index=False)
    assert run(["rank", str(path), "-t", "y"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "dubio: 3 problems were found:" and len(lines) == 4
    assert "first 'xx' in line 2 of the file" in lines[1] and "add --na xx if they mean 'missing'" in lines[1]
    assert "--ignore seen" in lines[2] and "--ignore dose" in lines[3]
    assert run(["rank", str(path), "-t", "y", "--na", "xx", "--ignore", "seen,dose", "-m", "fisher"]) == 0


def test_the_target_is_in_the_same_list(tmp_path, capsys):
    path = tmp_path / "t.csv"
    bad_table().to_csv(path, index=False)
    assert run(["rank", str(path), "-t", "crp"]) == 2
    err = capsys.readouterr().err
    assert "3 problems were found" in err and "target 'crp' mixes numbers (53 cells) with text (7 cells)" in err


def test_look_shows_every_column_and_refuses_nothing(tmp_path, capsys):
    path = tmp_path / "t.csv"
    bad_table().assign(const=1, note=[f"seen {i}" for i in range(N)], nr=range(N)).to_csv(path, index=False)
    assert run(["look", str(path)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "3 columns cannot be used as they are:" in out and "only one value" in out and "only counts the rows" in out
    assert run(["look", str(path), "--json"]) == 0
    found = {row["column"]: row for row in json.loads(capsys.readouterr().out)["columns"]}
    assert list(found) == ["crp", "seen", "dose", "ok", "y", "const", "note", "nr"]
    assert found["ok"]["read_as"] == "number" and len(found["ok"]["examples"].split(", ")) == 3
    assert found["y"]["read_as"] == "2 categories" and found["note"]["left_out"] == "a different text in every row"
    assert "--na xx" in found["crp"]["problems"][0]
    assert run(["look", str(path), "--csv"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "column,read_as,meaning,unit,gaps,examples,problems,left_out"


def test_look_at_frames_without_examples_of_missing_cells():
    readings = column_readings(pd.DataFrame({"a": [np.nan, 1.5, 1.5], "b": ["x", None, "y"]}))
    assert [one.examples for one in readings] == [("1.5",), ("x", "y")]
    assert [one.n_missing for one in readings] == [1, 1] and readings[0].record()["kind"] == "number"


def test_an_order_can_be_named(tmp_path, capsys):
    path = tmp_path / "t.csv"
    cells = ["mild", "bad", "worst"] * 20
    pd.DataFrame({"grade": cells, "n": [3, 1, 2] * 20, "y": ["a", "b", "b"] * 20}).to_csv(path, index=False)
    words = ["rank", str(path), "-t", "y", "-m", "fisher", "--json"]
    assert run([*words, "--ordinal", "grade=mild,bad,worst", "--ordinal", "n=1,2,3"]) == 0
    assert "2 columns were read as ordered categories: 'grade', 'n'" in capsys.readouterr().out
    for wish, said in (
        ("grade=mild,bad", "has no place for 'worst' of column 'grade', first in line 4"),
        ("odd=1,2", "names no feature of the table"),
        ("grade=mild", "name at least two different values"),
    ):
        assert run([*words, "--ordinal", wish]) == 2
        assert said in capsys.readouterr().err


def test_tickets_are_names_and_measurements_with_remarks_are_not():
    rng = np.random.default_rng(0)
    tickets = [str(100_000 + 7 * i) if i % 3 else f"PC {17_000 + i}" for i in range(60)]
    assert (
        column_readings(pd.DataFrame({"ticket": tickets}))[0].left_out
        == "text with 60 different values, such as '100007'"
    )
    remarks = ["clotted", "see report", "lost", "tube broken", "not sent", "too old"]
    counts = [str(int(n)) for n in rng.integers(100, 900, 54)] + remarks
    assert (
        "mixes numbers (54 cells) with text (6 cells)"
        in column_readings(pd.DataFrame({"n": counts}))[0].problems[0].found
    )


def test_numbers_with_the_other_decimal_mark_are_never_called_missing(tmp_path, capsys):
    cells = [f"{value}" for value in decimals(40)] + ["1,7 mg/l", "<0,5 mg/l", "-"] * 5
    assert "mixes decimal points with decimal commas (10 cells)" in refused(cells)
    assert "mixes decimal commas with decimal points" in refused([one.translate({44: 46, 46: 44}) for one in cells])
    path = tmp_path / "t.csv"
    pd.DataFrame({"crp": cells, "y": ["a"] * 25 + ["b"] * 30}).to_csv(path, index=False)
    assert run(["rank", str(path), "-t", "y"]) == 2
    found = capsys.readouterr().err
    assert "first '1,7 mg/l' in line 42 of the file" in found and "--na" not in found
    assert "with the same decimal mark" in found
    days = [f"2024-03-{day:02d}" for day in range(1, 29)] + ["12,5"]
    assert "mixes dates with text" in refused(days)
