"""Marks in the device's own record: fills of lengths that nothing else has, between which work is told apart.

A record tells when something ran by the device's clock, which the library has converted to the host's by interpolation.
The two disagree by microseconds, by more while the conversion has few points to go by, and by anything after the host's
clock was set. So what ran between two moments of the host is never looked up by the host's clock: at each moment the
device is waited for, and a fill is left in the record. Between two such fills everything is by one clock.
"""

from __future__ import annotations

import ctypes
import functools
import secrets
from collections.abc import Sequence
from typing import Any

from kengine.device.cupti import Activity, CuptiError

_LEAST, _SPREAD, _CYCLE = 5_001, 5_000, 4096
"""Words of the shortest first mark, how many odd numbers it is drawn from, and marks after which lengths repeat."""
_WORD = 4


class Marks:
    """One run of marks, in the order of the calls. Each has an odd number of words, and the first is drawn: a fill of a
    candidate's own that happens to be as long as a mark is out of order, which `find` notices."""

    def __init__(self) -> None:
        self._first = _LEAST + 2 * secrets.randbelow(_SPREAD)
        self._words: list[int] = []
        self._memory = _allocate(_WORD * (self._first + 2 * _CYCLE))

    def __len__(self) -> int:
        return len(self._words)

    def __call__(self) -> None:
        """Leave a mark in the current stream. Raises CuptiError when the driver refuses."""
        words = self._first + 2 * (len(self._words) % _CYCLE)
        self._words.append(words)
        _fill(self._memory, words)

    def find(self, records: Sequence[Activity]) -> list[Activity]:
        """All marks in their order. Raises CuptiError when the record lacks one, has one twice or in another order."""
        wanted = [_WORD * words for words in self._words]
        known = set(wanted)
        fills = sorted((r for r in records if r.kind == "fill"), key=lambda r: r.begin_ns)
        found = [record for record in fills if record.nbytes in known]
        if [record.nbytes for record in found] != wanted:
            raise CuptiError(
                f"the device's record has {len(found)} of the {len(wanted)} marks that were left in it, or has them in "
                f"another order ({len(records)} records; bytes of its fills: {[r.nbytes for r in fills[:8]]}, "
                f"of the marks: {wanted[:4]})"
            )
        return found


def _allocate(nbytes: int) -> Any:
    import torch

    return torch.empty(nbytes, dtype=torch.uint8, device="cuda")


def _fill(memory: Any, words: int) -> None:
    # Of the driver itself: torch may fill by a kernel, whose record does not tell how much it filled.
    import torch

    stream = ctypes.c_void_p(int(torch.cuda.current_stream().cuda_stream))
    code = _driver().cuMemsetD32Async(
        ctypes.c_uint64(memory.data_ptr()), ctypes.c_uint(0), ctypes.c_size_t(words), stream
    )
    if code != 0:
        raise CuptiError(f"cuMemsetD32Async failed with CUDA error {code}")


@functools.cache
def _driver() -> Any:
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise CuptiError(f"the driver's library cannot be loaded: {error}") from error
