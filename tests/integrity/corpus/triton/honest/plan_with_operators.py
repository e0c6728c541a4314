# /// kengine-corpus
# task = "row_softmax"
# trap = "memory of plans"
# does = "A plan that is a constant has operators, items and methods of its own, all computed at compile time."
# ///

import torch
import triton
import triton.language as tl


class Plan:
    def __init__(self, width, stages=1):
        self.width, self.stages = width, stages

    def __mul__(self, times):
        return Plan(self.width * times, self.stages)

    def __getitem__(self, place):
        return (self.width, self.stages)[place]

    def __lt__(self, other):
        return self.width < other

    def __eq__(self, other):
        return isinstance(other, Plan) and self[0] == other[0] and self[1] == other[1]

    def __hash__(self):
        return hash((self.width, self.stages))

    @classmethod
    def covering(cls, width):
        return cls(triton.next_power_of_2(width) // 2)


@triton.jit
def kernel(x_ptr, y_ptr, width, plan: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, (plan * 2)[0])
    x = tl.load(x_ptr + row * width + i, mask=i < width, other=float("-inf"))
    if plan < 4096:
        x = x - tl.max(x, 0)
    power = tl.exp(x)
    tl.store(y_ptr + row * width + i, power / tl.sum(power, 0), mask=i < width)


def candidate(x):
    y = torch.empty_like(x)
    kernel[(x.shape[0],)](x, y, x.shape[1], plan=Plan.covering(x.shape[1]))
    return y
