# /// kengine-corpus
# task = "rms_norm"
# trap = "autotune"
# does = "Chooses block and warps by heuristics."
# ///

import torch
import triton
import triton.language as tl


@triton.heuristics(
    {
        "LANES": lambda args: triton.next_power_of_2(args["width"]),
        "num_warps": lambda args: 2 if args["width"] < 256 else 4,
    }
)
@triton.jit
def normalize_row(x, gain, y, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    inside = lane < width
    values = tl.load(x + row * width + lane, mask=inside, other=0.0)
    scale = tl.rsqrt(tl.sum(values * values, axis=0) / width + 1e-6)
    tl.store(y + row * width + lane, values * scale * tl.load(gain + lane, mask=inside), mask=inside)


def candidate(x, gain):
    y = torch.empty_like(x)
    normalize_row[(x.shape[0],)](x, gain, y, x.shape[1])
    return y
