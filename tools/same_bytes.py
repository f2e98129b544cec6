"""Check that two folders hold the same files, byte for byte: ``python tools/same_bytes.py dist again``."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path


def fingerprints(folder: str) -> dict[str, str]:
    """The name and the SHA-256 sum of every file in a folder."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(Path(folder).iterdir())}


if __name__ == "__main__":
    first, second = (fingerprints(folder) for folder in sys.argv[1:3])
    for name in sorted({*first, *second}):
        same = first.get(name) == second.get(name)
        print(f"{name}: {'the same bytes twice' if same else 'DIFFERENT'}, sha256 {first.get(name)}")
    sys.exit(first != second or not first)
