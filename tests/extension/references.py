"""What the candidates of the corpus must compute: by operator, a module, its arguments and inputs, and a tolerance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Apply(nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Tensor) -> Any:
        return self.function(*args)


@dataclass(frozen=True)
class Reference:
    """`module` is given the same parameters as the candidate's; `arguments` are of the candidate's constructor."""

    module: nn.Module
    inputs: tuple[Tensor, ...]
    arguments: tuple[Any, ...] = ()
    tolerance: float = 1e-4


def _of(
    function: Callable[..., Any], *inputs: Tensor, arguments: tuple[Any, ...] = (), tolerance: float = 1e-4
) -> Reference:
    return Reference(Apply(function), inputs, arguments, tolerance)


class _RMSNorm(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(dim))

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * self.weight


class _Depthwise(nn.Module):
    def __init__(self, channels: int, k: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(channels, 1, k, k))

    def forward(self, x: Tensor) -> Tensor:
        return F.conv2d(x, self.weight, padding=1, groups=x.shape[1])


def _batch_norm(channels: int) -> nn.Module:
    norm = nn.BatchNorm2d(channels)
    norm.running_mean = torch.randn(channels)
    norm.running_var = torch.rand(channels) + 0.5
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    return norm.eval()


def _affine(norm: nn.Module) -> nn.Module:
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    return norm


def make(operator: str) -> Reference:
    """The reference of an operator, with fresh values."""
    r = torch.randn
    makers: dict[str, Callable[[], Reference]] = {
        "relu": lambda: _of(torch.relu, r(37, 29)),
        "gelu": lambda: _of(lambda x: F.gelu(x, approximate="tanh"), r(19, 33), tolerance=5e-3),
        "swish": lambda: _of(F.silu, r(45, 70)),
        "leaky_relu": lambda: _of(F.leaky_relu, r(31, 40)),
        "softmax": lambda: _of(lambda x: x.softmax(-1), r(9, 300)),
        "log_softmax": lambda: _of(lambda x: x.log_softmax(-1), r(7, 290)),
        "layer_norm": lambda: Reference(nn.LayerNorm(96), (r(5, 11, 96),), (96,)),
        "rms_norm": lambda: Reference(_RMSNorm(128), (r(6, 128),), (128,), 3e-2),
        "group_norm": lambda: Reference(nn.GroupNorm(2, 6), (r(2, 6, 5, 7),), (6, 2)),
        "batch_norm": lambda: Reference(_batch_norm(5), (r(3, 5, 6, 7),), (5,)),
        "instance_norm": lambda: _of(F.instance_norm, r(2, 3, 9, 10)),
        "sum": lambda: _of(torch.sum, r(70, 41), tolerance=1e-3),
        "mean_dim": lambda: _of(lambda x: x.mean(1), r(4, 33, 5), arguments=(1,)),
        "max_dim": lambda: _of(lambda x: x.amax(-1), r(3, 5, 77)),
        "argmax": lambda: _of(lambda x: x.argmax(-1), r(3, 4, 65)),
        "matmul": lambda: _of(torch.matmul, r(37, 45), r(45, 29)),
        "bmm": lambda: _of(torch.bmm, r(3, 17, 20), r(3, 20, 13)),
        "matvec": lambda: _of(torch.matmul, r(23, 100), r(100, 1), tolerance=5e-2),
        "linear_gelu": lambda: Reference(nn.Sequential(nn.Linear(24, 18), nn.GELU()), (r(9, 24),), (24, 18)),
        "conv2d": lambda: Reference(nn.Conv2d(3, 4, 3, padding=1), (r(2, 3, 8, 9),), (3, 4, 3)),
        "conv1d": lambda: Reference(nn.Conv1d(3, 5, 3), (r(2, 3, 50),), (3, 5, 3)),
        "depthwise": lambda: Reference(_Depthwise(4, 3), (r(2, 4, 10, 11),), (4, 3)),
        "max_pool2d": lambda: _of(lambda x: F.max_pool2d(x, 3, 2, 1), r(2, 3, 11, 13)),
        "avg_pool2d": lambda: _of(lambda x: F.avg_pool2d(x, 2), r(2, 5, 12, 10)),
        "cumsum": lambda: _of(lambda x: x.cumsum(1), r(5, 200), tolerance=1e-3),
        "mse_loss": lambda: _of(F.mse_loss, r(20, 30), r(20, 30)),
        "cross_entropy": lambda: _of(F.cross_entropy, r(33, 50), torch.randint(0, 50, (33,))),
        "transpose": lambda: _of(lambda x: x.t().contiguous(), r(45, 70)),
        "attention": lambda: _of(F.scaled_dot_product_attention, r(2, 2, 37, 16), r(2, 2, 37, 16), r(2, 2, 37, 16)),
        "embedding": lambda: Reference(nn.Embedding(30, 12), (torch.randint(0, 30, (4, 7)),), (30, 12)),
    }
    return makers[operator]()


OPERATORS = (
    "relu",
    "gelu",
    "swish",
    "leaky_relu",
    "softmax",
    "log_softmax",
    "layer_norm",
    "rms_norm",
    "group_norm",
    "batch_norm",
    "instance_norm",
    "sum",
    "mean_dim",
    "max_dim",
    "argmax",
    "matmul",
    "bmm",
    "matvec",
    "linear_gelu",
    "conv2d",
    "conv1d",
    "depthwise",
    "max_pool2d",
    "avg_pool2d",
    "cumsum",
    "mse_loss",
    "cross_entropy",
    "transpose",
    "attention",
    "embedding",
)


def operator_of(candidate: str) -> str:
    """The operator that a candidate's file name starts with."""
    return max((o for o in OPERATORS if candidate.startswith(o)), key=len)


def share_parameters(candidate: nn.Module, reference: nn.Module) -> None:
    """Give the candidate the reference's parameters and buffers, in their order."""
    for kind in ("parameters", "buffers"):
        mine, theirs = list(getattr(candidate, kind)()), list(getattr(reference, kind)())
        for a, b in zip(mine, theirs):
            a.data.copy_(b.data)
