# /// kengine-corpus
# task = "matmul"
# trap = "queries"
# does = "Chooses tiles by the compute capability."
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


def tiles(device):
    if torch.cuda.is_available() and device.type == "cuda":
        major, _ = torch.cuda.get_device_capability(device)
        return (32, 32, 32) if major >= 9 else (16, 16, 32)
    return 32, 32, 32


def candidate(a, b):
    BM, BN, BK = tiles(a.device)
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), device=a.device)
    product[triton.cdiv(M, BM), triton.cdiv(N, BN)](a, b, c, M, N, K, BM=BM, BN=BN, BK=BK)
    return c
