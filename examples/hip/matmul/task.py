"""Product of two matrices."""

# /// kengine
# name = "matmul"
# category = "matmul"
# level = 1
# license = "Apache-2.0"
#
# [[cases]]
# M = 32
# N = 32
# K = 64
#
# [[cases]]
# M = 33
# N = 17
# K = 50
# ///

import torch


def make_inputs(seed, device, M=32, N=32, K=64):
    draw = torch.Generator(device).manual_seed(seed)
    a = torch.randn(M, K, generator=draw, device=device)
    b = torch.randn(K, N, generator=draw, device=device)
    return a, b


def reference(a, b):
    return a @ b
