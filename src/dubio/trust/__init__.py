"""Trust in an answer: stability, tolerance, fingerprints, corrections."""

from dubio._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__, {"Mended": "dubio.trust.BeforeAndAfter"})
