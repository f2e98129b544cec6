"""Text files: CSV and its relatives."""

from __future__ import annotations

import sys

from dubio.streams.text_files import HowToRead, line_of, read_text
from dubio_app.files.table_file import TableFile


def read_text_file(path: str, how: HowToRead) -> TableFile:
    """A text file, or standard input."""
    content = sys.stdin.buffer.read() if path == "-" else None
    frame, form = read_text(path, how, content)
    code = f"pd.read_csv({'sys.stdin' if path == '-' else repr(path)}, {form.pandas_code()})"
    imports = "import sys\n" if path == "-" else ""
    return TableFile(frame, form.separator, form.notes, code, imports, lambda row: line_of(path, content, form, row))
