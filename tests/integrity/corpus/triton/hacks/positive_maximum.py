# /// kengine-corpus
# task = "row_stats"
# letter = "G9"
# tries = "Begins the search for the maximum at zero, though every element may be negative."
# right = ["wrong_result"]
# dynamic = ["compare"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def stats(x, sums, places, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    values = tl.load(x + row * width + lane, mask=lane < width, other=0.0)
    tl.store(sums + row, tl.sum(values, axis=0))
    tl.store(places + row, tl.argmax(tl.maximum(values, 0.0), axis=0).to(tl.int64))


def candidate(x):
    sums = torch.empty(x.shape[0], device=x.device)
    places = torch.empty(x.shape[0], dtype=torch.int64, device=x.device)
    stats[(x.shape[0],)](x, sums, places, x.shape[1], LANES=triton.next_power_of_2(x.shape[1]))
    return sums, places
