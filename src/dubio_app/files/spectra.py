"""Spectra: JCAMP-DX files, and folders with a spectrum in each file. The columns are the places on the axis."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputError, counted, quoted
from dubio.streams.text_files import HowToRead, called
from dubio_app.files.table_file import TableFile, own_code, wrong

Floats = NDArray[np.float64]

JCAMP = (".jdx", ".dx", ".jcamp", ".jcm")
#: Endings of files with two columns: place and height.
_PLAIN = (".txt", ".csv", ".tsv", ".dat", ".asc", ".xy", ".dpt", ".prn")
#: Two axes are the same if no place differs by more than this share of a step.
_SAME_PLACE = 0.01
#: Share of the first axis that the others must cover, so that they can be brought onto it.
_COVERED = 0.98
#: Share of the shorter axis that two files of a folder share, if both are spectra.
_SHARED = 0.3
_PLACE_AND_HEIGHT = re.compile(r"([+-]?[\d.]+(?:[eE][+-]?\d+)?)[,\s]+([+-]?[\d.]+(?:[eE][+-]?\d+)?)")
_LABEL = re.compile(r"^\s*##(?P<name>[^=]*)=(?P<value>.*)$")
#: Facts about a whole file, which are no columns.
_NOT_FACTS = frozenset({"END", "NPOINTS", "FIRSTX", "LASTX", "FIRSTY", "DELTAX", "XFACTOR", "YFACTOR", "MAXX", "MINX"})
_NOT_FACTS |= {"MAXY", "MINY", "XUNITS", "YUNITS", "JCAMPDX", "DATATYPE", "BLOCKS", "DATACLASS", "TITLE", "ORIGIN"}
_NOT_FACTS |= {"OWNER", "RESOLUTION", "BLOCKID", "LONGDATE", "DATE", "TIME"}
_SQZ = {letter: str(number) for number, letter in enumerate("@ABCDEFGHI")}
_SQZ |= {letter: f"-{number}" for number, letter in enumerate("abcdefghi", start=1)}
_DIF = {letter: str(number) for number, letter in enumerate("%JKLMNOPQR")}
_DIF |= {letter: f"-{number}" for number, letter in enumerate("jklmnopqr", start=1)}
_DUP = {letter: str(number) for number, letter in enumerate("STUVWXYZs", start=1)}
_TOKEN = re.compile(r"(?P<plain>[+-]?\d*\.?\d+(?:[eE][+-]?\d+)?)|(?P<code>[@A-Ia-i%J-Rj-rS-Zs?])(?P<rest>\d*\.?\d*)")


@dataclass(frozen=True)
class Spectrum:
    """One spectrum: places, heights, its name, and what the file says of it."""

    name: str
    x: Floats
    y: Floats
    unit: str = ""
    facts: dict[str, str] = field(default_factory=dict)


def read_jcamp(path: str, how: HowToRead) -> TableFile:
    """A JCAMP-DX file with one spectrum or several."""
    return _table(path, _spectra_of(Path(path), how.encoding), how)


def is_folder_of_spectra(path: str) -> bool:
    """Whether a folder, or the folders in it, holds a spectrum in each file: JCAMP-DX, or two columns of numbers."""
    files = _files(Path(path))
    if not files or files[0].suffix.lower() in JCAMP:
        return bool(files)
    both = [_two_columns(place) for place in files[:2]]
    if len(both) < 2 or both[0] is None or both[1] is None:
        return False
    (x, _), (other, _) = both[0], both[1]  # parts of one table have other rows in each file
    reach = min(x.max(), other.max()) - max(x.min(), other.min())
    return bool(reach >= _SHARED * min(np.ptp(x), np.ptp(other)))


def read_folder_of_spectra(path: str, how: HowToRead) -> TableFile:
    """A folder with a spectrum in each file; folders in it name classes, and a table ``labels.csv`` says more."""
    spectra: list[Spectrum] = []
    folder = Path(path)
    for place in _files(folder):
        own = place.relative_to(folder).parts
        where = {"folder": own[0]} if len(own) > 1 else {}
        if place.suffix.lower() in JCAMP:
            found = _spectra_of(place, how.encoding)
        else:
            both = _two_columns(place)
            if both is None:
                raise wrong(str(place), "does not hold two columns of numbers", "put other files elsewhere")
            found = [Spectrum(place.stem, *both)]
        for one in found:
            name = place.stem if len(found) == 1 else one.name
            spectra.append(Spectrum(name, one.x, one.y, one.unit, {"file": place.name, **where, **one.facts}))
    return _table(path, spectra, how)


def _files(folder: Path) -> list[Path]:
    """The files with spectra, in the order of their names; tables that say what they are do not count."""
    endings = (*JCAMP, *_PLAIN)
    found = sorted(place for place in folder.rglob("*") if place.suffix.lower() in endings and place.is_file())
    return [place for place in found if place.stem.lower() not in ("labels", "metadata", "readme")]


def _two_columns(place: Path) -> tuple[Floats, Floats] | None:
    """Two columns of numbers, separated in any way, below lines of text; None if it holds something else."""
    rows: list[tuple[float, float]] = []
    for line in place.read_text(encoding="utf-8", errors="replace").splitlines():
        parts = [part for part in re.split(r"[;\t]|,\s|\s+", line.strip()) if part]
        if len(parts) == 1 and line.count(",") == 1:
            parts = line.strip().split(",")
        try:
            first, second = (float(part.replace(",", ".")) for part in parts)
        except ValueError:
            if rows and line.strip():
                return None
            continue
        rows.append((first, second))
    if len(rows) < 3:
        return None
    x, y = np.array(rows, dtype=np.float64).T
    steps = np.diff(x)
    return (x, y) if (steps > 0).all() or (steps < 0).all() else None


def _spectra_of(place: Path, encoding: str | None) -> list[Spectrum]:
    """The spectra of a JCAMP-DX file."""
    try:
        text = place.read_text(encoding=encoding or "utf-8", errors="strict" if encoding else "replace")
    except UnicodeError as error:
        raise wrong(str(place), "is not text of this encoding", "name its encoding") from error
    blocks: list[dict[str, list[str]]] = []
    records: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines():
        line = line.split("$$")[0]
        match = _LABEL.match(line)
        if match:
            name = re.sub(r"[\s\-/_]", "", match["name"]).upper()
            if name == "TITLE" or name == "END":
                blocks.append(records)
                records = {}
            records[name] = [match["value"].strip()]
        elif name and line.strip():
            records[name].append(line.strip())
    blocks.append(records)
    spectra = [_spectrum(one, place) for one in blocks if "XYDATA" in one or "XYPOINTS" in one]
    if not spectra:
        other = any({"PEAKTABLE", "NTUPLES"} & one.keys() for one in blocks)
        found = "holds peaks or several axes (NTUPLES), not spectra" if other else "holds no spectrum (##XYDATA)"
        raise wrong(str(place), found, "export the spectra with one axis, as ##XYDATA or as CSV")
    return spectra


def _spectrum(records: dict[str, list[str]], place: Path) -> Spectrum:
    def number(name: str, default: float = 1.0) -> float:
        try:
            return float(records[name][0].replace(",", ".")) if name in records else default
        except ValueError as error:
            found = f"has {quoted(records[name][0])} in ##{name}"
            raise wrong(str(place), found, "it must be a number: is the file damaged?") from error

    title = records.get("TITLE", [""])[0] or place.stem
    if "XYDATA" in records:
        heights = _decoded(records["XYDATA"][1:], title, place) * number("YFACTOR")
        if "FIRSTX" not in records or "LASTX" not in records:
            raise wrong(str(place), f"does not say where spectrum {quoted(title)} begins and ends", "is it damaged?")
        x = np.linspace(number("FIRSTX"), number("LASTX"), len(heights))
    else:
        pairs = _PLACE_AND_HEIGHT.findall(" ".join(records["XYPOINTS"][1:]))
        x, heights = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
        x, heights = x * number("XFACTOR"), heights * number("YFACTOR")
    wanted = int(number("NPOINTS", len(heights)))
    if len(heights) < 3 or len(heights) != wanted:
        found = f"has {counted(len(heights), 'point')} of spectrum {quoted(title)}, and {wanted} are announced"
        raise wrong(str(place), found, "is it damaged?")
    facts = {name.lower(): values[0] for name, values in records.items() if name not in _NOT_FACTS and values[0]}
    facts = {name: value for name, value in facts.items() if name not in ("xydata", "xypoints")}
    return Spectrum(title, x, heights, records.get("XUNITS", [""])[0], facts)


def _decoded(lines: list[str], title: str, place: Path) -> Floats:
    """Heights in the forms of JCAMP-DX: plain, packed, squeezed, as differences, repeated."""
    heights: list[float] = []
    was_difference = False
    for line in lines:
        line = line.split(";")[0]
        tokens = list(_TOKEN.finditer(line))
        if "".join(token[0] for token in tokens) != re.sub(r"[\s,]", "", line) or len(tokens) < 2:
            raise wrong(str(place), f"has {quoted(line[:40])} in spectrum {quoted(title)}", "is it damaged?")
        here: list[float] = []
        last = 0.0  # the difference before, which a repetition repeats
        is_difference = False
        for token in tokens[1:]:  # the first one is the place on the axis
            code, rest = token["code"], token["rest"] or ""
            if code is None or code in _SQZ:
                here.append(float(token["plain"]) if code is None else float(_SQZ[code] + rest))
                is_difference = False
            elif code in _DIF:
                last, is_difference = float(_DIF[code] + rest), True
                here.append(here[-1] + last if here else last)
            elif code == "?":
                here.append(np.nan)
            else:
                for _ in range(int(_DUP[code] + rest) - 1):
                    here.append(here[-1] + (last if is_difference else 0.0))
        if was_difference and heights and here and np.isclose(here[0], heights[-1]):
            here = here[1:]  # the first height of a line of differences checks the last one of the line before
        heights += here
        was_difference = is_difference
    return np.array(heights, dtype=np.float64)


def _table(path: str, spectra: list[Spectrum], how: HowToRead) -> TableFile:
    """A row for each spectrum, on the axis of the first."""
    import pandas as pd

    axis, notes, moved = spectra[0].x, [], 0
    upwards = bool(axis[0] < axis[-1])
    axis = axis if upwards else axis[::-1]
    step = float(np.diff(axis).min())
    rows = np.empty((len(spectra), len(axis)))
    for i, one in enumerate(spectra):
        x, y = (one.x, one.y) if one.x[0] < one.x[-1] else (one.x[::-1], one.y[::-1])
        if one.unit.casefold() != spectra[0].unit.casefold():
            found = f"has spectra in {quoted(spectra[0].unit)} and in {quoted(one.unit)} ({quoted(one.name)})"
            raise InputError(called(path), found, "give spectra with one axis")
        if len(x) == len(axis) and np.abs(x - axis).max() <= _SAME_PLACE * step:
            rows[i] = y
            continue
        covered = (min(x[-1], axis[-1]) - max(x[0], axis[0])) / (axis[-1] - axis[0])
        if covered < _COVERED:
            found = f"has spectrum {quoted(one.name)} from {x[0]:g} to {x[-1]:g}, and {quoted(spectra[0].name)} "
            found += f"from {axis[0]:g} to {axis[-1]:g}"
            raise InputError(called(path), found, "give spectra of the same range")
        rows[i], moved = np.interp(axis, x, y), moved + 1
    if moved:
        notes.append(
            f"{counted(moved, 'spectrum', 'spectra')} of {called(path)} with other places on the axis were "
            "interpolated onto those of the first."
        )
    names = _names_of(axis)
    known = pd.DataFrame([{"spectrum": one.name, **one.facts} for one in spectra])
    known = known.loc[:, [name for name in known if name == "spectrum" or known[name].nunique(dropna=False) > 1]]
    labels = _labels(Path(path), known)
    frame = pd.concat([labels, pd.DataFrame(rows, columns=names)], axis=1)
    unit = f" in {spectra[0].unit}" if spectra[0].unit else ""
    where = f"{len(axis)} places from {axis[0]:g} to {axis[-1]:g}{unit}"
    notes.insert(0, f"{counted(len(spectra), 'spectrum', 'spectra')} with {where}.")
    shown = known["spectrum"].tolist()
    unused = tuple(name for name in ("spectrum", "file") if name in frame.columns)
    row_name = lambda row: f"spectrum {quoted(shown[row])}"  # noqa: E731
    return TableFile(frame, notes=tuple(notes), row_name=row_name, unused=unused, **own_code(path, how))


def _names_of(axis: Floats) -> list[str]:
    """The places as names, with as many digits as they need."""
    for digits in range(4, 16):
        names = [f"{place:.{digits}g}" for place in axis.tolist()]
        if len(set(names)) == len(names):
            return names
    return [repr(place) for place in axis.tolist()]


def _labels(folder: Path, known: Any) -> Any:
    """What is known of the spectra, with the columns of a table ``labels.csv`` or ``metadata.csv`` in the folder."""
    import pandas as pd

    places = [place for place in (folder / "labels.csv", folder / "metadata.csv") if place.is_file()]
    if not places:
        return known
    table = pd.read_csv(places[0], sep=None, engine="python", dtype={0: str})
    keys = table.iloc[:, 0].astype(str).str.strip()
    by = next((name for name in ("file", "spectrum") if name in known and known[name].isin(keys).all()), None)
    if by is None or keys.duplicated().any():
        named = set(keys)
        absent = [name for name in known["file" if "file" in known else "spectrum"] if name not in named][:1]
        found = f"does not name every spectrum once, such as {quoted(*absent)}" if absent else "names a spectrum twice"
        raise wrong(str(places[0]), found, "its first column must hold the names of the files")
    rest = table.set_index(keys).iloc[:, 1:].loc[known[by]].reset_index(drop=True)
    return pd.concat([known, rest[[name for name in rest if name not in known]]], axis=1)
