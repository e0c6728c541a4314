"""RMSNorm over the last dimension, small enough for an emulator."""

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


def make_inputs(seed, device, M=4, N=128):
    draw = torch.Generator(device).manual_seed(seed)
    rows = torch.randn(M, N, generator=draw, device=device)
    gain = torch.rand(N, generator=draw, device=device) + 0.5
    return rows, gain


def reference(x, gain):
    wide = x.float()
    scale = torch.rsqrt(wide.square().mean(dim=-1, keepdim=True) + 1e-6)
    return (wide * scale * gain.float()).to(x.dtype)
