# /// kengine-corpus
# task = "row_stats"
# trap = "memory of plans"
# does = "A frozen dataclass with methods is one constant; the kernel asks it for what it needs."
# ///

import torch
import triton
import triton.language as tl

from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    block: int
    wide: bool = False

    @property
    def lanes(self):
        return self.block * (2 if self.wide else 1)


@triton.jit
def kernel(x_ptr, sums, places, width, plan: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, plan.lanes)
    x = tl.load(x_ptr + row * width + i, mask=i < width, other=float("-inf"))
    tl.store(sums + row, tl.sum(tl.where(i < width, x, 0.0), 0))
    tl.store(places + row, tl.argmax(x, 0))


def candidate(x):
    rows, width = x.shape
    sums = torch.empty(rows, dtype=x.dtype, device=x.device)
    places = torch.empty(rows, dtype=torch.int64, device=x.device)
    block = triton.next_power_of_2(width)
    kernel[(rows,)](x, sums, places, width, plan=Plan(block // 2, wide=True))
    return sums, places
