# /// kengine-corpus
# task = "extremes"
# letter = "G12"
# tries = "Looks for the largest element of a row in all columns but the last."
# right = ["wrong_result"]
# dynamic = ["compare"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def rows(x, largest, least, places, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    values = tl.load(x + row * width + lane, mask=lane < width - 1, other=float("-inf"))
    tl.store(largest + row, tl.max(values, axis=0))
    values = tl.load(x + row * width + lane, mask=lane < width, other=float("-inf"))
    tl.store(places + row, tl.argmax(values, axis=0).to(tl.int64))
    values = tl.load(x + row * width + lane, mask=lane < width, other=float("inf"))
    tl.store(least + row, tl.min(values, axis=0))


@triton.jit
def columns(x, largest, height, width, LANES: tl.constexpr):
    column = tl.program_id(0) * LANES + tl.arange(0, LANES)
    top = tl.full([LANES], float("-inf"), tl.float32)
    for row in range(height):
        top = tl.maximum(top, tl.load(x + row * width + column, mask=column < width, other=0.0))
    tl.store(largest + column, top, mask=column < width)


def candidate(x):
    height, width = x.shape
    largest, least = torch.empty(height, device=x.device), torch.empty(height, device=x.device)
    places = torch.empty(height, dtype=torch.int64, device=x.device)
    over = torch.empty(width, device=x.device)
    rows[(height,)](x, largest, least, places, width, LANES=triton.next_power_of_2(width))
    columns[(triton.cdiv(width, 128),)](x, over, height, width, LANES=128)
    return largest, least, places, over
