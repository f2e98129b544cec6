"""The laboratory: rerun every table and figure of the five papers, store each repetition, and report the results."""

from dubio._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
