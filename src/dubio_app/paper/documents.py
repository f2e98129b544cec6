"""The kit's text as a Word file with the same bytes every time, from the Markdown that the kit itself writes."""

from __future__ import annotations

import datetime
import io
import zipfile

#: The time that all parts of the file bear: the earliest that a zip archive can hold.
_TIME = (1980, 1, 1, 0, 0, 0)


def word_file(*pages: str) -> bytes | None:
    """Pages of Markdown (headings, paragraphs, lists, tables) as .docx; None if python-docx is not installed."""
    try:
        from docx import Document
    except ImportError:
        return None
    document = Document()
    document.core_properties.created = document.core_properties.modified = datetime.datetime(*_TIME)
    document.core_properties.author = "dubio"
    for page in pages:
        for block in page.split("\n\n"):
            lines = [line for line in block.splitlines() if line.strip()]
            if not lines:
                continue
            if lines[0].startswith("#"):
                marks, _, title = lines[0].partition(" ")
                document.add_heading(title, level=len(marks))
            elif lines[0].startswith("|"):
                _add_table(document, lines)
            elif lines[0].startswith("- "):
                for line in lines:
                    document.add_paragraph(line[2:], style="List Bullet")
            else:
                document.add_paragraph(" ".join(lines))
    buffer = io.BytesIO()
    document.save(buffer)
    return _without_times(buffer.getvalue())


def _add_table(document: object, lines: list[str]) -> None:
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if not line.startswith("| ---")]
    table = document.add_table(len(rows), len(rows[0]))  # type: ignore[attr-defined]
    for row, cells in zip(table.rows, rows, strict=True):
        for place, cell in zip(row.cells, cells, strict=False):
            place.text = cell


def _without_times(archive: bytes) -> bytes:
    """The same archive; every part bears the same time."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for part in sorted(old.namelist()):
            new.writestr(zipfile.ZipInfo(part, _TIME), old.read(part), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
