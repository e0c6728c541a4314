"""Stand-ins for what a GPU's vendor ships: the library that records what a device did, and the flush of a cache."""

from __future__ import annotations

import ctypes
import struct
from typing import Any
from unittest import mock

from kengine.device import marks

KERNEL, COPY, FILL, OTHER = 10, 1, 2, 23


class Library:
    """Activity kinds, buffers and records of libcupti. `run` is something that the device does, recorded if enabled.

    ahead: by how much the device's clock is ahead of the host's. dropped: records that there was no room for. missing:
    numbers, from 1, of things that the device does which are not recorded at all; untimed: those without times.
    """

    def __init__(self) -> None:
        self.clock = 1000
        self.enabled: set[int] = set()
        self.changes: list[tuple[str, int]] = []
        self.waiting: list[bytes] = []
        self.names: list[ctypes.Array[ctypes.c_char]] = []
        self.fails: dict[str, int] = {}
        self.at: dict[int, int] = {}
        self.sizes: list[int] = []
        self.ahead = 0
        self.dropped = 0
        self.missing: set[int] = set()
        self.untimed: set[int] = set()
        self.done = 0

    def tick(self, ns: int) -> int:
        self.clock += ns
        return self.clock

    def run(self, kind: int, ns: int, name: str = "", stream: int = 7, nbytes: int = 0) -> None:
        begin, end = self.tick(100) + self.ahead, self.tick(ns) + self.ahead
        self.done += 1
        if kind not in self.enabled or self.done in self.missing:
            return
        record = bytearray(160 if kind == KERNEL else 72)
        struct.pack_into("=I", record, 0, kind)
        if self.done not in self.untimed:
            struct.pack_into("=QQ", record, 16, begin, end)
        if kind == KERNEL:
            self.names.append(ctypes.create_string_buffer(name.encode()))
            struct.pack_into("=I", record, 48, stream)
            struct.pack_into("=Q", record, 104, ctypes.addressof(self.names[-1]))
        else:
            struct.pack_into("=Q", record, 8, nbytes)
            struct.pack_into("=I", record, 40, stream)
        self.waiting.append(bytes(record))

    def cuptiActivityRegisterCallbacks(self, request: Any, complete: Any) -> int:
        self.request, self.complete = request, complete
        return self.fails.get("register", 0)

    def cuptiActivityEnable(self, kind: Any) -> int:
        self.changes.append(("enable", kind.value))
        self.enabled.add(kind.value)
        return self.fails.get("enable", 0)

    def cuptiActivityDisable(self, kind: Any) -> int:
        self.changes.append(("disable", kind.value))
        self.enabled.discard(kind.value)
        return 0

    def cuptiActivityFlushAll(self, flag: Any) -> int:
        assert flag.value == 1
        while self.waiting:
            buffer, size, most = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_size_t(99)
            self.request(ctypes.pointer(buffer), ctypes.pointer(size), ctypes.pointer(most))
            assert buffer.value % 8 == 0 and most.value == 0
            self.sizes.append(size.value)
            data = b"".join(self.waiting[:3])  # a buffer is handed over when it is full
            del self.waiting[:3]
            ctypes.memmove(buffer.value, data, len(data))
            self.at = {buffer.value: 0}
            self.complete(None, 0, buffer.value, size.value, len(data))
        self.complete(None, 0, None, 0, 0)
        return 0

    def cuptiActivityGetNextRecord(self, buffer: Any, valid: Any, record: Any) -> int:
        at = self.at[buffer.value]
        if at >= valid.value:
            return 12  # CUPTI_ERROR_MAX_LIMIT_REACHED
        kind = ctypes.c_uint32.from_address(buffer.value + at).value
        record._obj.value = buffer.value + at
        self.at[buffer.value] = at + (160 if kind == KERNEL else 72)
        return 0

    def cuptiActivityGetNumDroppedRecords(self, context: Any, stream: Any, dropped: Any) -> int:
        assert (context.value, stream.value) == (None, 0)  # the queue of all
        dropped._obj.value, self.dropped = self.dropped, 0
        return 0

    def cuptiGetTimestamp(self, value: Any) -> int:
        value._obj.value = self.tick(1)
        return 0


class Marks(marks.Marks):
    """Marks that are left by the double instead of a driver."""

    library: Library

    def __init__(self) -> None:
        with mock.patch.object(marks, "_allocate", lambda nbytes: None):
            super().__init__()

    def __call__(self) -> None:
        with mock.patch.object(marks, "_fill", lambda memory, words: self.library.run(FILL, 2, nbytes=4 * words)):
            super().__call__()


class Flush:
    """The flush of a cache: a fill that is no call's."""

    library: Library

    def __call__(self) -> None:
        self.library.run(FILL, 500)
