"""Mean of squared differences: one number."""

# /// kengine
# name = "mse_loss"
# category = "loss"
#
# [[cases]]
# n = 2000
# draws = 2
#
# [[cases]]
# n = 513
# ///

import torch


def make_inputs(seed, device, n=2000):
    draw = torch.Generator(device).manual_seed(seed)
    return torch.randn(n, generator=draw, device=device), torch.randn(n, generator=draw, device=device)


def reference(prediction, target):
    return torch.nn.functional.mse_loss(prediction, target)
