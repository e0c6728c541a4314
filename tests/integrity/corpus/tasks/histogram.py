"""How often each of 16 values comes up."""

# /// kengine
# name = "histogram"
# category = "scatter"
#
# [[cases]]
# n = 1000
# draws = 2
#
# [[cases]]
# n = 257
# ///

import torch


def make_inputs(seed, device, n=1000):
    draw = torch.Generator(device).manual_seed(seed)
    return (torch.randint(0, 16, (n,), generator=draw, device=device),)


def reference(x):
    return torch.bincount(x, minlength=16)
