"""Vector addition for the toy backend: kernels in plain Python, with the last tile never cut to size. Expected: launch_failed.

A length of 64 hides it, the odd length shows it.
"""

# /// kengine
# name = "vector-add"
# [[cases]]
# n = 64
# [[cases]]
# n = 257
# ///

import numpy
from kengine.testing import toy


def make_inputs(seed, device, n=64):
    draw = numpy.random.default_rng(seed)
    return draw.standard_normal(n, dtype=numpy.float32), draw.standard_normal(n, dtype=numpy.float32)


def reference(x, y):
    return x + y


@toy.kernel
def add(program, x, y, out):
    part = slice(program * 64, program * 64 + 64)
    out[part] = x[part] + y[part]


def candidate(x, y):
    out = numpy.empty_like(x)
    add[-(-len(out) // 64)](x, y, out)
    return out
