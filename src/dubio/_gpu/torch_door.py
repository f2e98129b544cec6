"""The one door to torch. It is imported when something is first asked of it, so the library works without it."""

from __future__ import annotations

from typing import Any


class _Torch:
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # tools that look at a module's objects must not import torch
            raise AttributeError(name)
        import torch

        return getattr(torch, name)


torch: Any = _Torch()
