"""The page of ``dubio open``: who may talk to its server, what a project keeps, and the way to the answer."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dubio import InputError
from dubio_app.command.run import run
from dubio_app.page.project import CHOICES, STATE, Conflict, Project

httpx = pytest.importorskip("httpx")
starlette = pytest.importorskip("starlette.testclient", reason="the page needs starlette: pip install 'dubio[app]'")
PORT = 8731
HOME = f"http://127.0.0.1:{PORT}"
#: Requests that change something.
CHANGING = [f"/api/{name}" for name in ("table", "example", "decide", "label", "check", "undo", "start/answer", "stop")]
CHANGING += [f"/api/{name}" for name in ("feature", "draw", "next", "pairs", "corrections", "checked", "delete")]
#: What Chromium sends with a request of the page itself.
OWN = {"origin": HOME, "sec-fetch-site": "same-origin"}


def clinic(n: int = 80) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    ill = rng.integers(0, 2, n) == 1
    table = pd.DataFrame(rng.normal(size=(n, 4)).round(3), columns=["marker", "age", "noise", "more"])
    table["marker"] += 2 * ill
    return table.assign(diagnosis=np.where(ill, "ill", "well"))


@pytest.fixture
def page(tmp_path):
    from dubio_app.page.server import Page

    made = Page(Project(tmp_path / "project"), PORT)
    yield made
    made.end()


@pytest.fixture
def client(page):
    with starlette.TestClient(page.app(), base_url=HOME) as client:
        client.cookies.set("dubio_key", page.key)
        yield client


def send_table(client, table: pd.DataFrame, name: str = "clinic.csv"):
    return client.post("/api/table", content=table.to_csv(index=False).encode(), headers={**OWN, "x-file-name": name})


def decide(client, **options):
    version = client.get("/api/state").json()["version"]
    return client.post("/api/decide", content=json.dumps({"version": version, "options": options}), headers=OWN)


# ---- who may talk to the server --------------------------------------------------------------------------------------


def test_the_first_address_gives_a_cookie_that_scripts_cannot_read(page):
    with starlette.TestClient(page.app(), base_url=HOME, follow_redirects=False) as client:
        answer = client.get(f"/?key={page.key}")
        assert answer.status_code == 303 and answer.headers["location"] == "/"
        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie and "samesite=strict" in cookie and "path=/" in cookie
        assert client.get("/").status_code == 200
        assert page.address.startswith("http://127.0.0.1:") and len(page.key) >= 43


@pytest.mark.parametrize("key", ["", "x", "0" * 43, "é", "key\x00"])
def test_a_missing_or_guessed_key_is_refused(page, key):
    with starlette.TestClient(page.app(), base_url=HOME) as client:
        for path in ("/", "/api/state", "/static/open.js", "/answer/report", "/take/kept", "/api/cards"):
            assert client.get(path, params={"key": key}).status_code == 401
        assert client.post("/api/start/answer", headers=OWN).status_code == 401


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:1", f"[::1]:{PORT}", ""]
)
def test_another_host_is_refused(client, host):
    """DNS rebinding: the name of another host leads to this computer."""
    assert client.get("/api/state", headers={"host": host}).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": f"http://127.0.0.1:{PORT + 1}"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {},
    ],
)
def test_another_origin_changes_nothing(client, page, headers):
    before = dict(page.project.state)
    for path in CHANGING:
        assert client.post(path, content=b"{}", headers=headers).status_code == 403
    assert page.project.state == before and page.project.folder.is_dir()


def test_a_get_changes_nothing(client):
    for path in CHANGING:
        assert client.get(path).status_code == 405


def test_every_answer_has_a_strict_policy(client):
    for path in ("/", "/static/open.js", "/api/state", "/take/kept"):
        headers = client.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in headers["content-security-policy"]
        assert (headers["x-content-type-options"], headers["cache-control"]) == ("nosniff", "no-store")
    page = client.get("/").text
    assert "<script>" not in page and "style=" not in page and "onclick" not in page


def test_the_page_is_served_without_loading_the_report():
    """Else the first paint would wait for it."""
    code = (
        "import sys, dubio_app.page.server as server\n"
        "assert server._read('page.css', 'report') and all(map(server._read, server._STATIC))\n"
        "assert 'dubio_app.report' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "..%2f..%2fproject.json", "project.json", "%2e%2e/x", "kept/../../x", "C:\\x"]
)
def test_no_path_comes_from_a_request(client, name):
    for path in ("/static/", "/take/", "/api/start/", "/api/work/../"):
        assert client.get(f"{path}{name}").status_code in (404, 405)
        assert client.post(f"{path}{name}", content=b"x", headers=OWN).status_code in (404, 405)


@pytest.mark.parametrize(
    "name", ["../../up.csv", "/tmp/up.csv", "..\\up.csv", "a/../../b.CSV", "x" * 5000 + ".csv", "‮vsc.csv"]
)
def test_a_hostile_file_name_stays_a_name(client, page, name):
    from urllib.parse import quote

    assert send_table(client, clinic(), quote(name)).status_code == 200
    files = {path.name for path in page.project.folder.iterdir()}
    assert files == {STATE, page.project.state["table"]} and len(page.project.state["name"]) <= 120
    assert page.project.state["table"].startswith("table-") and page.project.state["table"].endswith(".csv")


def test_large_requests_are_refused_and_leave_nothing(client, page, monkeypatch):
    monkeypatch.setattr("dubio_app.page.server.MOST_TABLE", 1000)
    monkeypatch.setattr("dubio_app.page.server.MOST_FILE", 1000)
    monkeypatch.setattr("dubio_app.page.server.MOST_REQUEST", 1000)
    assert send_table(client, clinic()).status_code == 413
    assert client.post("/api/decide", content=b" " * 2000, headers=OWN).status_code == 413
    assert client.post("/api/pairs", content=b" " * 2000, headers=OWN).status_code == 413
    assert not list(page.project.folder.glob(".upload*"))


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b"\xff", b"[" * 5000, b'{"version": 0, "options": {"report": "x"}}']
)
def test_odd_requests_are_refused(client, body):
    assert client.post("/api/decide", content=body, headers=OWN).status_code in (400, 409)


# ---- the project -----------------------------------------------------------------------------------------------------


def test_a_decision_is_there_when_the_project_is_opened_again(tmp_path):
    project = Project(tmp_path / "p")
    clinic().to_csv(tmp_path / "up.csv", index=False)
    project.take_table(tmp_path / "up.csv", "clinic.csv")
    project.decide(project.state["version"], {"target": "diagnosis", "ignore": ["more"]})
    again = Project(tmp_path / "p")
    assert again.state == project.state
    assert again.words("rank") == ["rank", again.state["table"], "--target=diagnosis", "--ignore=more"]
    assert again.words("look") == ["look", again.state["table"], "--ignore=more"]
    again.undo(again.state["version"])
    assert again.state["options"] == {} and Project(tmp_path / "p").state["options"] == {}
    again.undo(again.state["version"])  # the table, too
    assert again.table is None
    with pytest.raises(InputError, match="nothing to take back"):
        again.undo(again.state["version"])


def test_two_windows_do_not_overwrite_each_other(client):
    send_table(client, clinic())
    seen = client.get("/api/state").json()["version"]
    first = {"version": seen, "options": {"target": "diagnosis"}}
    assert client.post("/api/decide", content=json.dumps(first), headers=OWN).status_code == 200
    other = {"version": seen, "options": {"target": "age"}}
    assert client.post("/api/decide", content=json.dumps(other), headers=OWN).status_code == 409
    assert client.get("/api/state").json()["options"] == {"target": "diagnosis"}
    with pytest.raises(Conflict):
        Project.decide(client_project(client), seen, {"target": "age"})


def client_project(client) -> Project:
    return Project(client.get("/api/state").json()["folder"])


@pytest.mark.parametrize(
    "options",
    [{"report": "x.html"}, {"save_table": "x"}, {"nothing": 1}, {"target": {"a": 1}}, {"ignore": [1]}],
)
def test_only_choices_of_the_page_can_be_decided(tmp_path, options):
    project = Project(tmp_path / "p")
    with pytest.raises(InputError):
        project.decide(1, options)
    assert project.state["options"] == {} and not {"report", "paper", "jobs", "corrections"} & CHOICES.keys()


def test_a_value_that_begins_with_a_dash_is_no_option(client, page):
    table = clinic().rename(columns={"diagnosis": "--report"})
    send_table(client, table)
    decide(client, target="--report", na=["-"])
    assert page.project.words("rank")[2:] == ["--target=--report", "--na=-"]


def test_a_folder_with_other_files_or_a_damaged_project_is_refused(tmp_path):
    (tmp_path / "x.txt").write_text("mine")
    with pytest.raises(InputError, match="holds other files"):
        Project(tmp_path)
    for content in (
        "",
        "[]",
        '{"format": 1}',
        '{"format": 99}',
        '{"format": 1, "options": 3, "undo": [], "table": ""}',
    ):
        folder = tmp_path / "p"
        folder.mkdir(exist_ok=True)
        (folder / STATE).write_text(content)
        with pytest.raises(InputError):
            Project(folder)


def test_another_table_forgets_what_was_said_of_the_first(client, page):
    send_table(client, clinic())
    decide(client, target="diagnosis")
    client.post("/api/pairs", content=b"1,2,must\n", headers=OWN)
    assert list(page.project.state["files"]) == ["pairs"] and page.project.words("rank")[-2] == "--pairs"
    before = {name: page.project.state[name] for name in ("name", "table", "options", "files")}
    send_table(client, clinic(), "other.tsv")
    assert page.project.state["options"] == {} and page.project.state["files"] == {}
    page.project.undo(page.project.state["version"])  # the first table is still there, with all that was said of it
    assert {name: page.project.state[name] for name in before} == before and page.project.table.is_file()
    assert send_table(client, clinic(), "virus.exe").status_code == 400


def test_deleting_removes_the_folder(client, page):
    send_table(client, clinic())
    assert client.post("/api/delete", headers=OWN).json() == {"deleted": True, "left": []}
    assert not page.project.folder.exists() and page.is_over


def test_deleting_leaves_what_is_not_of_dubio(tmp_path):
    project = Project(tmp_path / "p")
    (project.folder / "mine.txt").write_text("mine")
    assert project.delete() == ["mine.txt"] and [one.name for one in project.folder.iterdir()] == ["mine.txt"]


# ---- the answer ------------------------------------------------------------------------------------------------------


def start(client: Any, job: str, seconds: float = 240) -> dict:
    """Begin a piece of work and wait for its end; return what the server says about it, with all of its parts."""
    own = {"origin": str(client.base_url).rstrip("/")}
    assert client.post(f"/api/start/{job}", headers=own).status_code == 200
    deadline = time.monotonic() + seconds
    parts = "first,columns,target,alerts,answer"
    while (work := client.get(f"/api/work/{job}?parts={parts}").json())["status"] == "running":
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return work


@pytest.mark.thorough
def test_the_answer_is_that_of_the_command(client, page, capfd, monkeypatch):
    send_table(client, clinic())
    decide(client, target="diagnosis")
    look = start(client, "look")
    assert [one["column"] for one in look["content"]["columns"]] == list(clinic())
    assert all(sum(one["picture"]) == 80 for one in look["content"]["columns"])
    assert start(client, "ask")["content"]["target"]["classes"] == [["ill", 46], ["well", 34]]
    work = start(client, "answer")
    assert work["status"] == "done" and work["problems"] == [], work
    state, shown = client.get("/api/state").json(), client.get("/api/answer").json()
    assert shown["decided"] == state["decided"]
    told = command_of(page, capfd, monkeypatch)
    compare(page, told)
    assert "<html" in client.get("/answer/report").text
    for name in ("kept", "report", "selection", "paper", "labels", "numbers"):
        assert client.get(f"/take/{name}").status_code == 200
    found = client.post("/api/feature", content=b'{"feature": "marker"}', headers=OWN).json()
    assert "<svg" in found["picture"] and found["alike"] == []
    page._works["answer"][1].stop()  # as when the project is opened another time
    assert client.post("/api/feature", content=b'{"feature": "marker"}', headers=OWN).json() == found
    decide(client, ignore=["more"])
    assert client.get("/api/state").json()["decided"] != shown["decided"]


def command_of(page, capfd, monkeypatch) -> dict:
    """The answer of the command that the page shows, run in the folder of the project."""
    monkeypatch.chdir(page.project.folder)
    capfd.readouterr()
    files = ["--report=again.html", "--save-table=again.csv"]
    assert run([*page.project.words("rank"), *files, "--json", "--quiet"]) == 0
    return json.loads(capfd.readouterr().out)


def compare(page, told: dict) -> None:
    """The page has the numbers of the command, all of them, and the same files."""
    answer = json.loads((page.project.folder / "answer.json").read_text())
    ours, theirs = (json.dumps({**one, "notes": []}, sort_keys=True) for one in (answer["told"], told))
    assert ours == theirs
    folder = page.project.folder
    assert (folder / "kept.csv").read_text() == (folder / "again.csv").read_text()


def an_answer() -> dict[str, Any]:
    """An answer to a table with one given column, as the page has it: two related columns, and two that are not."""
    columns = {
        "feature": ["age", "marker", "twin", "noise", "more"],
        "qvalue": [None, 0.001, 0.04, 0.4, 1],
        "effect": [55, 91, 20, 52, 50],
        "effect_low": [45, 85, 13, 44, 41],
        "effect_high": [65, 95, 29, 60, 59],
        "direction": ["none", "higher", "lower", "none", "none"],
        "effect_of": ["ill", "ill", "ill", "ill", "ill"],
        "difference": [0, 2.5, -1, 0.1, 0],
        "family": [0, 1, 1, 0, 0],
        "tolerance": [None, 22, 8, None, None],
        "kept in": [100, 98, 71, 12, 3],
    }
    line = {"n_given": 1, "n_kept": 2, "n_relevant": 2, "n_sufficient": 1, "n_ranked": 5, "alpha": 0.05}
    line |= {"curve": None, "path": {"label": "loss", "sizes": [1, 2, 3], "values": [0.5, 0.25, 0.125]}}
    return {
        "line": line,
        "tolerance": "hard",
        "table": {"columns": [{"key": k, "values": v} for k, v in columns.items()]},
    }


def test_the_line_says_what_it_costs():
    from dubio_app.page.wording import about_line

    said = {keep: about_line(an_answer(), keep) for keep in (-1, 0, 1, 2, 3, 4, 9)}
    assert said[2]["text"] == "Keep these 2 of 4 columns."
    assert said[2]["cost"].startswith("At most 4 % of these are expected to be there by chance. The first one ")
    assert "1 column that is related to the target would be left out." in said[1]["cost"]
    assert said[1]["cost"].endswith("Loss: 0.25, at the line of the answer 0.125.")
    assert said[3]["cost"].startswith(
        "About 40 % of these (1 of 3) are expected to be there by chance: more than the 5 % that you allow. For 1 of "
        "them, there is no evidence of a relation."
    )
    assert said[0] == said[-1] and said[0]["cost"] == "Nothing is kept." and said[4] == said[9]


def test_a_feature_is_told_in_sentences():
    from dubio_app.page.wording import about_feature

    assert about_feature(an_answer(), "twin") == [
        "Effect: lower values go with 'ill': in 20 % of the pairs of rows (13 to 29 %), the higher value goes with it. "
        "50 % would be no effect.",
        "Difference: -1, in the unit of the column.",
        "Family: marker can stand in for it.",
        "Wrong labels: with 8 % of the labels wrong at random, it is still kept in 95 % of the draws.",
        "Other rows: it is kept in 71 % of the resamples.",
    ]
    assert "higher values go with 'ill'" in about_feature(an_answer(), "marker")[0]
    given = about_feature(an_answer(), "age")
    assert given[0] == "It is given: the other columns are judged by what they add to it." and len(given) == 2
    assert about_feature(an_answer(), "absent") == []


@pytest.mark.thorough
def test_all_that_the_page_says_of_an_answer_is_in_words(tmp_path, monkeypatch):
    """With marks in place of sentences, nothing but marks and names is left."""
    from dubio_app.page import jobs
    from dubio_app.page.wording import about_feature, about_line
    from tests.test_report import mark_all, without_marks

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [])
    table = clinic()
    table.assign(code=np.where(table["diagnosis"] == "ill", 3, 7), twin=table["marker"] + 0.1 * table["age"]).to_csv(
        "t.csv", index=False
    )
    mark_all(monkeypatch)
    told: dict[str, Any] = {}
    files = ["--report=report.html", "--save-table=kept.csv", "--save-selection=selection.json", "--paper=paper"]
    for job, more, words in (("ask", {}, []), ("answer", {"decided": "x"}, files)):
        words = ["rank", "t.csv", "--target=diagnosis", "--given=age", *words]
        jobs.run(job, words, lambda kind, content: told.update(content) if kind == "part" else None, more)
    answer = told["answer"]
    n = answer["line"]["n_ranked"]
    lines = [text for keep in range(n) for text in about_line(answer, keep).values()]
    names = next(one["values"] for one in answer["table"]["columns"] if one["key"] == "feature")
    features = [text for name in names for text in about_feature(answer, name)]
    alerts = [one[part] for one in [*told["alerts"], *answer["alerts"]] for part in ("text", "remedy")]
    said = [answer["headline"], *answer["sure"], *lines, *features, *alerts]
    assert {without_marks(one) for one in said} == {""}
    wanted = ["headline given", "line as it is", "line moved", "line leaves out", "feature given", "copy"]
    wanted += ["tested here", "feature effect higher", "feature tolerance hard"]
    assert [code for code in wanted if f"§{code}§" not in " ".join(said).lower()] == []


@pytest.mark.thorough
def test_nothing_is_shown_as_kept_if_nothing_stands_out(client):
    table = clinic()[["noise", "more"]].assign(chance=np.random.default_rng(9).permutation(clinic()["diagnosis"]))
    send_table(client, table)
    decide(client, target="chance")
    answer = start(client, "answer")["content"]["answer"]
    assert answer["headline"].startswith("No feature stands out") and answer["kept"] == [] == answer["kept_all"]
    assert answer["line"]["n_kept"] == 0 and not [one for one in answer["sure"] if "Python" in one]


@pytest.mark.thorough
def test_work_that_fails_says_why_and_can_be_stopped(client):
    send_table(client, clinic())
    decide(client, target="absent")
    work = start(client, "answer")
    assert work["status"] == "failed" and "has no such column" in work["problems"][0]["text"]
    assert "--" not in work["problems"][0]["text"]
    decide(client, target="diagnosis")
    client.post("/api/start/answer", headers=OWN)
    client.post("/api/stop", headers=OWN)
    assert start_is_over(client) == "stopped"


def start_is_over(client) -> str:
    deadline = time.monotonic() + 10
    while (status := client.get("/api/work/answer").json()["status"]) == "running" and time.monotonic() < deadline:
        time.sleep(0.05)
    return status


@pytest.mark.thorough
def test_what_cannot_be_read_comes_as_one_list_with_clicks(client):
    table = clinic().astype({"age": object, "more": object})
    table.loc[3, "age"], table.loc[[5, 6], "more"], table.loc[2, "noise"] = "n/d", "broken", np.inf
    send_table(client, table)
    found = [problem for one in start(client, "look")["content"]["columns"] for problem in one["problems"]]
    assert [one["column"] for one in found] == ["age", "noise", "more"]
    infinite = found.pop(1)["clicks"][0]
    for one, mark in zip(found, ("n/d", "broken"), strict=True):
        assert one["clicks"][0] == {"label": f"'{mark}' means missing", "adds": {"na": [mark]}}
        assert [click["label"] for click in one["clicks"][1:]] == ["Treat it as a category", "Leave it out"]
    decide(client, na=["n/d", "broken", *infinite["adds"]["na"]])
    assert not [problem for one in start(client, "look")["content"]["columns"] for problem in one["problems"]]


@pytest.mark.thorough
def test_a_file_that_begins_with_something_else_comes_with_a_click(client, tmp_path):
    """A text file with a title, and a workbook whose first sheet is a note: one click, and they are read."""
    openpyxl = pytest.importorskip("openpyxl")
    table = clinic(20)
    (tmp_path / "export.csv").write_text(f"Ward 3\nmade in March\n\n{table.to_csv(index=False, sep=';', decimal=',')}")
    book = openpyxl.Workbook()
    book.active.title = "read me"
    book.active.append(["All values are made up."])
    for name in ("data", "more"):
        for line in (list(table), *table.to_numpy().tolist()):
            (book[name] if name in book.sheetnames else book.create_sheet(name)).append(line)
    book.save(tmp_path / "export.xlsx")
    for name, label in (
        ("export.csv", "The names of the columns stand in line 4"),
        ("export.xlsx", "Read sheet 'data'"),
    ):
        content = (tmp_path / name).read_bytes()
        assert client.post("/api/table", content=content, headers={**OWN, "x-file-name": name}).status_code == 200
        (problem,) = start(client, "look")["problems"]
        assert [click["label"] for click in problem["clicks"]][:1] == [label] and "--" not in problem["text"]
        decide(client, **problem["clicks"][0]["sets"])
        read = start(client, "look")["content"]
        assert [one["column"] for one in read["columns"]] == list(table)
        assert not [note for note in read["first"]["notes"] if "--" in note]


@pytest.mark.thorough
def test_alerts_come_before_anything_runs_with_clicks(client):
    ill = clinic()["diagnosis"] == "ill"
    send_table(client, clinic().assign(code=np.where(ill, 3, 7)))
    decide(client, target="diagnosis")
    alerts = start(client, "ask")["content"]["alerts"]
    assert [one["kind"] for one in alerts] == ["copy"] and "--" not in alerts[0]["text"] + alerts[0]["remedy"]
    assert alerts[0]["clicks"] == [{"label": "Leave it out", "adds": {"ignore": ["code"]}}]
    decide(client, ignore=["code"])
    assert start(client, "ask")["content"]["alerts"] == []


@pytest.mark.thorough
def test_labels_are_corrected_and_rows_checked_on_the_page(client, page, capfd, monkeypatch):
    send_table(client, clinic())
    decide(client, target="diagnosis")
    rows = start(client, "answer")["content"]["answer"]["labels"]
    row, given = rows["rows"][0], rows["classes"][rows["given"][0]]
    other = next(name for name in rows["classes"] if name != given)
    state = client.get("/api/state").json()
    entry = {"id": "", "given": given, "decision": "change", "label": other}
    wish = {"version": state["version"], "rows": {str(row): entry}}
    state = client.post("/api/label", content=json.dumps(wish), headers=OWN).json()
    assert "--corrections corrections.csv" in state["command"]
    wish = {"version": state["version"], "rows": 30, "by": "random"}
    state = client.post("/api/draw", content=json.dumps(wish), headers=OWN).json()
    cards = client.get("/api/cards").json()
    assert len(cards["cards"]) == 30 and cards["classes"] == ["ill", "well"]
    assert all(name != "diagnosis" for card in cards["cards"] for name, _ in card["cells"][0])
    truth = clinic()["diagnosis"]
    found = {str(number): truth[number - 1] for card in cards["cards"] for number in card["rows"]}
    some = dict(list(found.items())[:5])
    wish = {"version": state["version"], "rows": some}
    state = client.post("/api/check", content=json.dumps(wish), headers=OWN).json()
    assert "--checked" not in state["command"]  # too few to say anything
    state = client.post(
        "/api/check", content=json.dumps({"version": state["version"], "rows": found}), headers=OWN
    ).json()
    assert state["command"].count("--checked") == 2
    work = start(client, "answer")
    assert work["status"] == "done" and work["content"]["answer"]["changes"], work["problems"]
    compare(page, command_of(page, capfd, monkeypatch))
    for _ in range(4):  # the checks, the draw, and the correction
        state = client.post("/api/undo", content=json.dumps({"version": state["version"]}), headers=OWN).json()
    assert (state["labels"], state["checks"], state["files"]) == ({}, {}, {})


@pytest.mark.thorough
def test_the_next_table_is_read_as_the_first(client, page):
    send_table(client, clinic())
    decide(client, target="diagnosis")
    assert start(client, "answer")["status"] == "done"
    following = clinic(50)[["marker", "noise", "age"]].to_csv(index=False).encode()
    said = client.post("/api/next", content=following, headers={**OWN, "x-file-name": "next.csv"}).json()["said"]
    assert said and "marker" in client.get("/take/next").text.splitlines()[0]
    bad = client.post("/api/next", content=b"x,y\n1,2\n", headers={**OWN, "x-file-name": "next.csv"})
    assert bad.status_code == 400 and "marker" in bad.json()["error"]
    assert not list(page.project.folder.glob("table-next*"))


# ---- nothing is lost -------------------------------------------------------------------------------------------------


def test_a_project_is_open_once(tmp_path):
    project = Project(tmp_path / "p")
    project.hold()
    with pytest.raises(InputError, match="is open already"):
        Project(tmp_path / "p").hold()
    project.release()
    other = Project(tmp_path / "p")
    other.hold()
    other.release()


def test_what_a_kill_leaves_behind_is_no_obstacle(tmp_path):
    folder = tmp_path / "p"
    folder.mkdir()
    for name in (".upload.x1", ".copy.csv", ".project.json.aa.part", ".table-1.csv.aa.part"):
        (folder / name).write_text("half")
    project = Project(folder)
    project.hold()
    assert {one.name for one in folder.iterdir()} == {STATE, ".open"}
    project.release()


@pytest.mark.thorough
@pytest.mark.parametrize("kills", [10, pytest.param(100, marks=pytest.mark.slow)])
def test_a_server_that_is_killed_loses_no_decision(tmp_path, kills):
    """Decisions are sent one after the other; the server is killed at a random moment, and opened again."""
    clinic().to_csv(tmp_path / "clinic.csv", index=False)
    words = [sys.executable, "-m", "dubio", "open", str(tmp_path / "clinic.csv"), "--no-browser"]
    words += ["--project", str(tmp_path / "p")]
    rng, sent, rows_sent = np.random.default_rng(0), 0, set[str]()
    for _ in range(kills):
        server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None
        address = server.stdout.readline().split()[-1]
        threading.Timer(1.0 + rng.random(), server.kill).start()
        try:
            with httpx.Client() as client:
                home = address.split("?")[0].rstrip("/")
                own = {"origin": home}
                client.get(address, follow_redirects=True, timeout=5)
                version = client.get(f"{home}/api/state", timeout=5).json()["version"]
                while True:
                    wish = {"version": version, "options": {"seed": str(sent + 1)}}
                    answer = client.post(f"{home}/api/decide", content=json.dumps(wish), headers=own, timeout=5)
                    version, sent = answer.json()["version"], sent + 1  # it was acknowledged
                    rows = {str(sent): {"given": "ill", "decision": "unsure"}}
                    wish = {"version": version, "rows": rows}
                    answer = client.post(f"{home}/api/label", content=json.dumps(wish), headers=own, timeout=5)
                    version = answer.json()["version"]
                    rows_sent |= rows.keys()
        except (httpx.HTTPError, KeyError):
            pass
        server.wait()
        state = json.loads(Path(tmp_path, "p", STATE).read_text())
        kept = int(state["options"].get("seed", 0))
        assert kept in (sent, sent + 1)  # the last one may have been written before its answer was sent
        assert rows_sent <= state["labels"].keys() and state["name"] == "clinic.csv"
        sent = kept
    assert sent > 0
    assert Project(tmp_path / "p").state["options"]["seed"] == str(sent)


# ---- the server itself, under attack ---------------------------------------------------------------------------------


class Served:
    """A server in a process of its own."""

    def __init__(self, folder: Path, *changes: str) -> None:
        self.folder = folder / "p"
        code = "\n".join(
            [
                "import dubio_app.page.server as server, dubio_app.page.work as work",
                *changes,
                "from dubio_app.command.run import run",
                f"run(['open', '--no-browser', '--project', {str(self.folder)!r}])",
            ]
        )
        self.process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().decode().split()[-1]
        self.home = self.address.split("?")[0].rstrip("/")
        self.client = httpx.Client(base_url=self.home, headers={"origin": self.home}, timeout=60)
        self.client.get(self.address, follow_redirects=True)

    def end(self) -> tuple[str, str]:
        """End the server; return what it has printed since it began."""
        self.client.close()
        self.process.terminate()
        out, errors = self.process.communicate(timeout=20)
        return out.decode(), errors.decode()


@pytest.fixture
def served(tmp_path) -> Iterator[Served]:
    server = Served(tmp_path)
    yield server
    if server.process.poll() is None:
        server.end()


@pytest.mark.thorough
@pytest.mark.parametrize("n", [150, pytest.param(1000, marks=pytest.mark.slow)])
def test_connections_that_say_nothing_keep_nobody_out(served, n):
    port, silent = int(served.home.rsplit(":", 1)[1]), []
    for i in range(n):
        silent.append(socket.create_connection(("127.0.0.1", port), timeout=10))
        if i % 3 == 0:
            silent[-1].sendall(b"GET / HTTP/1.1\r\nHost: x")  # and never the end of it
    began = time.monotonic()
    with httpx.Client(base_url=served.home, cookies=dict(served.client.cookies), timeout=30) as other:
        assert other.get("/api/state").status_code == 200
    assert time.monotonic() - began < 10
    for one in silent:
        one.close()
    assert served.client.get("/api/state").status_code == 200


@pytest.mark.thorough
def test_an_upload_that_says_it_has_two_gigabytes_is_refused_at_once(served):
    port = int(served.home.rsplit(":", 1)[1])
    key = served.client.cookies["dubio_key"]
    head = f"POST /api/table HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: {served.home}\r\nCookie: dubio_key={key}\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=20) as sent:
        sent.sendall(f"{head}X-File-Name: t.csv\r\nContent-Length: {2 * 2**30}\r\n\r\n".encode())
        assert sent.recv(100).startswith(b"HTTP/1.1 413")
    assert not list(served.folder.glob(".upload*"))


@pytest.mark.slow
def test_an_upload_of_two_gigabytes_is_refused_and_leaves_nothing(served):
    block = b"1,2,3\n" * 170_000

    def content() -> Iterator[bytes]:
        for _ in range(2 * 2**30 // len(block)):
            yield block

    try:
        answer = served.client.post("/api/table", content=content(), headers={"x-file-name": "t.csv"})
        assert answer.status_code == 413
    except httpx.HTTPError:  # the server has closed the connection while we went on to send
        pass
    assert served.client.get("/api/state").json()["table"] == "" and not list(served.folder.glob(".upload*"))


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="only there the memory of a process is limited")
def test_a_zip_bomb_ends_only_the_work(tmp_path):
    """A workbook of a few megabytes with gigabytes of rows: the work ends, the server does not."""
    server = Served(tmp_path, "work._memory_limit = lambda: 1_200_000_000")
    book, row = tmp_path / "bomb.xlsx", '<row><c t="str"><v>x</v></c></row>' * 30_000
    openpyxl = pytest.importorskip("openpyxl")
    openpyxl.Workbook().save(tmp_path / "plain.xlsx")
    with zipfile.ZipFile(tmp_path / "plain.xlsx") as plain, zipfile.ZipFile(book, "w", zipfile.ZIP_DEFLATED) as made:
        for name in plain.namelist():
            if name != "xl/worksheets/sheet1.xml":
                made.writestr(name, plain.read(name))
        with made.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as sheet:
            space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
            sheet.write(f'<worksheet xmlns="{space}"><sheetData>'.encode())
            for _ in range(1000):
                sheet.write(row.encode())
            sheet.write(b"</sheetData></worksheet>")
    assert book.stat().st_size < 20e6
    assert (
        server.client.post("/api/table", content=book.read_bytes(), headers={"x-file-name": "b.xlsx"}).status_code
        == 200
    )
    assert start(server.client, "look")["status"] == "failed"
    clinic().to_csv(tmp_path / "t.csv", index=False)
    content = (tmp_path / "t.csv").read_bytes()
    assert server.client.post("/api/table", content=content, headers={"x-file-name": "t.csv"}).status_code == 200
    assert start(server.client, "look")["status"] == "done"
    server.end()


@pytest.mark.thorough
def test_work_ends_after_its_time(tmp_path):
    from dubio_app.page.work import Work

    clinic().to_csv(tmp_path / "t.csv", index=False)
    work = Work(tmp_path)
    work.start("look", ["look", "t.csv"], 0.01)
    assert work.join(30) and work.status == "failed"
    assert [one["text"] for one in work.problems] == ["The work took too long and was stopped."]


@pytest.mark.thorough
def test_nothing_is_said_in_logs_and_an_hour_without_a_page_ends_the_server(tmp_path):
    server = Served(tmp_path, "server.IDLE = 3.0")
    server.client.get("/api/state?secret=patients")
    server.client.get("/nothing/secret")
    assert server.process.wait(timeout=30) == 0
    out, errors = server.end()
    assert errors == "" and "secret" not in out


@pytest.mark.thorough
def test_work_does_not_outlive_a_server_that_is_killed(served):
    psutil = pytest.importorskip("psutil")
    content = clinic(400).to_csv(index=False).encode()
    served.client.post("/api/table", content=content, headers={"x-file-name": "t.csv"})
    served.client.post("/api/start/look")
    children = psutil.Process(served.process.pid).children(recursive=True)
    assert children
    served.process.kill()
    served.process.wait()
    _, alive = psutil.wait_procs(children, timeout=15)
    assert alive == []


@pytest.mark.thorough
def test_another_user_of_the_machine_sees_and_changes_nothing(served):
    with httpx.Client(base_url=served.home, headers={"origin": served.home}) as other:
        for path in ("/", "/api/state", "/answer/report", "/take/kept", "/api/answer", "/static/open.js"):
            assert other.get(path).status_code == 401
        assert other.post("/api/delete").status_code == 401
        other.cookies.set("dubio_key", "0" * 43)
        assert other.get("/api/state").status_code == 401
    assert served.folder.is_dir()
