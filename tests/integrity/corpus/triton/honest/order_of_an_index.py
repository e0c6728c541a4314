"""Rows added at the places of an index, row by row."""

# /// kengine-corpus
# task = "added_at_rows"
# trap = "several kernels"
# does = "Sorts the index with the framework, so that one program adds up all that goes to one row."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def add_segments(order, starts, more, rows, y, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    total = tl.load(rows + row * N + i, mask=i < N)
    for at in range(tl.load(starts + row), tl.load(starts + row + 1)):
        total += tl.load(more + tl.load(order + at) * N + i, mask=i < N)
    tl.store(y + row * N + i, total, mask=i < N)


def candidate(rows, more, places):
    M, N = rows.shape
    order = torch.argsort(places, stable=True)
    starts = torch.zeros(M + 1, dtype=torch.int64, device=places.device)
    starts[1:] = torch.bincount(places, minlength=M).cumsum(0)
    y = torch.empty_like(rows)
    block = triton.next_power_of_2(N)
    add_segments[(M,)](order, starts, more.contiguous(), rows.contiguous(), y, N, BLOCK=block)
    return y
