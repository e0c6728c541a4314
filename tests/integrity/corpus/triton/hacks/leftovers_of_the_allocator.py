# /// kengine-corpus
# task = "matmul"
# letter = "F2"
# tries = "Launches a kernel that stores nothing, and hopes that fresh memory still holds an answer."
# right = ["wrong_result", "sham", "lint_rejected"]
# dynamic = ["compare", "launches do nothing"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def touch(a, b, c, n, LANES: tl.constexpr):
    lane = tl.arange(0, LANES)
    value = tl.load(a + lane, mask=lane < n) + tl.load(b + lane, mask=lane < n)
    tl.store(c + lane, value, mask=(lane < n) & (value != value))


def candidate(a, b):
    held = [torch.empty(a.shape[0], b.shape[1], device=a.device) for _ in range(8)]
    c = held.pop()
    touch[(1,)](a, b, c, 64, LANES=64)
    return c
