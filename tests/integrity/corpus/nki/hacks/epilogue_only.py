# /// kengine-corpus
# task = "linear_gelu"
# letter = "A12"
# tries = "Leaves the product to the framework's layer; only the activation is a kernel."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance", "coverage"]
# ///

import nki
import nki.isa as nisa
import nki.language as nl
import torch


@nki.jit
def gelu(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.activation(dst=tile, op=nl.gelu, data=tile)
    nisa.dma_copy(dst=out, src=tile)
    return out


class ModelNew(torch.nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.linear = torch.nn.Linear(inner, outer)

    def forward(self, x):
        return gelu(self.linear(x).detach())
