"""RMSNorm that adds up the squares of a row in fp16. Expected: wrong_result.

Short rows come out right, so the long one is a case: its squares add up to more than 65504, the largest fp16 number.
"""

# /// kengine
# name = "rmsnorm"
# category = "normalization"
# level = 1
# license = "Apache-2.0"
# dtypes = ["float16"]
#
# [[cases]]
# M = 4
# N = 128
#
# [[cases]]
# M = 3
# N = 127
#
# [[cases]]
# M = 2
# N = 131072
# ///

import torch
import triton
import triton.language as tl


def make_inputs(seed, device, M=4, N=128):
    draw = torch.Generator(device).manual_seed(seed)
    rows = torch.randn(M, N, generator=draw, device=device)
    gain = torch.rand(N, generator=draw, device=device) + 0.5
    return rows, gain


def reference(x, gain):
    wide = x.float()
    scale = torch.rsqrt(wide.square().mean(dim=-1, keepdim=True) + 1e-6)
    return (wide * scale * gain.float()).to(x.dtype)


@triton.jit
def normalize_row(x, gain, y, width, x_step, x_unit, gain_unit, y_step, y_unit, eps, LANES: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros([1], dtype=tl.float16)
    for start in range(0, width, LANES):
        lane = start + tl.arange(0, LANES)
        part = tl.load(x + row * x_step + lane * x_unit, mask=lane < width, other=0.0).to(tl.float16)
        total += tl.sum(part * part, axis=0)
    scale = tl.rsqrt(total.to(tl.float32) / width + eps)
    for start in range(0, width, LANES):
        lane = start + tl.arange(0, LANES)
        inside = lane < width
        part = tl.load(x + row * x_step + lane * x_unit, mask=inside, other=0.0).to(tl.float32)
        gains = tl.load(gain + lane * gain_unit, mask=inside, other=0.0).to(tl.float32)
        tl.store(y + row * y_step + lane * y_unit, (part * scale * gains).to(y.dtype.element_ty), mask=inside)


def candidate(x, gain):
    y = torch.empty_like(x)
    rows, width = x.shape
    normalize_row[(rows,)](
        x, gain, y, width, x.stride(0), x.stride(1), gain.stride(0), y.stride(0), y.stride(1), 1e-6, LANES=4096,
    )
    return y
