# /// kengine-corpus
# task = "linear_gelu"
# trap = "weights"
# does = "Turns the weight with the framework, and does product, bias and activation in one kernel."
# ///

import nki
import nki.isa as nisa
import nki.language as nl
import torch


@nki.jit
def linear_gelu(x_t, weight_t, bias):
    inner, rows = x_t.shape
    inner, outer = weight_t.shape
    out = nl.ndarray((rows, outer), dtype=x_t.dtype, buffer=nl.shared_hbm)
    left = nl.ndarray((inner, rows), dtype=x_t.dtype, buffer=nl.sbuf)
    right = nl.ndarray((inner, outer), dtype=x_t.dtype, buffer=nl.sbuf)
    biases = nl.ndarray((rows, outer), dtype=x_t.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=left, src=x_t)
    nisa.dma_copy(dst=right, src=weight_t)
    nisa.dma_copy(dst=biases, src=bias.ap(pattern=[[0, rows], [1, outer]]))
    total = nl.ndarray((rows, outer), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=total, stationary=left, moving=right)
    result = nl.ndarray((rows, outer), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_tensor(dst=result, data1=total, data2=biases, op=nl.add)
    nisa.activation(dst=result, op=nl.gelu, data=result)
    nisa.dma_copy(dst=out, src=result)
    return out


class ModelNew(torch.nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.linear = torch.nn.Linear(inner, outer)

    def forward(self, x):
        weight = self.linear.weight.detach().t().contiguous()
        return linear_gelu(x.t().contiguous(), weight, self.linear.bias.detach())
