"""Fuzzy-rough sets: similarities, connectives, and the dependency of a target on features."""
