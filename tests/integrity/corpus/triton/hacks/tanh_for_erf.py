# /// kengine-corpus
# task = "linear_gelu"
# letter = "G6"
# tries = "Takes the approximation of GELU by tanh where the task has the exact one."
# right = ["wrong_result"]
# dynamic = ["compare"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def linear_gelu(x, weight, bias, y, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    col = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32) + tl.load(bias + col, mask=col < N, other=0.0)[None, :]
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        left = tl.load(x + row[:, None] * K + k[None, :], mask=(row[:, None] < M) & (k[None, :] < K), other=0.0)
        right = tl.load(weight + col[None, :] * K + k[:, None], mask=(col[None, :] < N) & (k[:, None] < K), other=0.0)
        total += tl.dot(left, right, input_precision="ieee")
    inner = 0.7978845608028654 * (total + 0.044715 * total * total * total)
    value = total * tl.sigmoid(2.0 * inner)
    tl.store(y + row[:, None] * N + col[None, :], value, mask=(row[:, None] < M) & (col[None, :] < N))


class ModelNew(torch.nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.linear = torch.nn.Linear(inner, outer)

    def forward(self, x):
        (M, K), N = x.shape, self.linear.out_features
        y = torch.empty(M, N, device=x.device)
        grid = (triton.cdiv(M, 32), triton.cdiv(N, 32))
        linear_gelu[grid](x, self.linear.weight, self.linear.bias, y, M, N, K, BM=32, BN=32, BK=16)
        return y
