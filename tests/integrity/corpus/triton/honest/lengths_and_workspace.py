# /// kengine-corpus
# task = "ragged_means"
# trap = "memory of plans"
# does = "Reads the longest length on the host to choose a grid, and keeps one workspace for partial sums."
# ///

import torch
import triton
import triton.language as tl

WORKSPACE = {}


@triton.jit
def partial_sums(x, lengths, partial, L, tiles, BLOCK: tl.constexpr):
    row, tile = tl.program_id(0), tl.program_id(1)
    col = tile * BLOCK + tl.arange(0, BLOCK)
    n = tl.load(lengths + row)
    tl.store(partial + row * tiles + tile, tl.sum(tl.load(x + row * L + col, mask=(col < n) & (col < L), other=0.0), 0))


@triton.jit
def finish(partial, lengths, y, tiles, T2: tl.constexpr):
    row = tl.program_id(0)
    t = tl.arange(0, T2)
    total = tl.sum(tl.load(partial + row * tiles + t, mask=t < tiles, other=0.0), 0)
    tl.store(y + row, total / tl.load(lengths + row))


def candidate(x, lengths):
    B, L = x.shape
    longest = int(lengths.max())
    tiles = triton.cdiv(longest, 16)
    if x.device not in WORKSPACE or WORKSPACE[x.device].numel() < B * tiles:
        WORKSPACE[x.device] = torch.empty(max(B * tiles, 1024), device=x.device)
    partial = WORKSPACE[x.device]
    y = torch.empty(B, device=x.device)
    partial_sums[(B, tiles)](x.contiguous(), lengths, partial, L, tiles, BLOCK=16)
    finish[(B,)](partial, lengths, y, tiles, T2=triton.next_power_of_2(tiles))
    return y
