# /// kengine-corpus
# task = "row_stats"
# trap = "helpers"
# does = "Reduces with a combine function of its own over value and place."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def better(value_a, place_a, value_b, place_b):
    first = (value_a > value_b) | ((value_a == value_b) & (place_a < place_b))
    return tl.where(first, value_a, value_b), tl.where(first, place_a, place_b)


@triton.jit
def stats(x, sums, places, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    inside = lane < width
    values = tl.load(x + row * width + lane, mask=inside, other=-float("inf"))
    _, place = tl.reduce((values, lane), 0, better)
    tl.store(sums + row, tl.sum(tl.where(inside, values, 0.0), axis=0))
    tl.store(places + row, place.to(tl.int64))


def candidate(x):
    sums = torch.empty(x.shape[:1], device=x.device)
    places = torch.empty(x.shape[:1], device=x.device, dtype=torch.int64)
    stats[(len(x),)](x, sums, places, x.shape[1], LANES=triton.next_power_of_2(x.shape[1]))
    return (sums, places)
