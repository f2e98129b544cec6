"""Fuzzy-rough sets: similarities, connectives, the dependency of a target on features."""

from dubio.fuzzyrough.dependency import fuzzy_rough_dependency

__all__ = ["fuzzy_rough_dependency"]
