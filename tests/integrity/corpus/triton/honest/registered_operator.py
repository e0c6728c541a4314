"""RMSNorm as an operator of torch.library, with a fake for tracing."""

# /// kengine-corpus
# task = "rms_norm"
# trap = "operators"
# does = "Torch.library.custom_op around a launch, with a registered fake, called through torch.ops."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def _rms_norm(x, gain, y, width, x_step, y_step, eps, LANES: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((LANES,), dtype=tl.float32)
    for start in range(0, width, LANES):
        lane = start + tl.arange(0, LANES)
        value = tl.load(x + row * x_step + lane, mask=lane < width, other=0.0)
        total += value * value
    scale = 1.0 / tl.sqrt(tl.sum(total, axis=0) / width + eps)
    for start in range(0, width, LANES):
        lane = start + tl.arange(0, LANES)
        inside = lane < width
        value = tl.load(x + row * x_step + lane, mask=inside, other=0.0)
        tl.store(y + row * y_step + lane, value * scale * tl.load(gain + lane, mask=inside, other=0.0), mask=inside)


@torch.library.custom_op("fresh_norms::rms_norm", mutates_args=())
def rms_norm(x: torch.Tensor, gain: torch.Tensor, eps: float) -> torch.Tensor:
    y = torch.empty_like(x)
    _rms_norm[(x.shape[0],)](x, gain, y, x.shape[1], x.stride(0), y.stride(0), eps, LANES=128)
    return y


@rms_norm.register_fake
def _(x, gain, eps):
    return torch.empty_like(x)


def candidate(x, gain):
    return torch.ops.fresh_norms.rms_norm(x.contiguous(), gain.contiguous(), 1e-6)
