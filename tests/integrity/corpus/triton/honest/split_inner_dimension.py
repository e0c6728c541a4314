# /// kengine-corpus
# task = "matmul"
# trap = "several kernels"
# does = "Splits the inner dimension, writes partial products, and adds them up in a second kernel."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def partial_products(a, b, parts, M, N, K, span, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    col = tl.program_id(1) * BN + tl.arange(0, BN)
    part = tl.program_id(2)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    last = tl.minimum(part * span + span, K)
    for start in range(part * span, last, BK):
        k = start + tl.arange(0, BK)
        left = tl.load(a + row[:, None] * K + k[None, :], mask=(row[:, None] < M) & (k[None, :] < last), other=0.0)
        right = tl.load(b + k[:, None] * N + col[None, :], mask=(k[:, None] < last) & (col[None, :] < N), other=0.0)
        total += tl.dot(left, right, input_precision="ieee")
    place = part * M * N + row[:, None] * N + col[None, :]
    tl.store(parts + place, total, mask=(row[:, None] < M) & (col[None, :] < N))


@triton.jit
def add_parts(parts, c, n, PARTS: tl.constexpr, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    total = tl.zeros((LANES,), dtype=tl.float32)
    for part in tl.static_range(PARTS):
        total += tl.load(parts + part * n + lane, mask=lane < n, other=0.0)
    tl.store(c + lane, total, mask=lane < n)


def candidate(a, b):
    (M, K), N = a.shape, b.shape[1]
    parts = a.new_empty((2, M, N))
    c = a.new_empty((M, N))
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32), 2)
    partial_products[grid](a, b, parts, M, N, K, triton.cdiv(K, 2), BM=32, BN=32, BK=32)
    add_parts[(triton.cdiv(M * N, 512),)](parts, c, M * N, PARTS=2, LANES=512)
    return c
