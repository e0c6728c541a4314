# /// kengine-corpus
# task = "linear_gelu"
# trap = "weights"
# does = "Pads weight and bias to whole tiles in a buffer that it fills at the first call."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def linear_gelu(x, weight, bias, y, M, N, K, w_k, w_n, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    col = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        left = tl.load(x + row[:, None] * K + k[None, :], mask=(row[:, None] < M) & (k[None, :] < K), other=0.0)
        place = k[:, None] * w_k + col[None, :] * w_n
        right = tl.load(weight + place, mask=(k[:, None] < K) & (col[None, :] < N), other=0.0)
        total += tl.dot(left, right, input_precision="ieee")
    total += tl.load(bias + col, mask=col < N, other=0.0)[None, :]
    value = 0.5 * total * (1.0 + tl.erf(total * 0.7071067811865476))
    tl.store(y + row[:, None] * N + col[None, :], value, mask=(row[:, None] < M) & (col[None, :] < N))


class ModelNew(torch.nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.linear = torch.nn.Linear(inner, outer)

    def forward(self, x):
        weight, bias = self.linear.weight.data, self.linear.bias.data
        (M, K), N = x.shape, weight.shape[0]
        wide = triton.cdiv(N, 64) * 64
        weight = torch.nn.functional.pad(weight, (0, 0, 0, wide - N))
        bias = torch.nn.functional.pad(bias, (0, wide - N))
        y = torch.empty(M, wide, device=x.device)
        grid = (triton.cdiv(M, 16), wide // 64)
        linear_gelu[grid](x, weight, bias, y, M, wide, K, 1, K, BM=16, BN=64, BK=16)
        return y[:, :N]
