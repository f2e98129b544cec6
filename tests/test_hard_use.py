"""Hard use of files, terminals and surroundings: each test is a fault that was once found."""

from __future__ import annotations

import io
import json
import os
import re
import stat
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest

from dubio import (
    FeatureSelector,
    InputError,
    SemiSupervisedLaplacianScore,
    apply_corrections,
    audit_labels,
    ordered_classes,
    stability,
)
from dubio.streams.text_files import HowToRead
from dubio.trust.forecast import forecast_of
from dubio_app.command.run import run
from dubio_app.files import read_file
from dubio_app.whole_files import as_private_as, write_whole

N = 60
RNG = np.random.default_rng(0)
CLASSES = np.arange(N) % 2


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(N) + 40 * CLASSES, unit="D")
    frame = pd.DataFrame({"a": RNG.normal(size=N) + 2 * CLASSES, "b": RNG.normal(size=N), "seen": days})
    frame.assign(y=np.where(CLASSES, "ill", "well")).to_csv(path, index=False)
    return path


def test_an_audit_writes_dates_as_json(table, capsys):
    assert run(["audit", str(table), "-t", "y", "--all", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert any(str(row.get("seen", "")).startswith("2024-") for row in rows)


def test_long_names_of_classes_are_refused():
    y = np.where(CLASSES, "a", "b").astype(object)
    y[3] = "x" * 200_000
    with pytest.raises(InputError, match="holds a text of 200000 letters"):
        FeatureSelector("fisher").fit(RNG.normal(size=(N, 2)), y)


def test_a_formula_that_the_page_made_inert_is_the_class_again(tmp_path):
    path = tmp_path / "corrections.csv"
    path.write_text("row,id,given,decision,label\n2,,'=1+1,change,a\n")
    assert apply_corrections(["a", "=1+1", "a", "b"], path).labels.tolist() == ["a", "a", "a", "b"]


def test_corrections_of_infinity_are_refused_or_kept_as_text():
    entries = [{"row": 1, "given": "inf", "decision": "unsure", "label": ""}]
    assert apply_corrections([np.inf, 1.0, 2.0], entries).labels[0] is None


def test_a_blank_name_beside_the_name_that_it_would_get(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("unnamed_1,,unnamed_2\n1,2,3\n4,5,6\n")
    assert list(read_file(str(path)).frame.columns) == ["unnamed_1", "unnamed_3", "unnamed_2"]


def test_a_decimal_comma_that_no_number_has_is_refused(tmp_path, capsys):
    path = tmp_path / "t.csv"
    pd.DataFrame({"a": RNG.normal(size=N), "b": RNG.normal(size=N), "y": CLASSES}).to_csv(path, index=False)
    assert run(["rank", str(path), "-t", "y", "--decimal", ","]) == 2
    err = capsys.readouterr().err
    assert "2 problems" in err and "no numbers with the decimal mark ','" in err


@pytest.mark.parametrize("encoding", ["rot13", "hex", "zlib", "base64"])
def test_encodings_of_bytes_are_not_encodings_of_text(encoding):
    with pytest.raises(InputError, match="is not known"):
        HowToRead(encoding=encoding)


def test_a_late_zero_byte_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + b"x,1\n" * 100_000 + b"x\0y,2\n")
    with pytest.raises(InputError, match="zero bytes in column 'a'"):
        read_file(str(path))


@pytest.mark.parametrize("neighbors", ["exact", "anchors"])
@pytest.mark.filterwarnings("error")
def test_large_weights_times_large_values(neighbors):
    X = RNG.normal(size=(N, 3))
    X[:, 0] *= 1e149
    y = np.where(np.arange(N) < 10, CLASSES, -1)
    scores = SemiSupervisedLaplacianScore(neighbors=neighbors, C=1e9, standardize=False).fit(X, y).scores_
    assert np.isfinite(scores).all()


def test_ordered_classes_keep_their_order_when_they_are_corrected(tmp_path, capsys):
    x = RNG.normal(size=90)
    y = np.array(["mild", "bad", "worst"])[np.digitize(x, [-0.5, 0.5])]
    order = ["mild", "bad", "worst"]
    row = int(np.flatnonzero(y == "bad")[0])
    entries = [{"row": row + 1, "given": "bad", "decision": "change", "label": "worst"}]
    corrected = apply_corrections(ordered_classes(y, order), entries)
    assert corrected.order == tuple(order)
    X = np.column_stack([x, RNG.normal(size=90)])
    told = FeatureSelector("linear_r2").fit(X, corrected).supervision_.describe()
    assert "ordered classes (mild < bad < worst)" in told
    assert audit_labels(X, corrected).classes.tolist() == order
    path, decisions = tmp_path / "t.csv", tmp_path / "c.csv"
    pd.DataFrame({"x": x, "noise": X[:, 1], "y": y}).to_csv(path, index=False)
    pd.DataFrame([{**entries[0], "id": ""}]).to_csv(decisions, index=False)
    for command, more in (("rank", ["-m", "linear_r2"]), ("audit", [])):
        words = [command, str(path), "-t", "y", "--order", ",".join(order), "--corrections", str(decisions), *more]
        assert run([*words, "--json"]) == 0, capsys.readouterr().err
        assert json.loads(capsys.readouterr().out)["corrections"]["changed"] == 1


def test_choices_of_nothing_are_not_called_stable():
    found = stability(
        FeatureSelector("fisher", n_features_to_select="auto"), RNG.normal(size=(40, 3)), CLASSES[:40], n_draws=4
    )
    found = type(found)(**{**vars(found), "selected": np.zeros_like(found.selected)})
    assert "nothing was kept" in str(found) and "1.00" not in repr(found)


def test_a_missing_package_is_no_fault_of_the_command(table, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    path = table.with_suffix(".xlsx")
    path.write_bytes(b"PK")
    assert run(["rank", str(path), "-t", "y"]) == 2
    assert "pip install 'dubio[cli]'" in capsys.readouterr().err


def test_a_report_is_a_web_page(table, capsys):
    assert run(["audit", str(table), "-t", "y", "--report", str(table.with_suffix(".docx"))]) == 2
    assert "a web page or a PDF" in capsys.readouterr().err and not table.with_suffix(".docx").exists()


@pytest.mark.parametrize(("flag", "others"), [("--time", "dubio rank"), ("--rows", "dubio check")])
def test_an_option_of_another_command_is_named_as_such(table, capsys, flag, others):
    assert run(["audit", str(table), "-t", "y", flag, "a"]) == 2
    assert f"{flag} is an option of {others}, not of dubio audit" in capsys.readouterr().err


def test_a_terminal_gets_no_control_characters(table, monkeypatch, capsys):
    frame = pd.read_csv(table).rename(columns={"a": "a\x1b[31m\x9b\u202e"})
    frame.to_csv(table, index=False)

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for form in ("--csv", "--json"):
        shown = Terminal()
        with monkeypatch.context() as patched:
            patched.setattr(sys, "stdout", shown)
            assert run(["rank", str(table), "-t", "y", "-m", "fisher", form, "--quiet"]) == 0
        assert "a" in shown.getvalue() and not {"\x1b", "\x9b", "\u202e"} & set(shown.getvalue())


def test_a_table_of_names_has_nothing_to_keep():
    frame = pd.DataFrame({"name": [f"w{i}" for i in range(N)], "x": RNG.normal(size=N)})
    with pytest.raises(InputError, match="no feature that varies: left out was 'name'"):
        FeatureSelector("fisher", n_features_to_select=1).fit(frame[["name"]], CLASSES)
    kept = FeatureSelector("fisher", n_features_to_select=2).fit(frame, CLASSES).get_feature_names_out()
    assert kept.tolist() == ["x"]


def test_files_keep_their_mode_and_private_tables_give_private_files(tmp_path):
    old = tmp_path / "old.html"
    old.write_text("x")
    old.chmod(0o600)
    write_whole(old, "new")
    assert old.read_text() == "new" and stat.S_IMODE(old.stat().st_mode) == 0o600
    mask = os.umask(0o022)
    try:
        with as_private_as(str(old)):
            write_whole(tmp_path / "private.html", "x")
        write_whole(tmp_path / "public.html", "x")
    finally:
        os.umask(mask)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("private.html", "public.html")]
    assert modes == [0o600, 0o644]


def test_a_pipe_is_a_table(table, capsys):
    pipe = table.with_name("pipe")
    os.mkfifo(pipe)
    content = table.read_bytes()
    writer = threading.Thread(target=lambda: pipe.write_bytes(content))
    writer.start()
    assert run(["rank", str(pipe), "-t", "y", "-m", "fisher"]) == 0
    writer.join()
    assert "Features for 'y'" in capsys.readouterr().out


@pytest.mark.thorough
def test_closed_streams(table):
    command = f"{sys.executable} -m dubio rank"
    for words, code in ((f"{table} -t y -m fisher 2>&-", 0), ("- -t y <&-", 2)):
        found = subprocess.run(["bash", "-c", f"{command} {words}"], capture_output=True, text=True, check=False)
        assert found.returncode == code, found
        assert ("Features for 'y'" in found.stdout) == (code == 0)


def test_the_page_may_not_send_anything():
    from importlib.resources import files

    page = files("dubio_app").joinpath("report/page.html.j2").read_text(encoding="utf-8")
    assert "base-uri 'none'" in page and "form-action 'none'" in page


def test_the_card_of_a_row_shows_categories_gaps_and_one_patient(tmp_path):
    rng = np.random.default_rng(2)
    patient = np.repeat(np.arange(40), 3)
    ill = (np.arange(40) % 2)[patient]
    ill[9:12] = 1 - ill[9:12]
    table = pd.DataFrame({"patient": patient, "sex": np.where(rng.random(120) < 0.2 + 0.6 * ill, "f", "m")})
    table["crp"] = [f"{value:.1f}".replace(".", ",") for value in rng.gamma(2, 5, 120) + 12 * ill]
    table["gap"] = np.where(rng.random(120) < 0.2, np.nan, rng.normal(size=120) + 2 * ill).round(2)
    table.assign(ill=np.where(ill, "yes", "no")).to_csv(tmp_path / "t.csv", index=False, sep=";")
    words = ["audit", str(tmp_path / "t.csv"), "-t", "ill", "--groups", "patient", "--report", str(tmp_path / "r.html")]
    assert run(words) == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', page, re.DOTALL)[1])
    cards = data["corrections"]
    assert sorted(one["name"] for one in cards["features"]) == ["crp", "gap", "sex"]
    (sex,) = [one for one in cards["features"] if one["name"] == "sex"]
    assert set(sex["shown"]) <= {"f", "m"} and np.shape(sex["shares"]) == (2, 2) and sex["spread"] == []
    assert len(set(patient[np.array(cards["rows"]) - 1])) == len(cards["rows"])  # one card for each patient
    assert all(len(rows) == 3 for rows in cards["together"])
    (crp,) = [one for one in data["suspects"]["columns"] if one["label"] == "crp"]
    assert crp["kind"] == "written" and "," in crp["values"][0] and isinstance(crp["keys"][0], float | int)


def test_layouts_in_memory_give_the_same_order():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(60, 6)), np.arange(60) % 3
    for method in ("fisher", "laplacian", "mutual_information", "auto"):
        here, there = (FeatureSelector(method).fit(one, y).to_ranking() for one in (X, np.asfortranarray(X)))
        np.testing.assert_array_equal(here.ranking, there.ranking)
        np.testing.assert_allclose(here.scores, there.scores, rtol=1e-12, atol=1e-14)


def test_a_report_of_survival_times_draws_scores_and_says_so(tmp_path):
    rng = np.random.default_rng(1)
    age = rng.normal(60, 10, 80).round(1)
    table = pd.DataFrame({"age": age, "time": rng.exponential(20, 80).round(1) + 0.1, "dead": rng.integers(0, 2, 80)})
    table.to_csv(tmp_path / "t.csv", index=False)
    words = [
        "rank",
        str(tmp_path / "t.csv"),
        "--time",
        "time",
        "--event",
        "dead",
        "-m",
        "linear_r2",
        "--stability",
        "0",
    ]
    assert run([*words, "--report", str(tmp_path / "r.html")]) == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "score of time and dead (higher is later, or more) by age" in page
    titles = re.findall("<title>(.*?)</title>", page)
    assert titles and not any("class" in title for title in titles)


def test_a_forecast_from_very_large_scores():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(6, 4))
    selected, rankings = np.argsort(np.argsort(-scores)) < 2, np.argsort(np.argsort(-scores)) + 1
    here, there = (forecast_of(selected, rankings, 0.6, scores=scores * size) for size in (1.0, 1e307))
    np.testing.assert_allclose(here.frequency, there.frequency)


def test_a_terminal_that_knows_few_letters(tmp_path, monkeypatch):
    """Windows writes what is redirected in one of its own encodings."""
    (tmp_path / "t.csv").write_text(
        "値,y\n" + "".join(f"{i % 7},{'男女'[i % 2]}\n" for i in range(40)), encoding="utf-8"
    )
    printed = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(printed, encoding="cp1252"))
    assert run(["rank", str(tmp_path / "t.csv"), "-t", "y", "-m", "fisher", "--json"]) == 0
    sys.stdout.flush()
    assert json.loads(printed.getvalue())["features"][0]["feature"] == "値"
