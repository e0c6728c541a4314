"""Softmax in the older API, with helpers and a class that holds the kernel."""

# /// kengine-corpus
# task = "row_softmax"
# trap = "launchers"
# does = "Helper functions that the kernel calls, masks for the last tile, a launch through an instance with __call__."
# ///

import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


def shifted_power(tile):
    top = nl.max(tile, axis=[1], keepdims=True)
    return nl.exp(nl.subtract(tile, top))


@nki.jit
def softmax_tiles(x):
    rows, width = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    p = nl.arange(128)[:, None]
    f = nl.arange(width)[None, :]
    for i in nl.affine_range((rows + 127) // 128):
        inside = i * 128 + p < rows
        power = shifted_power(nl.load(x[i * 128 + p, f], mask=inside))
        total = nl.sum(power, axis=[1], keepdims=True)
        nl.store(out[i * 128 + p, f], value=nl.divide(power, total), mask=inside)
    return out


class Softmax:
    def __init__(self, kernel):
        self.kernel = kernel

    def __call__(self, x):
        return self.kernel(x)


softmax = Softmax(softmax_tiles)


def candidate(x):
    return softmax(x)
