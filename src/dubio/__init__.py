"""Feature selection when the labels are in doubt."""

__version__ = "0.1.0"
