# /// kengine-corpus
# task = "matmul"
# trap = "words"
# does = "Calls its own functions matmul, softmax, compile and cache."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    col = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        left = tl.load(a + row[:, None] * K + k[None, :], mask=(row[:, None] < M) & (k[None, :] < K), other=0.0)
        right = tl.load(b + k[:, None] * N + col[None, :], mask=(k[:, None] < K) & (col[None, :] < N), other=0.0)
        total += tl.dot(left, right, input_precision="ieee")
    tl.store(c + row[:, None] * N + col[None, :], total, mask=(row[:, None] < M) & (col[None, :] < N))


class cache(dict):
    """Tile sizes by dtype."""


tiles = cache({torch.float32: (32, 32, 16)})


def compile(dtype):
    return tiles[dtype]


def matmul(a, b, out):
    BM, BN, BK = compile(a.dtype)
    (M, K), N = a.shape, b.shape[1]
    product[(triton.cdiv(M, BM), triton.cdiv(N, BN))](a, b, out, M, N, K, BM=BM, BN=BN, BK=BK)
    return out


def candidate(a, b):
    return matmul(a, b, a.new_empty(a.shape[0], b.shape[1]))
