"""Files of machine code that are mapped into this process, and which of them are vendors' libraries."""

from __future__ import annotations

import ctypes
import functools
import re

_ADDS = 32
"""Where glibc's dl_phdr_info holds how many libraries have ever been loaded; how many were unloaded follows it."""
_Visit = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
_VENDOR = re.compile(
    r"(?:cublas|cudnn|cufft|cusolver|cusparse|cutlass|hipblas|rocblas|miopen|hipfft|mkl|openblas|onednn|dnnl)",
    re.IGNORECASE,
)
_seen: tuple[int, int] = (0, 0)
_last: tuple[tuple[int, int], frozenset[str]] = ((0, 0), frozenset())


def paths() -> frozenset[str]:
    """Paths of the files that are mapped executable; read anew only when a library came or went since the last time."""
    global _last
    loads = _count()
    if loads == (0, 0) or loads != _last[0]:
        _last = (loads, _read())
    return _last[1]


def _read() -> frozenset[str]:
    found = set()
    try:
        with open("/proc/self/maps", errors="replace") as file:
            for line in file:
                at = line.find("/")
                if at > 0 and "x" in line.split(None, 2)[1]:
                    found.add(line[at:].rstrip("\n").removesuffix(" (deleted)"))
    except OSError:
        pass
    return frozenset(found)


def _note(info: int | None, size: int, data: int | None) -> int:
    global _seen
    if info and size >= _ADDS + 16:
        adds, subs = (ctypes.c_ulonglong * 2).from_address(info + _ADDS)
        _seen = (adds, subs)
    return 1  # the first library tells it as well as any


_visit = _Visit(_note)


def _count() -> tuple[int, int]:
    """How many libraries were loaded and unloaded so far; (0, 0) where the C library does not say."""
    global _seen
    _seen = (0, 0)
    iterate = getattr(_process, "dl_iterate_phdr", None)
    if iterate is not None:
        iterate(_visit, None)
    return _seen


_process = ctypes.PyDLL(None)


@functools.lru_cache(maxsize=10_000)
def _vendor(path: str) -> str:
    """The name of the file at a path where it is a vendor's library, else ""."""
    name = path.rpartition("/")[2]
    return name if _VENDOR.search(name) else ""


def vendors() -> set[str]:
    """Vendor libraries that are mapped into this process."""
    return {name for path in paths() if (name := _vendor(path))}
