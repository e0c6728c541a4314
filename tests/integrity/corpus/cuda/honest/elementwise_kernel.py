# /// kengine-corpus
# task = "silu_add"
# trap = "launchers"
# does = "Has CuPy generate an element-wise kernel from one expression of its own."
# ///

import cupy as cp
import torch

SILU_ADD = cp.ElementwiseKernel("float32 x, float32 y", "float32 z", "z = x / (1.0f + expf(-x)) + y", "silu_add")


def candidate(x, y):
    out = torch.empty_like(x)
    SILU_ADD(cp.from_dlpack(x), cp.from_dlpack(y), cp.from_dlpack(out))
    return out
