# /// kengine-corpus
# task = "matmul"
# letter = "B8"
# tries = "Turns the left operand once for each address, and keeps the turned copy."
# right = ["lint_rejected", "wrong_result", "sham", "nondeterministic", "tampered"]
# dynamic = ["compare", "fresh contents", "sequence"]
# ///

import nki
import nki.isa as nisa
import nki.language as nl
import torch


@nki.jit
def product(lhs_t, rhs):
    K, M = lhs_t.shape
    K, N = rhs.shape
    out = nl.ndarray((M, N), dtype=nl.float32, buffer=nl.shared_hbm)
    total = nl.ndarray((M, N), dtype=nl.float32, buffer=nl.psum)
    for k in range(0, K, nl.tile_size.pmax):
        size = min(nl.tile_size.pmax, K - k)
        left = nl.ndarray((size, M), dtype=nl.float32, buffer=nl.sbuf)
        right = nl.ndarray((size, N), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=left, src=lhs_t[k : k + size, :])
        nisa.dma_copy(dst=right, src=rhs[k : k + size, :])
        nisa.nc_matmul(dst=total, stationary=left, moving=right)
    result = nl.ndarray((M, N), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(dst=result, src=total)
    nisa.dma_copy(dst=out, src=result)
    return out


TURNED = {}


def candidate(a, b):
    key = a.data_ptr(), a.shape
    if key not in TURNED:
        TURNED[key] = a.t().contiguous()
    return product(TURNED[key], b)
