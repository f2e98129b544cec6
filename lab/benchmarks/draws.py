"""Draws of the lines of a benchmark: in turn, from a chosen number on, stored, and gone on with after a stop.

Every benchmark that uses it has the options ``--first`` (the first draw: rules are chosen on other ones), ``--store``
(a file of draws that are done) and ``--seconds``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio_papers.store import ResultFile

#: What a draw gives: some numbers, NaN for those that this draw cannot tell.
Draw = Callable[[int], tuple[float, ...]]


def parser_of(description: str | None, draws: int) -> argparse.ArgumentParser:
    """The options that say how many draws of each line are made."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("draws", type=int, nargs="?", default=draws)
    parser.add_argument("--first", type=int, default=0, help="number of the first draw (0)")
    parser.add_argument("--store", type=Path, help="file of draws, NAME.jsonl; those that are done are not repeated")
    parser.add_argument("--seconds", type=float, default=np.inf, help="begin no draw after so many seconds")
    return parser


def drawn(lines: Mapping[str, Draw], asked: argparse.Namespace) -> dict[str, NDArray[Any]]:
    """(draws, numbers) of each line that has any: the first draw of all lines, then the second, while there is time."""
    end, numbers = time.monotonic() + asked.seconds, range(asked.first, asked.first + asked.draws)
    file = ResultFile(asked.store.parent, asked.store.stem) if asked.store else None
    done = {key: one["found"] for key, one in file.read().items()} if file else {}
    for number in numbers:
        for line, draw in lines.items():
            if (line, number) in done or time.monotonic() > end:
                continue
            found = [float(one) for one in draw(number)]
            done[line, number] = [one if np.isfinite(one) else None for one in found]
            if file:
                with file.append() as add:
                    add({"cell": line, "repetition": number, "found": done[line, number]})
    there = {line: [done[line, number] for number in numbers if (line, number) in done] for line in lines}
    return {line: np.array(found, dtype=np.float64) for line, found in there.items() if found}


def mean_and_error(found: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Of each number: its mean, the standard error, and how many draws tell it."""
    counts = np.isfinite(found).sum(axis=0)
    means = np.where(counts > 0, np.nansum(found, axis=0) / np.maximum(counts, 1), np.nan)
    squares = np.nansum((found - means) ** 2, axis=0)
    return means, np.sqrt(squares / np.maximum(counts - 1, 1) / np.maximum(counts, 1)), counts
