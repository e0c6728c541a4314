"""Split-K product: partial products in a pooled workspace, then a second kernel adds them up."""

# /// kengine-corpus
# task = "matmul"
# trap = "memory of plans"
# does = "Keeps workspaces for partial products by shape and device; every element of them is written before it is read."
# ///

import torch
import triton
import triton.language as tl

_cache = {}


@triton.jit
def partial_product(a, b, parts, M, N, K, am, ak, bk, bn, CHUNK, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    part = tl.program_id(2)
    stop = tl.minimum(K, (part + 1) * CHUNK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(part * CHUNK, stop, BK):
        k = start + tl.arange(0, BK)
        left = tl.load(a + m[:, None] * am + k[None, :] * ak, mask=(m[:, None] < M) & (k[None, :] < stop), other=0.0)
        right = tl.load(b + k[:, None] * bk + n[None, :] * bn, mask=(k[:, None] < stop) & (n[None, :] < N), other=0.0)
        total += tl.dot(left, right, input_precision="ieee")
    tl.store(parts + part * M * N + m[:, None] * N + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def add_parts(parts, c, total, COUNT: tl.constexpr, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < total
    value = tl.zeros((LANES,), dtype=tl.float32)
    for part in tl.static_range(COUNT):
        value += tl.load(parts + part * total + lane, inside, other=0.0)
    tl.store(c + lane, value, inside)


def candidate(a, b):
    M, K = a.shape
    N = b.shape[1]
    key = M, N, a.device, a.dtype
    parts = _cache.get(key)
    if parts is None:
        parts = _cache[key] = a.new_empty((2, M, N))
    c = a.new_empty((M, N))
    grid = lambda meta: (triton.cdiv(M, meta["BM"]), triton.cdiv(N, meta["BN"]), 2)  # noqa: E731
    partial_product[grid](a, b, parts, M, N, K, *a.stride(), *b.stride(), triton.cdiv(K, 2), BM=16, BN=16, BK=16)
    add_parts[(triton.cdiv(M * N, 256),)](parts, c, M * N, COUNT=2, LANES=256)
    return c
