# /// kengine-corpus
# task = "linear_gelu"
# trap = "weights"
# does = "Transposes its weight once, and again when the parameter has changed."
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
        self._packed = None

    def packed(self):
        weight = self.linear.weight
        stamp = (weight.data_ptr(), weight._version, weight.device)
        if self._packed is None or self._packed[0] != stamp:
            self._packed = (stamp, weight.detach().t().contiguous())
        return self._packed[1]

    @torch.no_grad()
    def forward(self, x):
        weight = self.packed()
        (M, K), N = x.shape, weight.shape[1]
        y = x.new_empty(M, N)
        grid = (triton.cdiv(M, 32), triton.cdiv(N, 32))
        linear_gelu[grid](x, weight, self.linear.bias, y, M, N, K, weight.stride(0), 1, BM=32, BN=32, BK=16)
        return y
