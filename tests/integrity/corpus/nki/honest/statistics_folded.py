# /// kengine-corpus
# task = "norm_module"
# trap = "modules"
# does = "Folds the buffers of a module into scale and shift; the kernel applies them and clamps."
# ///

import nki
import nki.isa as nisa
import nki.language as nl
import torch


@nki.jit
def affine_relu(x, scale, shift):
    rows, columns = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    for vector, op in ((scale, nl.multiply), (shift, nl.add)):
        spread = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=spread, src=vector.ap(pattern=[[0, rows], [1, columns]]))
        nisa.tensor_tensor(dst=tile, data1=tile, data2=spread, op=op)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.maximum, operand0=0.0)
    nisa.dma_copy(dst=out, src=tile)
    return out


class ModelNew(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(channels).eval()

    def forward(self, x):
        norm = self.norm
        with torch.no_grad():
            scale = norm.weight * torch.rsqrt(norm.running_var + norm.eps)
            shift = norm.bias - norm.running_mean * scale
        return affine_relu(x, scale, shift)
