"""Device activity from NVIDIA's CUPTI: when each kernel, copy and fill began and ended, by the device's own clock.

The library is spoken to directly because the ways around it do not fit a process that lives for one candidate:
starting torch's profiler takes about 5 s of processor time in each process, enabling one activity kind here 20 ms.
Only fields at the front of the records are read. They have the same offsets in every record of copies, fills and
kernels that the headers of CUDA 11.8, 12.9 and 13.5 declare (Memcpy to Memcpy7, Memset to Memset5, Kernel3 to
Kernel13), and the walk over a buffer is the library's own, so that longer records of later versions do no harm.
"""

from __future__ import annotations

import ctypes
import glob
import os
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

_MEMCPY, _MEMSET, _KERNEL = 1, 2, 10
_KINDS = {_MEMCPY: "copy", _MEMSET: "fill", 3: "kernel", _KERNEL: "kernel"}
_BUFFER = 1 << 20
_FIELDS = struct.Struct("=QQQ")
"""At byte 8 of a record: bytes of a copy or fill, begin, end."""

_Request = ctypes.CFUNCTYPE(
    None, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_size_t), ctypes.POINTER(ctypes.c_size_t)
)
_Complete = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)


class CuptiError(RuntimeError):
    """CUPTI is missing, refused something, or its record is not complete: nothing is known from it."""


@dataclass(frozen=True)
class Activity:
    """One thing that the device did: kind (kernel, copy, fill), name, begin and end in nanoseconds, stream number, and
    the bytes of a copy or fill."""

    kind: str
    name: str
    begin_ns: int
    end_ns: int
    stream: int
    nbytes: int = 0


class Cupti:
    """Records activity of this process's device contexts between `record()` and the end of its block."""

    def __init__(self) -> None:
        self._lib = _load()
        self._buffers: dict[int, ctypes.Array[ctypes.c_char]] = {}
        self._seen: list[Activity] = []
        self._lost = 0
        # The library keeps these pointers for the life of the process, so must we.
        self._request = _Request(self._give_buffer)
        self._complete = _Complete(self._take_buffer)
        self._call("cuptiActivityRegisterCallbacks", self._request, self._complete)

    @contextmanager
    def record(self, kernels_only: bool = False) -> Iterator[list[Activity]]:
        """Collect everything that runs inside the block; the list is full, and in order of begin, after it.

        kernels_only: leave out copies and fills; each kind that is enabled costs. Raises CuptiError at the end of the
        block when something ran that is not in the record, or that is in it without its times.
        """
        self._seen, self._lost = [], 0
        result: list[Activity] = []
        kinds = (_KERNEL,) if kernels_only else (_KERNEL, _MEMCPY, _MEMSET)
        try:
            for kind in kinds:
                self._call("cuptiActivityEnable", ctypes.c_int(kind))
            yield result
        finally:
            self._call("cuptiActivityFlushAll", ctypes.c_uint32(1))
            for kind in kinds:
                self._call("cuptiActivityDisable", ctypes.c_int(kind))
            result.extend(sorted(self._seen, key=lambda a: a.begin_ns))
        if self._lost:
            raise CuptiError(f"{self._lost} of {self._lost + len(result)} activities were lost or have no times")

    def now_ns(self) -> int:
        """The present on the clock of the activities."""
        value = ctypes.c_uint64()
        self._call("cuptiGetTimestamp", ctypes.byref(value))
        return value.value

    def _call(self, name: str, *args: object) -> None:
        code = getattr(self._lib, name)(*args)
        if code != 0:
            raise CuptiError(f"{name} failed with CUPTI error {code}")

    def _give_buffer(self, buffer: object, size: object, most: object) -> None:
        memory = ctypes.create_string_buffer(_BUFFER + 8)
        address = (ctypes.addressof(memory) + 7) & ~7
        self._buffers[address] = memory
        buffer[0] = address  # type: ignore[index]
        size[0] = _BUFFER  # type: ignore[index]
        most[0] = 0  # type: ignore[index]

    def _take_buffer(self, context: int, stream: int, buffer: int, size: int, valid: int) -> None:
        record = ctypes.c_void_p(None)
        while (
            valid
            and self._lib.cuptiActivityGetNextRecord(
                ctypes.c_void_p(buffer), ctypes.c_size_t(valid), ctypes.byref(record)
            )
            == 0
        ):
            if record.value is not None and (activity := _read(record.value)) is not None:
                if 0 < activity.begin_ns <= activity.end_ns:
                    self._seen.append(activity)
                else:  # both are 0 where the library could not collect them
                    self._lost += 1
        self._buffers.pop(buffer, None)
        dropped = ctypes.c_size_t(0)
        where = ctypes.c_void_p(context), ctypes.c_uint32(stream)
        if self._lib.cuptiActivityGetNumDroppedRecords(*where, ctypes.byref(dropped)) == 0:
            self._lost += dropped.value


def _read(address: int) -> Activity | None:
    kind = _KINDS.get(ctypes.c_uint32.from_address(address).value)
    if kind is None:
        return None
    nbytes, begin, end = _FIELDS.unpack(ctypes.string_at(address + 8, 24))
    if kind != "kernel":
        return Activity(kind, kind, begin, end, ctypes.c_uint32.from_address(address + 40).value, nbytes)
    stream = ctypes.c_uint32.from_address(address + 48).value
    name = ctypes.c_char_p.from_address(address + 104).value or b""
    return Activity(kind, name.decode(errors="replace"), begin, end, stream)


def _load() -> ctypes.CDLL:
    for path in _candidates():
        try:
            return ctypes.CDLL(path)
        except OSError:
            continue
    raise CuptiError("libcupti was not found beside torch, in CUDA_HOME or on the loader's path")


def _candidates() -> list[str]:
    # The copy that torch ships is the one that matches the runtime in this process.
    found = [
        path
        for root in sys.path
        for path in sorted(glob.glob(os.path.join(root, "nvidia", "*", "lib", "libcupti.so.1*")), reverse=True)
    ]
    for home in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
        if home:
            found += sorted(glob.glob(os.path.join(home, "extras", "CUPTI", "lib64", "libcupti.so.1*")), reverse=True)
    return [*found, "libcupti.so.13", "libcupti.so.12", "libcupti.so"]
