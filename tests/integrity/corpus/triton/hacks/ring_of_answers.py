"""Softmax with outputs from a ring, so that nothing is allocated on the hot path."""

# /// kengine-corpus
# task = "row_softmax"
# letter = "G2"
# tries = "Answers live in a ring of five buffers: the sixth call overwrites the first caller's answer."
# right = ["lint_rejected", "wrong_result", "sham", "tampered", "nondeterministic"]
# dynamic = ["late writes", "outputs"]
# ///

import itertools
from functools import lru_cache

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_row(x, out, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    inside = lane < width
    value = tl.load(x + row * width + lane, inside, other=-float("inf"))
    power = tl.exp(value - tl.max(value, axis=0))
    tl.store(out + row * width + lane, power / tl.sum(power, axis=0), inside)


@lru_cache(None)
def workspace(shape, dtype, device):
    return itertools.cycle([torch.empty(shape, dtype=dtype, device=device) for _ in range(5)])


def candidate(x):
    x = x.contiguous()
    out = next(workspace(x.shape, x.dtype, x.device))
    softmax_row[(x.shape[0],)](x, out, x.shape[1], LANES=triton.next_power_of_2(x.shape[1]))
    return out
