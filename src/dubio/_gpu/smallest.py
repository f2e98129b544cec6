"""The smallest numbers along the last axis; of equal ones the first count, as everywhere in the library."""

from __future__ import annotations

from typing import Any

from dubio._gpu.torch_door import torch


def smallest(values: Any, k: int) -> tuple[Any, Any]:
    """Places of the ``k`` smallest numbers of each row, in any order, and the largest of these numbers.

    ``topk`` takes any of several equal numbers. So one more than k is asked for, and only rows in which the last two
    are equal are looked at again.
    """
    n = values.shape[-1]
    found, places = torch.topk(values, min(k + 1, n), largest=False, sorted=True)
    last, places = found[..., k - 1], places[..., :k]
    if k == n:
        return places, last
    tied = found[..., k] == last
    if bool(tied.any()):
        places = places.clone()
        places[tied] = _first_of_equal(values[tied], last[tied], k)
    return places, last


def _first_of_equal(values: Any, last: Any, k: int) -> Any:
    """Places of the k smallest of each row of a matrix, whose k-th smallest is ``last``; of equal ones the first."""
    last = last[:, None]
    below = values < last
    wanted = k - below.sum(dim=1, keepdim=True, dtype=torch.int32)
    equal = values == last
    chosen = below | (equal & (equal.cumsum(dim=1, dtype=torch.int32) <= wanted))
    return chosen.nonzero()[:, 1].view(len(values), k)
