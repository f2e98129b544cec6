"""Tables larger than memory, read as streams of Arrow batches."""

from dubio.scale.stream import fit_stream, rank_stream

__all__ = ["fit_stream", "rank_stream"]
