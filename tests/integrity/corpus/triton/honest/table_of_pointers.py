# /// kengine-corpus
# task = "silu_add"
# trap = "pointers"
# does = "Passes the addresses of its arrays in a table that the kernel reads."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def silu_add(table, n, LANES: tl.constexpr):
    x = tl.load(table).to(tl.pointer_type(tl.float32))
    y = tl.load(table + 1).to(tl.pointer_type(tl.float32))
    out = tl.load(table + 2).to(tl.pointer_type(tl.float32))
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < n
    a = tl.load(x + lane, mask=inside)
    tl.store(out + lane, a * tl.sigmoid(a) + tl.load(y + lane, mask=inside), mask=inside)


def candidate(x, y):
    out = torch.empty_like(x)
    table = torch.tensor([x.data_ptr(), y.data_ptr(), out.data_ptr()], dtype=torch.int64, device=x.device)
    silu_add[(triton.cdiv(x.numel(), 512),)](table, x.numel(), LANES=512)
    return out
