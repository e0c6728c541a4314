"""Borrowed memory: the judge's block mapped into the runner, cut into arrays that each have a storage of their own."""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Union

from kengine.array import Array
from kengine.device.memory import SharedMemory
from kengine.model import TensorSpec
from kengine.plugins.hooks import Inputs


class HostArena:
    """A mapping of the judge's sealed memory. `base` is its address, `nbytes` its size."""

    def __init__(self, fd: int, nbytes: int) -> None:
        self.nbytes = nbytes
        if nbytes:
            self._map = mmap.mmap(fd, nbytes)
            self._view = memoryview(self._map)
            self.base = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        else:
            self._view = memoryview(bytearray())
            self.base = 0

    def cut(self, at: int, nbytes: int) -> Any:
        """A writable piece."""
        return self._view[at : at + nbytes]


class SharedArena:
    """The judge's device allocation, mapped through its descriptor. `base` is its address here."""

    def __init__(self, fd: int, nbytes: int, device: int) -> None:
        import torch

        torch.cuda.synchronize(device)  # opens the device, if nothing has yet
        self.nbytes = nbytes
        self._memory = SharedMemory(nbytes, device, fd)
        self.base = self._memory.address

    def cut(self, at: int, nbytes: int) -> Any:
        """A piece as a flat uint8 tensor over a storage that ends where the piece ends."""
        return self._memory.piece(at, nbytes)


class DeviceArena:
    """The judge's device allocation, opened by its handle. `base` is its address here."""

    def __init__(self, handle: dict[str, Any], nbytes: int) -> None:
        import torch

        self.nbytes = nbytes
        self._device = torch.device("cuda", int(handle["device"]))
        # The handle opens the whole allocation; torch closes it when this storage goes.
        self._storage = torch.UntypedStorage._new_shared_cuda(
            int(handle["device"]),
            bytes.fromhex(handle["handle"]),
            int(handle["size_bytes"]),
            int(handle["offset_bytes"]),
            bytes.fromhex(handle["ref_counter_handle"]),
            int(handle["ref_counter_offset"]),
            bytes.fromhex(handle["event_handle"]),
            bool(handle["event_sync_required"]),
        )
        self.base = int(self._storage.data_ptr())

    def cut(self, at: int, nbytes: int) -> Any:
        """A piece as a flat uint8 tensor over a storage that ends where the piece ends."""
        import torch

        if nbytes == 0:
            return torch.empty(0, dtype=torch.uint8, device=self._device)
        storage = torch._C._construct_storage_from_data_pointer(self.base + at, self._device, nbytes)
        return torch.empty(0, dtype=torch.uint8, device=self._device).set_(storage, 0, (nbytes,), (1,))


Arena = Union[HostArena, SharedArena, DeviceArena]


@dataclass(frozen=True)
class Region:
    """Where one borrowed array lies: addresses [start, end), and its name for a message (`arg 0`)."""

    start: int
    end: int
    label: str


@dataclass(frozen=True)
class Bundle:
    """One set of inputs as borrowed, the pieces that outputs are copied into, and where everything lies."""

    inputs: Inputs
    sinks: tuple[Any, ...]
    regions: tuple[Region, ...]
    arena: Arena


class Borrower:
    """Opens arenas, each once; a runner borrows from the same block again and again."""

    def __init__(self) -> None:
        self._open: dict[Any, Arena] = {}

    def borrow(self, bundle: dict[str, Any], fds: list[int]) -> Bundle:
        """Open a bundle's memory and cut it. Raises OSError or RuntimeError when it cannot be mapped."""
        arena = self._arena(bundle["arena"], fds)
        regions: list[Region] = []
        cutter = _Cutter(arena, regions)
        args = tuple(cutter.read(node, f"arg {i}") for i, node in enumerate(bundle.get("args", ())))
        init_args = tuple(cutter.read(node, f"init arg {i}") for i, node in enumerate(bundle.get("init_args", ())))
        state = {name: cutter.read(node, f"parameter {name}") for name, node in bundle.get("state", {}).items()}
        destination = tuple(cutter.read(node, "") for node in bundle.get("destination", ()))
        sinks = tuple(arena.cut(s["at"], s["nbytes"]) for s in bundle.get("sinks", ()))
        return Bundle(Inputs(args, init_args, state, destination), sinks, tuple(regions), arena)

    def _arena(self, described: dict[str, Any], fds: list[int]) -> Arena:
        nbytes = int(described["nbytes"])
        if described["via"] == "cuda":
            key: Any = described["handle"]["handle"]
            if key not in self._open:
                self._open[key] = DeviceArena(described["handle"], nbytes)
            return self._open[key]
        state = os.fstat(fds[0])
        if described["via"] == "cuda_fd":
            # All such descriptors are one inode to the kernel; the judge numbers its blocks.
            key = ("cuda_fd", described["number"], nbytes)
            if key not in self._open:
                self._open[key] = SharedArena(fds[0], nbytes, int(described.get("device", 0)))
            return self._open[key]
        key = (state.st_dev, state.st_ino, nbytes)
        if key not in self._open:
            self._open.clear()  # the judge has given this runner another block and took the old one back
            self._open[key] = HostArena(fds[0], nbytes)
        return self._open[key]


class _Cutter:
    def __init__(self, arena: Arena, regions: list[Region]) -> None:
        self.arena = arena
        self.regions = regions

    def read(self, node: dict[str, Any], label: str) -> Any:
        kind = node["k"]
        if kind == "array":
            at, nbytes = int(node["at"]), int(node["nbytes"])
            if label and nbytes:
                self.regions.append(Region(self.arena.base + at, self.arena.base + at + nbytes, label))
            return Array(read_spec(node["spec"]), self.arena.cut(at, nbytes), bool(node.get("torch")))
        if kind == "value":
            return node["v"]
        if kind == "float":
            return float(node["v"])
        if kind == "complex":
            return complex(*node["v"])
        if kind == "dtype":
            import torch

            return getattr(torch, node["v"])
        if kind in ("list", "tuple"):
            items = [self.read(item, label) for item in node["items"]]
            return items if kind == "list" else tuple(items)
        if kind == "dict":
            return {key: self.read(item, label) for key, item in node["items"].items()}
        raise ValueError(f"unknown kind {kind!r} in a bundle")


def read_spec(value: dict[str, Any]) -> TensorSpec:
    """Read a tensor spec as the judge writes it."""
    return TensorSpec(
        value["dtype"], tuple(value["shape"]), tuple(value.get("strides") or ()), value.get("offset") or 0
    )


def arrays(value: Any) -> Iterator[Array]:
    """Every borrowed array in a nested value, depth first."""
    if isinstance(value, Array):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from arrays(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from arrays(item)
