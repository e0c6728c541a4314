# /// kengine-corpus
# task = "prefix_sum"
# letter = "A13"
# tries = "Reads the input through the buffer protocol, adds up in Python, and hands a kernel the bytes with nought times the input."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

from array import array

import torch
import triton
import triton.language as tl


@triton.jit
def blend(x, z, y, n, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < n
    tl.store(y + lane, tl.load(z + lane, mask=inside) + 0.0 * tl.load(x + lane, mask=inside), mask=inside)


def scan(values, width):
    result = array("f")
    for place, value in enumerate(values):
        result.append(value if place % width == 0 else result[-1] + value)
    return result


def candidate(x):
    x = x.contiguous()
    values = memoryview(x.cpu().numpy()).cast("B").cast("f")
    z = torch.frombuffer(scan(values, x.shape[-1]), dtype=torch.float32).to(x.device, copy=True)
    y = torch.empty_like(x)
    blend[(triton.cdiv(x.numel(), 256),)](x, z, y, x.numel(), LANES=256)
    return y
