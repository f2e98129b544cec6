"""Fuzzy-rough sets: similarities, connectives, the dependency of a target on features."""
