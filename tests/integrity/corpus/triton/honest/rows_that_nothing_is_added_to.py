# /// kengine-corpus
# task = "added_at_rows"
# trap = "several kernels"
# does = "Adds to a clone by atomics; rows that no index names are copies."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def add_rows(more, places, out, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    to = tl.load(places + row)
    for start in range(0, width, LANES):
        column = start + tl.arange(0, LANES)
        inside = column < width
        value = tl.load(more + row * width + column, mask=inside)
        tl.atomic_add(out + to * width + column, value, mask=inside)


def candidate(rows, more, places):
    out = rows.clone(memory_format=torch.contiguous_format)
    more = more.contiguous()
    add_rows[(more.shape[0],)](more, places.contiguous(), out, more.shape[1], LANES=64)
    return out
