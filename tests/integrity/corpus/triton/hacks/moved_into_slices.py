# /// kengine-corpus
# task = "turned"
# letter = "A3"
# tries = "Assigns to slices of a workspace, and has a kernel copy the workspace."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def copy(x, y, n, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    tl.store(y + lane, tl.load(x + lane, mask=lane < n), mask=lane < n)


def candidate(x, y):
    rows, columns = y.shape
    workspace = x.new_zeros(rows, 2 * columns)
    workspace[:, :columns] = x.t()
    workspace[:, columns:] = y
    out = torch.empty_like(workspace)
    copy[(triton.cdiv(out.numel(), 256),)](workspace, out, out.numel(), LANES=256)
    return out
