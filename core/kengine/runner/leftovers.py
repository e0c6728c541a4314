"""What a call's memory holds afterwards: its answer, wherever the next call may be given memory of the same size.

An allocator on a device gives freed blocks out again as they are. A kernel that looks there for an earlier answer, and
leaves it when it seems to fit, is right by luck where the block holds something else. Copies of each answer are made
and freed, so that a fresh output of the next call lies where this answer lay, whichever block it gets.
"""

from __future__ import annotations

import contextlib
import sys
from typing import Any

COPIES = 8
"""Blocks of each answer's size that are filled: as many as a call's own temporaries and results may have taken."""
MOST_BYTES = 64 << 20
"""Bytes that all copies of one call's answers may take."""
MAX_DEPTH = 12


def leave(value: Any, copies: int = COPIES, most: int = MOST_BYTES) -> int:
    """Copy all arrays in what a call gave, then free the copies. Returns their number.

    Answers whose copies would take more than `most` bytes are copied less often, or not at all. Never raises: a device
    that has no room for them, or an object that is no array after all, is the candidate's affair elsewhere.
    """
    held: list[Any] = []
    with contextlib.suppress(Exception):
        found = list(_arrays(value, 0))
        size = sum(nbytes for _, nbytes, _ in found)
        for _ in range(min(copies, most // size) if size else 0):
            held += [copy(array) for array, _, copy in found]
    return len(held)


def _arrays(value: Any, depth: int) -> Any:
    """Each array with its size in bytes and the function that copies it."""
    kind = type(value)
    if depth > MAX_DEPTH:
        return
    if kind in (list, tuple):
        for item in value:
            yield from _arrays(item, depth + 1)
    elif kind is dict:
        for item in value.values():
            yield from _arrays(item, depth + 1)
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if torch is not None and kind is torch.Tensor and value.layout is torch.strided:
        yield value, value.numel() * value.element_size(), _copy_of(torch)
    elif cupy is not None and kind is getattr(cupy, "ndarray", None):
        yield value, int(value.nbytes), kind.copy


def _copy_of(torch: Any) -> Any:
    def copy(tensor: Any) -> Any:
        with torch.no_grad(), torch._C.DisableTorchFunction():
            return torch.Tensor.clone(tensor, memory_format=torch.contiguous_format)

    return copy
