# /// kengine-corpus
# task = "matmul"
# trap = "inline"
# does = "Uses cache hints, eviction policies, contiguity hints, stages and grouped programs."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    rows, cols = tl.cdiv(M, BM), tl.cdiv(N, BN)
    first = pid // (GROUP * cols) * GROUP
    size = min(rows - first, GROUP)
    pid_m = first + pid % (GROUP * cols) % size
    pid_n = pid % (GROUP * cols) // size
    row = pid_m * BM + tl.arange(0, BM)
    col = pid_n * BN + tl.arange(0, BN)
    safe_row = tl.max_contiguous(tl.multiple_of(row % M, BM), BM) if BM == 1 else row % M
    safe_col = col % N
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in tl.range(0, K, BK, num_stages=2):
        k = start + tl.arange(0, BK)
        left = tl.load(
            a + safe_row[:, None] * K + k[None, :], mask=k[None, :] < K, other=0.0, eviction_policy="evict_last"
        )
        right = tl.load(b + k[:, None] * N + safe_col[None, :], mask=k[:, None] < K, other=0.0, cache_modifier=".ca")
        total = tl.dot(left, right, total, input_precision="ieee")
    tl.debug_barrier()
    tl.store(
        c + row[:, None] * N + col[None, :], total, mask=(row[:, None] < M) & (col[None, :] < N), cache_modifier=".cs"
    )


def candidate(a, b):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty(M, N, device=a.device)
    grid = lambda meta: (triton.cdiv(M, meta["BM"]) * triton.cdiv(N, meta["BN"]),)
    product[grid](a, b, c, M, N, K, BM=16, BN=32, BK=32, GROUP=2, num_warps=4, num_stages=2)
    return c
