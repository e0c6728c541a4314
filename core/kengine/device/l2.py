"""A cold second-level cache before each timed call: nothing is kept in it on request, and something larger than it is
written first."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

_FALLBACK = 64 << 20
_PERSISTING_LIMIT = 6  # CU_LIMIT_PERSISTING_L2_CACHE_SIZE


def cache_bytes() -> int:
    """Size of the current device's L2 cache; 64 MiB where the driver does not say."""
    import torch

    properties: Any = torch.cuda.get_device_properties(torch.cuda.current_device())
    return int(getattr(properties, "L2_cache_size", 0) or _FALLBACK)


def reset_persisting() -> bool:
    """Give back the part of the L2 cache that is set aside for persisting accesses, and make every line ordinary.

    A kernel that has set an access policy before it is timed would find its operands in the cache, which a flush by
    ordinary writes does not reach. False where the driver knows no such thing (ROCm, chips before sm_80).
    """
    driver = _driver()
    if driver is None:
        return False
    try:
        # The limit first: lines that are set free while room is set aside may be taken for it again.
        limited = driver.cuCtxSetLimit(_PERSISTING_LIMIT, ctypes.c_size_t(0))
        return bool(limited == 0 and driver.cuCtxResetPersistingL2Cache() == 0)
    except AttributeError:
        return False


@functools.cache
def _driver() -> Any:
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None


class Flush:
    """A buffer of twice the cache; calling it takes back what a call has asked the cache to keep, and writes all of it
    on the current stream."""

    def __init__(self) -> None:
        import torch

        self._buffer = torch.empty(2 * cache_bytes() // 4, dtype=torch.int32, device="cuda")

    def __call__(self) -> None:
        reset_persisting()
        self._buffer.zero_()
