# /// kengine-corpus
# task = "rms_norm"
# letter = "A3"
# tries = "Has the framework normalise; the kernel multiplies by one. Written in the older API."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

import neuronxcc.nki as nki
import neuronxcc.nki.language as nl
import torch


@nki.jit
def scale(x, factor):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, value=nl.multiply(nl.load(x), factor))
    return out


def candidate(x, gain):
    root = (x * x).mean(-1, keepdim=True).add(1e-6).sqrt()
    return scale(x / root * gain, 1.0)
