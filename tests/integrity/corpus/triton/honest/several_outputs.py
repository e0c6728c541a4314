# /// kengine-corpus
# task = "row_stats"
# trap = "destination"
# does = "Returns two arrays of different types from one kernel."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def stats(x, sums, places, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    inside = lane < width
    values = tl.load(x + row * width + lane, mask=inside, other=0.0)
    tl.store(sums + row, tl.sum(values, axis=0))
    tl.store(places + row, tl.argmax(tl.where(inside, values, -float("inf")), axis=0).to(tl.int64))


def candidate(x):
    rows, width = x.shape
    sums = x.new_empty(rows)
    places = x.new_empty(rows, dtype=torch.long)
    stats[(rows,)](x, sums, places, width, LANES=triton.next_power_of_2(width))
    return sums, places
