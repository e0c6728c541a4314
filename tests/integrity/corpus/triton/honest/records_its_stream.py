# /// kengine-corpus
# task = "silu_add"
# trap = "queries"
# does = "Tells the allocator which stream its inputs are used on."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def silu_add(x, y, out, n, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < n
    a = tl.load(x + lane, mask=inside)
    b = tl.load(y + lane, mask=inside)
    tl.store(out + lane, a * tl.sigmoid(a) + b, mask=inside)


def run(x, y):
    out = torch.empty_like(x)
    silu_add[(triton.cdiv(x.numel(), 1024),)](x, y, out, x.numel(), LANES=1024)
    return out


def candidate(x, y):
    if x.is_cuda:
        stream = torch.cuda.current_stream(x.device)
        for tensor in (x, y):
            tensor.record_stream(stream)
    return run(x, y)
