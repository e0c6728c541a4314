"""Memory that the judge owns and lends: a block for each holder, a sealed memfd on the host, an allocation on a device.

Private memory (inputs as drawn, copies of outputs) is a flat uint8 numpy array on the host and a flat uint8 torch
tensor on a device, which is what `kengine.array.Array` takes.
"""

from __future__ import annotations

import fcntl
import functools
import itertools
import mmap
import os
from typing import Any, Protocol

import numpy as np

from kengine.array import ITEMSIZE, Array, contiguous_strides
from kengine.errors import DeviceLost, InfraError, TargetUnavailable
from kengine.judge.spares import Spares
from kengine.model import TensorSpec

POISON = 0xFF
"""Byte of memory that nobody has written: NaN in every floating-point dtype, -1 in every signed integer."""

PLACES = {"cpu": "cpu", "cuda": "cuda"}
"""Where torch puts what belongs to each device; only a test without an accelerator has another opinion."""

_SEALS = getattr(fcntl, "F_ADD_SEALS", 1033)
_SEAL_SIZE = 0x0001 | 0x0002 | 0x0004  # no more seals, no shrinking, no growing


class Arena(Protocol):
    """One lent block. `view` is its memory as the judge sees it; `describe` is what the runner gets to map it."""

    nbytes: int

    @property
    def view(self) -> Any: ...
    def describe(self) -> dict[str, Any]: ...
    def descriptors(self) -> tuple[int, ...]: ...
    def close(self) -> None: ...


class HostArena:
    """A memfd that can neither grow nor shrink, mapped here and, through its descriptor, by one runner.

    Raises InfraError when the host has no memory for it.
    """

    def __init__(self, nbytes: int) -> None:
        self.nbytes = max(-(-nbytes // mmap.PAGESIZE) * mmap.PAGESIZE, mmap.PAGESIZE)
        self.fd = -1
        try:
            self.fd = os.memfd_create("kengine-arena", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
            os.ftruncate(self.fd, self.nbytes)
            fcntl.fcntl(self.fd, _SEALS, _SEAL_SIZE)
            self._map = mmap.mmap(self.fd, self.nbytes)
        except OSError as error:
            if self.fd >= 0:
                os.close(self.fd)
            raise InfraError(f"no shared memory of {self.nbytes} bytes: {error}") from error
        self._view: Any = np.frombuffer(self._map, dtype=np.uint8)

    @property
    def view(self) -> Any:
        """The block as a writable uint8 array."""
        return self._view

    def describe(self) -> dict[str, Any]:
        """How a runner maps it: by the descriptor that is sent beside."""
        return {"via": "fd", "nbytes": self.nbytes}

    def descriptors(self) -> tuple[int, ...]:
        """What is sent beside the bundles."""
        return (self.fd,)

    def close(self) -> None:
        """Give the memory back; views that are still alive keep the mapping until they go."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
            self._view = None
            try:
                self._map.close()
            except BufferError:
                pass


class DeviceArena:
    """One device allocation shared through a descriptor, which opens nothing else of the judge's.

    Raises DeviceLost when the device refuses.
    """

    _numbers = itertools.count(1)

    def __init__(self, nbytes: int) -> None:
        import torch

        from kengine.device.memory import SharedMemory

        torch.cuda.current_stream()  # the driver's calls below need the context that torch opens
        try:
            self._memory: Any = SharedMemory(nbytes)
            self._fd = self._memory.export()
        except OSError as error:
            raise DeviceLost(f"no device memory of {nbytes} bytes to lend: {error}") from error
        self.nbytes = int(self._memory.nbytes)
        self._number = next(self._numbers)
        self._view: Any = self._memory.piece(0, self.nbytes)

    @property
    def view(self) -> Any:
        """The block as a flat uint8 tensor."""
        return self._view

    def describe(self) -> dict[str, Any]:
        """How a runner maps it: by the descriptor that is sent beside, and a number that tells blocks apart."""
        return {"via": "cuda_fd", "nbytes": self.nbytes, "number": self._number, "device": self._memory.device}

    def descriptors(self) -> tuple[int, ...]:
        """What is sent beside the bundles."""
        return (self._fd,)

    def close(self) -> None:
        """Give the memory back; a runner that still maps it keeps it alive until it dies."""
        import torch

        if self._fd < 0:
            return
        os.close(self._fd)
        self._fd = -1
        self._view = None
        ended = torch.cuda.Event()
        ended.record()
        memory = self._memory

        def give_back() -> None:
            ended.synchronize()
            memory.close()

        device_spares().later(give_back)


@functools.lru_cache(maxsize=1)
def device_spares() -> Spares[DeviceArena]:
    """The spare blocks of this process's device."""
    return Spares(DeviceArena, _enter_device)


def _enter_device() -> None:
    """A thread has no context of the device until it has said which device."""
    import torch

    torch.cuda.set_device(torch.cuda.current_device())


def make_arena(device: str, nbytes: int) -> Arena:
    """An arena of at least `nbytes` on "cpu" or "cuda"."""
    return device_spares().take(nbytes) if device == "cuda" else HostArena(nbytes)


def require_device(device: str) -> None:
    """Raise TargetUnavailable when this process cannot use `device`."""
    if device == "cpu":
        return
    try:
        import torch
    except ImportError as error:
        raise TargetUnavailable("a device needs torch in the judge: pip install 'kernel-engine[triton]'") from error
    if not torch.cuda.is_available():
        raise TargetUnavailable("torch finds no CUDA or ROCm device here; choose an emulated target")


def memory_bytes(device: str) -> int:
    """All memory of a device; 0 for the host's, which others use as well, and where no device tells."""
    if device != "cuda":
        return 0
    import torch

    try:
        return int(torch.cuda.get_device_properties(torch.cuda.current_device()).total_memory)
    except (RuntimeError, AssertionError):
        return 0


def allocate(device: str, nbytes: int) -> Any:
    """Private memory, poisoned."""
    if device == "cuda":
        import torch

        return torch.full((nbytes,), POISON, dtype=torch.uint8, device=PLACES[device])
    return np.full(nbytes, POISON, dtype=np.uint8)


def tensor_over(spec: TensorSpec, memory: Any) -> Any:
    """View private memory as a torch tensor without a copy.

    A slice of device memory keeps the storage of the whole, from whose start `as_strided` counts.
    """
    if isinstance(memory, np.ndarray):
        return Array(spec, memory).as_torch()
    import torch

    itemsize = ITEMSIZE[spec.dtype]
    typed = memory[: memory.numel() // itemsize * itemsize].view(getattr(torch, spec.dtype))
    strides = spec.strides or contiguous_strides(spec.shape)
    return typed.as_strided(spec.shape, strides, typed.storage_offset() + spec.offset)


def duplicate(memory: Any) -> Any:
    """A private copy of memory, made in one go."""
    return memory.copy() if isinstance(memory, np.ndarray) else memory.clone()


def overwrite(target: Any, source: Any) -> None:
    """Copy bytes over bytes of the same length and place."""
    if isinstance(target, np.ndarray):
        np.copyto(target, source)
    else:
        target.copy_(source)


def poison(target: Any) -> None:
    """Fill with what no writer leaves behind."""
    if isinstance(target, np.ndarray):
        target.fill(POISON)
    else:
        target.fill_(POISON)


def same_bytes(a: Any, b: Any) -> bool:
    """Whether two pieces of memory hold the same bytes."""
    if isinstance(a, np.ndarray):
        return bool(np.array_equal(a, b))
    import torch

    return bool(torch.equal(a, b))


def to_host(memory: Any) -> Any:
    """The bytes as a numpy array on the host."""
    return memory if isinstance(memory, np.ndarray) else memory.cpu().numpy()


def synchronize(device: str) -> None:
    """Wait until a device has finished what this process gave it. Raises DeviceLost when it cannot."""
    if device == "cuda":
        import torch

        try:
            torch.cuda.synchronize()
        except RuntimeError as error:
            raise DeviceLost(f"the judge's device context is broken: {error}") from error
