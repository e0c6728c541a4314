# /// kengine-corpus
# task = "row_softmax"
# trap = "launchers"
# does = "Launches from the method of an object that holds kernel and configuration."
# ///

import torch
import triton
import triton.language as tl


from dataclasses import dataclass
from typing import Any


@triton.jit
def softmax_rows(x, y, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    inside = lane < width
    values = tl.load(x + row * width + lane, mask=inside, other=-float("inf"))
    weights = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * width + lane, weights / tl.sum(weights, axis=0), mask=inside)


@dataclass(frozen=True)
class Launcher:
    kernel: Any
    warps: int

    def __call__(self, x):
        y = torch.empty_like(x)
        width = x.shape[-1]
        self.kernel[self.grid(x)](x, y, width, LANES=triton.next_power_of_2(width), num_warps=self.warps)
        return y

    @staticmethod
    def grid(x):
        return (x.numel() // x.shape[-1],)


candidate = Launcher(softmax_rows, 4)
