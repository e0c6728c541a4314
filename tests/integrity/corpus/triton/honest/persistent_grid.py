# /// kengine-corpus
# task = "silu_add"
# trap = "queries"
# does = "Asks for the number of multiprocessors and strides over the blocks."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def silu_add(x, y, out, n, LANES: tl.constexpr):
    blocks = tl.cdiv(n, LANES)
    for block in range(tl.program_id(0), blocks, tl.num_programs(0)):
        lane = block * LANES + tl.arange(0, LANES)
        inside = lane < n
        a = tl.load(x + lane, mask=inside)
        tl.store(out + lane, a * tl.sigmoid(a) + tl.load(y + lane, mask=inside), mask=inside)


def multiprocessors(device):
    if device.type != "cuda":
        return 4
    return torch.cuda.get_device_properties(device).multi_processor_count


def candidate(x, y):
    out = torch.empty_like(x)
    grid = (min(multiprocessors(x.device), triton.cdiv(x.numel(), 256)),)
    silu_add[grid](x, y, out, x.numel(), LANES=256)
    return out
