# /// kengine-corpus
# task = "linear_gelu"
# trap = "words"
# does = "An IntEnum, a named tuple of strides and a dictionary of settings choose the kernel's branches."
# ///

import torch
import triton
import triton.language as tl

import enum
from typing import NamedTuple


class Act(enum.IntEnum):
    NONE = 0
    RELU = 1
    GELU = 2


class Steps(NamedTuple):
    row: int
    column: int


GELU: tl.constexpr = tl.constexpr(int(Act.GELU))
RELU: tl.constexpr = tl.constexpr(int(Act.RELU))


@triton.jit
def activate(v, ACT: tl.constexpr):
    if ACT == GELU:
        v = 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))
    elif ACT == RELU:
        v = tl.maximum(v, 0.0)
    return v


@triton.jit
def kernel(
    x_ptr,
    w_ptr,
    b_ptr,
    y_ptr,
    M,
    N,
    K,
    xs,
    ws,
    ys,
    ACT: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, K, BK, num_stages=2):
        inner = k + tl.arange(0, BK)
        a = tl.load(
            x_ptr + rows[:, None] * xs.row + inner[None] * xs.column,
            mask=(rows[:, None] < M) & (inner[None] < K),
            other=0.0,
        )
        b = tl.load(
            w_ptr + columns[None] * ws.row + inner[:, None] * ws.column,
            mask=(columns[None] < N) & (inner[:, None] < K),
            other=0.0,
        )
        total = tl.dot(a, b, total, input_precision="ieee")
    total += tl.load(b_ptr + columns, mask=columns < N, other=0.0)[None]
    place = y_ptr + rows[:, None] * ys.row + columns[None] * ys.column
    tl.store(place, activate(total, ACT), mask=(rows[:, None] < M) & (columns[None] < N))


TILES = dict(BM=16, BN=32, BK=16)


class ModelNew(torch.nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.linear = torch.nn.Linear(inner, outer)

    def forward(self, x):
        weight, bias = self.linear.weight, self.linear.bias
        (M, K), N = x.shape, weight.shape[0]
        y = x.new_empty(M, N)
        grid = (triton.cdiv(M, TILES["BM"]), triton.cdiv(N, TILES["BN"]))
        kernel[grid](
            x,
            weight,
            bias,
            y,
            M,
            N,
            K,
            Steps(*x.stride()),
            Steps(*weight.stride()),
            Steps(*y.stride()),
            ACT=int(Act.GELU),
            **TILES,
        )
        return y
