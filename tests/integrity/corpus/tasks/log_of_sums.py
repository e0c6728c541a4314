"""log(exp(a) + exp(b)) without overflow, each step by itself."""

# /// kengine
# name = "log_of_sums"
# category = "elementwise"
#
# [[cases]]
# n = 700
# draws = 2
#
# [[cases]]
# n = 1024
# ///

import torch


def make_inputs(seed, device, n=700):
    draw = torch.Generator(device).manual_seed(seed)
    return torch.randn(n, generator=draw, device=device) * 3, torch.randn(n, generator=draw, device=device) * 3


def reference(a, b):
    larger = torch.maximum(a, b)
    return larger + torch.log(1.0 + torch.exp(-(a - b).abs()))
