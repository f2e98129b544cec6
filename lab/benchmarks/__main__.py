"""``python -m benchmarks [--write] [NAME ...]``: run every ``bench_*.py`` in this folder, or only the named ones.

With ``--write``, the output also goes to ``docs/benchmarks.md``, together with the versions of all packages. If
benchmarks are named, only their sections are replaced.

These measure speed. How good the selected features are is measured by modules of their own, which take hours:
``python -m benchmarks.selection`` (dubio and its peers: ``docs/comparison.md``), ``python -m benchmarks.wrong_labels``,
``python -m benchmarks.false_discoveries``, ``python -m benchmarks.visits``, ``python -m benchmarks.evaluation`` and
``python -m benchmarks.constraints_accuracy``.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numba

PACKAGES = (
    "dubio",
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "pyarrow",
    "dask",
    "pynndescent",
    "skfeature-chappers",
    "fuzzy-rough-learn",
    "skrebate",
    "fastcan",
)
PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"
HEAD = """# Benchmarks

`make bench` writes this page. Every table below was printed by the benchmark named above it, each case in a fresh
process on the same machine in the same run. Times differ between machines, and depend on what else is running: compare
ratios.

"""


class _Tee(io.TextIOBase):
    """A stream that both shows and keeps its text."""

    def __init__(self) -> None:
        self.kept = io.StringIO()

    def write(self, text: str) -> int:
        sys.__stdout__.write(text)  # type: ignore[union-attr]
        return self.kept.write(text)

    def flush(self) -> None:
        sys.__stdout__.flush()  # type: ignore[union-attr]


def versions() -> str:
    """The computer and the versions, as a paragraph."""
    found = []
    for package in PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            found.append(f"{package} {version(package)}")
    cores = numba.config.NUMBA_NUM_THREADS
    return f"Python {platform.python_version()}, {platform.machine()}, {cores} cores; {', '.join(found)}.\n"


def sections(page: str) -> dict[str, str]:
    """The output of each benchmark by its name, from a page or a part of one."""
    parts = page.split("\n## ")[1:]
    return {part.partition("\n")[0]: f"\n## {part.rstrip()}\n" for part in parts}


def main(arguments: list[str]) -> None:
    if {"-h", "--help"} & set(arguments):
        print(__doc__)
        return
    write = "--write" in arguments
    names = [name for name in arguments if name != "--write"]
    here = Path(__file__).parent
    known = sorted(path.stem.removeprefix("bench_") for path in here.glob("bench_*.py"))
    unknown = sorted(set(names) - set(known))
    if unknown:
        sys.exit(f"unknown benchmarks: {', '.join(unknown)}. The benchmarks are: {', '.join(known)}")
    tee = _Tee()
    with contextlib.redirect_stdout(tee):
        for name in names or known:
            print(f"\n# {name}", flush=True)
            importlib.import_module(f"benchmarks.bench_{name}").main()
    if write:
        PAGE.parent.mkdir(exist_ok=True)
        body = tee.kept.getvalue().replace("\n## ", "\n### ").replace("\n# ", "\n## ")
        found = sections(PAGE.read_text() if names and PAGE.exists() else "") | sections(body)
        PAGE.write_text(HEAD + versions() + "".join(found[name] for name in sorted(found)))
        print(f"\nwritten: {PAGE.relative_to(PAGE.parent.parent)}")


if __name__ == "__main__":
    main(sys.argv[1:])
