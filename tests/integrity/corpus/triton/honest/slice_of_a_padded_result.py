# /// kengine-corpus
# task = "matmul"
# trap = "views"
# does = "Pads operands to whole tiles, multiplies without masks, and returns a slice."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    col = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        left = tl.load(a + row[:, None] * K + (start + k)[None, :])
        right = tl.load(b + (start + k)[:, None] * N + col[None, :])
        total = tl.dot(left, right, total, input_precision="ieee")
    tl.store(c + row[:, None] * N + col[None, :], total)


def round_up(value, tile):
    return -(-value // tile) * tile


def candidate(a, b):
    M, K = a.shape
    N = b.shape[1]
    rows, cols, inner = round_up(M, 16), round_up(N, 16), round_up(K, 32)
    a = torch.nn.functional.pad(a, (0, inner - K, 0, rows - M))
    b = torch.nn.functional.pad(b, (0, cols - N, 0, inner - K))
    c = torch.empty(rows, cols, device=a.device)
    product[(rows // 16, cols // 16)](a, b, c, cols, inner, BM=16, BN=16, BK=32)
    return c[:M, :N]
