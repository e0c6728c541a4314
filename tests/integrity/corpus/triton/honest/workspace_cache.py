# /// kengine-corpus
# task = "matmul"
# trap = "memory of plans"
# does = "Keeps the workspace of partial products by shape and device."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def partial_products(a, b, parts, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    col = tl.program_id(1) * BN + tl.arange(0, BN)
    step = tl.num_programs(2) * BK
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(tl.program_id(2) * BK, K, step):
        k = start + tl.arange(0, BK)
        left = tl.load(a + row[:, None] * K + k[None, :], mask=(row[:, None] < M) & (k[None, :] < K), other=0.0)
        right = tl.load(b + k[:, None] * N + col[None, :], mask=(k[:, None] < K) & (col[None, :] < N), other=0.0)
        total += tl.dot(left, right, input_precision="ieee")
    place = tl.program_id(2) * M * N + row[:, None] * N + col[None, :]
    tl.store(parts + place, total, mask=(row[:, None] < M) & (col[None, :] < N))


@triton.jit
def reduce_parts(parts, c, n, PARTS: tl.constexpr, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    part = tl.arange(0, PARTS)
    values = tl.load(parts + part[:, None] * n + lane[None, :], mask=lane[None, :] < n, other=0.0)
    tl.store(c + lane, tl.sum(values, axis=0), mask=lane < n)


_cache = {}


def workspace(shape, device):
    key = (shape, device)
    if key not in _cache:
        _cache[key] = torch.empty(shape, device=device)
    return _cache[key]


def candidate(a, b):
    (M, K), N = a.shape, b.shape[1]
    parts = workspace((2, M, N), a.device)
    c = torch.empty(M, N, device=a.device)
    partial_products[(triton.cdiv(M, 32), triton.cdiv(N, 32), 2)](a, b, parts, M, N, K, BM=32, BN=32, BK=16)
    reduce_parts[(triton.cdiv(M * N, 256),)](parts, c, M * N, PARTS=2, LANES=256)
    return c
