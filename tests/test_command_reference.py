"""What people expect of a command: completion in the shell, a current reference, exit codes that are written down."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from dubio_app.command.app import all_commands, app, completion_script, reference
from dubio_app.command.run import run
from dubio_app.command.wording import EXIT_CODES

ROOT = Path(__file__).parents[1]
COMMANDS = {command.name: command for command in all_commands(app)}


def test_the_reference_is_current():
    page = (ROOT / "docs" / "command_reference.md").read_text(encoding="utf-8")
    assert page == reference(app), "run  python tools/command_reference.py"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_records_are_what_the_help_says(name, capfd):
    """Read from annotations, the records must agree with what Typer makes of them."""
    assert run([*name.split(" ")[1:], "--help"]) == 0
    shown = capfd.readouterr().out
    options = re.search(r"\nOptions:\n(.*?)(?:\n\n|$)", shown, re.DOTALL)
    assert options is not None
    columns = re.findall(r"(?m)^  (-\S.*?)(?:  |$)", options[1])
    flags = {flag for column in columns for flag in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", column)}
    assert flags - {"-h"} == set(COMMANDS[name].flags) - {"-h"}


def test_choices_and_defaults():
    options = {option.flags[0]: option for option in COMMANDS["dubio rank"].options if option.flags}
    assert options["--evaluate"].choices == ("logistic", "forest", "svm") and options["--evaluate"].default == ""
    assert options["--target"].flags == ("--target", "-t") and options["--target"].value == "COL"
    assert options["--keep"].default == "relevant" and options["--alpha"].default == "0.05"
    assert options["--stream"].flags == ("--stream", "--no-stream") and options["--stream"].value == ""
    assert options["--report"].is_file and not options["--target"].is_file


def bash_completes(words: str, folder: Path) -> set[str]:
    """What bash would offer after these words; the last one is unfinished."""
    parts = words.split(" ")
    code = (
        f"{completion_script('bash', app)}\nCOMP_WORDS=({' '.join(part or repr('') for part in parts)})\n"
        f"COMP_CWORD={len(parts) - 1}\n_dubio\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n"
    )
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True, cwd=folder)
    assert done.stderr == ""
    return set(done.stdout.split())


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_bash_completes(tmp_path):
    assert bash_completes("dubio ", tmp_path) >= {"rank", "audit", "methods", "demo", "papers", "completion"}
    assert bash_completes("dubio ra", tmp_path) == {"rank"}
    assert bash_completes("dubio papers r", tmp_path) == {"run", "report"}
    assert bash_completes("dubio rank t.csv --ev", tmp_path) == {"--evaluate", "--event"}
    assert bash_completes("dubio rank t.csv --evaluate ", tmp_path) == {"logistic", "forest", "svm"}
    assert bash_completes("dubio audit --engine l", tmp_path) == {"lnt"}
    assert bash_completes("dubio rank t.csv --target ", tmp_path) == set()  # a name of a column: nothing to offer
    assert bash_completes("dubio rank ", tmp_path) == set()  # files, which bash offers itself


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_name_every_command_and_option(shell, capfd):
    assert run(["completion", shell]) == 0
    script = capfd.readouterr().out
    assert script == completion_script(shell, app)
    for command in COMMANDS.values():
        for flag in command.flags:
            assert (f"-l {flag[2:]}" if shell == "fish" and flag.startswith("--") else flag.lstrip("-")) in script
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True, env={**os.environ})


def test_an_unknown_shell_is_refused(capfd):
    assert run(["completion", "tcsh"]) == 2
    assert "'bash', 'zsh', 'fish'" in capfd.readouterr().err


def test_exit_codes_are_in_the_help(capfd):
    assert run(["--help"]) == 0
    shown = " ".join(capfd.readouterr().out.split())
    assert all(f"{code} {meaning}" in shown for code, meaning in EXIT_CODES.items())
