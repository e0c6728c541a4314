# /// kengine-corpus
# task = "row_softmax"
# letter = "A6"
# tries = "Traces the operator at the first call, and copies what the trace computes with a kernel."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

import torch
import triton
import triton.language as tl


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


TRACES = {}


def candidate(x):
    shape = tuple(x.shape)
    if shape not in TRACES:
        TRACES[shape] = torch.jit.trace(lambda t: torch.softmax(t, 1), (x,))
    return emit(TRACES[shape](x))
