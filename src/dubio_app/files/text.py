"""Text files: CSV and its relatives."""

from __future__ import annotations

import sys
from pathlib import Path

from dubio.errors import InputError
from dubio.streams.text_files import HowToRead, line_of, read_text
from dubio_app.files.table_file import TableFile


def _piped(path: str) -> bytes | None:
    """All bytes of standard input or of another pipe, which can be read only once; None for a file."""
    if path == "-":
        if sys.stdin is None:
            raise InputError("TABLE", "=-, but standard input is closed", "name a file")
        return sys.stdin.buffer.read()
    return None if Path(path).is_file() else Path(path).read_bytes()


def read_text_file(path: str, how: HowToRead) -> TableFile:
    """A text file, or standard input."""
    content = _piped(path)
    frame, form = read_text(path, how, content)
    code = f"pd.read_csv({'sys.stdin' if path == '-' else repr(path)}, {form.pandas_code()})"
    imports = "import sys\n" if path == "-" else ""
    return TableFile(frame, form.separator, form.notes, code, imports, lambda row: line_of(path, content, form, row))
