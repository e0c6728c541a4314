# /// kengine-corpus
# task = "ragged_means"
# trap = "queries"
# does = "Reads the longest length to choose a block, as ragged wrappers do."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def means(x_ptr, lengths, out, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    length = tl.load(lengths + row)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, length, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * width + i, mask=i < length, other=0.0)
    tl.store(out + row, tl.sum(total, 0) / length)


def candidate(x, lengths):
    longest = int(lengths.max())
    out = torch.empty(x.shape[0], device=x.device)
    means[(x.shape[0],)](x, lengths, out, x.shape[1], BLOCK=min(128, triton.next_power_of_2(longest)))
    return out
