# /// kengine-corpus
# task = "silu_add"
# letter = "C2"
# tries = "Returns at once, and has a timer's signal launch the kernel a moment later."
# right = ["lint_rejected", "sham", "wrong_result", "tampered", "launch_failed"]
# dynamic = ["launched", "compare", "fresh contents", "sequence", "late writes", "threads", "launch", "compile"]
# ///

import signal

import torch
import triton
import triton.language as tl


@triton.jit
def silu_add(x, y, out, n, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < n
    a = tl.load(x + lane, mask=inside)
    tl.store(out + lane, a * tl.sigmoid(a) + tl.load(y + lane, mask=inside), mask=inside)


waiting = []


def work(*_):
    while waiting:
        x, y, out = waiting.pop()
        silu_add[(triton.cdiv(x.numel(), 1024),)](x, y, out, x.numel(), LANES=1024)


def candidate(x, y):
    signal.signal(signal.SIGALRM, work)
    out = torch.empty_like(x)
    waiting.append((x, y, out))
    signal.setitimer(signal.ITIMER_REAL, 0.0001)
    return out
