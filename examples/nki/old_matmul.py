"""A tiled matrix product in the older API: block dimensions in SBUF, `+=` into PSUM. Passes."""

# /// kengine
# [[cases]]
# M = 256
# K = 256
# N = 1024
# ///

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np


def make_inputs(seed, device, M=256, K=256, N=1024):
    draw = np.random.default_rng(seed)
    return draw.standard_normal((K, M)).astype(np.float32), draw.standard_normal((K, N)).astype(np.float32)


def reference(lhs_t, rhs):
    return lhs_t.T @ rhs


@nki.jit
def matmul(lhs_t, rhs):
    K, M = lhs_t.shape
    K, N = rhs.shape
    out = nl.ndarray((M, N), dtype=lhs_t.dtype, buffer=nl.shared_hbm)
    left = nl.ndarray((K // 128, nl.par_dim(128), M), dtype=lhs_t.dtype, buffer=nl.sbuf)
    p = nl.arange(128)[:, None]
    m_all = nl.arange(M)[None, :]
    for k in nl.affine_range(K // 128):
        left[k, p, m_all] = nl.load(lhs_t[k * 128 + p, m_all])
    for m in nl.affine_range(M // 128):
        for n in nl.affine_range(N // 512):
            total = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
            for k in nl.affine_range(K // 128):
                right = nl.load(rhs[k * 128 : (k + 1) * 128, n * 512 : (n + 1) * 512])
                total += nisa.nc_matmul(left[k, :, m * 128 : (m + 1) * 128], right)
            nl.store(out[m * 128 : (m + 1) * 128, n * 512 : (n + 1) * 512], value=nl.copy(total, dtype=out.dtype))
    return out
