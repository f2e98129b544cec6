"""Tables to try things on."""

from dubio.datasets.artificial import (
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

__all__ = [
    "Problem",
    "make_circle",
    "make_spheres",
    "make_squares",
    "make_y1",
    "make_y2",
    "make_y3",
    "make_y4",
    "make_y5",
]
