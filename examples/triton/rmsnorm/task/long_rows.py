"""RMSNorm on rows of a size that keeps a device busy: the task to measure speed by."""

# /// kengine
# name = "rmsnorm-long-rows"
# category = "normalization"
# level = 1
# license = "Apache-2.0"
# device = "cuda"
# dtypes = ["float16"]
#
# [[cases]]
# M = 4096
# N = 8192
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
