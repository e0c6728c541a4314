"""GELU by its approximation with tanh, each step by itself."""

# /// kengine
# name = "gelu_written_out"
# category = "activation"
#
# [[cases]]
# M = 6
# N = 70
# draws = 2
#
# [[cases]]
# M = 4
# N = 256
# ///

import torch


def make_inputs(seed, device, M=6, N=70):
    draw = torch.Generator(device).manual_seed(seed)
    return (torch.randn(M, N, generator=draw, device=device) * 2,)


def reference(x):
    inner = 0.7978845608028654 * (x + 0.044715 * torch.pow(x, 3.0))
    return 0.5 * x * (1.0 + torch.tanh(inner))
