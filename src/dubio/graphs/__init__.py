"""Graphs over rows: neighbours in the table and neighbours in the target."""

from dubio.graphs.neighbors import neighbor_graph, read_graph
from dubio.graphs.targets import semi_supervised_graph, target_graph

__all__ = ["neighbor_graph", "read_graph", "semi_supervised_graph", "target_graph"]
