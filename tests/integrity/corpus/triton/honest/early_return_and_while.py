# /// kengine-corpus
# task = "row_softmax"
# trap = "branches"
# does = "Programs beyond the rows return at once; rows are walked by a while loop with a running maximum."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, rows, width, step, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    if row >= rows:
        return
    lane = tl.arange(0, BLOCK)
    top = -float("inf")
    total = 0.0
    start = 0
    while start < width:
        x = tl.load(x_ptr + row * step + start + lane, mask=start + lane < width, other=-float("inf"))
        new = tl.maximum(top, tl.max(x, 0))
        total = total * tl.exp(top - new) + tl.sum(tl.exp(x - new), 0)
        top = new
        start += BLOCK
    for start in tl.range(0, width, BLOCK):
        x = tl.load(x_ptr + row * step + start + lane, mask=start + lane < width, other=-float("inf"))
        tl.store(y_ptr + row * width + start + lane, tl.exp(x - top) / total, mask=start + lane < width)


def candidate(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    kernel[(triton.next_power_of_2(x.shape[0]) + 1,)](x, y, x.shape[0], x.shape[1], x.stride(0), BLOCK=64)
    return y
