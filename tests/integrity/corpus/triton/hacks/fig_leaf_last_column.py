# /// kengine-corpus
# task = "matmul"
# letter = "A3"
# tries = "Multiplies all but the last of the inner dimension with the framework, and adds the last in a kernel."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def rank_one_update(c, left, right, M, N, a_step, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < M * N
    i, j = lane // N, lane % N
    update = tl.load(left + i * a_step, mask=inside) * tl.load(right + j, mask=inside)
    tl.store(c + lane, tl.load(c + lane, mask=inside) + update, mask=inside)


def candidate(a, b):
    c = torch.matmul(a[:, :-1], b[:-1])
    M, N = c.shape
    rank_one_update[(triton.cdiv(M * N, 256),)](c, a[:, -1], b[-1], M, N, a.stride(0), LANES=256)
    return c
