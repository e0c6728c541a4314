"""The zygote's heap on huge pages: a fork then copies one entry of the page table where it would copy 512.

Measured with torch imported: 3.7 ms a fork before, 0.9 ms after; two forks stand between a request and its runner.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress

from kengine.runner.sandbox import syscalls

_SIZE = 2 << 20


def collapse() -> int:
    """Move anonymous writable memory onto huge pages, once; returns the bytes moved, 0 before Linux 6.1."""
    moved = 0
    with suppress(OSError), open("/proc/self/maps") as file:
        for line in file.readlines():
            span, rights, _, _, inode, *name = line.split()
            if inode != "0" or "w" not in rights or name not in ([], ["[heap]"]):
                continue
            first, last = (int(n, 16) for n in span.split("-"))
            first, last = -(-first // _SIZE) * _SIZE, last // _SIZE * _SIZE
            if last > first and syscalls.advise(ctypes.c_void_p(first), last - first, syscalls.ADVICE_COLLAPSE):
                moved += last - first
    return moved
