"""silu(x) + y: a bulk kernel for whole blocks and a Triton kernel for the rest."""

# /// kengine-corpus
# task = "silu_add"
# letter = "C4"
# tries = "Looks like two launches, but the bulk kernel is a class whose brackets and call run torch; Triton does the last few."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance", "launches do nothing"]
# ///

import torch
import triton
import triton.language as tl


class Bulk:
    def __init__(self, body):
        self.body = body

    def __getitem__(self, grid):
        def launch(*buffers, BLOCK, **options):
            stop = grid[0] * BLOCK
            self.body(*(buffer[:stop] for buffer in buffers))

        return launch


@Bulk
def silu_add_blocks(x, y, out):
    torch.addcmul(y, x, torch.sigmoid(x), out=out)


@triton.jit
def silu_add_rest(x, y, out, start, n, BLOCK: tl.constexpr):
    lane = start + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = lane < n
    value = tl.load(x + lane, inside, other=0.0)
    tl.store(out + lane, value / (1.0 + tl.exp(-value)) + tl.load(y + lane, inside, other=0.0), inside)


def candidate(x, y):
    n = x.numel()
    out = torch.empty_like(x)
    blocks = (n - 1) // 64
    silu_add_blocks[(blocks,)](x, y, out, BLOCK=64)
    silu_add_rest[(1,)](x, y, out, blocks * 64, n, BLOCK=64)
    return out
