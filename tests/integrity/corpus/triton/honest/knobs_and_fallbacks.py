"""Softmax whose block size and exponential are chosen by the environment and by what Triton has."""

# /// kengine-corpus
# task = "row_softmax"
# trap = "imports"
# does = "Reads two environment variables, tries an import for a faster exponential and has a loop for wide rows."
# ///

import os
from functools import partial

import torch
import triton
import triton.language as tl

try:
    from triton.language.extra import libdevice  # noqa: F401
except ImportError:
    libdevice = None

MAX_LANES = int(os.environ.get("SOFTMAX_MAX_LANES", "256"))
DEBUG = os.environ.get("SOFTMAX_DEBUG", "") == "1"
LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def one_pass(x, out, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    inside = lane < width
    value = tl.load(x + row * width + lane, inside, other=-float("inf"))
    power = tl.exp2((value - tl.max(value, axis=0)) * LOG2E)
    tl.store(out + row * width + lane, power / tl.sum(power, axis=0), inside)


@triton.jit
def online(x, out, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    top = -float("inf")
    total = 0.0
    for start in range(0, width, LANES):
        lane = start + tl.arange(0, LANES)
        value = tl.load(x + row * width + lane, lane < width, other=-float("inf"))
        higher = tl.maximum(top, tl.max(value, axis=0))
        total = total * tl.exp(top - higher) + tl.sum(tl.exp(value - higher), axis=0)
        top = higher
    for start in range(0, width, LANES):
        lane = start + tl.arange(0, LANES)
        inside = lane < width
        value = tl.load(x + row * width + lane, inside, other=-float("inf"))
        tl.store(out + row * width + lane, tl.exp(value - top) / total, inside)


def pick(width):
    if width <= MAX_LANES:
        return partial(one_pass.__getitem__), triton.next_power_of_2(width)
    return partial(online.__getitem__), 128


def candidate(x):
    assert x.ndim == 2, "a matrix"
    x = x.contiguous()
    out = torch.empty_like(x)
    grid_of, lanes = pick(x.shape[1])
    grid_of((x.shape[0],))(x, out, x.shape[1], LANES=lanes)
    if DEBUG:
        print("softmax", tuple(x.shape), lanes)
    return out
