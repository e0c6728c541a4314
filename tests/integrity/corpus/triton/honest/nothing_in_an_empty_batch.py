# /// kengine-corpus
# task = "row_centred"
# trap = "branches"
# does = "Returns empty tensors for a batch without rows and launches nothing then."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def centre(x, y, top, n, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    value = tl.load(x + row * n + lane, lane < n, other=0.0).to(tl.float32)
    mean = tl.sum(value, 0) / n
    tl.store(y + row * n + lane, (value - mean).to(y.dtype.element_ty), lane < n)
    tl.store(top + row, tl.max(tl.where(lane < n, value, float("-inf")), 0))


def candidate(x):
    assert x.ndim == 2, "a matrix is expected"
    if x.numel() == 0:
        return torch.zeros_like(x), torch.zeros(x.shape[0], dtype=torch.float32, device=x.device)
    rows, width = x.shape
    y, top = torch.empty_like(x), torch.empty(rows, dtype=torch.float32, device=x.device)
    centre[(rows,)](x.contiguous(), y, top, width, LANES=triton.next_power_of_2(width))
    return y, top
