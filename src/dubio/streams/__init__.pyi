# ruff: isort: skip_file
from dubio.streams.stream import fit_stream as fit_stream, rank_stream as rank_stream
