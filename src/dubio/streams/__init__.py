"""Tables larger than memory: files, folders and Arrow datasets, read in batches."""

from typing import TYPE_CHECKING

from dubio._lazy import lazy_names

if TYPE_CHECKING:
    from dubio.streams.stream import fit_stream, rank_stream

__all__ = [
    "fit_stream",
    "rank_stream",
]

_HOMES = {
    "stream": "fit_stream rank_stream",
}

if not TYPE_CHECKING:  # type checkers and editors see the imports above
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)
