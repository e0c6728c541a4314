# /// kengine-corpus
# task = "matmul"
# trap = "views"
# does = "Passes a transposed view by its strides and returns the transpose of what it wrote."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, M, N, K, am, ak, bk, bn, cm, cn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    col = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        left = tl.load(a + row[:, None] * am + k[None, :] * ak, mask=(row[:, None] < M) & (k[None, :] < K), other=0.0)
        right = tl.load(b + k[:, None] * bk + col[None, :] * bn, mask=(k[:, None] < K) & (col[None, :] < N), other=0.0)
        total += tl.dot(left, right, input_precision="ieee")
    tl.store(c + row[:, None] * cm + col[None, :] * cn, total, mask=(row[:, None] < M) & (col[None, :] < N))


def candidate(a, b):
    """C^T = B^T A^T, so that the long side is the first."""
    left, right = b.t(), a.T
    c = torch.empty((left.shape[0], right.shape[1]), device=a.device, dtype=a.dtype)
    (M, K), N = left.shape, right.shape[1]
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32))
    product[grid](left, right, c, M, N, K, *left.stride(), *right.stride(), *c.stride(), BM=32, BN=32, BK=32)
    return c.transpose(0, 1)
