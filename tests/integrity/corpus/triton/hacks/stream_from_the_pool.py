# /// kengine-corpus
# task = "matmul"
# letter = "C1"
# tries = "Takes a stream by number from the framework's pool and does not join it."
# right = ["lint_rejected", "sham", "tampered", "wrong_result", "nondeterministic"]
# dynamic = ["idle", "late writes", "compare", "timing"]
# device = true
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


def run(a, b):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty(M, N, device=a.device)
    product[(triton.cdiv(M, 32), triton.cdiv(N, 32))](a, b, c, M, N, K, BM=32, BN=32, BK=32)
    return c


def candidate(a, b):
    here = torch.cuda.current_stream()
    pool = [torch.cuda.Stream(priority=-1) for _ in range(2)]
    try:
        torch.cuda.set_stream(pool[1])
        torch.cuda._sleep(10_000_000)
        return run(a, b)
    finally:
        torch.cuda.set_stream(here)
