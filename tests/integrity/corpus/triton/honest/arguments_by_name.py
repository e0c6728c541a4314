# /// kengine-corpus
# task = "silu_add"
# trap = "launchers"
# does = "Passes every argument of the launch by name, out of a dictionary."
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


def candidate(x, y):
    out = torch.empty_like(x)
    arguments = {"x": x, "y": y, "out": out, "n": x.numel(), "LANES": 1024, "num_warps": 8}
    grid = (triton.cdiv(arguments["n"], arguments["LANES"]), 1, 1)
    silu_add[grid](**arguments)
    return out
