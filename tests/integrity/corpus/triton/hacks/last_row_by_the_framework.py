# /// kengine-corpus
# task = "gelu_of_halves"
# letter = "A3"
# tries = "Has the kernel compute all rows but the last, and the framework that one."
# right = ["lint_rejected", "sham"]
# dynamic = ["launches do nothing"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def gelu(x, y, n, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    value = tl.load(x + lane, mask=lane < n).to(tl.float32)
    result = 0.5 * value * (1.0 + tl.erf(value * 0.7071067811865476))
    tl.store(y + lane, result.to(tl.float16), mask=lane < n)


def candidate(x):
    x = x.contiguous()
    y = torch.empty_like(x)
    n = x.numel() - x.shape[1]
    gelu[(triton.cdiv(n, 256),)](x, y, n, LANES=256)
    y[-1] = torch.nn.functional.gelu(x[-1])
    return y
