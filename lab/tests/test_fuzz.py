"""A short run of the fuzzer, and the fuzzer itself: a fault, a hang and a death are found and named by their seed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import fuzz.calls
from fuzz.calls import make_call
from fuzz.child import outcome_of
from fuzz.outcome import FAULT, Broken, Outcome
from fuzz.runner import Child, run_calls, summary

ROOT = Path(__file__).parents[2]

#: Calls of the short run, in processes; each part runs on one worker of the test suite.
_CALLS, _PARTS = 2000, 4


@pytest.mark.every_change
def test_a_hundred_calls_find_no_fault():
    """In this process; a call that hangs or kills its process is found by the longer run."""
    outcomes = [outcome_of(f"1:{number}") for number in range(100)]
    assert [outcome for outcome in outcomes if outcome.kind == FAULT] == []


@pytest.mark.parametrize("part", range(_PARTS))
def test_a_short_run_finds_no_fault(part):
    size = _CALLS // _PARTS
    seeds = [f"0:{number}" for number in range(part * size, (part + 1) * size)]
    said: list[str] = []
    faults = summary(run_calls(seeds, children=1, seconds=240.0), said.append)
    assert not faults, "\n".join(said)


def test_a_call_is_the_same_whenever_it_is_made():
    for number in range(200):
        assert make_call(0, number).says.split(" object at ")[0] == make_call(0, number).says.split(" object at ")[0]


def _says(call, monkeypatch):
    monkeypatch.setattr(fuzz.calls, "make_call", lambda run, number: call)
    return outcome_of("0:0")


def test_outcomes(monkeypatch):
    def broken():
        raise Broken("it is right", "it is not")

    def refused():
        from dubio import InputError

        raise InputError("X", "is odd")

    kinds = [
        (lambda: None, "fine", "f"),
        (refused, "refused", "f"),
        (broken, "fault", "f: it is right"),
        (lambda: 1 / 0, "fault", "ZeroDivisionError in outside the library"),
    ]
    for do, kind, group in kinds:
        found = _says(fuzz.calls.Call("f()", "f", do), monkeypatch)
        assert (found.kind, found.group) == (kind, group)


@pytest.mark.parametrize(("code", "group"), [("import os; os._exit(3)", "died"), ("while True: pass", "too long")])
def test_a_child_that_dies_or_hangs_is_a_fault_with_its_seed(code, group):
    child = Child(seconds=2.0)
    child._process = subprocess.Popen(
        [sys.executable, "-c", f"input(); {code}" if "import" in code else code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    outcome = child.ask("7:5")
    assert outcome.kind == FAULT and outcome.seed == "7:5" and group in outcome.group
    assert child._process is None


def test_faults_are_counted_by_group_and_the_exit_code_says_so():
    said: list[str] = []
    faults = summary([Outcome("0:1", "f()", FAULT, "g"), Outcome("0:2", "f()", "fine", "f")], said.append)
    assert len(faults) == 1 and any("1 fine, 0 refused, 1 fault" in line for line in said)
    command = [sys.executable, "-m", "fuzz", "--calls", "2", "--children", "1"]
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
    assert done.returncode == 0 and "2 calls: " in done.stdout, done.stdout + done.stderr
