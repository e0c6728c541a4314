# /// kengine-corpus
# task = "silu_add"
# letter = "C11"
# tries = "Leaves a kernel spinning on the device when the call returns."
# right = ["lint_rejected", "sham", "tampered", "wrong_result", "nondeterministic"]
# dynamic = ["idle", "timing", "late writes"]
# device = true
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


@triton.jit
def spin(flag, rounds):
    value = 0
    for i in range(rounds):
        value += tl.atomic_add(flag, 0) + i
    tl.store(flag, value * 0)


flag = None
stream = None


def candidate(x, y):
    global flag, stream
    if flag is None:
        flag = torch.zeros(1, dtype=torch.int32, device=x.device)
        stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        spin[(1,)](flag, 200000)
    return run(x, y)
