"""Random runs of the command: files that are whole, mutated or no tables at all, and options of every kind."""

from __future__ import annotations

import bz2
import contextlib
import csv
import gzip
import io
import json
import os
import re
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fuzz.files import column, file_of
from fuzz.outcome import Broken
from fuzz.tables import HOSTILE

Rng = np.random.Generator
_SHARES = [0.3, 0.1, 0.1, 0.1, 0.1, 0.1, 0.17, 0.03]  # of the endings of text files
_SURROUNDINGS = ["pipe", "terminal", "narrow", "no output", "no errors", "few letters"]

#: Methods that take a moment.
_QUICK = ["fisher", "weighted_laplacian", "linear_r2", "laplacian", "relieff", "constraint"]


def command_call(rng: Rng) -> tuple[str, Callable[[], None]]:
    """A run of the command in words, and what does it."""
    frame, names = _frame(rng)
    of_text = rng.random() < 0.5
    if rng.random() < 0.35:
        frame[names[0]] = column(rng, len(frame), nested=not of_text).to_numpy()
    suffix, content = _file(rng, frame) if of_text else file_of(rng, frame)
    if not of_text and rng.random() < 0.25:
        content = _in_part(rng, content) if content.startswith(b"PK") and rng.random() < 0.7 else _mutated(rng, content)
    words = _words(rng, names, f"table{suffix}")
    piped = rng.random() < 0.05
    if piped:
        words[1] = "-"
    surroundings = str(rng.choice(_SURROUNDINGS, p=[0.57, 0.2, 0.1, 0.05, 0.05, 0.03]))

    def do() -> None:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            (place / f"table{suffix}").write_bytes(content)
            (place / "pairs.csv").write_text("a,b,kind\n1,2,must\n1,3,cannot\n")
            (place / "book.csv").write_text(_BOOK)
            code, out, err = _run(words, place, content if piped else None, surroundings)
            _require(words, code, out, err, place, surroundings)

    return f"dubio {' '.join(map(repr, words))} ({len(content)} bytes, {surroundings})", do


_BOOK = 'column,label,type,unit,levels,order,missing\ny,The target,,,"0=no,1=yes",,-9\na,First,number,mg/l,,,-9;-\n'


def _frame(rng: Rng) -> tuple[pd.DataFrame, list[str]]:
    n, d = int(rng.choice([1, 3, 12, 30], p=[0.07, 0.08, 0.35, 0.5])), int(rng.integers(1, 4))
    hostile = rng.random() < 0.4
    names = [HOSTILE[j] for j in rng.choice(len(HOSTILE), size=d, replace=False)] if hostile else list("abc")[:d]
    frame = pd.DataFrame(rng.normal(size=(n, d)), columns=names)
    if rng.random() < 0.2:
        frame[names[0]] = rng.choice(["red", "=1+1", "<i>", ""], size=n)
    if rng.random() < 0.15:
        frame[names[-1]] = rng.choice([1e25, 1e160, 1e-300, np.inf])
    if rng.random() < 0.1:
        frame[names[0]] = frame[names[0]].mask(rng.random(n) < 0.3)
    kinds: list[Any] = [
        rng.choice(["yes", "no"], size=n),
        rng.integers(2, size=n),
        rng.normal(size=n),
        rng.choice([HOSTILE[0], "</title>", "b"], size=n),
        np.full(n, "same"),
        np.arange(n),
    ]
    frame["y"] = kinds[int(rng.choice(len(kinds), p=[0.35, 0.25, 0.15, 0.1, 0.05, 0.1]))]
    return frame, [*names, "y"]


def _file(rng: Rng, frame: pd.DataFrame) -> tuple[str, bytes]:
    """The ending and the content of a file."""
    suffix = str(rng.choice([".csv", ".tsv", ".csv.gz", ".csv.bz2", ".parquet", ".feather", ".txt", ".xyz"], p=_SHARES))
    buffer = io.BytesIO()
    if suffix == ".parquet":
        frame.to_parquet(buffer, index=False)
    elif suffix == ".feather":
        frame.to_feather(buffer)
    else:
        sep = "\t" if suffix == ".tsv" else str(rng.choice([",", ",", ";", "|"]))
        text = frame.to_csv(index=False, sep=sep, decimal="," if sep == ";" and rng.random() < 0.5 else ".")
        if rng.random() < 0.2:
            text = text.replace("\n", "\r\n")
        encoding = str(rng.choice(["utf-8", "utf-8-sig", "latin-1", "utf-16"], p=[0.85, 0.07, 0.04, 0.04]))
        buffer.write(text.encode(encoding, errors="replace"))
    content = buffer.getvalue()
    if suffix.endswith(".gz"):
        content = gzip.compress(content, mtime=0)
    elif suffix.endswith(".bz2"):
        content = bz2.compress(content)
    return suffix, _mutated(rng, content) if rng.random() < 0.2 else content


def _mutated(rng: Rng, content: bytes) -> bytes:
    """Bytes changed, cut, doubled or replaced."""
    data, how = bytearray(content), rng.random()
    if not data or how < 0.05:
        return b""
    if how < 0.3:
        return bytes(data[: int(rng.integers(len(data)))])
    if how < 0.6:
        for place in rng.integers(len(data), size=int(rng.integers(1, 12))):
            data[place] = int(rng.integers(256))
    elif how < 0.75:
        start = int(rng.integers(len(data)))
        data[start : start + 20] = rng.bytes(int(rng.integers(40)))
    elif how < 0.85:
        data += data[len(data) // 2 :]
    elif how < 0.95:
        start = int(rng.integers(len(data)))
        data[start:start] = rng.choice(np.array([b"\0\0", b'"', b"\n\n", b",,,", b"\xff\xfe", b"\r"], dtype=object))
    else:
        return rng.bytes(200)
    return bytes(data)


def _in_part(rng: Rng, content: bytes) -> bytes:
    """An archive, such as a workbook, with one of its parts mutated: the sums of the archive hide other damage."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        names = old.namelist()
        which = str(rng.choice(names))
        for name in names:
            new.writestr(name, _mutated(rng, old.read(name)) if name == which else old.read(name))
    return buffer.getvalue()


def _words(rng: Rng, names: list[str], table: str) -> list[str]:
    """The words after ``dubio``."""
    if rng.random() < 0.12:
        words = ["audit", table, "--target", _name(rng, names)]
        words += ["--engine", str(rng.choice(["transitions", "pooled", "confident", "lnt", "odd"]))]
    elif rng.random() < 0.2:
        words = ["look", table]
    else:
        words = ["rank", table]
        if rng.random() < 0.9:
            words += ["--target", _name(rng, names)]
        if rng.random() < 0.96:  # without a method the engine is used, which takes a second
            words += ["--method", str(rng.choice([*_QUICK, "nonsense"]))]
        words += ["--keep", str(rng.choice(_KEPT, p=_KEPT_SHARES))]
    often = 0.25 if rng.random() < 0.7 else 1.0  # of many options, one is mostly refused
    for option, share in _OPTIONS.items():
        if option == "--csv" and "--json" in words and rng.random() < 0.9:
            continue
        if rng.random() < (often * share if words[0] != "look" or option in _OF_LOOK else 0.0):
            value = _VALUES[option](rng, names) if option in _VALUES else None
            words += [option] if value is None else [option, value]
    if words[0] == "rank" and rng.random() < 0.25:
        words += ["--report", "out.html", "--stability", "2"]
    return words


def _name(rng: Rng, names: list[str]) -> str:
    return "y" if rng.random() < 0.8 else str(rng.choice([*names, "missing", ""]))


_OF_LOOK = frozenset(
    [
        "--json",
        "--csv",
        "--ignore",
        "--nominal",
        "--top",
        "--quiet",
        "--codebook",
        "--ordinal",
        "--id",
        "--na",
        "--decimal",
        "--sep",
        "--encoding",
        "--sheet",
        "--header-row",
    ]
)

#: Numbers of features, mostly valid: a call that is refused at once tests little.
_KEPT = ["1", "2", "50%", "relevant", "0", "sufficiently", "-1", "1e3"]
_KEPT_SHARES = [0.4, 0.25, 0.2, 0.07, 0.02, 0.02, 0.02, 0.02]
_OPTIONS = {
    "--codebook": 0.07,
    "--ordinal": 0.05,
    "--id": 0.04,
    "--na": 0.05,
    "--decimal": 0.04,
    "--sep": 0.03,
    "--encoding": 0.03,
    "--sheet": 0.02,
    "--header-row": 0.03,
    "--groups": 0.03,
    "--json": 0.25,
    "--csv": 0.2,
    "--seed": 0.1,
    "--jobs": 0.1,
    "--ignore": 0.1,
    "--nominal": 0.1,
    "--unlabelled": 0.1,
    "--top": 0.1,
    "--quiet": 0.1,
    "--classes": 0.1,
    "--regression": 0.05,
    "--soft": 0.05,
    "--pairs": 0.05,
    "--confidence": 0.03,
    "--annotators": 0.03,
    "--save-table": 0.15,
    "--alpha": 0.05,
    "--redundancy": 0.05,
    "--stream": 0.1,
    "--tolerance": 0.03,
    "--device": 0.03,
    "--nonsense": 0.02,
}

_VALUES: dict[str, Callable[[Rng, list[str]], str]] = {
    "--codebook": lambda rng, names: str(rng.choice(["book.csv", "pairs.csv", "missing.csv", "."])),
    "--ordinal": lambda rng, names: str(rng.choice([f"{names[0]}=I,II,III", f"{names[0]}=low,high", "=", "x=1"])),
    "--id": lambda rng, names: str(rng.choice(names)),
    "--na": lambda rng, names: str(rng.choice(["-", "0", "x", ""])),
    "--decimal": lambda rng, names: str(rng.choice([",", ".", ";"])),
    "--sep": lambda rng, names: str(rng.choice([";", "tab", ",", "space", "ab"])),
    "--encoding": lambda rng, names: str(rng.choice(["utf-8", "cp932", "latin-1", "hex", "nonsense", "utf-16"])),
    "--sheet": lambda rng, names: str(rng.choice(["Sheet", "s", "missing"])),
    "--header-row": lambda rng, names: str(rng.choice(["1", "2", "3", "900"])),
    "--groups": lambda rng, names: str(rng.choice(names)),
    "--seed": lambda rng, names: str(rng.choice(["1", "7", "5", "-1", "x", "99999999999"])),
    "--jobs": lambda rng, names: str(rng.choice(["1", "2", "0", "-1"])),
    "--ignore": lambda rng, names: str(rng.choice([*names, "missing", ","])),
    "--nominal": lambda rng, names: str(rng.choice([*names, "missing"])),
    "--unlabelled": lambda rng, names: str(rng.choice(["no", "0", "", "<b>"])),
    "--top": lambda rng, names: str(rng.choice(["1", "0", "100"])),
    "--soft": lambda rng, names: ",".join(names[:2]),
    "--pairs": lambda rng, names: str(rng.choice(["pairs.csv", "missing.csv", "."])),
    "--confidence": lambda rng, names: str(rng.choice(names)),
    "--annotators": lambda rng, names: ",".join(names[-2:]),
    "--save-table": lambda rng, names: str(
        rng.choice(["out.csv", "out.parquet", "table.csv", "out.xyz", "no/out.csv", ".", "pairs.csv"])
    ),
    "--alpha": lambda rng, names: str(rng.choice(["0.1", "0", "2", "nan"])),
    "--device": lambda rng, names: str(rng.choice(["cpu", "auto", "tpu"])),
    "--redundancy": lambda rng, names: str(rng.choice(["1", "-1", "nan", "inf"])),
}


class _Terminal(io.TextIOWrapper):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def _run(words: list[str], folder: Path, piped: bytes | None, surroundings: str) -> tuple[int, str, str]:
    """Run the command in this process, in a folder of its own, and catch what it says."""
    from dubio_app.command.run import run

    kind = _Terminal if surroundings in ("terminal", "narrow") else io.TextIOWrapper
    printed = io.BytesIO()
    out = kind(printed, encoding="cp1252" if surroundings == "few letters" else "utf-8")
    err = io.StringIO()
    stdin, width = sys.stdin, os.environ.get("COLUMNS")
    if surroundings == "narrow":
        os.environ["COLUMNS"] = "21"
    try:
        if piped is not None:
            sys.stdin = io.TextIOWrapper(io.BytesIO(piped), encoding="utf-8")
        streams: tuple[Any, Any] = (None if surroundings == "no output" else out, err)
        streams = (streams[0], None) if surroundings == "no errors" else streams
        with contextlib.chdir(folder), contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
            code = run(words)
        out.flush()
        return code, printed.getvalue().decode(out.encoding), err.getvalue()
    finally:
        sys.stdin = stdin
        os.environ.pop("COLUMNS", None)
        if width is not None:
            os.environ["COLUMNS"] = width


def _require(words: list[str], code: int, out: str, err: str, folder: Path, surroundings: str) -> None:
    if code not in (0, 2) or "internal error" in err or "Traceback" in err:
        kind = re.sub(r"[^A-Za-z]+", " ", err.strip().splitlines()[-1] if err.strip() else "")[:60]
        raise Broken(f"the command answers with 0 or 2 ({kind.strip()})", f"{code}: {err[-500:]}")
    if re.search(r"[\x00-\x08\x0b-\x1f\x7f]", err):
        raise Broken("no control characters reach the terminal", repr(err))
    if surroundings in ("terminal", "narrow") and re.search(_OBEYED, out):
        raise Broken("a terminal gets no control characters of a table", repr(re.findall(_OBEYED, out)[:3]))
    if surroundings == "no errors":
        err = "dubio: nobody hears it"
    lines = err.strip().splitlines()
    while len(lines) > 1 and lines[-1].startswith("  - "):  # a list of problems
        lines.pop()
    if code == 2 and (out or not lines or not lines[-1].startswith("dubio: ")):
        raise Broken("a refusal is a line, or a list, on standard error", repr((out[:200], err[-300:])))
    left = [path.name for path in folder.rglob("*") if path.name.endswith(".part")]
    if left:
        raise Broken("nothing half-written is left", str(left))
    if code == 0 and "--json" in words:
        json.loads(out)
    if code == 0 and "--csv" in words:
        rows = list(csv.reader(io.StringIO(out)))
        if len({len(row) for row in rows}) > 1 or any(cell[:1] in ("=", "@", "\t") for row in rows for cell in row):
            raise Broken("CSV is whole and inert", repr(out[:300]))
    page = folder / "out.html"
    if page.exists():
        _require_inert(page.read_text(encoding="utf-8"))


#: Control characters that a terminal obeys, besides the colours of tables.
_OBEYED = r"[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\x1b(?!\[[0-9;?]*[mKhl])"


def _require_inert(page: str) -> None:
    """No tag and no script of a hostile name reaches the page."""
    for hostile in ("<script>alert", "<img src=x", "</style></svg><b>", ' onerror=alert(1)>"', "62615533"):
        if hostile in page:
            raise Broken("hostile text is inert in the report", hostile)
    if not page.rstrip().endswith("</html>"):
        raise Broken("the report is whole", page[-100:])
