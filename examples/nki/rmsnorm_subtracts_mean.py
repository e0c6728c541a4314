"""A LayerNorm without its bias where an RMSNorm is asked for. Expected: wrong_result."""

# /// kengine
# name = "rmsnorm"
# category = "normalization"
# level = 1
# license = "Apache-2.0"
# dtypes = ["float32", "float16"]
#
# [[cases]]
# M = 4
# N = 128
#
# [[cases]]
# M = 3
# N = 127
#
# [[cases]]
# M = 5
# N = 1000
# layout = "strided"
#
# [[cases]]
# M = 200
# N = 96
# ///

import nki
import nki.isa as nisa
import nki.language as nl
import torch


def make_inputs(seed, device, M=4, N=128):
    draw = torch.Generator(device).manual_seed(seed)
    rows = torch.randn(M, N, generator=draw, device=device)
    gain = torch.rand(N, generator=draw, device=device) + 0.5
    return rows, gain


def reference(x, gain):
    wide = x.float()
    scale = torch.rsqrt(wide.square().mean(dim=-1, keepdim=True) + 1e-6)
    return (wide * scale * gain.float()).to(x.dtype)


@nki.jit
def rms_norm(x, gain):
    rows, width = x.shape
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    # A stride of 0 reads the one row of gains into every partition.
    gains = nl.ndarray((nl.tile_size.pmax, width), dtype=gain.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=gains, src=gain.ap(pattern=[[0, nl.tile_size.pmax], [1, width]]))
    for start in nl.affine_range(0, rows, nl.tile_size.pmax):
        count = min(nl.tile_size.pmax, rows - start)
        tile = nl.ndarray((count, width), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[start : start + count, :])
        mean = nl.ndarray((count, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=mean, op=nl.add, data=tile, axis=1)
        nisa.tensor_scalar(dst=mean, data=mean, op0=nl.multiply, operand0=1.0 / width)
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.subtract, operand0=mean)
        squares = nl.ndarray((count, width), dtype=nl.float32, buffer=nl.sbuf)
        scale = nl.ndarray((count, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation_reduce(dst=squares, op=nl.square, data=tile, reduce_op=nl.add, reduce_res=scale)
        nisa.tensor_scalar(
            dst=scale, data=scale, op0=nl.multiply, operand0=1.0 / width, op1=nl.add, operand1=1e-6
        )
        nisa.activation(dst=scale, op=nl.rsqrt, data=scale)
        result = nl.ndarray((count, width), dtype=x.dtype, buffer=nl.sbuf)
        nisa.scalar_tensor_tensor(
            dst=result, data=tile, op0=nl.multiply, operand0=scale, op1=nl.multiply, operand1=gains[0:count, :]
        )
        nisa.dma_copy(dst=y[start : start + count, :], src=result)
    return y
