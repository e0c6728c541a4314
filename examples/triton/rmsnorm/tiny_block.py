"""RMSNorm that walks its rows in tiles of 16 elements with one warp. Right, and expected too_slow on a device.

    kengine verify --backend triton --task task/long_rows.py --min-speedup 3 tiny_block.py
"""

# /// kengine
# name = "rmsnorm"
# category = "normalization"
# level = 1
# license = "Apache-2.0"
# dtypes = ["float32", "float16"]
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
# M = 5
# N = 1000
# layout = "strided"
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
    squares = tl.zeros([LANES], dtype=tl.float32)
    for start in range(0, width, LANES):
        lane = start + tl.arange(0, LANES)
        part = tl.load(x + row * x_step + lane * x_unit, mask=lane < width, other=0.0).to(tl.float32)
        squares += part * part
    scale = tl.rsqrt(tl.sum(squares, axis=0) / width + eps)
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
        x, gain, y, width, x.stride(0), x.stride(1), gain.stride(0), y.stride(0), y.stride(1), 1e-6, LANES=16, num_warps=1,
    )
    return y
