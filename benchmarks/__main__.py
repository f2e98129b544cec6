"""``python -m benchmarks [NAME ...]``: run every ``bench_*.py`` beside this file, or the named ones."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path


def main(names: list[str]) -> None:
    here = Path(__file__).parent
    known = sorted(path.stem.removeprefix("bench_") for path in here.glob("bench_*.py"))
    unknown = sorted(set(names) - set(known))
    if unknown:
        sys.exit(f"no such benchmark: {', '.join(unknown)}; there are: {', '.join(known)}")
    for name in names or known:
        print(f"\n# {name}", flush=True)
        importlib.import_module(f"benchmarks.bench_{name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])
