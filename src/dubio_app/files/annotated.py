"""Annotated matrices of single cells (.h5ad): the matrix, sparse if it is stored so, and what is known of its rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from dubio.errors import InputError, counted
from dubio.streams.text_files import HowToRead, called, first_line, refuse_twins
from dubio.table.matrix import is_numeric
from dubio.table.read import has_sparse_columns
from dubio_app.files.table_file import TableFile, own_code, wrong

#: Most cells of a matrix that are read, of a sparse one without its zeros: 250 million take 2 GB.
_MOST_CELLS = 250_000_000


def read_annotated(path: str, how: HowToRead) -> TableFile:
    """The matrix with the names of its columns, and a column for each thing that is known of the rows (``obs``)."""
    try:
        import h5py
    except ImportError as error:
        raise ImportError(".h5ad files need h5py: pip install 'dubio[omics]'") from error
    import pandas as pd

    try:
        with h5py.File(path, "r") as file:
            names = _index(file["var"])
            known = {name: _column(file["obs"], name) for name in _names(file["obs"])}
            rows = _index(file["obs"])
            matrix = _matrix(path, file["X"], names, len(rows))
    except InputError:
        raise
    except (OSError, KeyError, ValueError, TypeError, IndexError, RuntimeError, AttributeError) as error:
        raise wrong(path, f"cannot be read as .h5ad: {first_line(error)}", "is it damaged?") from error
    columns = [*names.tolist(), *known]
    refuse_twins(columns, path)
    frame = pd.concat([matrix, pd.DataFrame(known)], axis=1)
    more: dict[str, Any] = {}
    if has_sparse_columns(matrix) and known:
        more["unused"] = tuple(name for name in known if not is_numeric(frame[name].dtype))
        more["notes"] = (f"the matrix of {called(path)} is sparse: of what is known of its rows, text is no feature.",)
    return TableFile(frame, row_name=lambda row: f"row {row + 1} ({rows[row]})", **more, **own_code(path, how))


def _names(group: Any) -> list[str]:
    """The columns of a table of the file, without its index."""
    index = _as_text(group.attrs.get("_index", "_index"))
    order = [_as_text(name) for name in group.attrs.get("column-order", list(group))]
    return [name for name in order if name not in (index, "__categories")]


def _index(group: Any) -> Any:
    return np.array([_as_text(name) for name in group[_as_text(group.attrs.get("_index", "_index"))][()]], dtype=object)


def _column(group: Any, name: str) -> Any:
    """A column: numbers, text, or categories, which have numbers for their names."""
    import pandas as pd

    stored = group[name]
    if hasattr(stored, "keys"):
        codes: Any = np.asarray(stored["codes"][()])
        levels: Any = [_as_text(level) for level in stored["categories"][()]]
        return pd.Categorical.from_codes(codes, levels, ordered=bool(stored.attrs.get("ordered", False)))
    values = np.asarray(stored[()])
    return np.array([_as_text(value) for value in values], dtype=object) if values.dtype.kind in "OS" else values


def _matrix(path: str, stored: Any, names: Any, n_rows: int) -> Any:
    """The matrix as a frame, sparse if it is stored so; raises if it is too large."""
    import pandas as pd
    from scipy import sparse

    is_sparse = hasattr(stored, "keys")
    if (len(stored["data"]) if is_sparse else n_rows * len(names)) > _MOST_CELLS:
        size = f"{counted(n_rows, 'row')} and {counted(len(names), 'column')}"
        remedy = "save only the most variable columns, or pass the sparse matrix in Python"
        raise InputError(called(path), f"has {size}, too many for a table in memory", remedy)
    if not is_sparse:
        return pd.DataFrame(np.asarray(stored[()]), columns=names)
    kind = _as_text(stored.attrs.get("encoding-type", stored.attrs.get("h5sparse_format", "csr")))
    parts = tuple(np.asarray(stored[part][()]) for part in ("data", "indices", "indptr"))
    make = sparse.csc_array if kind.startswith("csc") else sparse.csr_array
    matrix = make(parts, shape=(n_rows, len(names)))
    matrix.check_format(full_check=True)  # places outside the matrix would be written to memory
    matrix = matrix.tocsc()
    matrix.sum_duplicates()
    frame: Any = pd.DataFrame
    return frame.sparse.from_spmatrix(matrix, columns=names)


def _as_text(value: Any) -> str:
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)
