"""Nearest rows: distances, graphs, losses, greedy search."""
