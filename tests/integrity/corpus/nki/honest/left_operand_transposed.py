"""A product whose left operand the wrapper transposes, as the tensor engine wants it."""

# /// kengine-corpus
# task = "np_matmul"
# trap = "views"
# does = "Np.ascontiguousarray(a.T) in the wrapper, one product in the kernel, which keeps its left operand stationary."
# ///

import numpy as np

import nki
import nki.isa as nisa
import nki.language as nl

PMAX = 128


@nki.jit
def product_kernel(lhs_t, rhs):
    K, M = lhs_t.shape
    K, N = rhs.shape
    out = nl.ndarray((M, N), dtype=lhs_t.dtype, buffer=nl.shared_hbm)
    total = nl.ndarray((M, N), dtype=nl.float32, buffer=nl.psum)
    for k in range(0, K, 32):
        size = min(32, K - k)
        left = nl.ndarray((size, M), dtype=lhs_t.dtype, buffer=nl.sbuf)
        right = nl.ndarray((size, N), dtype=rhs.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=left, src=lhs_t[k : k + size, :])
        nisa.dma_copy(dst=right, src=rhs[k : k + size, :])
        nisa.nc_matmul(dst=total, stationary=left, moving=right)
    result = nl.ndarray((M, N), dtype=out.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=result, src=total)
    nisa.dma_copy(dst=out, src=result)
    return out


def candidate(a, b):
    assert a.shape[1] == b.shape[0], "inner dimensions"
    assert max(a.shape[0], 1) <= PMAX
    return product_kernel(np.ascontiguousarray(np.asarray(a).T), np.asarray(b))
