"""What is known of the target: one file per kind."""

from dubio._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
