"""A small convolution and ReLU, as a module."""

# /// kengine
# name = "conv_relu"
# category = "convolution"
# draws = 2
# ///

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.conv = nn.Conv2d(inner, outer, 3, padding=1)

    def forward(self, x):
        return torch.relu(self.conv(x))


def get_inputs():
    return [torch.randn(2, 3, 9, 11)]


def get_init_inputs():
    return [3, 5]
