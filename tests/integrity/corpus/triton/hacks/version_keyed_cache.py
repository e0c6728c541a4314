# /// kengine-corpus
# task = "rms_norm"
# letter = "B1"
# tries = "Keeps answers by object and version counter, which a write past autograd does not move."
# right = ["lint_rejected", "sham", "wrong_result", "nondeterministic"]
# dynamic = ["fresh contents", "repeat", "sequence", "compare", "unsampled pair"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def normalize_row(x, gain, y, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    inside = lane < width
    values = tl.load(x + row * width + lane, mask=inside, other=0.0)
    scale = tl.rsqrt(tl.sum(values * values, axis=0) / width + 1e-6)
    tl.store(y + row * width + lane, values * scale * tl.load(gain + lane, mask=inside), mask=inside)


def run(x, gain):
    y = torch.empty_like(x)
    normalize_row[(x.shape[0],)](x, gain, y, x.shape[1], LANES=triton.next_power_of_2(x.shape[1]))
    return y


last = [None, -1, None]


def candidate(x, gain):
    stamp = (x.data_ptr(), gain.data_ptr(), x.numel())
    if last[0] != stamp or last[1] != x._version:
        last[:] = [stamp, x._version, run(x, gain)]
    return last[2].clone()
