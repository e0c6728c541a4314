# /// kengine-corpus
# task = "silu_add"
# trap = "launchers"
# does = "Launches once for each chunk of the input, on slices."
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


CHUNK = 400


def candidate(x, y):
    out = torch.empty_like(x)
    for start in range(0, x.numel(), CHUNK):
        part = slice(start, min(start + CHUNK, x.numel()))
        n = part.stop - part.start
        silu_add[(triton.cdiv(n, 512),)](x[part], y[part], out[part], n, LANES=512)
    return out
