"""The GPU: whether there is one, and torch, which is imported when it is first used."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from dubio.checks import free_bytes
from dubio.errors import InputError


class _Torch:
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # tools that look at a module's objects must not import torch
            raise AttributeError(name)
        import torch

        return getattr(torch, name)


torch: Any = _Torch()


T = TypeVar("T")

#: Where the work is done; "auto" is the GPU where it is faster.
DeviceName = Literal["cpu", "cuda", "auto"]

#: What "cuda" means to torch. Tests set "cpu": torch then runs the same code without a GPU.
TORCH_DEVICE = "cuda"

#: Share of the free memory for one tile, and the most bytes; larger tiles are not faster.
_TILE_SHARE, _MOST_TILE_BYTES = 0.2, 4 * 2**30
#: Share of the free memory for what is kept from one step to the next.
_HELD_SHARE = 0.4


class Worth(NamedTuple):
    """How much work makes a GPU faster than two cores of the CPU, measured: ``docs/gpu.md`` has the numbers."""

    #: If the process has already used the GPU.
    again: float
    #: If torch must first be imported and the GPU started, which takes seconds.
    first: float


def find_device(name: str, work: float, worth: Worth) -> Device | None:
    """The device to use for computing ``work`` distances; None for the CPU, which needs no torch.

    "auto" takes the GPU, if there is one, for at least as much work as ``worth`` says. For less, torch is not even
    imported.
    """
    if name == "cpu" or (name == "auto" and work < (worth.again if _is_started() else worth.first)):
        return None
    missing = _what_is_missing()
    if missing is None:
        return Device(TORCH_DEVICE)
    if name == "auto":
        return None
    raise InputError("device", f"='cuda', but {missing[0]}", missing[1], code="no device")


def _is_started() -> bool:
    return "torch" in sys.modules and bool(torch.cuda.is_initialized())


def _what_is_missing() -> tuple[str, str] | None:
    """Why there is no GPU to work on, and what to do about it."""
    if importlib.util.find_spec("torch") is None:
        return "torch is not installed", "pip install 'dubio[gpu]', or use device='cpu'"
    if TORCH_DEVICE == "cuda" and not torch.cuda.is_available():
        if torch.version.cuda is None:
            build = "install a build of torch with CUDA (pytorch.org says how), or use device='cpu'"
            return f"torch {torch.version.__version__} was built without CUDA", build
        return "torch finds no CUDA GPU", "check the GPU and its driver with nvidia-smi, or use device='cpu'"
    return None


class Device:
    """A torch device (its name in torch's words), and the memory for one tile and for what is kept between steps.

    By default, both are a share of what is free.
    """

    def __init__(self, name: str, *, tile_bytes: int | None = None, held_bytes: int | None = None) -> None:
        self.name = name
        self.tile_bytes = min(int(_TILE_SHARE * self._free()), _MOST_TILE_BYTES) if tile_bytes is None else tile_bytes
        self._held_bytes = held_bytes

    @property
    def held_bytes(self) -> int:
        """Memory that can now be taken for what is kept between steps."""
        return int(_HELD_SHARE * self._free()) if self._held_bytes is None else self._held_bytes

    def _free(self) -> int:
        if not self.name.startswith("cuda"):
            return free_bytes()
        with self.answering():
            free, _ = torch.cuda.mem_get_info()
            return int(free + torch.cuda.memory_reserved() - torch.cuda.memory_allocated())

    def put(self, array: NDArray[Any]) -> Any:
        """The array on the device, as float64 or int64."""
        kind = np.int64 if np.issubdtype(array.dtype, np.integer) else np.float64
        with self.answering():
            return torch.from_numpy(np.array(array, dtype=kind, order="C")).to(self.name)

    def hold(self, n_bytes: float, make: Callable[[], T]) -> T | None:
        """What ``make`` makes, if it fits into the memory for what is kept; else None."""
        return None if n_bytes > self.held_bytes else next(iter(self._try(make)), None)

    def in_tiles(
        self,
        n_rows: int,
        bytes_per_row: float,
        work: Callable[[int, int], T],
        on_done: Callable[[int, int], None] | None = None,
    ) -> list[T]:
        """Call ``work(start, stop)`` for tiles that cover ``range(n_rows)``, and return the results in order.

        If the device runs out of memory, the tile is tried again with half the rows, and later tiles stay smaller.
        ``work`` must store nothing before its last line, so that it can be repeated. ``on_done`` is called with the
        number of rows done so far and in total.
        """
        results: list[T] = []
        start = 0
        while start < n_rows:
            size = max(1, min(n_rows - start, int(self.tile_bytes // bytes_per_row)))
            stop = start + size
            done = self._try(work, start, stop)
            if done:
                results += done
                start = stop
                if on_done is not None:
                    on_done(stop, n_rows)
            elif size == 1:
                found = "has too little free memory for the distances of a single row"
                remedy = "end other programs on the GPU, or use device='cpu'"
                raise InputError("device", found, remedy, code="memory")
            else:
                self.tile_bytes = max(1, int(size * bytes_per_row) // 2)
        return results

    def _try(self, make: Callable[..., T], *args: int) -> list[T]:
        """What ``make`` makes, in a list; an empty list if the device runs out of memory."""
        with self.answering():
            try:
                return [make(*args)]
            except torch.cuda.OutOfMemoryError:
                pass
            # Only here, after the error and all that it refers to are gone, can the memory be given back.
            if self.name.startswith("cuda"):
                torch.cuda.empty_cache()
            return []

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Say in plain words that the device has stopped working."""
        try:
            yield
        except torch.cuda.OutOfMemoryError:
            raise
        except RuntimeError as error:
            if "CUDA" not in str(error):
                raise
            found = f"='cuda' stopped working ({str(error).splitlines()[0]})"
            raise InputError("device", found, "start Python again, or use device='cpu'", code="device") from error
