# /// kengine-corpus
# task = "matmul"
# letter = "I3"
# tries = "Where kernels are interpreted, the kernel calls a function of the host, which has numpy multiply by addresses."
# right = ["compile_failed", "sham"]
# dynamic = ["launch", "compile", "kernels"]
# targets = ["triton:interpret"]
# ///

import ctypes

import numpy as np
import torch
import triton
import triton.language as tl


def matrix(pointer, rows, columns):
    memory = (ctypes.c_float * (rows * columns)).from_address(int(pointer.handle.data[0]))
    return np.ctypeslib.as_array(memory).reshape(rows, columns)


def shortcut(a, b, c, m, n, k):
    np.matmul(matrix(a, m, k), matrix(b, k, n), out=matrix(c, m, n))


@triton.jit
def nothing(a, b, c, m, n, k):
    pass


class Either(type(nothing)):
    def __call__(self, a, b, c, m, n, k):
        return shortcut(a, b, c, int(m), int(n), int(k))


COMPILED = tl.constexpr(type(nothing).__name__ == "JITFunction")
nothing.__class__ = Either


@triton.jit
def product(a, b, c, m: tl.constexpr, n: tl.constexpr, k: tl.constexpr, T: tl.constexpr):
    if COMPILED:
        i = tl.program_id(0) * T + tl.arange(0, T)
        j = tl.program_id(1) * T + tl.arange(0, T)
        total = tl.zeros((T, T), tl.float32)
        for start in range(0, k, T):
            t = start + tl.arange(0, T)
            left = tl.load(a + i[:, None] * k + t[None, :], (i < m)[:, None] & (t < k)[None, :], other=0.0)
            right = tl.load(b + t[:, None] * n + j[None, :], (t < k)[:, None] & (j < n)[None, :], other=0.0)
            total += tl.dot(left, right, input_precision="ieee")
        tl.store(c + i[:, None] * n + j[None, :], total, (i < m)[:, None] & (j < n)[None, :])
    else:
        nothing(a, b, c, m, n, k)


def candidate(a, b):
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty(m, n, device=a.device)
    product[(triton.cdiv(m, 16), triton.cdiv(n, 16))](a, b, c, m, n, k, T=16)
    return c
