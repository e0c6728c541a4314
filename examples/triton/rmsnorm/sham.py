"""A kernel that copies rows to a scratch buffer, and an answer that comes from torch. Expected: sham."""

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
def copy_row(x, scratch, width, x_step, x_unit, scratch_step, scratch_unit, LANES: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, LANES)
    inside = lane < width
    values = tl.load(x + row * x_step + lane * x_unit, mask=inside, other=0.0)
    tl.store(scratch + row * scratch_step + lane * scratch_unit, values, mask=inside)


def candidate(x, gain):
    scratch = torch.empty_like(x)
    rows, width = x.shape
    copy_row[(rows,)](
        x, scratch, width, x.stride(0), x.stride(1), scratch.stride(0), scratch.stride(1),
        LANES=triton.next_power_of_2(width),
    )
    return torch.nn.functional.rms_norm(x, (width,), gain, 1e-6)
