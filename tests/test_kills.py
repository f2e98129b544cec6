"""Killed processes, full disks and two runs at once: nothing is lost, and nothing is half-written.

Each test has a short form. The long forms are marked "slow" (``make test-slow``). A killed Dask worker is in
``test_dask.py``, and five kills of the laboratory are in ``test_papers.py``.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dubio_papers.runner import run_experiments
from dubio_papers.store import ResultFile
from tests.small_experiment import SMALL, tables

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parent.parent

#: Runs the command, and kills its own process when it has written half of the first file, or all but its name.
_DIE = """
import os, signal, sys, tempfile
from dubio_app.command.run import run
import dubio_app.whole_files as files
moment, words = sys.argv[1], sys.argv[2:]
def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)
if moment == "half":
    opened = os.fdopen
    class Half:
        def __init__(self, file): self.file = file
        def __enter__(self): return self
        def __exit__(self, *_): pass
        def write(self, data):
            self.file.write(data[: len(data) // 2])
            self.file.flush()
            die()
    files.os.fdopen = lambda handle, mode: Half(opened(handle, mode))
elif moment == "name":
    files.os.replace = die
sys.exit(run(words))
"""

#: Runs the command on a disk that takes files of at most so many bytes.
_FULL = """
import resource, signal, sys
from dubio_app.command.run import run
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
sys.exit(run(sys.argv[2:]))
"""


def _start(*words: object, **more: object) -> subprocess.Popen[str]:
    command = [sys.executable, *map(str, words)]
    return subprocess.Popen(
        command, cwd=ROOT, start_new_session=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more
    )


def _small_table(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd"))
    frame["y"] = np.where(frame["a"] > 0, "yes", "no")
    frame.to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


def _rank(table: Path) -> list[object]:
    quick = ["-m", "fisher", "-k", "2", "--stability", "0"]
    return ["rank", table, "-t", "y", *quick, "--report", table.parent / "out.html"]


@pytest.mark.parametrize("moment", ["half", "name"])
def test_a_killed_report_leaves_the_old_one(tmp_path, moment):
    words = _rank(_small_table(tmp_path))
    (tmp_path / "out.html").write_text("the old report")
    process = _start("-c", _DIE, moment, *words)
    process.communicate(timeout=300)
    assert process.returncode == -signal.SIGKILL
    assert (tmp_path / "out.html").read_text() == "the old report"
    seen = [path.name for path in tmp_path.iterdir() if not path.name.startswith(".")]
    assert sorted(seen) == ["out.html", "t.csv"], "what a killed process leaves is hidden and named .part"


@pytest.mark.slow
def test_reports_killed_at_random_moments_are_whole_or_absent(tmp_path):
    words, luck = _rank(_small_table(tmp_path)), random.Random(0)
    began = time.monotonic()
    _start("-m", "dubio", *words).communicate()
    whole = time.monotonic() - began
    for _ in range(30):
        (tmp_path / "out.html").unlink(missing_ok=True)
        process = _start("-m", "dubio", *words)
        time.sleep(luck.uniform(0.5, 1.1) * whole)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if (tmp_path / "out.html").exists():
            assert (tmp_path / "out.html").read_text().rstrip().endswith("</html>")


def test_a_full_disk_is_one_line_and_leaves_the_old_files(tmp_path):
    words = _rank(_small_table(tmp_path))
    (tmp_path / "out.html").write_text("the old report")
    unmeasured = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    process = _start("-c", _FULL, 5000, *words, "--save-table", tmp_path / "small.csv", env=unmeasured)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 2 and err.count("\n") == 1 and "File too large" in err, err
    assert (tmp_path / "out.html").read_text() == "the old report"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.html", "t.csv"]


def test_a_full_disk_keeps_the_results_that_fit(tmp_path):
    code = _FULL.replace("from dubio_app.command.run import run", "").rsplit("\n", 2)[0] + (
        "\nfrom pathlib import Path\nfrom dubio_papers import run_experiments\n"
        "from tests.small_experiment import SMALL\nrun_experiments([SMALL], Path(sys.argv[2]), full=True, n_jobs=1)\n"
    )
    process = _start("-c", code, 1500, tmp_path)
    _, err = process.communicate(timeout=300)
    assert process.returncode != 0 and "File too large" in err
    kept = ResultFile(tmp_path, "small")
    assert 0 < len(kept.read()) < 120
    assert kept.path.read_bytes().endswith(b"\n"), "no half line is left"
    with kept.append() as add:
        add({"cell": "more", "repetition": 0})
    assert ("more", 0) in kept.read()


def test_two_runs_in_one_folder(tmp_path):
    first = _start("-m", "tests.small_experiment", tmp_path, 1)
    file, until = tmp_path / "small.jsonl", time.monotonic() + 300
    while not file.exists() or file.stat().st_size == 0:
        assert time.monotonic() < until and first.poll() is None
        time.sleep(0.05)
    with pytest.raises(RuntimeError, match="another run is writing"):
        run_experiments([SMALL], tmp_path, full=True)
    _, err = first.communicate(timeout=300)
    assert first.returncode == 0, err
    assert len(ResultFile(tmp_path, "small").read()) == len(file.read_bytes().splitlines()) == 120


def test_two_reports_to_one_name(tmp_path):
    words = _rank(_small_table(tmp_path))
    both = [_start("-m", "dubio", *words) for _ in range(2)]
    for process in both:
        process.communicate(timeout=300)
        assert process.returncode == 0
    assert (tmp_path / "out.html").read_text().rstrip().endswith("</html>")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.html", "t.csv"]


@pytest.mark.slow
def test_fifty_kills_lose_nothing(tmp_path):
    """kill -9 at random moments, with one process and with two; every run goes on from where the last one was."""
    undisturbed, killed, luck = tmp_path / "undisturbed", tmp_path / "killed", random.Random(0)
    run_experiments([SMALL], undisturbed, full=True)
    file, before = killed / "small.jsonl", 0
    for kill in range(50):
        process = _start("-m", "tests.small_experiment", killed, 1 + kill % 2)
        until = time.monotonic() + 300
        while process.poll() is None and (not file.exists() or file.stat().st_size <= before):
            assert time.monotonic() < until
            time.sleep(0.005)
        time.sleep(luck.uniform(0.0, 0.03))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        found = ResultFile(killed, "small").read()
        assert len(found) >= kill + 1 or len(found) == 120
        before = file.stat().st_size
    run_experiments([SMALL], killed, full=True)
    assert len(ResultFile(killed, "small").read()) == 120
    assert tables(killed) == tables(undisturbed)
