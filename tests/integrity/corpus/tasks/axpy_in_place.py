"""y += alpha * x, into y itself."""

# /// kengine
# name = "axpy_in_place"
# category = "elementwise"
# writes = ["y"]
#
# [[cases]]
# n = 1000
# draws = 2
#
# [[cases]]
# n = 513
# ///

import torch


def make_inputs(seed, device, n=1000):
    draw = torch.Generator(device).manual_seed(seed)
    x = torch.randn(n, generator=draw, device=device)
    return x, torch.randn(n, generator=draw, device=device), 0.75


def reference(x, y, alpha):
    return y.add_(x, alpha=alpha)
