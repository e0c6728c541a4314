# /// kengine-corpus
# task = "linear_gelu"
# trap = "weights"
# does = "Turns its weight in a kernel in the first call and keeps that, so that later calls launch less."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def turn(source, target, rows, columns, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < rows * columns
    tl.store(target + lane % columns * rows + lane // columns, tl.load(source + lane, mask=inside), mask=inside)


@triton.jit
def linear_gelu(x, weight, bias, y, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    col = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        left = tl.load(x + row[:, None] * K + k[None, :], mask=(row[:, None] < M) & (k[None, :] < K), other=0.0)
        right = tl.load(weight + k[:, None] * N + col[None, :], mask=(k[:, None] < K) & (col[None, :] < N), other=0.0)
        total += tl.dot(left, right, input_precision="ieee")
    total += tl.load(bias + col, mask=col < N, other=0.0)[None, :]
    value = 0.5 * total * (1.0 + tl.erf(total * 0.7071067811865476))
    tl.store(y + row[:, None] * N + col[None, :], value, mask=(row[:, None] < M) & (col[None, :] < N))


class ModelNew(torch.nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.linear = torch.nn.Linear(inner, outer)
        self.turned = None

    @torch.no_grad()
    def forward(self, x):
        weight = self.linear.weight
        (M, K), N = x.shape, weight.shape[0]
        if self.turned is None:
            self.turned = weight.new_empty(K, N)
            turn[(triton.cdiv(weight.numel(), 256),)](weight, self.turned, N, K, LANES=256)
        y = x.new_empty(M, N)
        grid = (triton.cdiv(M, 32), triton.cdiv(N, 32))
        linear_gelu[grid](x, self.turned, self.linear.bias, y, M, N, K, BM=32, BN=32, BK=16)
        return y
