"""A matrix product that contracts all of K in one instruction, more than the 128 rows there are. Expected: compile_failed."""

# /// kengine
# category = "matmul"
# [[cases]]
# M = 200
# K = 256
# N = 600
#
# [[cases]]
# M = 128
# K = 100
# N = 512
# dtype = "bfloat16"
# ///

import numpy as np

import nki
import nki.isa as nisa
import nki.language as nl


def make_inputs(seed, device, M=200, K=256, N=600):
    draw = np.random.default_rng(seed)
    return draw.standard_normal((K, M)).astype(np.float32), draw.standard_normal((K, N)).astype(np.float32)


def reference(lhs_t, rhs):
    return (lhs_t.astype(np.float32).T @ rhs.astype(np.float32)).astype(lhs_t.dtype)


@nki.jit
def matmul(lhs_t, rhs):
    K, M = lhs_t.shape
    K, N = rhs.shape
    k_tile, m_tile, n_tile = nl.tile_size.pmax, nl.tile_size.gemm_stationary_fmax, nl.tile_size.gemm_moving_fmax
    out = nl.ndarray((M, N), dtype=lhs_t.dtype, buffer=nl.shared_hbm)
    for m in range(0, M, m_tile):
        m_size = min(m_tile, M - m)
        for n in range(0, N, n_tile):
            n_size = min(n_tile, N - n)
            total = nl.ndarray((m_size, n_size), dtype=nl.float32, buffer=nl.psum)
            for k in range(0, K, K):
                k_size = K
                left = nl.ndarray((k_size, m_size), dtype=lhs_t.dtype, buffer=nl.sbuf)
                right = nl.ndarray((k_size, n_size), dtype=rhs.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=left, src=lhs_t[k : k + k_size, m : m + m_size])
                nisa.dma_copy(dst=right, src=rhs[k : k + k_size, n : n + n_size])
                # The first product since the allocation overwrites what is in PSUM, the following ones add.
                nisa.nc_matmul(dst=total, stationary=left, moving=right)
            result = nl.ndarray((m_size, n_size), dtype=out.dtype, buffer=nl.sbuf)
            nisa.tensor_copy(dst=result, src=total)
            nisa.dma_copy(dst=out[m : m + m_size, n : n + n_size], src=result)
    return out
