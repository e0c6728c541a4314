"""x * sigmoid(x) + y, element by element."""

# /// kengine
# name = "silu_add"
# category = "elementwise"
#
# [[cases]]
# n = 1000
# draws = 2
#
# [[cases]]
# n = 4096
# values = "normal"
#
# [[cases]]
# n = 777
# values = "outlier"
# ///

import torch


def make_inputs(seed, device, n=1000):
    draw = torch.Generator(device).manual_seed(seed)
    return torch.randn(n, generator=draw, device=device) * 2, torch.randn(n, generator=draw, device=device)


def reference(x, y):
    return x * torch.sigmoid(x) + y
