"""Tables as text: which encoding, which separator, and the cells as a frame.

What the user says (:class:`HowToRead`) is taken as it is. What the user does not say is found out. Whole files and
streams use the same rules, so all text tables are read in the same way.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import mmap
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from dubio.errors import InputError, counted, listed, quoted
from dubio.table.cells import EXACT, MISSING
from dubio.words import note

#: The usual separator for each ending; None: none is usual.
TEXT = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": None, ".data": None, ".dat": None}
COMPRESSED = (".gz", ".bz2", ".zst")
#: Stands for one or more blanks between two cells.
BLANKS = " "
_SEPARATORS = (";", "\t", "|")
_NAMED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": BLANKS, "blank": BLANKS, "bar": "|"}
#: A first line by which spreadsheet programs say what separates the columns.
_SAID = re.compile(r'"?sep=([,;|\t])"?', re.IGNORECASE)
#: Bytes per block. Column types are inferred from the first block, and a row must fit into one block.
_BLOCK = 1 << 26
#: Most bytes in one block, a limit of pyarrow.
_MOST = (1 << 31) - 1
#: Bytes that are looked at, or translated, at a time.
_PART = 1 << 20
#: Bytes and lines that are looked at to find the encoding and the separator.
_SAMPLE_BYTES, _SAMPLE_LINES = 1 << 18, 50


@dataclass(frozen=True)
class HowToRead:
    """Wishes of the user about a file; None: find it out."""

    #: Of a text file: what stands between two cells, the decimal mark, the encoding.
    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    #: Cells that mean "missing", besides empty ones and :data:`MISSING`. -999 also means -999.0.
    missing: tuple[str, ...] = ()
    #: Of an Excel file: the name of the sheet.
    sheet: str | None = None
    #: Columns of a text file that stay text even if they look like numbers.
    as_text: tuple[str, ...] = ()
    #: The row with the names of the columns, counted from 1.
    header_row: int | None = None

    def __post_init__(self) -> None:
        if self.separator is not None:
            separator = _NAMED.get(self.separator.casefold(), self.separator)
            if len(separator) != 1 or separator in '"\r\n':
                raise InputError("sep", f"={self.separator!r}", "give one character, or tab, comma, semicolon, space")
            object.__setattr__(self, "separator", separator)
        if self.decimal not in (None, ".", ","):
            raise InputError("decimal", f"={self.decimal!r}", "give a point or a comma")
        if self.decimal is not None and self.decimal == self.separator:
            raise InputError("decimal", f"={self.decimal!r}, which also separates the columns", "give two marks")
        if self.encoding is not None:
            try:
                if not codecs.lookup(self.encoding)._is_text_encoding:
                    raise LookupError(self.encoding)  # of bytes, such as hex and zlib, or of letters, such as rot13
            except LookupError as error:
                found = f"={self.encoding!r}, which is not known"
                raise InputError("encoding", found, "give for example utf-8, utf-16 or cp1252") from error


@dataclass(frozen=True)
class TextForm:
    """The form of a text file: separator, encoding, decimal mark, and which cells are missing."""

    separator: str
    encoding: str = "utf-8"
    decimal: str = "."
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    #: Lines above the names of the columns.
    skip: int = 0

    @property
    def null_values(self) -> list[str]:
        """Cells without a value."""
        numbers = [f"{mark}.0" for mark in self.missing if re.fullmatch(r"[-+]?\d+", mark)]
        return ["", *MISSING, *self.missing, *numbers]

    def for_pyarrow(self, block: int, encoding: str = "utf-8", quotes: bool = True, **convert: Any) -> dict[str, Any]:
        """Options of pyarrow; ``block`` is in bytes. Without ``quotes``, no cell has a second line."""
        from pyarrow import csv

        missing: dict[str, Any] = {"null_values": self.null_values, "strings_can_be_null": True}
        name = "utf8" if encoding == "utf-8" else encoding
        how_read = csv.ReadOptions(block_size=block, encoding=name, skip_rows=self.skip)
        parsed = csv.ParseOptions(delimiter=self.separator, newlines_in_values=quotes)
        converted = csv.ConvertOptions(**missing, decimal_point=self.decimal, **convert)
        return {"read_options": how_read, "parse_options": parsed, "convert_options": converted}

    def pandas_code(self) -> str:
        """Arguments of ``pd.read_csv`` that read the same table."""
        sep = r"\s+" if self.separator == BLANKS else self.separator
        parts = [f"sep={sep!r}"] if sep != "," else []
        parts += [f"encoding={self.encoding!r}"] if self.encoding != "utf-8" else []
        parts += [f"decimal={self.decimal!r}"] if self.decimal != "." else []
        parts += [f"skiprows={self.skip}"] if self.skip else []
        return ", ".join([*parts, "keep_default_na=False", f"na_values={self.null_values!r}"])


def text_form(path: str, how: HowToRead, content: bytes | None = None, *, whole: bool = True) -> TextForm:
    """The form of a text file: as the user wishes, and otherwise as its first lines show.

    If the ``whole`` file will be in memory, all of its bytes show whether it is UTF-8: this takes little of the time.
    """
    notes: list[str] = []
    encoding = how.encoding or _encoding_of(path, content, notes, whole) or _not_utf8(path, content, notes)
    skip, said = (how.header_row or 1) - 1, ""
    if how.header_row is None:
        with text_lines(path, content, encoding) as lines, suppress(OSError, EOFError):
            said = (_SAID.fullmatch(lines.readline(_SAMPLE_LINES).strip("\r\n ")) or ["", ""])[1]
        skip = int(bool(said))
    separator = how.separator or said or separator_of(path, content, encoding, skip)
    if how.header_row is None:
        skip += _titles(path, content, encoding, separator, skip, notes)
    usual = (TEXT.get(suffix_of(path)) if path != "-" else None) or ","
    if how.separator is None and separator != usual:
        notes.append(f"the columns of {called(path)} are separated by {_in_words(separator)}.")
    return TextForm(separator, encoding, how.decimal or ".", how.missing, tuple(notes), skip)


#: Lines at the top among which the names of the columns are looked for, and what begins a number, not a name.
_TOP_ROWS, _BEGINS_NUMBER = 10, re.compile(r"[-+<>]?[.,]?\d")


def _titles(path: str, content: bytes | None, encoding: str, separator: str, skip: int, notes: list[str]) -> int:
    """The number of lines above the names of the columns of which only the first cell holds text, as titles have.

    Below the names, numbers must follow: else the line with one cell may itself be the names, most of which are blank.
    """
    with text_lines(path, content, encoding, skip=skip) as lines, suppress(OSError, EOFError, csv.Error):
        top = [[cell.strip() for cell in row] for row in islice(_rows(lines, separator), _TOP_ROWS)]
        count = next((place for place, row in enumerate(top) if sum(map(bool, row)) > 1), 0)
        titles, names = top[:count], top[count] if count else []
        are_titles = all(len(row) == len(names) > 2 and "\n" not in row[0] and not any(row[1:]) for row in titles)
        are_names = len(set(filter(None, names))) == len(names) and not any(map(_BEGINS_NUMBER.match, names))
        holds_numbers = any(_BEGINS_NUMBER.match(cell) for row in top[count + 1 :] for cell in row)
        if are_titles and names and titles[0][0] and are_names and holds_numbers:
            lines_skipped = f"{counted(count, 'line')} above the names of the columns of {called(path)}"
            notes.append(f"{lines_skipped} {'was' if count == 1 else 'were'} skipped: {quoted(titles[0][0])}.")
            return count
    return 0


def read_text(path: str, how: HowToRead, content: bytes | None) -> tuple[Any, TextForm]:
    """The cells of a text file as a pandas frame, and how the file is written."""
    form = text_form(path, how, content)
    while True:
        try:
            return _read_as(path, form, how, content)
        except UnicodeError as error:
            if how.encoding is not None or form.encoding != "utf-8":
                name = form.encoding if how.encoding else f"UTF-8, and not {_CALLED.get(form.encoding, form.encoding)}"
                remedy = 'name its encoding with --encoding, or save it as "CSV UTF-8"'
                found = f"is not {name} text ({first_line(error)})"
                raise InputError(called(path), found, remedy, code="encoding") from error
        notes = list(form.notes)  # the first bytes were UTF-8, later ones are not
        form = replace(form, encoding=_not_utf8(path, content, notes), notes=tuple(notes))


def _read_as(path: str, form: TextForm, how: HowToRead, content: bytes | None) -> tuple[Any, TextForm]:
    """Read with this form, to which notes may be added; raises UnicodeError if the text has another encoding."""
    import pyarrow as pa
    import pyarrow.csv

    if form.separator == BLANKS:
        return _read_with_pandas(path, form, how, content), form
    block, quotes = _BLOCK, _has_quotes(path, content)

    def cells(**convert: Any) -> Any:
        with _utf8_source(path, content, form.encoding) as source:
            return pyarrow.csv.read_csv(source, **form.for_pyarrow(block, quotes=quotes, **convert))

    while True:
        try:
            table = cells(column_types=dict.fromkeys(how.as_text, pa.string()))
            break
        except (pa.ArrowException, OSError) as error:
            if "invalid UTF8" in str(error):
                raise UnicodeError(first_line(error)) from error
            if block < _MOST and "conversion error" in str(error):
                block = _MOST  # the type of a column changes further down: infer types from all rows
                continue
            _explain(path, content, form, error)  # raises unless a single block is too small for the file
            return _read_with_pandas(path, form, how, content), form
    refuse_twins(table.column_names, path)
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_binary(column.type):
            raise UnicodeError(f"in column {quoted(name)}")
        if _has_zero_bytes(column) or "\0" in name:
            found = f"is not text: it has zero bytes in column {quoted(name)}"
            raise InputError(called(path), found, "is it a file of another kind, or damaged?")

    def written(name: str, row: int) -> str:
        return str(cells(include_columns=[name], column_types={name: pa.string()})[name][row]).strip()

    return arrow_to_pandas(table), replace(form, notes=(*form.notes, *rounded_notes(table, path, written)))


def _has_zero_bytes(column: Any) -> bool:
    """Whether a cell of a column of text holds a zero byte."""
    import pyarrow as pa

    if not pa.types.is_string(column.type):
        return False
    buffers = (chunk.buffers()[-1] for chunk in column.chunks)
    return any(buffer is not None and not np.frombuffer(buffer, dtype=np.uint8).all() for buffer in buffers)


def _has_quotes(path: str, text: bytes | None) -> bool:
    """Whether a file may have cells in quotes: it is read faster if it has none."""
    if text is not None or path.endswith(COMPRESSED):
        return text is None or b'"' in text
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
        return whole.find(b'"') >= 0


def rounded_notes(table: Any, path: str, written: Callable[[str, int], str] = lambda name, row: "") -> tuple[str, ...]:
    """Notes on the columns of a pyarrow table that lose digits of whole numbers when they become floating point.

    That is whole numbers beside missing cells, and decimals. Numbers too long for 64 bits are floating point already:
    ``written`` gives the text in a row of such a column, as it stands in the file.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    notes = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind, is_float = column.type, pa.types.is_float64(column.type)
        if not (is_float or pa.types.is_decimal(kind) or (pa.types.is_integer(kind) and column.null_count)):
            continue
        found = example = _farthest_from_zero(column)
        if not (2.0**63 if is_float else EXACT + 1) <= abs(example) < float("inf"):
            continue
        if is_float:
            found = written(name, pc.index(column, example).as_py())
        if re.fullmatch(r"[+-]?\d+", str(found)) if is_float else example == int(example):
            notes.append(rounded_note(name, path, found))
    return tuple(notes)


def _farthest_from_zero(column: Any) -> Any:
    """The smallest or largest value of a column of pyarrow, whichever is larger without its sign; 0 if it has none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_float64(column.type):  # NumPy is faster
        parts = [part.to_numpy(zero_copy_only=False) for part in column.chunks]
        ends = [float(end.reduce(part, initial=0.0)) for part in parts for end in (np.fmin, np.fmax)]
    else:
        ends = [value for value in pc.min_max(column).as_py().values() if value is not None]
    return max(ends, key=abs, default=0)


def rounded_note(name: str, path: str, example: object) -> str:
    """A note on one column of a file whose whole numbers were rounded."""
    return f"column {quoted(name)} of {called(path)}: {note('rounded', example=example)}."


def arrow_to_pandas(table: Any) -> Any:
    """A pyarrow table as a pandas frame; dates stay dates, and are not Python objects."""
    return table.to_pandas(date_as_object=False)


def _read_with_pandas(path: str, form: TextForm, how: HowToRead, content: bytes | None) -> Any:
    import pandas as pd

    with text_lines(
        path, content, form.encoding, skip=form.skip
    ) as lines:  # pandas would rename columns with the same name
        refuse_twins(next(iter(_rows(lines, form.separator)), []), path)
    options: dict[str, Any] = {"keep_default_na": False, "na_values": form.null_values, "low_memory": False}
    if int(pd.__version__.split(".")[0]) < 3:  # their default loses the last digit
        options["float_precision"] = "round_trip"
    sep, text = r"\s+" if form.separator == BLANKS else form.separator, dict.fromkeys(how.as_text, str)
    with text_lines(path, content, form.encoding, strict=True, skip=form.skip) as lines:
        return pd.read_csv(lines, sep=sep, decimal=form.decimal, dtype=text, **options)


def separator_of(path: str, content: bytes | None = None, encoding: str = "utf-8", skip: int = 0) -> str:
    """The separator of the columns: a tab for .tsv, otherwise the candidate that splits the first lines alike.

    Candidates are those outside quotes in the header. If several split all lines alike, or none does, the most
    frequent one in the header is taken. Text files that are not .csv may also be separated by blanks.
    """
    with text_lines(path, content, encoding, skip=skip) as lines:
        try:
            first = [line for line in islice(lines, _SAMPLE_LINES) if line.strip()]
        except (OSError, EOFError) as error:
            raise InputError(called(path), f"cannot be read: {first_line(error)}") from error
    if not first:
        raise InputError(called(path), "is empty")
    suffix = suffix_of(path) if path != "-" else ".csv"
    own = TEXT.get(suffix) or ","
    if own == "\t":
        return own
    bare = [re.sub(r'"[^"]*"', "", line) for line in first]
    header = bare[0]
    candidates = [mark for mark in dict.fromkeys((own, *_SEPARATORS)) if mark in header]
    if not candidates:
        widths = {len(line.split()) for line in bare}
        return BLANKS if TEXT.get(suffix, ",") is None and len(widths) == 1 and widths != {1} else own
    even = [mark for mark in candidates if len({line.count(mark) for line in bare}) == 1]
    # if counts are equal, the first candidate wins
    return max(even or candidates, key=header.count)


def suffix_of(path: str) -> str:
    """The ending of a file name in lower case, without that of a compression."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    while suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


@contextmanager
def plain_bytes(path: str, content: bytes | None = None) -> Iterator[Any]:
    """The decompressed bytes of a file."""
    if content is not None:
        stream: Any = io.BytesIO(content)
    elif path.endswith(".zst"):
        import pyarrow as pa

        stream = pa.input_stream(path)
    else:
        stream = {".gz": gzip.open, ".bz2": bz2.open}.get(Path(path).suffix, open)(path, "rb")  # type: ignore[operator]
    with stream:
        yield stream


@contextmanager
def text_lines(
    path: str, content: bytes | None, encoding: str, *, strict: bool = False, skip: int = 0
) -> Iterator[TextIO]:
    """The text of a file, without its first lines.

    Unless ``strict``, wrong bytes are replaced: the text then serves for messages only.
    """
    name = "utf-8-sig" if encoding == "utf-8" else encoding
    with plain_bytes(path, content) as stream:
        lines = io.TextIOWrapper(stream, encoding=name, errors="strict" if strict else "replace", newline="")
        for _ in range(skip):
            lines.readline()
        yield lines


def _encoding_of(path: str, content: bytes | None, notes: list[str], whole: bool) -> str | None:
    """The encoding: UTF-8 or, from the first bytes, UTF-16; None if it is neither."""
    with plain_bytes(path, content) as stream:
        try:
            head = stream.read(_SAMPLE_BYTES)
        except (OSError, EOFError):
            return "utf-8"  # a damaged file is reported when its rows are read
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    elif b"\0" not in head:
        return "utf-8" if _is_utf8(path, content, head, whole) else None
    else:
        even, odd = head[::2].count(b"\0"), head[1::2].count(b"\0")
        if 4 * max(even, odd) < len(head) or 20 * min(even, odd) > max(even, odd):  # not text of mostly western letters
            raise InputError(called(path), "is not text: it has zero bytes", "is it a file of another kind?")
        encoding = "utf-16-le" if odd > even else "utf-16-be"
    notes.append(f"{called(path)} was read as UTF-16 text.")
    return encoding


def _is_utf8(path: str, content: bytes | None, head: bytes, whole: bool) -> bool:
    """Whether all bytes are UTF-8; of a stream and a compressed file, the first ones: the others cost too much."""
    whole = whole and (content is not None or not path.endswith(COMPRESSED))
    parts = _parts(path, content) if whole else iter([head])
    decoder = codecs.getincrementaldecoder("utf-8")()  # a character may be cut at the end of a part
    try:
        for part in parts:
            if not part.isascii() or decoder.getstate()[0]:
                decoder.decode(part)
        decoder.decode(b"", final=whole)
    except UnicodeError:
        return False
    return True


def _parts(path: str, content: bytes | None) -> Iterator[bytes]:
    with plain_bytes(path, content) as stream:
        yield from iter(lambda: stream.read(_PART), b"")


@contextmanager
def _utf8_source(path: str, content: bytes | None, encoding: str) -> Iterator[Any]:
    """The text of a file as UTF-8, for pyarrow. It translates other encodings too, but slowly."""
    import pyarrow as pa

    if encoding == "utf-8":
        with pa.input_stream(pa.py_buffer(content) if content is not None else path) as source:
            yield source
        return
    with plain_bytes(path, content) as stream:
        if encoding == "cp1252":
            yield pa.PythonFile(codecs.EncodedFile(stream, "utf-8", "cp1252"), mode="r")
        else:
            yield pa.input_stream(pa.py_buffer(stream.read().decode(encoding).encode()))


#: How encodings are called in front of people.
_CALLED = {"cp1252": "Windows-1252", "cp1250": "Windows-1250", "cp1251": "Windows-1251", "cp1253": "Windows-1253"}
_CALLED |= {"cp932": "Shift JIS (cp932)", "euc_jp": "EUC-JP", "gb18030": "GB 18030", "big5": "Big5", "cp949": "cp949"}
_CALLED |= {"koi8_u": "KOI8", "cp866": "DOS text (cp866)", "iso8859_5": "ISO 8859-5"}
#: Bytes of letters between others. In Latin writing, few of the letters of a word are beyond ASCII.
_WORD = re.compile(rb"[A-Za-z\x80-\xff]{4,}")
#: Letters of Czech, Slovak, Slovene and Croatian that western languages hardly have, and signs that stand inside words
#: of Polish if these are taken for Windows-1252; bytes without a meaning there.
_EASTERN = re.compile(
    rb"[\x8a\x8e\x9a\x9e\xdd\xfd\x81\x8d\x8f\x90\x9d]|[A-Za-z\x80-\xff][\xb3\xb9\xbf\x9f][a-z\x80-\xff]"
)


#: Letters of Russian and Greek, the most frequent ones first; and how likely the letters of a text are on average.
_FREQUENT = dict.fromkeys(("cp1251", "koi8_u", "cp866", "iso8859_5"), "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъёіїєў")
_FREQUENT |= {"cp1253": "αοιετσνηυρπκμλςίωάδγέήόθχφύβξώζψϊϋΐΰ"}
_LIKELY = -3.3
#: Letters of other alphabets beside Latin ones: the bytes of Japanese characters, taken for such letters.
_BESIDE_LATIN = re.compile("[^\x00-\x7f][@-Z]|[@-Z][^\x00-\x7f]")
#: Kana and Chinese characters, and the signs between them.
_EAST_ASIAN = re.compile("[\u3000-\u30ff\u4e00-\u9fff\uff01-\uff5e]+")


def _not_utf8(path: str, content: bytes | None, notes: list[str]) -> str:
    """The encoding of a file that is not UTF-8, with a note that shows what was read."""
    part = next((part for part in _parts(path, content) if not part.isascii()), b"")
    encoding = _likely_encoding(part)
    text = part.decode(encoding, "replace")
    place = next((place for place, letter in enumerate(text) if letter > "\x7f"), 0)
    words = re.split(r"[\s,;|]+", text[max(0, place - 100) : place + 100])
    example = next((word.strip('"') for word in words if not word.isascii()), "")
    name = _CALLED.get(encoding, encoding)
    read_as = f"{called(path)} is not UTF-8 and was read as {name}, for example {quoted(example)}."
    notes.append(f"{read_as} If this is wrong, name the encoding with --encoding.")
    return encoding


def _likely_encoding(part: bytes) -> str:
    """Windows-1252 (western) or 1250 (eastern) for Latin writing; for others what charset-normalizer finds likely."""
    words = _WORD.findall(part)
    foreign = sum(2 * sum(byte > 0x7F for byte in word) >= len(word) for word in words[:1000])
    accented = sum(not word.isascii() for word in words[:1000])
    if 2 * foreign > accented:
        if (alphabet := _alphabet_of(part)) is not None:
            return alphabet
        if _decodes(part, "cp932") and _EAST_ASIAN.fullmatch(re.sub(r"[\x00-\x7f]", "", part.decode("cp932"))):
            return "cp932"
        with suppress(ImportError):
            from charset_normalizer import from_bytes

            among = ["cp1251", "cp1253", "cp932", "euc_jp", "gb18030", "big5", "cp949"]
            best = from_bytes(part[:_SAMPLE_BYTES], cp_isolation=among).best()
            if best is not None:
                return str(best.encoding)
    return "cp1250" if _EASTERN.search(part) and _decodes(part, "cp1250") else "cp1252"


def _alphabet_of(part: bytes) -> str | None:
    """The Cyrillic or Greek encoding in which letters occur about as often as they do in these languages; else None."""
    likely = {}
    for encoding, letters in _FREQUENT.items():
        if not _decodes(part, encoding):
            continue
        decoded = part[:_SAMPLE_BYTES].decode(encoding, "ignore")
        text = [letter for letter in decoded if letter > "\x7f"]
        if 5 * len(_BESIDE_LATIN.findall(decoded)) > len(text):
            continue
        places = [letters.find(letter.casefold()) for letter in text]  # the n-th letter is about as frequent as 1 / n
        likely[encoding] = sum(-np.log(place + 3) if place >= 0 else -8.0 for place in places) / max(1, len(places))
    best = max(likely, key=likely.__getitem__, default=None)
    return best if best is not None and likely[best] > _LIKELY else None


def _decodes(part: bytes, encoding: str) -> bool:
    try:
        part.decode(encoding)
    except UnicodeError:
        return False
    return True


def _rows(lines: TextIO, separator: str) -> Any:
    """The cells of each row; of a csv.reader, which knows the number of its line, unless blanks separate them."""
    if separator == BLANKS:
        return (line.split() for line in lines if line.strip())
    csv.field_size_limit(sys.maxsize)
    return csv.reader(lines, delimiter=separator)


def _explain(path: str, content: bytes | None, form: TextForm, error: Exception) -> None:
    """Raise with the line number of the first row of wrong length; return if all rows have the right length."""
    problem = first_line(error)
    try:
        with text_lines(path, content, form.encoding, skip=form.skip) as lines:
            rows, width = _rows(lines, form.separator), 0
            for row in filter(None, rows):
                width = width or len(row)
                if len(row) != width:
                    cells, columns = counted(len(row), "cell"), counted(width, "column")
                    begins = f"it begins with {quoted(form.separator.join(row)[:40])}"
                    remedy = f"text that contains {_in_words(form.separator)} must be in double quotes; "
                    place = f"{called(path)}, line {form.skip + rows.line_num},"
                    found = f"has {cells} where the header has {columns}: {begins}"
                    raise InputError(
                        place,
                        found,
                        f"{remedy}--sep names another separator, --header-row the row with the names of the columns",
                        code="ragged",
                        line=form.skip + rows.line_num,
                        columns=width,
                    )
    except (OSError, EOFError, csv.Error) as second:
        raise InputError(called(path), f"cannot be read: {first_line(second)}") from error
    if "conversion error" not in problem:
        raise InputError(called(path), f"cannot be read: {problem}") from error


def line_of(path: str, content: bytes | None, form: TextForm, row: int) -> str:
    """The line on which a row starts, in words: for a message, the file is read again up to that row."""
    number = None
    with text_lines(path, content, form.encoding, skip=form.skip) as lines:
        if form.separator == BLANKS:
            full = (number for number, line in enumerate(lines, start=1) if line.strip())
            number = next(islice(full, row + 1, None), None)
        else:
            rows, start, seen = _rows(lines, form.separator), 1, -1
            for cells in rows:
                seen += bool(cells)  # the header is row 0 here
                if cells and seen == row + 1:
                    number = start
                    break
                start = rows.line_num + 1
    return "a row of the file" if number is None else f"line {form.skip + number} of the file"


def refuse_twins(names: list[str], path: str) -> None:
    """Raise if two columns have the same name."""
    twins = [name for name, count in Counter(names).items() if count > 1 and name]
    if twins:
        names_of = listed(map(quoted, twins), 5)
        raise InputError(called(path), f"has more than one column named {names_of}", "rename them")


def called(path: str) -> str:
    """A file in a message."""
    return "standard input" if path == "-" else quoted(path)


def first_line(error: BaseException) -> str:
    """The first line of an error's text."""
    return (str(error).strip() or type(error).__name__).splitlines()[0][:300]


def _in_words(separator: str) -> str:
    words = {"\t": "a tab", ";": "a semicolon", "|": "a bar", BLANKS: "blanks", ",": "a comma"}
    return words.get(separator, quoted(separator))
