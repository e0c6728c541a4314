"""Device memory that a judge takes before there is a task.

While any process opens or closes its device the driver lets whoever asks for memory wait, 5 to 200 ms on an H200, and
with a context for each candidate somebody always does. PyTorch asks the driver whenever it has no piece left that is
large enough, and gives nothing back: what is taken once, and let go of, serves a judge for all that it keeps of its
tasks.
"""

from __future__ import annotations

import functools

from kengine.judge import arena

SHARE = 64
"""The part of a device's memory that is taken: 2.2 GiB of an H200's."""
SMALL, PIECE = 64, 512 << 10
"""Pieces of the size of which PyTorch keeps apart, and their bytes: inputs and flags of less than a megabyte."""


@functools.cache
def reserve(device: str) -> int:
    """Take memory of "cuda", once, and leave it to PyTorch: the bytes taken; 0 on a host, and where there is none."""
    nbytes = arena.memory_bytes(device) // SHARE
    if not nbytes:
        return 0
    import torch

    try:
        taken = [torch.empty(size, dtype=torch.uint8, device=device) for size in (nbytes, *[PIECE] * SMALL)]
    except torch.cuda.OutOfMemoryError:
        return 0
    return sum(piece.numel() for piece in taken)
