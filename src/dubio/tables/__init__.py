"""Turn users' tables into columns of numbers."""
