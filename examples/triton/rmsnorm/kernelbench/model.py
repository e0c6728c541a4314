"""RMSNorm with a learned gain, as a KernelBench problem."""

# /// kengine
# name = "rmsnorm-module"
# category = "normalization"
# level = 1
# license = "Apache-2.0"
# ///

import torch
from torch import nn

rows = 6
features = 127


class Model(nn.Module):
    def __init__(self, features, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))
        self.eps = eps

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + self.eps) * self.weight


def get_inputs():
    return [torch.randn(rows, features)]


def get_init_inputs():
    return [features]
