# /// kengine-corpus
# task = "row_stats"
# letter = "A12"
# tries = "The kernel finds the places of the maxima, the sums are the framework's."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance", "launches do nothing"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def places(x_ptr, y_ptr, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * width + i, mask=i < width, other=float("-inf"))
    tl.store(y_ptr + row, tl.argmax(x, 0).to(tl.int64))


def candidate(x):
    found = torch.empty(x.shape[0], dtype=torch.int64, device=x.device)
    places[(x.shape[0],)](x, found, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return x.sum(-1), found
