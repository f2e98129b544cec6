"""Tables larger than memory and larger than one machine: streams of Arrow batches, and Dask."""

from dubio.scale.stream import fit_stream, rank_stream

__all__ = ["fit_stream", "rank_stream"]
