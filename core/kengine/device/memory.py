"""Device memory that two processes share through a file descriptor: made by one, mapped by the other.

A descriptor is a right that can be handed over: unlike an older IPC handle it needs no file in /dev/shm, no common
user and no common namespace, so that a process behind walls can take it. The calls are those of CUDA's virtual
memory management, by the numbers of cuda.h.
"""

from __future__ import annotations

import ctypes
import functools
import os
from typing import Any

_PINNED, _POSIX_FD, _DEVICE, _READ_WRITE = 1, 1, 1, 3
_FD_SUPPORTED = 103


class _Location(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("id", ctypes.c_int))


class _Properties(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_int),
        ("handle_types", ctypes.c_int),
        ("location", _Location),
        ("win32", ctypes.c_void_p),
        ("flags", ctypes.c_ubyte * 8),
    )


class _Access(ctypes.Structure):
    _fields_ = (("location", _Location), ("flags", ctypes.c_int))


class SharedMemory:
    """A block of device memory, mapped at `address`; `nbytes` is what was granted, at least what was asked for.

    Made with a descriptor it maps the block behind it, else it allocates one that `export` hands over. Raises
    OSError when the driver refuses, or when there is no driver.
    """

    def __init__(self, nbytes: int, device: int = 0, fd: int = -1) -> None:
        self.device = device
        self.address = 0
        self._handle = ctypes.c_uint64(0)
        location = _Location(_DEVICE, device)
        properties = _Properties(_PINNED, _POSIX_FD, location)
        unit = ctypes.c_size_t(0)
        _check("cuMemGetAllocationGranularity", ctypes.byref(unit), ctypes.byref(properties), 0)
        self.nbytes = -(-max(nbytes, 1) // unit.value) * unit.value
        size = ctypes.c_size_t(self.nbytes)
        if fd < 0:
            _check("cuMemCreate", ctypes.byref(self._handle), size, ctypes.byref(properties), ctypes.c_uint64(0))
        else:
            _check("cuMemImportFromShareableHandle", ctypes.byref(self._handle), ctypes.c_void_p(fd), _POSIX_FD)
        try:
            self._map(size, location)
        except OSError:
            self.close()
            raise

    def _map(self, size: ctypes.c_size_t, location: _Location) -> None:
        address = ctypes.c_uint64(0)
        nothing = ctypes.c_uint64(0)
        _check("cuMemAddressReserve", ctypes.byref(address), size, ctypes.c_size_t(0), nothing, nothing)
        try:
            _check("cuMemMap", address, size, ctypes.c_size_t(0), self._handle, nothing)
        except OSError:
            _driver().cuMemAddressFree(address, size)
            raise
        self.address = int(address.value)
        access = _Access(location, _READ_WRITE)
        _check("cuMemSetAccess", address, size, ctypes.byref(access), ctypes.c_size_t(1))

    def export(self) -> int:
        """Make a descriptor of the block, which the caller closes. Raises OSError."""
        fd = ctypes.c_int(-1)
        _check("cuMemExportToShareableHandle", ctypes.byref(fd), self._handle, _POSIX_FD, ctypes.c_uint64(0))
        os.set_inheritable(fd.value, False)
        return fd.value

    def piece(self, at: int, nbytes: int) -> Any:
        """A piece as a flat uint8 tensor of torch, over a storage that ends where the piece ends."""
        import torch

        place = torch.device("cuda", self.device)
        if nbytes == 0:
            return torch.empty(0, dtype=torch.uint8, device=place)
        storage = torch._C._construct_storage_from_data_pointer(self.address + at, place, nbytes)
        return torch.empty(0, dtype=torch.uint8, device=place).set_(storage, 0, (nbytes,), (1,))

    def close(self) -> None:
        """Unmap and give back; pieces are invalid from then on. Work of this process on it must have ended."""
        size = ctypes.c_size_t(self.nbytes)
        if self.address:
            _driver().cuMemUnmap(ctypes.c_uint64(self.address), size)
            _driver().cuMemAddressFree(ctypes.c_uint64(self.address), size)
            self.address = 0
        if self._handle.value:
            _driver().cuMemRelease(self._handle)
            self._handle = ctypes.c_uint64(0)


def supported(device: int = 0) -> bool:
    """Whether this machine's driver shares memory in this way; torch must have opened the device before."""
    value = ctypes.c_int(0)
    try:
        _check("cuDeviceGetAttribute", ctypes.byref(value), _FD_SUPPORTED, device)
    except OSError:
        return False
    return value.value == 1


@functools.cache
def _driver() -> ctypes.CDLL:
    return ctypes.CDLL("libcuda.so.1")


def _check(name: str, *args: Any) -> None:
    try:
        code = int(getattr(_driver(), name)(*args))
    except AttributeError as error:
        raise OSError(f"the driver has no {name}") from error
    if code:
        text = ctypes.c_char_p()
        _driver().cuGetErrorName(code, ctypes.byref(text))
        raise OSError(f"{name}: {(text.value or b'').decode() or code}")
