"""A look into the archive of a workbook before it is opened: extent, formulas without a value, hidden rows, filters.

The reader of workbooks makes a full rectangle of cells, shows no formulas and does not know hidden rows. So this is
found out first, from the parts of the archive; a workbook that would not fit into memory is refused.
"""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

from dubio.errors import InputError, counted
from dubio.streams.text_files import called, first_line

#: Most cells of the rectangle around a sheet: 100 million take 3 GB.
MOST_CELLS = 100_000_000
#: Most bytes of an unpacked archive.
_MOST_BYTES = 4 * 2**30
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_REFERENCE = re.compile(rb'\br="([A-Z]{1,3})(\d+)"')
#: A cell with a formula and no stored value.
_WITHOUT_VALUE = re.compile(
    rb'<c r="([A-Z]+\d+)"(?:(?!</c>|/>)[^>])*>\s*<f(?:[^>]*/>|[^>]*>[^<]*</f>)\s*(?:<v\s*/>|<v></v>)?\s*</c>'
)
_HIDDEN_ROW = re.compile(rb'<row [^>]*\bhidden="(?:1|true)"')
_PREFIX = re.compile(rb"<(/?)[A-Za-z]\w*:(?=[A-Za-z])")
_PACKAGE = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


@dataclass(frozen=True)
class SheetScan:
    """The facts of one sheet that its reader does not tell."""

    #: Rows and columns of the rectangle around its cells.
    height: int = 0
    width: int = 0
    #: The cells whose formula has no stored value, as they are named in the sheet.
    without_value: tuple[str, ...] = ()
    n_hidden_rows: int = 0
    has_filter: bool = False
    #: Number of cells that hold an error, such as #DIV/0!.
    n_errors: int = 0


def scan_workbook(path: str) -> dict[str, SheetScan]:
    """The facts of each sheet, by its name; none for formats whose archive is not looked into."""
    with open(path, "rb") as file:
        head = file.read(8)
    if head == _OLE:
        if "EncryptedPackage".encode("utf-16-le") in Path(path).read_bytes():
            raise protected(path)
        return {}
    if head[:1] == b"\x09" and head[2:4] in (b"\x04\x00", b"\x06\x00", b"\x08\x00", b"\x10\x00"):
        return {}  # an .xls file of long ago
    if not head.startswith(b"PK"):
        found = "cannot be read: it is no workbook"
        raise InputError(called(path), found, "is it a text file with another ending (.csv), or damaged?")
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(part.file_size for part in archive.infolist())
            if size > _MOST_BYTES:
                raise _too_large(path, f"unpacks to {size / 2**30:.0f} GB")
            names = set(archive.namelist())
            if "xl/workbook.xml" in names:
                return {sheet: _scan_sheet(archive, part) for sheet, part in _parts(archive) if part in names}
            if "META-INF/manifest.xml" in names and b"encryption-data" in archive.read("META-INF/manifest.xml"):
                raise protected(path)
            if "xl/workbook.bin" in names:
                return _scan_binary(archive, names)
            return {"": _scan_document(archive)} if "content.xml" in names else {}
    except (zipfile.BadZipFile, zipfile.LargeZipFile, ElementTree.ParseError, *_DAMAGED) as error:
        raise damaged(path, first_line(error)) from error


_DAMAGED = (OSError, EOFError, KeyError, IndexError, ValueError, NotImplementedError, RuntimeError, zlib.error)


def refuse_extent(path: str, sheet: str, scan: SheetScan) -> None:
    """Raise if the rectangle around the cells of a sheet is too large."""
    if scan.height * scan.width > MOST_CELLS:
        where = f"{counted(scan.height, 'row')} and {counted(scan.width, 'column')}"
        raise _too_large(path, f"has cells spread over {where} in sheet {sheet!r}")


def damaged(path: str, why: str) -> InputError:
    """The error of a workbook that is broken."""
    return InputError(called(path), f"cannot be read as a workbook: {why}", "is it damaged?")


def protected(path: str) -> InputError:
    """The error of a workbook that is encrypted."""
    return InputError(called(path), "is protected by a password", "save it without a password")


def _too_large(path: str, found: str) -> InputError:
    return InputError(called(path), found, "delete stray cells far from the table, or save the table as CSV")


def _parts(archive: zipfile.ZipFile) -> list[tuple[str, str]]:
    """The sheets of an .xlsx file, each with the name of its part."""
    relations = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    targets = {one.get("Id"): one.get("Target", "") for one in relations.iter(_PACKAGE)}
    book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
    sheets = [one for one in book.iter() if one.tag.rpartition("}")[2] == "sheet"]
    found = ((one.get("name", ""), targets.get(one.get(_RELATION), "")) for one in sheets)
    return [(name, part.lstrip("/") if part.startswith("/") else f"xl/{part}") for name, part in found]


def _scan_sheet(archive: zipfile.ZipFile, part: str) -> SheetScan:
    """The facts of a sheet of an .xlsx file. Only the last cell of each row is looked at, which takes little time."""
    data = archive.read(part)
    if b"<row" not in data and b":row" in data:
        data = _PREFIX.sub(rb"<\1", data)
    height = width = 0
    for row in data.split(b"</row>"):
        last = row.rfind(b"<c ")
        if last < 0:
            continue
        match = _REFERENCE.search(row, last)
        column = _column_number(match[1]) if match else row.count(b"<c ")
        height = int(match[2]) if match else height + 1
        width = max(width, column)
    has_formulas, hides = b"<f" in data, b"hidden=" in data
    return SheetScan(
        height,
        width,
        tuple(name.decode() for name in _WITHOUT_VALUE.findall(data)) if has_formulas else (),
        len(_HIDDEN_ROW.findall(data)) if hides else 0,
        b"<autoFilter" in data,
        data.count(b' t="e"'),
    )


@cache
def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


def _scan_binary(archive: zipfile.ZipFile, names: set[str]) -> dict[str, SheetScan]:
    """The largest extent that the sheets of an .xlsb file name."""
    largest = SheetScan()
    for part in sorted(name for name in names if name.startswith("xl/worksheets/") and name.endswith(".bin")):
        with archive.open(part) as stream:
            head = stream.read(4096)
        place = head.find(b"\x94\x01\x10")  # the record of the dimensions: first and last row, first and last column
        if place >= 0:
            _, last_row, _, last_column = struct.unpack_from("<4I", head, place + 3)
            if last_row * last_column > largest.height * largest.width:
                largest = SheetScan(last_row + 1, last_column + 1)
    return {"": largest}


_ROW = re.compile(rb"<table:table-row\b([^>]*)>")
_REPEATED = re.compile(rb'number-(rows|columns)-repeated="(\d+)"')
_FULL_CELL = re.compile(rb"<table:table-cell\b([^>]*\boffice:value[^>]*)>")


def _scan_document(archive: zipfile.ZipFile) -> SheetScan:
    """The extent of the largest sheet of an .ods file: rows, up to the last with a value, and columns."""
    height = width = 0
    data = archive.read("content.xml")
    for sheet in data.split(b"<table:table ")[1:]:
        rows = columns = full = 0
        for row in sheet.split(b"</table:table-row>"):
            start = _ROW.search(row)
            repeats = _REPEATED.search(start[1]) if start else None
            rows += int(repeats[2]) if repeats else 1
            last = row.rfind(b"office:value")
            if last >= 0:
                full = rows
                before = row[: row.find(b">", last)]
                columns = max(columns, sum(_times(cell) for cell in before.split(b"<table:table-cell")[1:]))
        height, width = max(height, full), max(width, columns)
    return SheetScan(height, width, n_hidden_rows=data.count(b'table:visibility="collapse"'))


def _times(cell: bytes) -> int:
    repeats = _REPEATED.search(cell)
    return int(repeats[2]) if repeats else 1
