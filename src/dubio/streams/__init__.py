"""Tables larger than memory: files, folders and Arrow datasets, read in batches."""

from dubio._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
