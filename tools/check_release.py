"""Checks of a release that need no network: one version everywhere, a small wheel without data, a quick start."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST_BYTES = 2 * 2**20
#: Longest import of the library, and longest answer to --help, in seconds. The best of a few runs counts.
LONGEST_IMPORT, LONGEST_HELP = 1.5, 0.3
#: Kinds of files that belong into a wheel.
SUFFIXES = {".py", ".typed", ".html", ".css", ".js", ".j2", ""}
METADATA = re.compile(r"^dubio-[^/]*\.dist-info/")


def version() -> str:
    source = (ROOT / "src/dubio/__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', source, flags=re.MULTILINE)
    assert found, "src/dubio/__init__.py has no version"
    return found[1]


def best_time(command: list[str], runs: int = 5) -> float:
    """Processor time of a command, the best of a few runs: what one waits if the machine has nothing else to do."""
    times = []
    for _ in range(runs):
        before = os.times()
        subprocess.run(command, check=True, capture_output=True)
        after = os.times()
        times.append(after.children_user + after.children_system - before.children_user - before.children_system)
    return min(times)


def untested_versions() -> list[str]:
    """Versions of Python that are declared and not tested by the workflow, or tested and not declared."""
    declared = re.findall(r"Programming Language :: Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text("utf-8"))
    workflow = (ROOT / ".github/workflows/tests.yml").read_text("utf-8").split("\n  oldest:")[0].split("\n  test:")[1]
    tested = re.findall(r'"(3\.\d+)"', workflow)
    return sorted(set(declared) ^ set(tested))


def problems() -> list[str]:
    found = []
    here = version()
    if untested_versions():
        found.append(f"Python {', '.join(untested_versions())}: declared or tested, but not both")
    if f"\nversion: {here}\n" not in (ROOT / "CITATION.cff").read_text(encoding="utf-8"):
        found.append(f"CITATION.cff does not have version {here}")
    wheels = sorted((ROOT / "dist").glob("*.whl"))
    if [wheel.name for wheel in wheels] != [f"dubio-{here}-py3-none-any.whl"]:
        found.append(f"dist holds {[wheel.name for wheel in wheels]}, not one wheel of version {here}")
    for wheel in wheels:
        if wheel.stat().st_size > MOST_BYTES:
            found.append(f"{wheel.name} has {wheel.stat().st_size:,} bytes, more than {MOST_BYTES:,}")
        names = zipfile.ZipFile(wheel).namelist()
        odd = [name for name in names if not METADATA.match(name) and Path(name).suffix not in SUFFIXES]
        if odd:
            found.append(f"{wheel.name} holds files that look like data: {odd[:5]}")
    bare = best_time([sys.executable, "-c", "pass"])
    for what, command, most in (
        ("import dubio", [sys.executable, "-c", "import dubio"], LONGEST_IMPORT),
        ("from dubio import FeatureSelector", [sys.executable, "-c", "from dubio import FeatureSelector"], None),
        ("dubio --help", [str(Path(sys.executable).with_name("dubio")), "--help"], LONGEST_HELP),
    ):
        seconds = best_time(command)
        print(f"{what}: {seconds:.2f} s (an empty Python takes {bare:.2f} s)")
        if most is not None and seconds > most:
            found.append(f"{what} takes {seconds:.2f} s, more than {most} s")
    return found


if __name__ == "__main__":
    faults = problems()
    print("\n".join(faults) if faults else f"dubio {version()} is ready")
    sys.exit(bool(faults))
