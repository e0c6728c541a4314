# /// kengine-corpus
# task = "rms_norm"
# trap = "operators"
# does = "Wraps its kernel in an autograd.Function that saves what a backward needs."
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


def run(x, gain):
    y = torch.empty_like(x)
    normalize_row[(x.shape[0],)](x, gain, y, x.shape[1], LANES=triton.next_power_of_2(x.shape[1]))
    return y


class Norm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, gain):
        ctx.save_for_backward(x, gain)
        return run(x, gain)

    @staticmethod
    def backward(ctx, grad):
        raise NotImplementedError("inference only")


def candidate(x, gain):
    return Norm.apply(x, gain)
