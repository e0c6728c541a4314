# /// kengine-corpus
# task = "silu_add"
# trap = "imports"
# does = "Tries optional imports, passes on their absence, and reads tuning knobs from the environment."
# ///

import torch
import triton
import triton.language as tl


import os


try:
    import triton.language.extra.cuda.libdevice as libdevice
except ImportError:
    libdevice = None
try:
    from some_tuning_database import best_lanes
except ImportError:
    pass
LANES = int(os.environ.get("SILU_LANES", "512"))


@triton.jit
def silu_add(x, y, out, n, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < n
    a = tl.load(x + lane, mask=inside)
    b = tl.load(y + lane, mask=inside)
    tl.store(out + lane, a * tl.sigmoid(a) + b, mask=inside)


def candidate(x, y):
    lanes = globals().get("best_lanes", lambda n: LANES)(x.numel())
    out = torch.empty_like(x)
    silu_add[(triton.cdiv(x.numel(), lanes),)](x, y, out, x.numel(), LANES=lanes)
    return out
