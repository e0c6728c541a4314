# /// kengine-corpus
# task = "rms_norm"
# trap = "memory of plans"
# does = "Keeps a plan object for each shape, built at the first call, with the launcher in it."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def normalize_row(x, gain, y, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    inside = lane < width
    values = tl.load(x + row * width + lane, mask=inside, other=0.0)
    scale = tl.rsqrt(tl.sum(values * values, axis=0) / width + 1e-6)
    tl.store(y + row * width + lane, values * scale * tl.load(gain + lane, mask=inside), mask=inside)


class Plan:
    _plans = {}

    def __init__(self, rows, width):
        self.width, self.lanes = width, triton.next_power_of_2(width)
        self.launch = normalize_row[(rows,)]

    @classmethod
    def for_shape(cls, shape):
        plan = cls._plans.get(shape)
        if plan is None:
            plan = cls._plans[shape] = cls(*shape)
        return plan

    def __call__(self, x, gain):
        y = torch.empty_like(x)
        self.launch(x, gain, y, self.width, LANES=self.lanes)
        return y


def candidate(x, gain):
    return Plan.for_shape(tuple(x.shape))(x, gain)
