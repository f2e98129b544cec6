"""The page of ``dubio open``: who may talk to its server, what a project keeps, and the way to the answer."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dubio import InputError
from dubio_app.command.run import run
from dubio_app.page.project import CHOICES, STATE, Conflict, Project

starlette = pytest.importorskip("starlette.testclient", reason="the page needs starlette: pip install 'dubio[app]'")
PORT = 8731
HOME = f"http://127.0.0.1:{PORT}"
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
        for path in ("/", "/api/state", "/static/open.js", "/answer/report", "/take/kept"):
            assert client.get(path, params={"key": key}).status_code == 401
        assert client.post("/api/run", headers=OWN).status_code == 401


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
    for path in ("/api/decide", "/api/table", "/api/run", "/api/delete", "/api/example", "/api/file/pairs"):
        assert client.post(path, content=b"{}", headers=headers).status_code == 403
    assert page.project.state == before and page.project.folder.is_dir()


def test_a_get_changes_nothing(client):
    for path in ("/api/decide", "/api/run", "/api/delete", "/api/undo"):
        assert client.get(path).status_code == 405


def test_every_answer_has_a_strict_policy(client):
    for path in ("/", "/static/open.js", "/api/state", "/take/kept"):
        headers = client.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in headers["content-security-policy"]
        assert (headers["x-content-type-options"], headers["cache-control"]) == ("nosniff", "no-store")
    page = client.get("/").text
    assert "<script>" not in page and "style=" not in page and "onclick" not in page


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "..%2f..%2fproject.json", "project.json", "%2e%2e/x", "kept/../../x", "C:\\x"]
)
def test_no_path_comes_from_a_request(client, name):
    for path in ("/static/", "/take/", "/api/file/"):
        assert client.get(f"{path}{name}").status_code in (404, 405)
        assert client.post(f"{path}{name}", content=b"x", headers=OWN).status_code in (404, 405)


@pytest.mark.parametrize(
    "name", ["../../up.csv", "/tmp/up.csv", "..\\up.csv", "a/../../b.CSV", "x" * 5000 + ".csv", "‮vsc.csv"]
)
def test_a_hostile_file_name_stays_a_name(client, page, name):
    from urllib.parse import quote

    assert send_table(client, clinic(), quote(name)).status_code == 200
    files = {path.name for path in page.project.folder.iterdir()}
    assert files == {STATE, "table.csv"} and len(page.project.state["name"]) <= 120


def test_large_requests_are_refused_and_leave_nothing(client, page, monkeypatch):
    monkeypatch.setattr("dubio_app.page.server.MOST_TABLE", 1000)
    monkeypatch.setattr("dubio_app.page.server.MOST_REQUEST", 1000)
    assert send_table(client, clinic()).status_code == 413
    assert client.post("/api/decide", content=b" " * 2000, headers=OWN).status_code == 413
    assert client.post("/api/file/pairs", content=b" " * 2000, headers=OWN).status_code == 413
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
    assert again.words("rank") == ["rank", "table.csv", "--target=diagnosis", "--ignore=more"]
    assert again.words("look") == ["look", "table.csv", "--ignore=more"]
    again.undo(again.state["version"])
    assert again.state["options"] == {} and Project(tmp_path / "p").state["options"] == {}


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
        project.decide(0, options)
    assert project.state["options"] == {} and not {"report", "paper", "jobs", "corrections"} & CHOICES.keys()


def test_a_value_that_begins_with_a_dash_is_no_option(client, page):
    table = clinic().rename(columns={"diagnosis": "--report"})
    send_table(client, table)
    decide(client, target="--report", na=["-"])
    assert page.project.words("rank") == ["rank", "table.csv", "--target=--report", "--na=-"]


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
    client.post("/api/file/pairs", content=b"1,2,must\n", headers=OWN)
    assert page.project.state["files"] == ["pairs"]
    send_table(client, clinic(), "other.tsv")
    assert page.project.state["options"] == {} and page.project.state["files"] == []
    assert {path.name for path in page.project.folder.iterdir()} == {STATE, "table.tsv"}
    assert send_table(client, clinic(), "virus.exe").status_code == 400


def test_deleting_removes_the_folder(client, page):
    send_table(client, clinic())
    assert client.post("/api/delete", headers=OWN).json() == {"deleted": True}
    assert not page.project.folder.exists()


# ---- the answer ------------------------------------------------------------------------------------------------------


def wait(client, seconds: float = 240) -> dict:
    deadline = time.monotonic() + seconds
    while (work := client.get("/api/work").json())["status"] == "running" and time.monotonic() < deadline:
        time.sleep(0.1)
    return work


@pytest.mark.thorough
def test_the_answer_is_that_of_the_command(client, page, tmp_path, capfd, monkeypatch):
    send_table(client, clinic())
    decide(client, target="diagnosis")
    assert [one["column"] for one in client.get("/api/look").json()["columns"]] == list(clinic())
    client.post("/api/run", headers=OWN)
    work = wait(client)
    assert work["status"] == "done" and work["current"], work
    monkeypatch.chdir(page.project.folder)
    words = shlex.split(client.get("/api/state").json()["command"])
    capfd.readouterr()
    assert run([*words[1:], "--json", "--quiet"]) == 0
    told = json.loads(capfd.readouterr().out)
    kept = pd.read_csv(page.project.folder / "kept.csv")
    assert [name for name in kept if name != "diagnosis"] == sorted(told["kept"], key=list(kept).index)
    table = pd.read_csv(page.project.folder / "paper" / "tables" / "features.csv")
    np.testing.assert_allclose(table["pvalue"], [row["pvalue"] for row in told["features"]], rtol=1e-12)
    assert "<html" in client.get("/answer/report").text
    for name in ("kept", "report", "selection", "paper"):
        assert client.get(f"/take/{name}").status_code == 200
    decide(client, ignore=["more"])
    assert client.get("/api/work").json()["current"] is False


@pytest.mark.thorough
def test_work_that_fails_says_why_and_can_be_stopped(client):
    send_table(client, clinic())
    decide(client, target="absent")
    client.post("/api/run", headers=OWN)
    work = wait(client)
    assert work["status"] == "failed" and any("has no such column" in line for line in work["said"])
    decide(client, target="diagnosis")
    client.post("/api/run", headers=OWN)
    assert client.post("/api/stop", headers=OWN).json()["status"] in ("running", "stopped")
    assert wait(client, 10)["status"] == "stopped"


@pytest.mark.thorough
def test_a_server_that_is_killed_goes_on_where_it_was(tmp_path):
    clinic().to_csv(tmp_path / "clinic.csv", index=False)
    words = [sys.executable, "-m", "dubio", "open", str(tmp_path / "clinic.csv"), "--no-browser"]
    words += ["--project", str(tmp_path / "p")]
    rng = np.random.default_rng(0)
    for _ in range(5):
        server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None and "The page: http://127.0.0.1:" in server.stdout.readline()
        time.sleep(rng.random() * 0.3)
        server.kill()
        server.wait()
        state = json.loads(Path(tmp_path, "p", STATE).read_text())
        assert (state["name"], state["table"], state["version"]) == ("clinic.csv", "table.csv", 1)


# ---- in a browser ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The address of a server in a process of its own."""
    folder = tmp_path_factory.mktemp("served")
    words = [sys.executable, "-m", "dubio", "open", "--no-browser", "--project", str(folder / "p")]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    yield server.stdout.readline().split()[-1]
    server.terminate()
    server.wait()


@pytest.mark.thorough
def test_the_way_from_a_file_to_the_answer_in_a_browser(served, browser, tmp_path):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="the tests need axe-playwright-python")
    clinic().to_csv(tmp_path / "clinic.csv", index=False)
    view = browser
    view.page.goto(served)
    view.page.set_input_files("#file", str(tmp_path / "clinic.csv"))
    view.page.wait_for_selector("#columns tbody tr", timeout=60_000)
    view.page.click('[data-step="question"]')
    view.page.select_option("#target select", "diagnosis")
    view.page.locator("#command").filter(has_text="diagnosis").wait_for(state="attached")
    view.page.click("#question [data-run]")
    view.page.wait_for_selector("#report:not([hidden])", timeout=240_000)
    frame = view.page.frame_locator("#report")
    assert "marker" in frame.locator("h1").first.inner_text()
    for step in ("table", "question", "answer", "labels", "take"):
        view.page.click(f'[data-step="{step}"]')
        assert view.page.locator(f"#{step}").is_visible()
        for scheme in ("light", "dark"):
            view.page.emulate_media(color_scheme=scheme)
            faults = axe.Axe().run(view.page, context="main > section, header").response["violations"]
            serious = [fault["id"] for fault in faults if fault["impact"] in ("serious", "critical")]
            assert not serious, (step, scheme, serious)
    with view.page.expect_download() as saved:
        view.page.click('a[href="/take/kept"]')
    assert "marker" in Path(saved.value.path()).read_text()
    view.page.set_viewport_size({"width": 360, "height": 740})
    for step in ("table", "question", "take"):
        view.page.click(f'[data-step="{step}"]')
        assert view.run("document.documentElement.scrollWidth <= window.innerWidth"), step
    assert view.problems == []
