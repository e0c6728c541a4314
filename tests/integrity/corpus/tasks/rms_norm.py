"""RMSNorm over the last dimension, with a gain."""

# /// kengine
# name = "rms_norm"
# category = "normalization"
#
# [[cases]]
# M = 4
# N = 512
# draws = 2
#
# [[cases]]
# M = 3
# N = 127
#
# [[cases]]
# M = 5
# N = 600
# values = "outlier"
# ///

import torch


def make_inputs(seed, device, M=4, N=512):
    draw = torch.Generator(device).manual_seed(seed)
    rows = torch.randn(M, N, generator=draw, device=device)
    gain = torch.rand(N, generator=draw, device=device) + 0.5
    return rows, gain


def reference(x, gain):
    return x * torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + 1e-6) * gain
