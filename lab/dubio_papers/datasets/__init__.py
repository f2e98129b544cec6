"""The data of the papers: artificial problems, and real tables by name."""

from dubio_papers.datasets.artificial import (
    Problem,
    make_circle,
    make_spheres,
    make_squares,
    make_y1,
    make_y2,
    make_y3,
    make_y4,
    make_y5,
)
from dubio_papers.datasets.load import Dataset, load, names, where
from dubio_papers.datasets.raw_tables import DatasetUnavailable

__all__ = [
    "Dataset",
    "DatasetUnavailable",
    "Problem",
    "load",
    "make_circle",
    "make_spheres",
    "make_squares",
    "make_y1",
    "make_y2",
    "make_y3",
    "make_y4",
    "make_y5",
    "names",
    "where",
]
