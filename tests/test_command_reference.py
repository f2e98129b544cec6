"""What people expect of a command: options that are declared once, a current reference, completion, exit codes."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
from tools.command_reference import reference

from dubio.errors import InputError
from dubio_app.command import options
from dubio_app.command.app import make_app
from dubio_app.command.options import OPTIONS, Call, Option, UserError, options_of
from dubio_app.command.question import Question
from dubio_app.command.run import run
from dubio_app.command.wording import EXIT_CODES, in_command_words
from dubio_app.files import TableFile

ROOT = Path(__file__).parents[1]
COMMANDS = ("dubio", "open", "rank", "audit", "check", "look", "apply", "rerun", "methods", "demo")


def helped(capfd, *words: str) -> str:
    assert run([*words, "--help"]) == 0
    return capfd.readouterr().out


def test_the_reference_is_current():
    page = (ROOT / "docs" / "command_reference.md").read_text(encoding="utf-8")
    assert page == reference(make_app()), "run  python tools/command_reference.py"


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_and_the_reference_have_every_option(command, capfd):
    shown = helped(capfd, *([] if command == "dubio" else [command]))
    columns = re.findall(r"(?m)^  (-\S.*?)(?:  |$)", shown[shown.index("\nOptions:\n") :])
    flags = {flag for column in columns for flag in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", column)}
    declared = {flag for one in options_of(command) for flags in one.flags for flag in flags.split("/")}
    assert flags - {"-h", "--help", "--install-completion", "--show-completion"} == declared
    name = command if command == "dubio" else f"dubio {command}"
    section = reference(make_app()).split(f"\n## {name}\n")[1].split("\n## ")[0]
    assert set(re.findall(r"`(--?[a-z][a-z-]*)`", section)) >= declared


def test_options_name_each_other_and_have_names_of_their_own():
    names = [one.name for one in OPTIONS]
    for one in OPTIONS:
        assert {*"".join(one.needs[:1]).split(), *one.excludes.split()} <= set(names), one
        assert set(one.commands.split()) <= set(COMMANDS) and set(one.required.split()) <= set(one.commands.split())
        assert one.unset in one.choices or not one.choices or one.unset is None
    for command in COMMANDS:
        own = [flag for one in options_of(command) for flags in one.flags for flag in flags.split("/")]
        assert len(own) == len(set(own))


def completed(capfd, monkeypatch, words: str) -> set[str]:
    """What bash would offer after these words; the last one is unfinished."""
    monkeypatch.setenv("_DUBIO_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    with pytest.raises(SystemExit) as stop:
        run([])
    assert stop.value.code == 0
    return set(capfd.readouterr().out.split())


def test_the_shell_is_completed(capfd, monkeypatch):
    everything = {"open", "rank", "audit", "check", "look", "apply", "rerun", "methods", "demo", "papers"}
    assert completed(capfd, monkeypatch, "dubio ") == everything
    assert completed(capfd, monkeypatch, "dubio ra") == {"rank"}
    assert completed(capfd, monkeypatch, "dubio papers r") == {"run", "report"}
    assert completed(capfd, monkeypatch, "dubio rank t.csv --ev") == {"--evaluate", "--event"}
    assert completed(capfd, monkeypatch, "dubio rank t.csv --evaluate ") == {"logistic", "forest", "svm"}
    assert completed(capfd, monkeypatch, "dubio audit --engine l") == {"lnt"}
    assert completed(capfd, monkeypatch, "dubio rank t.csv --target ") == set()  # a column: nothing to offer
    assert completed(capfd, monkeypatch, "dubio rank ") == set()  # files, which the shell offers itself


def test_completion_can_be_installed(capfd):
    shown = helped(capfd)
    assert "--install-completion" in shown and "--show-completion" in shown


def test_exit_codes_are_in_the_help(capfd):
    shown = " ".join(helped(capfd).split())
    assert all(f"{code} {meaning}" in shown for code, meaning in EXIT_CODES.items())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"soft": ("a", "b"), "target": "y"}, "--target and --soft both say what the target is"),
        ({"low": "a", "high": "b", "time": "c", "event": "d"}, "--low and --time both say what the target is"),
        ({"target": "y", "regression": True, "order": ("a", "b")}, "--regression and --order contradict each other"),
        ({"target": "y", "positive": "a", "target_kind": "numbers"}, "--target-kind and --positive contradict"),
        ({"target": "y", "positive": "a", "confidence": "c"}, "--positive and --confidence cannot be combined"),
        ({"target": "y", "corrections": "f.csv", "confidence": "c"}, "--corrections and --confidence cannot be"),
        ({"groups": "g", "pairs": "p.csv"}, "--pairs and --groups cannot be combined"),
        ({"json": True, "csv": True}, "--json and --csv cannot be combined: give one of them."),
        ({"high": "b"}, "--low and --high belong together: give both (an empty cell means no limit)."),
        ({"event": "b"}, "--time and --event belong together: the event says whether the time is exact or censored."),
        ({"prior": 0.0}, "--prior is the share of positive rows among the others: give --positive too."),
        ({"annotator": "who"}, "--annotator says who gave the class in --target: give --target too."),
        ({"table": ""}, "TABLE is empty: give a name."),
    ],
)
def test_options_that_do_not_go_together_are_refused(given, message):
    with pytest.raises(UserError, match=re.escape(message)):
        Call("rank", **{"table": "t.csv", **given}).check()


@pytest.mark.parametrize(
    "given",
    [
        {"target": "y", "regression": True, "target_kind": "numbers"},
        {"target": "y", "order": ("a", "b"), "target_kind": "ordered"},
        {"target": "y", "groups": "g", "weights": "w"},
        {"low": "a", "high": "b"},
        {},
    ],
)
def test_options_that_agree_are_taken(given):
    Call("rank", table="t.csv", **given).check()


def test_a_new_option_needs_one_entry(capfd, monkeypatch):
    """Help, reference, names in messages, Python code and streams follow from the table alone."""
    number = Option("--ridge NUMBER", "Strength of the ridge.", passed="make", stream="sample", excludes="redundancy")
    column = Option(
        "--site COL", "Column with the hospital.", columns="fact", argument="sites", passed="fit", stream="no"
    )
    monkeypatch.setattr(options, "OPTIONS", (*OPTIONS, number, column))
    shown = helped(capfd, "rank")
    assert "--ridge NUMBER" in shown and "Column with the hospital." in shown
    page = reference(make_app())
    assert "| `--ridge` `NUMBER` | Strength of the ridge. |" in page and "`--site` `COL`" in page
    assert completed(capfd, monkeypatch, "dubio rank --ri") == {"--ridge"}
    assert in_command_words(InputError("ridge", "=-1.0", "give 0 or more")) == "--ridge -1.0: give 0 or more."
    assert in_command_words(InputError("sites", "names nobody")) == "--site names nobody."
    call = Call("rank", target="y", ridge=0.5, site="hospital", method="fisher")
    frame = pd.DataFrame({"a": [1.5, 2, 4, 3], "hospital": list("pqpq"), "y": list("uvuv")})
    question = Question(TableFile(frame, code="pd.read_csv('t.csv')"), call)
    assert question.features.names == ["a"] and question.fit["sites"].tolist() == list("pqpq")
    code = question.python()
    assert "site = table['hospital']\n" in code
    assert "FeatureSelector(method='fisher', ridge=0.5, target='classes', random_state=0)" in code
    assert code.splitlines()[-3].endswith(".fit(X, y, sites=site)")
    assert call.arguments("rank")["ridge"] == 0.5
    assert call.not_in_a_stream() == ["--ridge", "--site"]
    assert Call(ridge=0.5, site="hospital").not_in_a_stream() == ["--site"]
    with pytest.raises(UserError, match="--ridge and --redundancy cannot be combined"):
        Call("rank", table="t", ridge=1.0, redundancy=1.0).check()
    with pytest.raises(InputError, match="--site names 'y', which is the target"):
        Question(TableFile(frame), Call("rank", target="y", site="y"))
