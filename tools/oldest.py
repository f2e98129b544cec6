"""Print the oldest supported version of every dependency, one per line: ``numpy==1.26.0``.

``make test-oldest`` installs these and runs the tests with them.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def oldest(extras: list[str]) -> list[str]:
    """The lower bounds of the core and of some extras; extras may name others, as in ``dubio[cli,dask]``."""
    wanted, seen, pins = list(extras), set(), []
    requirements = list(PROJECT["dependencies"])
    while wanted:
        extra = wanted.pop()
        if extra not in seen:
            seen.add(extra)
            requirements += PROJECT["optional-dependencies"][extra]
    while requirements:
        requirement = requirements.pop(0)
        own = re.fullmatch(r"dubio\[(.*)\]", requirement)
        if own:
            for extra in own[1].split(","):
                if extra not in seen:
                    seen.add(extra)
                    requirements += PROJECT["optional-dependencies"][extra]
            continue
        bounded = re.fullmatch(r"([\w.-]+(?:\[[\w,]+\])?)\s*>=\s*([\w.]+)", requirement)
        pins.append(f"{bounded[1]}=={bounded[2]}" if bounded else requirement)
    return pins


if __name__ == "__main__":
    print("\n".join(oldest(sys.argv[1:])))
