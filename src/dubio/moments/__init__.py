"""Sums over rows that can be joined."""
