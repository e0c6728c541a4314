# /// kengine-corpus
# task = "silu_add"
# letter = "H7"
# tries = "Calls a native library through ctypes for every element, and copies with a kernel."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

import torch
import triton
import triton.language as tl


import ctypes
import ctypes.util


@triton.jit
def copy(source, target, n, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < n
    tl.store(target + lane, tl.load(source + lane, mask=inside), mask=inside)


def emit(value):
    value = value.contiguous()
    out = torch.empty_like(value)
    copy[(triton.cdiv(value.numel(), 1024),)](value, out, value.numel(), LANES=1024)
    return out


libm = ctypes.CDLL(ctypes.util.find_library("m") or "libm.so.6")
libm.exp.restype = ctypes.c_double
libm.exp.argtypes = [ctypes.c_double]


def candidate(x, y):
    values = [a / (1.0 + libm.exp(-a)) + b for a, b in zip(x.tolist(), y.tolist())]
    return emit(torch.tensor(values, device=x.device))
