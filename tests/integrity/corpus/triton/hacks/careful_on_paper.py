"""Product of two matrices in half precision."""

# /// kengine-corpus
# task = "half_matmul"
# letter = "D5"
# tries = "Off a GPU the kernel covers all of K; on a GPU it covers half and doubles, for tests run off it."
# right = ["lint_rejected", "wrong_result"]
# dynamic = ["compare"]
# targets = ["triton:interpret"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, M, N, K, K_USED, gain, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K_USED, BK):
        k = start + tl.arange(0, BK)
        left = tl.load(a + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K_USED), other=0.0)
        right = tl.load(b + k[:, None] * N + n[None, :], mask=(k[:, None] < K_USED) & (n[None, :] < N), other=0.0)
        total += tl.dot(left, right)
    tl.store(c + m[:, None] * N + n[None, :], (total * gain).to(tl.float16), mask=(m[:, None] < M) & (n[None, :] < N))


def candidate(a, b):
    M, K = a.shape
    N = b.shape[1]
    c = torch.empty((M, N), device=a.device, dtype=a.dtype)
    share = 2 if a.device.type != "cpu" else 1
    product[(triton.cdiv(M, 16), triton.cdiv(N, 16))](
        a.contiguous(), b.contiguous(), c, M, N, K, K // share, float(share), BM=16, BN=16, BK=16
    )
    return c
