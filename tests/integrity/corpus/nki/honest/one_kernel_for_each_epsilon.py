"""RMSNorm; kernels are made by a cached factory, one for each epsilon."""

# /// kengine-corpus
# task = "rms_norm"
# trap = "memory of plans"
# does = "Lru_cache around a function that defines and returns a jit kernel, which closes over a number of the configuration."
# ///

from functools import lru_cache

import nki
import nki.isa as nisa
import nki.language as nl


@lru_cache(maxsize=None)
def kernel_with(eps):
    @nki.jit
    def rms_norm(x, gain):
        rows, width = x.shape
        y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        gains = nl.ndarray((rows, width), dtype=gain.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=gains, src=gain.ap(pattern=[[0, rows], [1, width]]))
        tile = nl.ndarray((rows, width), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x)
        squares = nl.ndarray((rows, width), dtype=nl.float32, buffer=nl.sbuf)
        scale = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation_reduce(dst=squares, op=nl.square, data=tile, reduce_op=nl.add, reduce_res=scale)
        nisa.tensor_scalar(dst=scale, data=scale, op0=nl.multiply, operand0=1.0 / width, op1=nl.add, operand1=eps)
        nisa.activation(dst=scale, op=nl.rsqrt, data=scale)
        nisa.scalar_tensor_tensor(dst=tile, data=tile, op0=nl.multiply, operand0=scale, op1=nl.multiply, operand1=gains)
        nisa.dma_copy(dst=y, src=tile)
        return y

    return rms_norm


def candidate(x, gain):
    return kernel_with(1e-6)(x, gain)
